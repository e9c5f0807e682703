"""Sitemap files (sitemaps.org): the pages that a shop lists, as XML, text, or an index of files.

RSS, Atom and RDF feeds are sitemaps as well. An entry names a page, its last change, its images,
and the same page in other languages. Images are ignored; other languages are pages with a low
priority. The content type says nothing: shops send sitemaps as HTML, and HTML as sitemaps.
"""

import re
import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from gzip import GzipFile
from io import BytesIO

from w3lib.encoding import read_bom

from catalog.page_encoding import UTF8, detect_encoding
from crawler.discovery.sitemap_markup import BLANKS, HTML_ROOT, Entry, MarkupReader
from url_cleaner.errors import BadUrl
from url_cleaner.urls.url import HOST_PREFIX_LENGTH, Url, join_url, starts_with_host

MAX_SIZE = 52_428_800  # bytes of a file, unpacked; sitemaps.org allows as many
MAX_URLS = 50_000  # of a file; sitemaps.org allows as many
MAX_FILES = 500  # sitemaps of a shop; bound
MAX_ENTRY_VERSIONS = 200  # versions of a page by language; bound
MAX_DEPTH = 3  # levels of indexes; sitemaps.org allows one
TEXT_START_SIZE = 4_000  # characters in which a text sitemap shows its first URL
MAX_UNZIPS = 2  # a file that is gzipped, sent by a server that gzips all files
BLOCK_SIZE = 65_536  # bytes unzipped at a time
GZIP_MAGIC = b"\x1f\x8b\x08"
# Half of the bytes of ASCII characters are zero in UTF-16.
UTF16_STARTS = {b"<\x00": "utf-16-le", b"\x00<": "utf-16-be", b"h\x00": "utf-16-le"}

# Reasons under which files are counted that cannot be read, and entries that are left out.
EMPTY = "empty"
HTML_PAGE = "html page"
NO_SITEMAP = "no sitemap"
BROKEN_GZIP = "broken gzip"
TOO_LONG = f"more than {MAX_SIZE // 1024**2} MB"
TOO_MANY_ENTRIES = f"more than {MAX_URLS} entries"
TOO_MANY_ALTERNATES = f"more than {MAX_URLS} addresses in other languages"
NO_ADDRESS_IN_LINE = "line without an address"

_ABSOLUTE = re.compile(r"https?:/", re.IGNORECASE)
_TEXT_ADDRESS = re.compile(r"(?:https?:/|//?[^\s/*]|www\.)\S*", re.IGNORECASE)
_LINE_END = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class SitemapFile:
    """Contents of one sitemap: pages, their other languages, or further sitemaps.

    `versions` maps pages to pairs of a language and a URL, as `hreflang` names them. `changed` maps
    URLs to times, `skipped` reasons to the number of entries left out. `problem` is
    the reason why the whole file cannot be read, "" where it can.
    """

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    versions: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    changed: Mapping[str, datetime] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


def parse_sitemap(body: bytes, url: str = "") -> SitemapFile:
    """Parse a sitemap; its relative addresses are resolved against its own `url`.

    >>> parse_sitemap(b"<urlset><url><loc> https://a.de/x </loc></url></urlset>").pages
    ('https://a.de/x',)
    >>> parse_sitemap(b"<rss><item><link>/x</link></item></rss>", "https://a.de/feed").pages
    ('https://a.de/x',)
    >>> parse_sitemap(b"<html>not found").problem, parse_sitemap(b"").problem
    ('html page', 'empty')
    """
    text = _decode(body).lstrip(BLANKS)
    if not text:
        return SitemapFile(problem=EMPTY)
    if _is_text(text[:TEXT_START_SIZE], url):
        return _parse_lines(text, url)
    return _parse_markup(text, url)


def parse_sitemap_file(body: bytes, url: str) -> SitemapFile:
    """Parse a sitemap, gzipped once or more; of a broken one, the part that can be read."""
    skipped: Counter[str] = Counter()
    for _ in range(MAX_UNZIPS):
        if not body.startswith(GZIP_MAGIC):
            break
        body, problem = _unzip(body)
        if problem and not body:
            return SitemapFile(problem=problem)
        if problem:
            skipped[problem] += 1
    sitemap = parse_sitemap(body[:MAX_SIZE], url)
    skipped.update(sitemap.skipped)
    return replace(sitemap, skipped=skipped)


def absolute_address(text: str, base: str) -> str:
    """Complete an address that lacks its scheme or host.

    >>> absolute_address("/x", "https://a.de/maps/1.xml"), absolute_address("a.de/x", "https://a.de/1")
    ('https://a.de/x', '//a.de/x')
    """
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    if not base or _ABSOLUTE.match(text):
        return text
    start = text[:HOST_PREFIX_LENGTH].lower()
    home = _parsed(base)
    if start.startswith("www.") or (home and starts_with_host(start, home)):
        return f"//{text}"
    return join_url(base, text) or text


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


