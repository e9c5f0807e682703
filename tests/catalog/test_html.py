"""Opening pages: the text that a browser would see, and no page that keeps a parser busy for
minutes.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import HostilePage
from catalog.html import decode_html, open_html, to_utf8

MANY = 200_000
SLOW = {
    "attributes": "<div " + " ".join(f"a{n}=1" for n in range(MANY)) + ">",
    "attributes without values": "<div " + " ".join(f"a{n}" for n in range(MANY)) + ">",
    "attributes apart by slashes": "<div " + "/".join(f"a{n}" for n in range(MANY)) + ">",
    "attributes with tags in quotes": "<div " + " ".join(f'a{n}="<p>"' for n in range(MANY)) + ">",
    "attributes behind a comment": '<!-- <a b=" --><div '
    + " ".join(f"a{n}='>'" for n in range(MANY))
    + ">",
    "nested blocks": "<div>" * 90_000,
    "nested blocks that end": "<div>" * 100_000 + "</div>" * 100_000,
    "end tags of nothing": "<div></x>" * 90_000,
    "tables in blocks": "<div><table></div>" * 50_000,
    "lists in lists": "<ul><li>" * 90_000,
    "readings of readings": "<ruby><rt>" * 90_000,
    "formatting left open": "<p>"
    + "".join(f"<font color=c{n}>" for n in range(1800))
    + "</p>"
    + "<p>x" * 6_000,
    "formatting that only comments end": "".join(
        f"<b class=c{n}><!--</b>--><p>" for n in range(3_000)
    ),
    "formatting that only attributes end": "".join(
        f"<b class=c{n} a='</b>'><p>" for n in range(3_000)
    ),
    "formatting ended in a list of options": "".join(
        f"<b id={n}><select></b></select><p>" for n in range(3_000)
    ),
    "formatting ended in cells": "".join(
        f"<b id={n}><table><td></b></table><p>" for n in range(3_000)
    ),
    "blocks that only comments end": "<div><!--</div>-->" * 50_000,
    "blocks that only attributes end": "<div a='</div>'>" * 50_000,
    "blocks that only scripts end": "<div><script>'</div>'</script>" * 50_000,
    "blocks ended in embedded objects": "<div><object></div></object>" * 20_000,
    "cells in drawings": "<svg>" + "<td>" * 50_000,
    "more tags than any page has": "<p>a" * 300_000,
}
LARGE = {
    "paragraphs without ends": "<p>a" * 150_000,
    "a script of 20 MB": "<script>" + "x = {a: [1, 2]};" * 1_250_000 + "</script>",
    "many options": "<select>" + "<option>1" * 150_000 + "</select>",
    "many blocks": "<div>1</div>" * 100_000,
    "many shapes": "<svg>" + "<path d='M0 0'/>" * 20_000 + "</svg>",
    "many icons": "".join(f"<td><i class=icon-{n}></i>x" for n in range(8_000)),
    "scripts that write tags": "<p>a" * 9_000 + "<script>" + "x('<div>');" * 9_000 + "</script>",
}


@pytest.mark.parametrize("page", SLOW.values(), ids=SLOW.keys())
def test_pages_made_to_be_slow_are_refused_at_once(page: str) -> None:
    """However they hide it."""
    begin = time.process_time()
    with pytest.raises(HostilePage):
        open_html(page)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("page", LARGE.values(), ids=LARGE.keys())
def test_pages_that_are_only_large_are_opened(page: str) -> None:
    """Size alone is no reason."""
    begin = time.process_time()
    assert open_html(page).body is not None
    assert time.process_time() - begin < 5


PARTS = st.sampled_from(
    [
        b"<meta charset=utf-8>",
        b'<META CHARSET="Latin-1">',
        b'<?xml version="1.0" encoding="latin-1"?>',
        b"<body>",
        b'<meta http-equiv=content-type content="text/html; charset=windows-1251">',
        b"<!-- charset=utf-16 -->",
        b"<meta content='charset=x'>",
        b"charset",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        "é".encode(),
        b"\xe9",
        b"\x00",
        b" ",
    ]
)
HEADERS = st.sampled_from(
    [None, "text/html", "text/html;charset=utf-8", "text/html; charset=x", "a/b; charset=latin1"]
)


@given(st.lists(PARTS, max_size=8).map(b"".join), HEADERS)
def test_a_page_in_utf8_is_the_text_that_it_decodes_to(body: bytes, header: str | None) -> None:
    """The short cut for pages that are UTF-8 already leads to the same page."""
    assert to_utf8(body, header).decode("utf-8", "replace") == decode_html(body, header)
