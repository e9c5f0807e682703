"""Encodings of pages: the text that a browser would show, whatever the page calls itself."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.html import decode_html, to_utf8
from catalog.page_encoding import detect_encoding, encoding_of_label

GERMAN = "Größe – 12 €"
RUSSIAN = "Лампа зелёная"
JAPANESE = "東京バス"
META = "<meta charset={}>"
PRAGMA = '<meta http-equiv="Content-Type" content="text/html; charset={}">'
NO_ENCODINGS = """
hex zip bz2 base64 uu quopri rot13 undefined idna punycode unicode_escape raw_unicode_escape utf-7 utf-32 cp037
utf-8-sig-x none x iso-2022-kr hz-gb-2312 größe aliases mbcs oem
"""
FAR = "<!--" + "x" * 9_000 + "-->"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF-8", "utf-8"),
        (" utf8 ", "utf-8"),
        ("unicode-1-1-utf-8", "utf-8"),
        ("latin1", "cp1252"),
        ("iso-8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("iso-8859-9", "cp1254"),
        ("tis-620", "cp874"),
        ("x-cp1251", "cp1251"),
        ("gb2312", "gb18030"),
        ("gbk", "gb18030"),
        ("big5", "big5hkscs"),
        ("ks_c_5601-1987", "cp949"),
        ("x-sjis", "cp932"),
        ("csisolatin2", "iso8859-2"),
        ("iso-8859-8-i", "iso8859-8"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("utf-16", "utf-16-le"),
        ("win-1251", "cp1251"),
        ("latin-1", "cp1252"),
    ],
)
def test_labels(label: str, name: str) -> None:
    """Labels mean what the Encoding Standard says, or what only Python knows."""
    assert encoding_of_label(label) == name


@pytest.mark.parametrize(
    "label",
    [*NO_ENCODINGS.split(), "", "a\0b", "../utf-8", "x" * 10_000],
)
def test_labels_of_no_encoding(label: str) -> None:
    """Codecs that decode no text, encodings without ASCII, and those a browser refuses are
    unknown.
    """
    assert encoding_of_label(label) is None


@pytest.mark.parametrize(
    ("markup", "encoding", "content_type"),
    [
        (GERMAN, "cp1252", None),
        (GERMAN, "utf-8", None),
        (GERMAN, "cp1252", "text/html"),
        (GERMAN, "cp1252", "text/html; charset=hex"),
        (GERMAN, "utf-8", "text/html; charset=zip"),
        (GERMAN, "cp1252", "text/html; charset=iso-8859-1"),
        (GERMAN, "cp1252", 'text/html; charset="ISO-8859-1"'),
        (GERMAN, "cp1252", "text/html;charset='latin1'"),
        (GERMAN, "utf-8", 'text/html; a="; charset=koi8-r"; charset=utf-8'),
        ("<p>" + GERMAN, "utf-16-le", "text/html; charset=utf-16"),
        ("<p>" + GERMAN, "utf-8", "text/html; charset=utf-16"),
        (META.format("koi8-r") + GERMAN, "utf-8", "text/html; charset=utf-8"),
        (META.format("utf-16") + GERMAN, "utf-8", None),
        (META.format("UTF-16LE") + GERMAN, "utf-8", None),
        (PRAGMA.format("utf-16be") + GERMAN, "utf-8", None),
        (META.format("x-user-defined") + GERMAN, "cp1252", None),
        (META.format("iso-8859-1") + GERMAN, "cp1252", None),
        (META.format("undefined") + GERMAN, "utf-8", None),
        (META.format("idna") + GERMAN, "cp1252", None),
        (META.format("rot13") + PRAGMA.format("koi8-r") + RUSSIAN, "koi8-r", None),
        (PRAGMA.format("windows-1251") + RUSSIAN, "cp1251", None),
        ("<META CharSet = 'WINDOWS-1251' />" + RUSSIAN, "cp1251", None),
        ("<meta name=a content='x>y'/><meta charset=cp1251>" + RUSSIAN, "cp1251", None),
        ('<meta content="text/html; charset=koi8-r">' + GERMAN, "utf-8", None),
        ("<!-- <meta charset=koi8-r> -->" + GERMAN, "utf-8", None),
        ("<script>'<meta charset=koi8-r>'</script>" + GERMAN, "utf-8", None),
        ("<title><meta charset=koi8-r></title>" + GERMAN, "cp1252", None),
        ("<a title='<meta charset=koi8-r>'>" + GERMAN, "utf-8", None),
        (META.format("shift_jis") + JAPANESE, "cp932", None),
        (META.format("euc-jp") + JAPANESE, "euc_jp", None),
        (META.format("iso-2022-jp") + JAPANESE, "iso2022_jp", None),
        (FAR + META.format("iso-2022-jp") + JAPANESE, "iso2022_jp", None),
        (META.format("gb2312") + "镕㐀", "gb18030", None),
        (
            '<?xml version="1.0" encoding="iso-8859-15"?>' + GERMAN.replace("–", "-"),
            "iso8859-15",
            None,
        ),
        ('<?xml version="1.0" encoding="utf-16"?>' + GERMAN, "utf-8", None),
        ('<?xml version="1.0" encoding="koi8-r"?><meta charset=utf-8>' + GERMAN, "utf-8", None),
        ('<?xml version="1.0"?>' + GERMAN, "utf-16-le", None),
        ('<?xml version="1.0"?>' + GERMAN, "utf-16-be", None),
        (FAR + META.format("windows-1251") + RUSSIAN, "cp1251", None),
        (FAR + PRAGMA.format("koi8-r") + RUSSIAN, "koi8-r", None),
        ("<p>x" * 20_000 + META.format("windows-1251") + RUSSIAN, "cp1251", None),
        (FAR + META.format("windows-1251") + GERMAN, "utf-8", None),
        (FAR + GERMAN, "cp1252", None),
        ("<p>abc", "ascii", None),
    ],
)
def test_pages(markup: str, encoding: str, content_type: str | None) -> None:
    """Header, then `<meta>`, then XML declaration decide; without a label UTF-8 or windows-1252."""
    body = markup.encode(encoding)
    assert decode_html(body, content_type) == markup
    assert to_utf8(body, content_type).decode() == markup


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
    ],
)
@pytest.mark.parametrize("content_type", [None, "text/html; charset=koi8-r"])
def test_byte_order_mark_wins(mark: bytes, encoding: str, content_type: str | None) -> None:
    """A byte order mark goes before header and `<meta>`, and is no part of the text."""
    markup = META.format("iso-8859-1") + GERMAN
    body = mark + markup.encode(encoding)
    assert decode_html(body, content_type) == markup
    assert to_utf8(body, content_type).decode() == markup


def test_a_few_bad_bytes_do_not_change_the_encoding() -> None:
    """An unlabelled page in UTF-8 that is cut inside a character, or quotes another page, stays
    UTF-8.
    """
    assert detect_encoding((GERMAN * 3).encode()[:-1]).name == "utf-8"
    assert detect_encoding((GERMAN * 3).encode() + b"caf\xe9 ").name == "utf-8"
    assert detect_encoding(b"caf\xe9 cr\xe8me br\xfbl\xe9e " + "€".encode()).name == "cp1252"


PARTS = st.sampled_from(
    [
        b"<meta ",
        b"charset=",
        b"koi8-r",
        b"hex",
        b">",
        b"<!--",
        b"-->",
        b"<script>",
        b"</script",
        b"'",
        b'"',
        b"content=",
        b"http-equiv=content-type ",
        b"<?xml ",
        b"encoding=",
        b"\xe9",
        "é".encode(),
        b"\x1b",
        b"\x00",
        b"/",
        b" ",
        b"=",
    ]
)
LABELS = st.sampled_from(
    ["utf-8", "hex", "koi8-r", "undefined", "utf-16", '"', "\\", ";", "'", "\udce9", "\0"]
)


@given(st.lists(PARTS, max_size=20).map(b"".join), st.lists(LABELS, max_size=3).map("".join))
def test_any_page_is_decoded(body: bytes, label: str) -> None:
    """Whatever a page and its header say, there is a text, and one only."""
    text = decode_html(body, f"text/html; charset={label}")
    assert to_utf8(body, f"text/html; charset={label}").decode("utf-8", "replace") == text


@pytest.mark.parametrize(
    "piece",
    [
        b"<meta ",
        b"<!--",
        b"<script",
        b"<meta charset='",
        b"<a b=",
        b"charset",
        b"<meta charset=x>",
        b"<?xml ",
    ],
)
def test_hostile_pages_are_decoded_at_once(piece: bytes) -> None:
    """The time grows with the size only."""
    begin = time.process_time()
    decode_html(piece * (2_000_000 // len(piece)) + b"\xe9")
    assert time.process_time() - begin < 3
