"""Links of a page, and the hints of its head."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.pages.link_extraction import MAX_LINKS, PageLinks, extract_links


def links_of(html: str) -> PageLinks:
    """Extract the links of a page of HTML."""
    return extract_links(LexborHTMLParser(html), "https://a.example/p")


@pytest.mark.parametrize("rel", ["{}", " {} ", "NOFOLLOW {}", "{}\tprefetch"])
def test_a_link_element_may_name_several_relations(rel: str) -> None:
    """The relations of a link element are words in any order (HTML Standard, "Linked resources")."""
    html = "".join(
        f"<link rel='{rel.format(relation)}' hreflang=en href=/{relation}>"
        for relation in ("canonical", "next", "alternate")
    )
    links = links_of(html)
    assert links.canonical == "https://a.example/canonical"
    assert links.pagination == ("/next",)
    assert links.alternates == (("en", "/alternate"),)


@pytest.mark.parametrize(
    ("element", "attribute"),
    [
        ("<a href=/{}>", "hrefs"),
        ("<link rel=next href=/{}>", "pagination"),
        ("<link rel=alternate hreflang=en href=/{}>", "alternates"),
    ],
)
def test_links_are_bounded(element: str, attribute: str) -> None:
    """A page built of links gives so many of each kind at most."""
    html = "".join(element.format(number) for number in range(MAX_LINKS + 10))
    assert len(getattr(links_of(html), attribute)) == MAX_LINKS


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/x", "/x"),
        ("5;URL='/x'", "/x"),
        ("0; /x", "/x"),
        ("0,/x", "/x"),
        (".5 url = /x", "/x"),
        ("0;/go?url=https://b.example/", "/go?url=https://b.example/"),
        ("300", None),
        ("0;", None),
        ("url=/x", None),
    ],
)
def test_meta_refresh(content: str, target: str | None) -> None:
    """A page may lead on by itself, with `url=` or without (HTML Standard, "Refresh state")."""
    links = links_of(f'<meta http-equiv=Refresh content="{content}">')
    assert links.hrefs == ((target,) if target else ())
