"""Paths of URLs: the folders that they name, and whether they lead to the home page."""

import re

HOST = r"(?:[^/?#]*//[^/?#]*)?"
PATH = re.compile(rf"{HOST}([^?#]*)")
HOME_PAGE = re.compile(
    rf"{HOST}(?:/?|/(?:index|home|default)(?:\.\w{{2,5}})?/?)(?:#.*)?", re.IGNORECASE
)


def is_home_page(url: str) -> bool:
    """Return True for a shop's home page, which may show a product but is no offer page.

    >>> is_home_page("https://shop.example/index.html"), is_home_page("https://shop.example/?p=12")
    (True, False)
    """
    return HOME_PAGE.fullmatch(url) is not None


def url_folder(url: str) -> str:
    """Return the path of a URL without its last step.

    >>> url_folder("https://shop.example/de/p/1?a=/b/")
    '/de/p'
    """
    return url_path(url).rstrip("/").rpartition("/")[0]


def url_path(url: str) -> str:
    """Return the path of a URL.

    >>> url_path("https://shop.example/de/p/1?a=/b/")
    '/de/p/1'
    """
    match = PATH.match(url)
    if match is None:
        return ""
    return match[1]
