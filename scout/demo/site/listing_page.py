"""Listing pages: a list of offers with filters, sorting and page numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from scout.demo.assortment.offers import Offer

PER_PAGE = 12
"""Offers on one page."""

PARAMETERS = ("color", "sort", "page")
"""Parameters of a listing page, in the order in which its links carry them."""

SORT_KEYS: dict[str, Callable[[Offer], Any]] = {
    "price": lambda offer: offer.price,
    "price-desc": lambda offer: -offer.price,
    "name": lambda offer: offer.title,
}

Choice = tuple[str, str, bool]
"""A link of a filter or sorting: label, path, and whether it is the chosen one."""


@dataclass(frozen=True)
class ListingPage:
    """One page of a list of offers.

    `links` are the paths that it links offers with, where not the canonical ones.
    """

    path: str
    offers: tuple[Offer, ...]
    total: int
    page: int
    pages: tuple[tuple[int, str], ...]
    before: str | None
    after: str | None
    colours: tuple[Choice, ...]
    sorts: tuple[Choice, ...]
    filtered: bool
    links: dict[str, str]


def make_listing_page(
    path: str, offers: Sequence[Offer], query: Mapping[str, str], sorts: Mapping[str, str]
) -> ListingPage | None:
    """Make the page at `path` for a query (color, sort, page).

    None where the list has no such page.
    """
    colour, sort = query.get("color", ""), query.get("sort", "")
    shown = [offer for offer in offers if not colour or offer.colour.lower() == colour]
    if sort in SORT_KEYS:
        shown.sort(key=SORT_KEYS[sort])
    # Rounded up; an empty list has one empty page.
    page_count = max(1, -(-len(shown) // PER_PAGE))
    page = int(query["page"]) if query.get("page", "").isdecimal() else 1
    if not 1 <= page <= page_count:
        return None
    numbers = range(1, page_count + 1)
    pages = tuple((number, listing_path(path, query, page=number)) for number in numbers)
    return ListingPage(
        path=path,
        offers=tuple(shown[(page - 1) * PER_PAGE : page * PER_PAGE]),
        total=len(shown),
        page=page,
        pages=pages,
        before=pages[page - 2][1] if page > 1 else None,
        after=pages[page][1] if page < page_count else None,
        colours=_colour_choices(path, query, offers),
        sorts=_sort_choices(path, query, sorts),
        filtered=bool(colour or sort),
        links={offer.path: offer.alternates[0] for offer in offers if offer.alternates},
    )


def _colour_choices(
    path: str, query: Mapping[str, str], offers: Sequence[Offer]
) -> tuple[Choice, ...]:
    choices = []
    for label in sorted({offer.colour for offer in offers}):
        colour = label.lower()
        is_chosen = colour == query.get("color", "")
        choices.append((label, listing_path(path, query, color=colour, page=1), is_chosen))
    return tuple(choices)


def _sort_choices(
    path: str, query: Mapping[str, str], sorts: Mapping[str, str]
) -> tuple[Choice, ...]:
    choices = []
    for key, label in sorts.items():
        is_chosen = key == query.get("sort", "")
        choices.append((label, listing_path(path, query, sort=key, page=1), is_chosen))
    return tuple(choices)


def listing_path(path: str, query: Mapping[str, str], **changes: str | int) -> str:
    """Return the path with the query changed; page 1 and empty values are left out.

    >>> listing_path("/en/deals", {"sort": "price", "page": "2"}, page=3)
    '/en/deals?sort=price&page=3'
    >>> listing_path("/en/deals", {"page": "2"}, page=1)
    '/en/deals'
    """
    changed = {**query, **{key: str(value) for key, value in changes.items()}}
    if changed.get("page") == "1":
        del changed["page"]
    pairs = [(key, changed[key]) for key in PARAMETERS if changed.get(key)]
    return f"{path}?{urlencode(pairs)}" if pairs else path
