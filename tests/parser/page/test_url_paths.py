"""Paths of URLs."""

import pytest

from parser.page.url_paths import is_home_page, url_folder, url_path

HOME_PAGES = [
    ("https://shop.example", True),
    ("https://shop.example/", True),
    ("https://shop.example/index.php", True),
    ("/Home/", True),
    ("https://shop.example/#top", True),
    ("https://shop.example/?p=12", False),
    ("https://shop.example/home-decor", False),
    ("https://shop.example/en/", False),
]


@pytest.mark.parametrize(("url", "expected"), HOME_PAGES)
def test_home_pages(url: str, expected: bool) -> None:
    """A home page has no path but the name of an index file."""
    assert is_home_page(url) is expected


def test_folders_of_a_url() -> None:
    """The folder of a URL is its path without the last step, query and fragment."""
    url = "https://shop.example/de/p/1?a=/b/#c/d"
    assert (url_path(url), url_folder(url)) == ("/de/p/1", "/de/p")
    assert url_folder("https://shop.example/1") == ""
