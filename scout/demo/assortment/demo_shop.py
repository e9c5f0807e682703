"""The demo shop with its truth: offers, the catalog's feed, and a score for missing offers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict
from urllib.parse import parse_qs, unquote, urlsplit

from scout.demo.assortment.feed import write_feed
from scout.demo.assortment.feed_rows import FeedRow, make_feed_contents
from scout.demo.assortment.generator import generate_offers
from scout.demo.assortment.offers import Category, Offer

DEFAULT_SEED = 2026
"""Seed of the demo shop that `scout demo` serves."""


class Score(TypedDict):
    """The score of a list of missing offers.

    `correct` and `missed` are canonical paths, `wrong` the URLs as given.
    """

    precision: float
    recall: float
    correct: list[str]
    wrong: list[str]
    missed: list[str]


@dataclass(frozen=True, eq=False)
class DemoShop:
    """One demo shop; `redesigned` gives the same shop in other markup.

    `gone` are offers that only the feed has.
    """

    seed: int
    redesigned: bool
    offers: tuple[Offer, ...]
    rows: tuple[FeedRow, ...]
    gone: tuple[Offer, ...]

    @classmethod
    def make(cls, seed: int = DEFAULT_SEED, redesigned: bool = False) -> "DemoShop":
        """Make the shop of a seed, always the same."""
        offers = generate_offers(seed)
        contents = make_feed_contents(seed, offers, generate_offers(seed + 1))
        return cls(seed, redesigned, offers, contents.rows, contents.gone)

    def feed(self, base_url: str) -> bytes:
        """Return the catalog's feed: Google Merchant XML with links below `base_url`."""
        return write_feed(self.rows, base_url)

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """All categories, in the order of the menu."""
        return tuple(dict.fromkeys(offer.category for offer in self.offers))

    @cached_property
    def known(self) -> frozenset[str]:
        """Canonical paths of the shop's offers that the catalog lists, by a usable row."""
        sold = {offer.path for offer in self.offers}
        return frozenset(row.offer.path for row in self.rows if not row.fault) & sold

    def missing(self) -> set[str]:
        """Return the canonical paths of the offers that the catalog lacks: the truth of `score`."""
        return {offer.path for offer in self.offers} - self.known

    def offer_at(self, url: str) -> Offer | None:
        """Return the offer that a URL of the shop shows, under any of its links.

        None where it shows none.
        """
        parts = urlsplit(url)
        path, variant = unquote(parts.path), parse_qs(parts.query).get("variant", [""])[0]
        # Members of a family have the variant in their path; the variants of one offer do not.
        return self._offers_by_path.get(f"{path}?variant={variant}") or self._offers_by_path.get(
            path
        )

    @cached_property
    def _offers_by_path(self) -> dict[str, Offer]:
        by_path = {}
        for offer in self.offers:
            for path in (offer.path, *offer.alternates):
                by_path[path] = offer
        return by_path

    def score(self, urls: Iterable[str]) -> Score:
        """Score URLs as the list of missing offers; an offer counts once, under any of its URLs."""
        lacking = self.missing()
        correct: set[str] = set()
        wrong: dict[str, str] = {}
        for url in urls:
            offer = self.offer_at(url)
            if offer is None:
                wrong[url] = url
            elif offer.path in lacking:
                correct.add(offer.path)
            else:
                wrong[offer.path] = url
        named = len(correct) + len(wrong)
        return Score(
            precision=len(correct) / named if named else 1.0,
            recall=len(correct) / len(lacking) if lacking else 1.0,
            correct=sorted(correct),
            wrong=sorted(wrong.values()),
            missed=sorted(lacking - correct),
        )
