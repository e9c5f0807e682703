"""A category's page: which offers stand on it, in which order, and where its filters and page numbers lead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from scout.demo.assortment.offers import Offer

PER_PAGE = 12
Choice = tuple[str, str, bool]


@dataclass(frozen=True)
class Shelf:
    """One page of a list of offers. `links` gives the path under which an offer is linked, where not its own."""

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


def make_shelf(
    path: str, offers: Sequence[Offer], query: Mapping[str, str], sorts: Mapping[str, str]
) -> Shelf | None:
    """The list at `path` as `query` (color, sort, page) wants it; None where it has no such page."""
    colour, sort = query.get("color", ""), query.get("sort", "")
    shown = [offer for offer in offers if not colour or offer.colour.lower() == colour]
    order = {
        "price": lambda offer: offer.price,
        "price-desc": lambda offer: -offer.price,
        "name": lambda offer: offer.title,
    }
    shown = sorted(shown, key=order[sort]) if sort in order else shown
    count = max(1, -(-len(shown) // PER_PAGE))
    page = int(query["page"]) if query.get("page", "").isdecimal() else 1
    if not 1 <= page <= count:
        return None
    pages = tuple((number, address(path, query, page=number)) for number in range(1, count + 1))
    tints = sorted({offer.colour for offer in offers})
    return Shelf(
        path=path,
        offers=tuple(shown[(page - 1) * PER_PAGE : page * PER_PAGE]),
        total=len(shown),
        page=page,
        pages=pages,
        before=pages[page - 2][1] if page > 1 else None,
        after=pages[page][1] if page < count else None,
        colours=tuple(
            (tint, address(path, query, color=tint.lower(), page=1), tint.lower() == colour)
            for tint in tints
        ),
        sorts=tuple(
            (label, address(path, query, sort=key, page=1), key == sort)
            for key, label in sorts.items()
        ),
        filtered=bool(colour or sort),
        links={offer.path: offer.alternates[0] for offer in offers if offer.alternates},
    )


def address(path: str, query: Mapping[str, str], **changes: str | int) -> str:
    """The path with the query changed; page 1 and empty values are left out.

    >>> address("/en/deals", {"sort": "price", "page": "2"}, page=3), address("/en/deals", {"page": "2"}, page=1)
    ('/en/deals?sort=price&page=3', '/en/deals')
    """
    wanted = {**query, **{key: str(value) for key, value in changes.items()}}
    kept = [(key, wanted[key]) for key in ("color", "sort", "page") if wanted.get(key)]
    said = urlencode([(key, value) for key, value in kept if (key, value) != ("page", "1")])
    return f"{path}?{said}" if said else path
