"""The demo shop's robots.txt and sitemaps: one is compressed, some entries are out of date."""

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape

ROBOTS = """# Birkenhall
User-agent: *
Disallow: /checkout
Disallow: /private/

Sitemap: {base}/sitemap.xml
"""
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def robots_txt(base: str) -> str:
    """Return robots.txt; the redirector is not in it, as in many shops."""
    return ROBOTS.format(base=base)


def sitemap_index(base: str, names: Iterable[str]) -> str:
    """Return the index of the sitemaps at these paths."""
    entries = [f"<sitemap><loc>{escape(base + name)}</loc></sitemap>\n" for name in names]
    return f"{HEAD}<sitemapindex {NAMESPACE}>\n{''.join(entries)}</sitemapindex>\n"


def sitemap(base: str, days: Mapping[str, str]) -> str:
    """Return one sitemap, from paths with the days of their last change."""
    entries = []
    for path, day in days.items():
        entries.append(f"<url><loc>{escape(base + path)}</loc><lastmod>{day}</lastmod></url>\n")
    return f"{HEAD}<urlset {NAMESPACE}>\n{''.join(entries)}</urlset>\n"
