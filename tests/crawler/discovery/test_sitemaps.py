"""Sitemaps as shops write them: indexes, dates, images, other languages, and broken files."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.discovery.sitemaps import SitemapFile, parse_date, parse_sitemap

RICH = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
 <url><loc>https://a.example/de/x</loc><lastmod>2026-05-01</lastmod><priority>0.5</priority>
  <xhtml:link rel="alternate" hreflang="de" href="https://a.example/de/x"/>
  <xhtml:link rel="alternate" hreflang="en" href="https://a.example/en/x"/>
  <image:image><image:loc>https://a.example/x.jpg</image:loc><image:title>X</image:title></image:image></url>
 <url><loc><![CDATA[https://a.example/y?a=1&b=2]]></loc><lastmod>never</lastmod></url>
 <url><lastmod>2026-05-01</lastmod></url>
</urlset>"""
INDEX = b"""<sitemapindex><sitemap><loc> https://a.example/1.xml.gz </loc><lastmod>2026-05-01T10:00:00Z</lastmod>
</sitemap><sitemap><loc>https://a.example/2.xml</loc></sitemap></sitemapindex>"""


def test_pages_with_dates_pictures_and_languages() -> None:
    """Pages come with their dates.

    Pictures are no pages, other languages are pages of their own.
    """
    sitemap = parse_sitemap(RICH)
    assert sitemap.pages == ("https://a.example/de/x", "https://a.example/y?a=1&b=2")
    assert sitemap.alternates == ("https://a.example/en/x",)
    assert sitemap.changed == {"https://a.example/de/x": datetime(2026, 5, 1, tzinfo=UTC)}


def test_index() -> None:
    """An index names further sitemaps, and when they changed."""
    sitemap = parse_sitemap(INDEX)
    assert sitemap.sitemaps == ("https://a.example/1.xml.gz", "https://a.example/2.xml")
    assert sitemap.changed == {"https://a.example/1.xml.gz": datetime(2026, 5, 1, 10, tzinfo=UTC)}
    assert sitemap.pages == ()


BROKEN = [
    (
        b"<urlset><url><loc>https://a.example/x</loc></url><url><loc>https://a.exam",
        ("https://a.example/x",),
    ),
    (b"\n\n<urlset><url><loc>https://a.example/x</loc></url></urlset>", ("https://a.example/x",)),
    (
        b"<urlset><url><loc>https://a.example/x?a=1&b=2</loc></url></urlset>",
        ("https://a.example/x?a=1&b=2",),
    ),
    (b"https://a.example/x\nhttps://a.example/y\n", ("https://a.example/x", "https://a.example/y")),
    (
        b"\xef\xbb\xbfhttps://a.example/x\r\nhttps://a.example/y",
        ("https://a.example/x", "https://a.example/y"),
    ),
    (
        "https://a.example/x\nhttps://a.example/ö".encode("utf-16"),
        ("https://a.example/x", "https://a.example/ö"),
    ),
    (b"<rss><channel/></rss>", ()),
    (b"\x00\xff", ()),
]


@pytest.mark.parametrize(("body", "pages"), BROKEN)
def test_broken_sitemaps(body: bytes, pages: tuple[str, ...]) -> None:
    """The readable part of a broken sitemap is parsed."""
    assert parse_sitemap(body).pages[: len(pages) or None] == pages


@given(st.binary(max_size=200), st.text(max_size=40))
def test_nothing_raises(body: bytes, date: str) -> None:
    """Parsing any bytes as a sitemap, or any text as a date, never raises."""
    assert isinstance(parse_sitemap(b"<urlset><url><loc>" + body), SitemapFile)
    assert parse_date(date) is None or parse_date(date) is not None
