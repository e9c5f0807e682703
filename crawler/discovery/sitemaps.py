"""Sitemap files (sitemaps.org): the pages that a shop lists, as XML, text, or an index of files.

Scrapy's `Sitemap` parses the XML: it resolves no entities and repairs broken markup. This module
adds bounds on size and number. An entry names a page, its last change, its images, and the same
page in other languages. Images are ignored; other languages are pages with a low priority.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from lxml.etree import LxmlError
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap
from w3lib.encoding import read_bom

MAX_SIZE = 52_428_800  # bytes of a file, unpacked; sitemaps.org allows as many
MAX_URLS = 50_000  # of a file; sitemaps.org allows as many
MAX_FILES = 500  # sitemaps of a shop; bound
MAX_DEPTH = 3  # levels of indexes; sitemaps.org allows one
TEXT_START_SIZE = 1_000  # bytes in which a text sitemap shows its first URL
BARE_AMPERSAND = re.compile(rb"&(?![A-Za-z]{1,8};|#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};)")


@dataclass(frozen=True)
class SitemapFile:
    """Contents of one sitemap: pages, their other languages, or further sitemaps.

    `changed` maps URLs to times.
    """

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    changed: Mapping[str, datetime] = field(default_factory=dict)


def parse_sitemap(body: bytes) -> SitemapFile:
    """Parse a sitemap; empty if the body is none.

    >>> parse_sitemap(b"<urlset><url><loc> https://a.de/x </loc></url></urlset>").pages
    ('https://a.de/x',)
    >>> parse_sitemap(b"<html>not found") == parse_sitemap(b"") == SitemapFile()
    True
    """
    if _decode(body[:TEXT_START_SIZE]).lower().startswith(("http://", "https://")):
        return SitemapFile(tuple(_decode(body).split()[:MAX_URLS]))
    if b"<![CDATA[" not in body:
        # Within CDATA a bare ampersand is correct, and escaping it would change the URL.
        body = BARE_AMPERSAND.sub(b"&amp;", body)
    try:
        sitemap = Sitemap(body)
        entries = [entry for entry in islice(sitemap, MAX_URLS) if entry["loc"]]
    except (LxmlError, StopIteration, ValueError):
        return SitemapFile()
    urls = tuple(entry["loc"] for entry in entries)
    changed: dict[str, datetime] = {}
    for entry in entries:
        if time := parse_date(entry.get("lastmod", "")):
            changed[entry["loc"]] = time
    if sitemap.type == "sitemapindex":
        return SitemapFile(sitemaps=urls[:MAX_FILES], changed=changed)
    if sitemap.type != "urlset":
        return SitemapFile()
    listed = set(urls)
    alternates: dict[str, None] = {}
    for entry in entries:
        for url in entry.get("alternate", ()):
            if url not in listed:
                alternates[url] = None
    return SitemapFile(urls, (), tuple(alternates)[:MAX_URLS], changed)


def parse_date(text: str) -> datetime | None:
    """Parse a date as sitemaps write it (W3C): a year, a month, a day, or a time.

    Returns None for any other text.

    >>> [str(parse_date(text)) for text in ("2026-05", "2026-05-01T10:00+02:00", "yesterday")]
    ['2026-05-01 00:00:00+00:00', '2026-05-01 08:00:00+00:00', 'None']
    """
    text = text.strip()
    if text[:4].isdigit() and len(text) < len("YYYY-MM-"):
        text = f"{text}-01-01"[: len("YYYY-MM-DD")]
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def unzipped_body(response: Response) -> bytes:
    """Return a sitemap's body, unzipped if the file itself is gzipped.

    Raises ValueError, OSError, EOFError.
    """
    if gzip_magic_number(response):
        return gunzip(response.body, max_size=MAX_SIZE)
    return response.body


def _decode(body: bytes) -> str:
    encoding, mark = read_bom(body)
    return body[len(mark or b"") :].decode(encoding or "utf-8", "ignore").lstrip()
