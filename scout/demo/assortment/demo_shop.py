"""The demo shop with its truth: what it sells, what its catalog knows, and a score for whoever says what is missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict
from urllib.parse import parse_qs, unquote, urlsplit

from scout.demo.assortment.assortment import make_offers
from scout.demo.assortment.feed import write_feed
from scout.demo.assortment.feed_rows import Row, make_listing
from scout.demo.assortment.offers import Category, Offer

SEED = 2026


class Score(TypedDict):
    """How right a list of missing offers is. `found` and `lost` are canonical paths, `wrong` the URLs as given."""

    precision: float
    recall: float
    found: list[str]
    wrong: list[str]
    lost: list[str]


@dataclass(frozen=True, eq=False)
class Demo:
    """One demo shop; `redesigned` gives the same shop in other markup."""

    seed: int
    redesigned: bool
    offers: tuple[Offer, ...]
    rows: tuple[Row, ...]
    gone: tuple[Offer, ...]

    @classmethod
    def make(cls, seed: int = SEED, redesigned: bool = False) -> "Demo":
        """The shop of that seed, always the same."""
        offers = make_offers(seed)
        listing = make_listing(seed, offers, make_offers(seed + 1))
        return cls(seed, redesigned, offers, listing.rows, listing.gone)

    def feed(self, base_url: str) -> bytes:
        """What the merchant sends to the catalog: Google Merchant XML with links below `base_url`."""
        return write_feed(self.rows, base_url)

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """All categories, in the order of the menu."""
        return tuple(dict.fromkeys(offer.category for offer in self.offers))

    @cached_property
    def known(self) -> frozenset[str]:
        """Canonical paths of the shop's offers that the catalog lists, by a row that it can use."""
        sold = {offer.path for offer in self.offers}
        return frozenset(row.offer.path for row in self.rows if not row.fault) & sold

    def missing(self) -> set[str]:
        """Canonical paths of the offers that the catalog lacks: the truth that `score` measures against."""
        return {offer.path for offer in self.offers} - self.known

    def offer_at(self, url: str) -> Offer | None:
        """The offer that a URL of the shop shows, under whichever of its links; None where it shows none."""
        parts = urlsplit(url)
        path, variant = unquote(parts.path), parse_qs(parts.query).get("variant", [""])[0]
        return self._places.get(f"{path}?variant={variant}") or self._places.get(path)

    @cached_property
    def _places(self) -> dict[str, Offer]:
        return {place: offer for offer in self.offers for place in (offer.path, *offer.alternates)}

    def score(self, urls: Iterable[str]) -> Score:
        """Precision and recall of `urls` as the missing offers; an offer counts once, whichever URLs name it."""
        named = {url: self.offer_at(url) for url in urls}
        lacking = self.missing()
        found = {offer.path for offer in named.values() if offer and offer.path in lacking}
        wrong = {
            offer.path if offer else url: url
            for url, offer in named.items()
            if not offer or offer.path in self.known
        }
        said = len(found) + len(wrong)
        return Score(
            precision=len(found) / said if said else 1.0,
            recall=len(found) / len(lacking) if lacking else 1.0,
            found=sorted(found),
            wrong=sorted(wrong.values()),
            lost=sorted(lacking - found),
        )
