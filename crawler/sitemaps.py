"""Sitemaps: the addresses that a shop lists itself, in files and in indexes of files, gzipped or not.

Scrapy's `Sitemap` reads the XML: it resolves no entities and mends what is broken. What it does not bound is bounded
here.
"""

from dataclasses import dataclass
from itertools import islice

from lxml.etree import LxmlError
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap

LARGEST = 52_428_800
MOST_URLS = 50_000
MOST_FILES = 500
DEEPEST = 3


@dataclass(frozen=True)
class SitemapFile:
    """What one sitemap file lists: pages, or further sitemaps."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(body: bytes) -> SitemapFile:
    """The addresses in a sitemap; nothing where it is none.

    >>> read_sitemap(b"<urlset><url><loc> https://a.de/x </loc></url></urlset>").pages
    ('https://a.de/x',)
    >>> read_sitemap(b"<html>not found"), read_sitemap(b"")
    (SitemapFile(pages=(), sitemaps=()), SitemapFile(pages=(), sitemaps=()))
    """
    if _is_text(body):
        return SitemapFile(tuple(body.decode("utf-8", "ignore").split()[:MOST_URLS]))
    try:
        sitemap = Sitemap(body)
        found = tuple(entry["loc"] for entry in islice(sitemap, MOST_URLS) if entry["loc"])
    except (LxmlError, StopIteration, ValueError):
        return SitemapFile()
    if sitemap.type == "sitemapindex":
        return SitemapFile(sitemaps=found[:MOST_FILES])
    return SitemapFile(found) if sitemap.type == "urlset" else SitemapFile()


def unpacked(response: Response) -> bytes:
    """The body of a sitemap, unzipped where the file itself is zipped. Raises ValueError, OSError, EOFError."""
    return gunzip(response.body, max_size=LARGEST) if gzip_magic_number(response) else response.body


def _is_text(body: bytes) -> bool:
    return body.lstrip()[:8].lower().startswith((b"http://", b"https://"))
