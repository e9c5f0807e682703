"""Comparison keys of URLs: which spellings are one page."""

import pytest

from url_cleaner.urls.url import Url, url_key

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
