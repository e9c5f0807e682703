"""Languages of a page: its code, and its versions in link elements, headers and sitemaps."""

import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.discovery.sitemaps import MAX_ENTRY_VERSIONS, parse_sitemap
from crawler.pages.languages import (
    MAX_ALTERNATES,
    language_code,
    page_language,
    parse_link_header,
    resolve_alternates,
)
from crawler.pages.link_extraction import extract_links
from crawler.urls.site import Site
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw

SITE = Site("https://shop.example/")
PAGE = "https://shop.example/p/lamp"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("de", "de"),
        ("de-AT", "de-at"),
        ("zh_Hant_TW", "zh-hant-tw"),
        (" EN , de", "en"),
        ("x-default", "x-default"),
        ("German", ""),
        ("*", ""),
        ("", ""),
        (None, ""),
        ("en" + "-x" * 1000, ""),
    ],
)
def test_codes(text: str | None, code: str) -> None:
    """A code is read in any case and with any separator; other texts are none."""
    assert language_code(text) == code


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<html lang='de-DE'>", "de-de"),
        ("<html xml:lang=fr>", "fr"),
        ("<meta http-equiv=Content-Language content='it'>", "it"),
        ("<meta property='og:locale' content='es_ES'>", "es-es"),
        ("<html lang='{{lang}}'><meta property='og:locale' content='es_ES'>", "es-es"),
        ("<p>Hello", ""),
    ],
)
def test_the_language_of_a_page(html: str, code: str) -> None:
    """The root element gives a page's language, else a meta element."""
    assert page_language(LexborHTMLParser(html)) == code


def test_headers_fill_up_the_page() -> None:
    """Headers give what the page lacks; the page's own canonical link and language go first."""
    header = '</en/lamp?a=1,2>; rel=alternate; hreflang=en, </c>; rel="canonical"'
    bare = extract_links(
        LexborHTMLParser("<base href=/deep/>"), PAGE, link_header=header, content_language="fr-CA"
    )
    assert (bare.canonical, bare.language) == ("https://shop.example/c", "fr-ca")
    assert bare.alternates == (("en", "https://shop.example/en/lamp?a=1,2"),)
    html = (
        "<html lang=de><link rel=canonical href=/own><link rel=alternate hreflang=fr href=/fr/lamp>"
        "<link rel=alternate type='application/rss+xml' href=/feed>"
    )
    full = extract_links(LexborHTMLParser(html), PAGE, link_header=header, content_language="fr-CA")
    assert (full.canonical, full.language) == ("https://shop.example/own", "de")
    assert [code for code, _ in full.alternates] == ["fr", "en"]


@pytest.mark.parametrize("header", ["", "<", "<a", "a>; rel=canonical", "<a>; rel", None])
def test_broken_headers(header: str | None) -> None:
    """A header that names no link is ignored."""
    assert parse_link_header(header) == (None, ())


@pytest.mark.parametrize("piece", ["<a>; rel=", "<", '; a="', "<a>;;", '<a>; x="y\\'])
def test_long_headers_take_no_time(piece: str) -> None:
    """The time for a header grows with its length only."""
    begin = time.process_time()
    parse_link_header(piece * 100_000)
    assert time.process_time() - begin < 1


def test_versions_are_resolved() -> None:
    """Versions of the shop are cleaned, those on other hosts are kept, the rest is dropped."""
    pairs = [
        ("de", "/p/lamp?utm_source=x"),
        ("en-GB", "https://www.shop.example/en/lamp"),
        ("fr", "https://boutique.example/lampe"),
        ("it", "javascript:void(0)"),
        ("es", "ftp://shop.example/lampara"),
        ("no language", "/lamp"),
        ("nl", ""),
    ]
    assert resolve_alternates(pairs, PAGE, SITE) == {
        "de": "https://shop.example/p/lamp",
        "en-gb": "https://shop.example/en/lamp",
        "fr": "https://boutique.example/lampe",
    }


def test_a_code_of_several_pages_names_none() -> None:
    """A page has one version per language: of a page that claims many, none is kept."""
    pairs = [("en", f"/p/{number}") for number in range(50)]
    assert resolve_alternates([*pairs, ("fr", "/fr/lamp"), ("fr", "/fr/lamp")], PAGE, SITE) == {
        "fr": "https://shop.example/fr/lamp"
    }


