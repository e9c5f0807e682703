"""What the demo shop tells machines: robots.txt and its sitemaps, one of them packed, some entries out of date."""

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


def robots(base: str) -> str:
    """robots.txt; the redirector is not in it, as shops forget to."""
    return ROBOTS.format(base=base)


def sitemap_index(base: str, names: Iterable[str]) -> str:
    """The sitemap of the sitemaps."""
    inside = "".join(f"<sitemap><loc>{escape(base + name)}</loc></sitemap>\n" for name in names)
    return f"{HEAD}<sitemapindex {NAMESPACE}>\n{inside}</sitemapindex>\n"


def sitemap(base: str, paths: Mapping[str, str]) -> str:
    """One sitemap: path to the day of its last change."""
    inside = "".join(
        f"<url><loc>{escape(base + path)}</loc><lastmod>{day}</lastmod></url>\n"
        for path, day in paths.items()
    )
    return f"{HEAD}<urlset {NAMESPACE}>\n{inside}</urlset>\n"
