"""The shop's site: links of its pages as addresses."""

import tracemalloc

import pytest

from crawler.urls.site import Site
from url_cleaner.urls.url import join_url

BASES = [
    "https://shop.example/",
    "https://shop.example/lamps/red/",
    "https://shop.example/lamps/red.html?page=2#top",
    "http://shop.example/lamps/",
    "https://www.shop.example/lamps/",
    # As a <base> element may write it.
    "https://shop.example",
    "https://shop.example?from=a/b",
]
HREFS = [
    "/",
    "/p/1",
    "/a/../p/1;v=2?x=1#y",
    "//shop.example/p/1",
    "//other.example/p/1",
    "https://shop.example",
    "https://shop.example/p/1?",
    "http://shop.example/a/../p/1",
    "https:///p/1",
    "HTTPS://shop.example/p/1",
    "https:p/1",
    "p/1",
    "../p/1",
    "?page=3",
]


@pytest.mark.parametrize("href", HREFS)
def test_a_link_that_is_shared_between_pages_leads_where_it_leads_on_each(href: str) -> None:
    """Only what of the page's URL decides about a link tells apart what is remembered of it."""
    site = Site("https://shop.example/")
    for base in BASES:
        assert site.resolve(href, base) == site.check(join_url(base, href) or ""), base


def test_long_links_are_not_kept_in_memory() -> None:
    """Thousands of links relative to a very long base are resolved, and none of them is kept."""
    site = Site("https://shop.example/")
    base = f"https://shop.example/{'a' * 20_000}/"
    tracemalloc.start()
    try:
        reasons = {site.resolve(f"p{number}", base) for number in range(1_000)}
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reasons == {"not a link"}
    assert kept < 1_000_000