def test_the_number_of_versions_is_bounded() -> None:
    """A page of thousands of codes keeps the first ones."""
    codes = [f"aa-{number:04}" for number in range(5000)]
    pairs = [(code, f"/{code}/lamp") for code in codes]
    assert [*resolve_alternates(pairs, PAGE, SITE)] == codes[:MAX_ALTERNATES]


ENTRY = (
    "<url><loc>https://shop.example/lamp</loc>"
    '<x:link rel="alternate" hreflang="de" href="https://shop.example/lampe"/></url>'
)
URLSET = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:x="http://www.w3.org/1999/xhtml">{}</urlset>'
)


def test_versions_in_sitemaps() -> None:
    """The entries of a sitemap name versions; a broken entry does not cost the others."""
    versions = {"https://shop.example/lamp": (("de", "https://shop.example/lampe"),)}
    assert parse_sitemap(URLSET.format(ENTRY).encode()).versions == versions
    broken = URLSET.format("<!-- x --><url><loc>https://shop.example/a&b</loc></url>" + ENTRY)
    assert "https://shop.example/lamp" in parse_sitemap(broken.encode()).versions
    assert parse_sitemap(b"hreflang").versions == {}
    assert parse_sitemap(b"").versions == {}


def test_versions_in_a_hostile_sitemap() -> None:
    """Entities are not expanded, and an entry has a bounded number of versions."""
    link = '<x:link rel="alternate" hreflang="de" href="/{}"/>'
    body = URLSET.format(f"<url><loc>/x</loc>{link.format('y') * 1000}</url>").encode()
    [pairs] = parse_sitemap(body).versions.values()
    assert len(pairs) == MAX_ENTRY_VERSIONS
    entity = b'<!DOCTYPE a [<!ENTITY b "%s">]>' % (b"x" * 1000)
    body = entity + URLSET.format(f"<url><loc>/x</loc>{link.format('&b;')}</url>").encode()
    assert b"xxxx" not in str(parse_sitemap(body).versions).encode()


def test_a_crawl_keeps_languages(make_bench: Callable[..., Bench]) -> None:
    """Language and versions of each page are stored, from its head, its headers and the sitemap."""
    made = make_bench()
    head = '<link rel=alternate hreflang={} href="{}">'
    made.server.routes |= {
        "/": page("/p/lamp", "/p/table", "/p/chair"),
        "/sitemap.xml": raw(
            URLSET.format(
                "<url><loc>{root}/p/chair</loc>"
                '<x:link rel="alternate" hreflang="en" href="{root}/en/p/chair"/></url>'
            ).encode(),
            "application/xml",
        ),
        "/p/lamp": page(title="Lampe", head=head.format("en", "/p/lamp?lang=en")),
        "/p/lamp?lang=en": page(title="Lamp", head=head.format("de", "/p/lamp")),
        "/p/table": raw(
            b"<html><title>Tisch</title>",
            Link='</en/p/table>; rel="alternate"; hreflang="en"',
            Content_Language="de",
        ),
        "/en/p/table": raw(b"<html lang=en><title>Table</title>"),
        "/p/chair": page(title="Stuhl"),
        "/en/p/chair": page(title="Chair"),
    }
    made.crawl()
    root, pages = made.server.url.rstrip("/"), made.pages()
    assert pages["/p/lamp"].alternates == {"en": f"{root}/p/lamp?lang=en"}
    assert pages["/p/lamp?lang=en"].alternates == {"de": f"{root}/p/lamp"}
    assert (pages["/p/table"].language, pages["/en/p/table"].language) == ("de", "en")
    assert pages["/p/table"].alternates == {"en": f"{root}/en/p/table"}
    assert pages["/p/chair"].sitemap_alternates == {"en": f"{root}/en/p/chair"}
    assert pages["/p/chair"].alternates is None
    assert pages["/en/p/chair"].state == "fetched"


def test_saved_pages_keep_languages(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """So do pages of a WARC file."""
    made = make_bench()
    url = made.server.url + "p/lamp"
    headers = [
        ("Content-Type", "text/html"),
        ("Link", '</en/p/lamp>; rel="alternate"; hreflang="en"'),
    ]
    with (tmp_path / "x.warc").open("wb") as out:
        http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
        writer = WARCWriter(out, gzip=False)
        body = BytesIO(b"<html lang=de><title>Lampe</title>")
        writer.write_record(
            writer.create_warc_record(url, "response", payload=body, http_headers=http)
        )
    made.crawl(source=tmp_path / "x.warc")
    stored = made.pages()["/p/lamp"]
    assert stored.language == "de"
    assert stored.alternates == {"en": made.server.url + "en/p/lamp"}
