"""The fetched pages of a shop, as the store keeps them."""

from pathlib import Path

import pytest

from catalog.bodies import Bodies
from catalog.errors import HostilePage
from catalog.markup import LARGEST_TRUSTED
from parser.pages import CrawledPage, Opener, by_folder


def page(place: int, url: str, canonical: str | None = None) -> CrawledPage:
    """A page whose body is not looked at."""
    return CrawledPage(place, f"https://shop.example{url}", canonical, "")


def test_each_folder_of_a_shop_has_its_turn() -> None:
    """Three categories among hundreds of offers are among the first, and each page is there once."""
    offers = [page(place, f"/p/{place}.html") for place in range(300)]
    others = [page(900, "/c/lamps"), page(901, "/c/chairs"), page(902, "/c/tables"), page(903, "/imprint")]
    repeated = page(904, "/sale/p/7.html", canonical=offers[7].url)
    ordered = by_folder([*offers, *others, repeated])
    assert {one.page_id for one in ordered[:8]} >= {900, 901, 902, 903}
    assert sorted(one.address for one in ordered) == sorted(one.address for one in [*offers, *others])
    assert by_folder([*offers, *others, repeated]) == ordered


def test_of_very_large_pages_nothing_is_taken_on_trust(tmp_path: Path) -> None:
    """A page of a megabyte is looked at again, whoever has stored it: its parse might take minutes."""
    attributes = " ".join(f"a{number}=1" for number in range(200_000))
    stored = Bodies(tmp_path).put(f"<p {attributes}>x</p>".ljust(LARGEST_TRUSTED).encode())
    with pytest.raises(HostilePage, match="attributes"):
        Opener(str(tmp_path)).open(CrawledPage(1, "https://shop.example/p/1", None, stored), trusted=True)
