"""Versions of pages in other languages that a sitemap names, as `xhtml:link` elements of its entries.

Scrapy's `Sitemap` returns their addresses without the languages. So a sitemap with languages is
read a second time.
"""

from collections import defaultdict
from io import BytesIO

from lxml import etree

MAX_ENTRIES = 50_000  # entries of a file; sitemaps.org allows as many
MAX_LINKS = 2_000_000  # versions of all entries; bound
MAX_ENTRY_LINKS = 200  # versions of an entry; bound


def parse_sitemap_alternates(body: bytes) -> dict[str, list[tuple[str, str]]]:
    """Return {page URL: pairs of hreflang code and URL} as the sitemap writes them.

    >>> entry = b'<url><loc>/x</loc><l:link rel="alternate" hreflang="en" href="/en/x"/></url>'
    >>> parse_sitemap_alternates(b'<urlset xmlns:l="http://www.w3.org/1999/xhtml">%b</urlset>' % entry)
    {'/x': [('en', '/en/x')]}
    """
    # libxml2 expands entities in attributes whatever its options; no sitemap needs them.
    if b"hreflang" not in body or b"<!ENTITY" in body:
        return {}
    alternates: dict[str, list[tuple[str, str]]] = defaultdict(list)
    entries = links = 0
    parser = etree.iterparse(
        BytesIO(body), events=("end",), recover=True, resolve_entities=False, no_network=True
    )
    try:
        for _, element in parser:
            if _local_name(element) != "url":
                continue
            entries += 1
            if entries > MAX_ENTRIES or links > MAX_LINKS:
                break
            url, pairs = _read_entry(element)
            if url and pairs:
                alternates[url] += pairs
                links += len(pairs)
            element.clear()
    except etree.LxmlError:
        return dict(alternates)
    return dict(alternates)


def _read_entry(element: etree._Element) -> tuple[str, list[tuple[str, str]]]:
    """Return the URL of an entry, and its pairs of hreflang code and URL."""
    url = ""
    pairs: list[tuple[str, str]] = []
    for child in element:
        name = _local_name(child)
        if name == "loc":
            url = (child.text or "").strip()
        elif name == "link" and child.get("href") and len(pairs) < MAX_ENTRY_LINKS:
            pairs.append((child.get("hreflang", ""), child.get("href", "").strip()))
    return url, pairs


def _local_name(element: etree._Element) -> str:
    # The tag of a comment is a function.
    return str(element.tag).rpartition("}")[2]
