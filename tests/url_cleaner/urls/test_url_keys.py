"""Comparison keys of URLs: which spellings are one page. Links are resolved against a page."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from url_cleaner.urls.url import Url, join_url, url_key

ONE_PAGE = {
    "case of escapes": ("https://shop.com/gr%c3%bcn", "https://shop.com/gr%C3%BCn"),
    "letters and escapes": ("https://shop.com/grün", "https://shop.com/gr%c3%bcn"),
    "escapes of unreserved characters": ("https://shop.com/%7Ea%2Db", "https://shop.com/~a-b"),
    "scheme and www": ("http://www.shop.com/a", "https://shop.com/a"),
}
TWO_PAGES = {
    "escaped slash": ("https://shop.com/a%2fb", "https://shop.com/a/b"),
    "escaped twice": ("https://shop.com/%25c3", "https://shop.com/%c3"),
    "other letters": ("https://shop.com/%c3%bc", "https://shop.com/%c3%b6"),
    "no escapes": ("https://shop.com/c3", "https://shop.com/C3"),
}


@pytest.mark.parametrize("pair", ONE_PAGE.values(), ids=ONE_PAGE.keys())
def test_spellings_of_one_page(pair: tuple[str, str]) -> None:
    """Spellings that servers must treat alike (RFC 3986, 6.2.2) have one key."""
    first, second = map(Url.parse, pair)
    assert first.page_key == second.page_key
    assert url_key(str(first)) == url_key(str(second))


@pytest.mark.parametrize("pair", TWO_PAGES.values(), ids=TWO_PAGES.keys())
def test_different_pages(pair: tuple[str, str]) -> None:
    """Spellings that a server may tell apart have different keys."""
    first, second = map(Url.parse, pair)
    assert first.page_key != second.page_key
    assert url_key(str(first)) != url_key(str(second))


@given(
    base=st.sampled_from(
        (
            "https://shop.example/a/b?x#y",
            "http://shop.example:8000",
            "https://Shop.example",
            "http://[::1]/x",
            "https://ann:secret@shop.example/",
            "https://shop.example:80a/",
            "shop.example",
        )
    ),
    href=st.text("/aB0.-~%2F?#=&;:@ \\é\t", max_size=12).map("/".__add__),
)
def test_links_are_joined_as_the_standard_library_does(base: str, href: str) -> None:
    """The short way for plain paths gives the same URL as the general one."""
    try:
        expected = urljoin(base, href)
    except ValueError:
        expected = None
    assert join_url(base, href) == expected