def _unzip(body: bytes) -> tuple[bytes, str]:
    """Unzip as much of a file as can be; returns it, and the reason why it is not all."""
    blocks: list[bytes] = []
    size = 0
    with GzipFile(fileobj=BytesIO(body)) as file:
        try:
            while block := file.read1(BLOCK_SIZE):
                blocks.append(block)
                size += len(block)
                if size > MAX_SIZE:
                    return b"".join(blocks), TOO_LONG
        except (EOFError, OSError, zlib.error, struct.error):
            return b"".join(blocks), BROKEN_GZIP
    return b"".join(blocks), ""


def _decode(body: bytes) -> str:
    """Decode a file: as UTF-8 where it is valid, else as it declares, else as pages are."""
    encoding, bom = read_bom(body)
    if encoding and bom:
        return body[len(bom) :].decode(encoding, "replace")
    if encoding := UTF16_STARTS.get(body[:2], ""):
        return body.decode(encoding, "replace")
    try:
        return body.decode(UTF8)
    except UnicodeDecodeError:
        encoding = detect_encoding(body).name
    if encoding == UTF8:
        # The declaration may be wrong: behind it, the bytes decide.
        encoding = detect_encoding(body[body.find(b"?>") + 2 :]).name
    return body.decode(encoding, "replace")


def _is_text(start: str, base: str) -> bool:
    """Return True if the first line that is no comment begins with an address."""
    for line in _LINE_END.split(start):
        if line.strip() and not line.startswith("#"):
            return _is_address(line.split()[0], base)
    return False


def _is_address(text: str, base: str) -> bool:
    if "<" in text:
        return False
    if _TEXT_ADDRESS.fullmatch(text):
        return True
    home = _parsed(base)
    return home is not None and starts_with_host(text[:HOST_PREFIX_LENGTH].lower(), home)


@lru_cache(maxsize=16)
def _parsed(url: str) -> Url | None:
    try:
        return Url.parse(url)
    except BadUrl:
        return None


def _parse_lines(text: str, base: str) -> SitemapFile:
    pages: list[str] = []
    skipped: Counter[str] = Counter()
    for line in _LINE_END.split(text):
        if not line.strip() or line.startswith("#"):
            continue
        addresses = [word for word in line.split() if _is_address(word, base)]
        if not addresses:
            skipped[NO_ADDRESS_IN_LINE] += 1
        elif len(pages) + len(addresses) > MAX_URLS:
            skipped[TOO_MANY_ENTRIES] += 1
        else:
            pages += [absolute_address(address, base) for address in addresses]
    return SitemapFile(tuple(pages), skipped=skipped)


def _parse_markup(text: str, base: str) -> SitemapFile:
    reader = MarkupReader(text)
    contents = _Contents(base)
    for count, entry in enumerate(reader):
        if count >= MAX_URLS:
            reader.skipped[TOO_MANY_ENTRIES] += 1
            continue
        contents.add(entry, is_index=entry.name == "sitemap" or reader.root == "sitemapindex")
    if reader.root == HTML_ROOT:
        return SitemapFile(problem=HTML_PAGE)
    if not reader.root and not contents.pages and not contents.sitemaps:
        return SitemapFile(problem=NO_SITEMAP)
    alternates = [url for url in contents.alternates if url not in contents.pages]
    if len(alternates) > MAX_URLS:
        reader.skipped[TOO_MANY_ALTERNATES] += len(alternates) - MAX_URLS
    return SitemapFile(
        tuple(contents.pages),
        tuple(contents.sitemaps),
        tuple(alternates[:MAX_URLS]),
        contents.versions,
        contents.changed,
        reader.skipped,
    )


class _Contents:
    """Addresses of the entries of one file, each once, in their order."""

    def __init__(self, base: str) -> None:
        self.pages: dict[str, None] = {}
        self.sitemaps: dict[str, None] = {}
        self.alternates: dict[str, None] = {}
        self.versions: dict[str, tuple[tuple[str, str], ...]] = {}
        self.changed: dict[str, datetime] = {}
        self._base = base

    def add(self, entry: Entry, *, is_index: bool) -> None:
        base = self._base
        for outer in entry.bases:
            base = join_url(base, outer) or base
        time = parse_date(entry.changed) if entry.changed else None
        for text in entry.addresses:
            address = absolute_address(text, base)
            urls = self.sitemaps if is_index else self.pages
            urls[address] = None
            if time:
                self.changed[address] = time
        versions: list[tuple[str, str]] = []
        for language, text in entry.alternates:
            address = absolute_address(text, base)
            self.alternates[address] = None
            if language and len(versions) < MAX_ENTRY_VERSIONS:
                versions.append((language, address))
        if versions and not is_index:
            self.versions[absolute_address(entry.addresses[0], base)] = tuple(versions)
