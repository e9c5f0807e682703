"""Links as a browser requests them, on pages of any encoding."""

import pytest

from crawler.pages.page_digest import PageDigester
from crawler.pages.query_encoding import encode_queries
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site

QUERIES = [
    ("windows-1252", "iso-8859-1", "/q?f=größe", "/q?f=gr%F6%DFe"),
    ("its own signs", "windows-1252", "/q?f=5€", "/q?f=5%80"),
    ("Cyrillic", "windows-1251", "/q?s=стол", "/q?s=%F1%F2%EE%EB"),
    ("another Cyrillic", "koi8-r", "/q?s=стол", "/q?s=%D3%D4%CF%CC"),
    ("Central European", "iso-8859-2", "/q?s=žlutý", "/q?s=%BElut%FD"),
    ("Japanese", "shift_jis", "/q?s=机", "/q?s=%8A%F7"),
    ("Japanese with ASCII in letters", "shift_jis", "/q?s=表", "/q?s=%95%5C"),
    ("Chinese", "gbk", "/q?s=桌", "/q?s=%D7%C0"),
    ("UTF-8", "utf-8", "/q?f=größe", "/q?f=gr%C3%B6%C3%9Fe"),
    ("a letter that the encoding lacks", "iso-8859-1", "/q?f=&#1089;", "/q?f=%26%231089%3B"),
    ("keys as well", "iso-8859-1", "/q?größe=1", "/q?gr%F6%DFe=1"),
    ("escapes stay", "iso-8859-1", "/q?a=%C3%BC&b=ü", "/q?a=%C3%BC&b=%FC"),
    ("a path is UTF-8", "iso-8859-1", "/größe?f=1", "/gr%C3%B6%C3%9Fe?f=1"),
    ("both", "iso-8859-1", "/ü?f=ü", "/%C3%BC?f=%FC"),
    ("a query alone", "iso-8859-1", "?f=ü", "/shop/list?f=%FC"),
    ("a fragment", "iso-8859-1", "/q?f=ü#ü", "/q?f=%FC"),
]


@pytest.mark.parametrize(
    ("name", "encoding", "href", "expected"), QUERIES, ids=[c[0] for c in QUERIES]
)
def test_letters_of_queries_are_encoded_as_the_page(
    name: str, encoding: str, href: str, expected: str
) -> None:
    """A link is requested as a browser would, whether the header or the page names the encoding."""
    digester = PageDigester(Site("https://a.example/"))
    link = f'<a href="{href}">x</a>'.encode(encoding)
    meta = f"<meta charset={encoding}>".encode()
    url = "https://a.example/shop/list"
    for body, content_type in ((link, f"text/html; charset={encoding}"), (meta + link, None)):
        assert digester.digest(body, content_type, url).links == (f"https://a.example{expected}",)


def test_other_links_of_the_head_are_encoded_too() -> None:
    """Canonical links, pages of a list and other languages are requested like all links."""
    head = '<link rel=canonical href="/p?f=ü"><link rel=next href="/p?n=ü">'
    head += '<link rel=alternate hreflang=en href="/en?f=ü">'
    digester = PageDigester(Site("https://a.example/"))
    digest = digester.digest(
        head.encode("cp1252"), "text/html; charset=cp1252", "https://a.example/"
    )
    assert digest.canonical == "https://a.example/p?f=%FC"
    assert digest.links == ("https://a.example/p?n=%FC",)
    assert digest.alternates == ("https://a.example/en?f=%FC",)


def test_the_encoding_is_detected_only_for_letters_in_queries() -> None:
    """Most pages have none: their encoding is not asked for."""
    hrefs = ["/ü", "/ü#a?b", "/a?b=1", "/ü?a=1#ü"]

    def fail() -> str:
        raise AssertionError("asked for")

    assert encode_queries(hrefs, fail) == hrefs


SAME_PAGE = [
    ("/gr%c3%bcn", "/gr%C3%BCn"),
    ("/%7euser", "/~user"),
    ("/q?f=%c3%bc", "/q?f=%C3%BC"),
    ("/q?f=%F6", "/q?f=%f6"),
    ("/q?f=a+b", "/q?f=a%20b"),
]
OTHER_PAGE = [
    ("/a%2fb", "/a/b"),
    ("/q?f=%F6", "/q?f=%E4"),
    ("/q?f=%F6", "/q?f=%C3%B6"),
    ("/A", "/a"),
]


def test_spellings_of_escapes_are_one_page() -> None:
    """Escapes count by their byte; different bytes are different pages in any encoding."""
    for first, second in SAME_PAGE:
        keys = {CrawlUrl.parse(f"https://a.example{path}").page_key for path in (first, second)}
        assert len(keys) == 1, (first, second)
    for first, second in OTHER_PAGE:
        keys = {CrawlUrl.parse(f"https://a.example{path}").page_key for path in (first, second)}
        assert len(keys) == 2, (first, second)
