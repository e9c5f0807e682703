"""Sitemaps: the addresses that a shop lists itself, in files and in indexes of files, gzipped or not.

Scrapy's `Sitemap` reads the XML: it resolves no entities and mends what is broken. What it does not bound is bounded
here. An entry names a page, when it last changed, its pictures, and the same page in other languages; pictures are no
pages, other languages are pages that come last.
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

LARGEST = 52_428_800
MOST_URLS = 50_000
MOST_FILES = 500
HEAD = 1_000
DEEPEST = 3
BARE = re.compile(rb"&(?![A-Za-z]{1,8};|#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};)")


@dataclass(frozen=True)
class SitemapFile:
    """What one sitemap file lists: pages, their other languages, or further sitemaps; `changed` says when, by URL."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    changed: Mapping[str, datetime] = field(default_factory=dict)


def read_sitemap(body: bytes) -> SitemapFile:
    """The addresses in a sitemap; nothing where it is none.

    >>> read_sitemap(b"<urlset><url><loc> https://a.de/x </loc></url></urlset>").pages
    ('https://a.de/x',)
    >>> read_sitemap(b"<html>not found") == read_sitemap(b"") == SitemapFile()
    True
    """
    if _as_text(body[:HEAD]).lower().startswith(("http://", "https://")):
        return SitemapFile(tuple(_as_text(body).split()[:MOST_URLS]))
    try:
        sitemap = Sitemap(body if b"<![CDATA[" in body else BARE.sub(b"&amp;", body))
        entries = [entry for entry in islice(sitemap, MOST_URLS) if entry["loc"]]
    except (LxmlError, StopIteration, ValueError):
        return SitemapFile()
    found = tuple(entry["loc"] for entry in entries)
    changed = {
        entry["loc"]: when for entry in entries if (when := moment(entry.get("lastmod", "")))
    }
    if sitemap.type == "sitemapindex":
        return SitemapFile(sitemaps=found[:MOST_FILES], changed=changed)
    if sitemap.type != "urlset":
        return SitemapFile()
    others = dict.fromkeys(url for entry in entries for url in entry.get("alternate", ()))
    listed = set(found)
    return SitemapFile(
        found, (), tuple(url for url in others if url not in listed)[:MOST_URLS], changed
    )


def moment(text: str) -> datetime | None:
    """A date as sitemaps write it (W3C): a year, a month, a day, or a time; None where it is none.

    >>> [str(moment(text)) for text in ("2026-05", "2026-05-01T10:00+02:00", "yesterday")]
    ['2026-05-01 00:00:00+00:00', '2026-05-01 08:00:00+00:00', 'None']
    """
    text = text.strip()
    try:
        found = datetime.fromisoformat(
            f"{text}-01-01"[:10] if text[:4].isdigit() and len(text) < 8 else text
        )
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def unpacked(response: Response) -> bytes:
    """The body of a sitemap, unzipped where the file itself is zipped. Raises ValueError, OSError, EOFError."""
    return gunzip(response.body, max_size=LARGEST) if gzip_magic_number(response) else response.body


def _as_text(body: bytes) -> str:
    encoding, mark = read_bom(body)
    return body[len(mark or b"") :].decode(encoding or "utf-8", "ignore").lstrip()
