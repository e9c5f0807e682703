"""Feed health: what is wrong with what the catalog knows, apart from what it lacks.

Rejected rows by reason, links that cannot be read, listed offers whose price or title on the page is another than in
the catalog, and catalog offers that the run has not seen on the shop.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from rapidfuzz.fuzz import token_sort_ratio
from sqlalchemy import select
from sqlmodel import Session, col

from catalog.models import BadRow, KnownOffer, Shop
from reports.causes.gaps import Feed
from reports.statistics.coverage import Pages, Sight, known_is_paired, page_of, sight
from reports.statistics.findings_reader import Finding, amount, plain, text

_BATCH = 1000
_ALIKE = 85
_EXAMPLES = 3
_REASONS = 1000


@dataclass(slots=True, frozen=True)
class PriceDifference:
    """A listed offer whose price on the page is not the catalog's."""

    url: str
    title: str | None
    currency: str | None
    page: Decimal
    catalog: Decimal

    @property
    def share(self) -> float | None:
        """How much the page's price is above the catalog's; None where the latter is nought."""
        return float((self.page - self.catalog) / self.catalog) if self.catalog else None

    def as_row(self) -> dict[str, Any]:
        """As JSON."""
        share = self.share
        return {
            "url": self.url,
            "title": self.title,
            "currency": self.currency,
            "price_on_page": plain(self.page),
            "price_in_catalog": plain(self.catalog),
            "difference": None if share is None else round(share, 4),
        }


@dataclass(slots=True, frozen=True)
class TitleDifference:
    """A listed offer whose title on the page reads otherwise than the catalog's; `alike` from 0 to 100."""

    url: str
    page: str
    catalog: str
    alike: float

    def as_row(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "url": self.url,
            "title_on_page": self.page,
            "title_in_catalog": self.catalog,
            "alike": round(self.alike),
        }


@dataclass(slots=True, frozen=True)
class Unseen:
    """A catalog offer that the run has not seen on the shop, and what became of its page."""

    ref: str
    title: str | None
    price: Decimal | None
    currency: str | None
    url: str | None
    sight: Sight
    reason: str | None

    def as_row(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "ref": self.ref,
            "title": self.title,
            "price": plain(self.price),
            "currency": self.currency,
            "url": self.url,
            "what": str(self.sight),
            "reason": self.reason,
        }


@dataclass(slots=True)
class BadReason:
    """A reason for which rows were rejected, with a few of them (source, line, raw text)."""

    reason: str
    rows: int = 0
    examples: list[tuple[str, int, str]] = field(default_factory=list)

    def as_row(self) -> dict[str, Any]:
        """As JSON."""
        examples = [
            {"source": source, "line": line, "raw": raw} for source, line, raw in self.examples
        ]
        return {"reason": self.reason, "rows": self.rows, "examples": examples}


@dataclass
class Health:
    """What is found while the findings, the feed's offers and its bad rows stream by."""

    feed: Feed = field(default_factory=Feed)
    links: Counter[str] = field(default_factory=Counter)
    bad: dict[str, BadReason] = field(default_factory=dict)
    bad_rows: int = 0
    prices: list[PriceDifference] = field(default_factory=list)
    titles: list[TitleDifference] = field(default_factory=list)
    prices_compared: int = 0
    titles_compared: int = 0
    unseen: list[Unseen] = field(default_factory=list)

    def add_listed(self, finding: Finding) -> None:
        """Compare a listed offer with the catalog's."""
        near = finding.nearest
        if near is None or finding.known_id is None:
            return
        if (
            finding.price is not None
            and near.price is not None
            and near.currency in (None, finding.currency)
        ):
            self.prices_compared += 1
            if finding.price != near.price:
                self.prices.append(
                    PriceDifference(
                        finding.url, finding.title, finding.currency, finding.price, near.price
                    )
                )
        if finding.title and near.title:
            self.titles_compared += 1
            alike = alikeness(finding.title, near.title)
            if alike < _ALIKE:
                self.titles.append(TitleDifference(finding.url, finding.title, near.title, alike))

    def watched(self, session: Session, shop: Shop) -> Iterator[tuple[str, int, str, str]]:
        """The feed's bad rows (source, line, reason, raw), counted as they pass."""
        columns: list[Any] = [
            col(BadRow.source),
            col(BadRow.line),
            col(BadRow.reason),
            col(BadRow.raw),
        ]
        query = select(*columns).where(col(BadRow.shop_id) == shop.id).order_by(col(BadRow.id))
        for source, line, reason, raw in session.connection().execute(
            query.execution_options(yield_per=_BATCH)
        ):
            clean, where = (
                text(reason, 200) or "no reason given",
                text(source.rsplit("/", 1)[-1], 80) or "the feed",
            )
            self.bad_rows += 1
            known = clean if clean in self.bad or len(self.bad) < _REASONS else "other reasons"
            entry = self.bad.setdefault(known, BadReason(known))
            entry.rows += 1
            if len(entry.examples) < _EXAMPLES:
                entry.examples.append((where, line, text(raw, 300) or ""))
            yield where, line, clean, raw

    def read_feed(self, session: Session, shop: Shop, currency: str | None) -> None:
        """Count the catalog's offers of the shop by brand and category, and how their links are."""
        unlinked = col(KnownOffer.url).is_(None)
        columns: list[Any] = [
            col(KnownOffer.brand),
            col(KnownOffer.category),
            col(KnownOffer.price),
        ]
        columns += [col(KnownOffer.currency), unlinked, col(KnownOffer.opaque)]
        query = (
            select(*columns)
            .where(col(KnownOffer.shop_id) == shop.id)
            .execution_options(yield_per=_BATCH)
        )
        for brand, category, price, money, no_url, opaque in session.connection().execute(query):
            self.feed.add(brand, category, price, money or currency)
            self.links["opaque" if opaque else "broken" if no_url else "readable"] += 1

    def read_unseen(self, session: Session, shop: Shop, run_id: int, pages: Pages) -> None:
        """List the catalog's offers that the run has not paired, the dearest first; `pages` are those they link to."""
        offer = (
            KnownOffer.ref,
            KnownOffer.title,
            KnownOffer.price,
            KnownOffer.currency,
            KnownOffer.url,
        )
        mine = (col(KnownOffer.shop_id) == shop.id) & ~known_is_paired(run_id)
        columns: list[Any] = [*map(col, offer)]
        query = select(*columns).where(mine).execution_options(yield_per=_BATCH)
        for ref, title, price, currency, url in session.connection().execute(query):
            page = page_of(url, pages)
            why = text(page.reason, 120) or (page.state and f"page {page.state}")
            money = amount(price), text(currency, 8)
            what = sight(False, url, page)
            self.unseen.append(
                Unseen(text(ref, 120) or "", text(title), *money, text(url, 2000), what, why)
            )
        self.unseen.sort(key=lambda one: (-(one.price or 0), one.ref))

    def done(self) -> "Health":
        """Put the most telling first: great price differences, titles least alike, frequent reasons."""
        self.prices.sort(key=lambda one: (-abs(one.page - one.catalog), one.url))
        self.titles.sort(key=lambda one: (one.alike, one.url))
        self.bad = dict(sorted(self.bad.items(), key=lambda pair: (-pair[1].rows, pair[0])))
        return self

    def as_json(self) -> dict[str, Any]:
        """The figures, without the lists."""
        return {
            "known_offers": self.feed.offers,
            "links": {kind: self.links[kind] for kind in ("readable", "opaque", "broken")},
            "bad_rows": self.bad_rows,
            "prices_compared": self.prices_compared,
            "prices_differ": len(self.prices),
            "titles_compared": self.titles_compared,
            "titles_differ": len(self.titles),
            "not_seen_on_the_shop": len(self.unseen),
            "bad_rows_by_reason": [reason.as_row() for reason in self.bad.values()],
        }


def alikeness(one: str, other: str) -> float:
    """How alike two titles read, 0 to 100; case, order of words and punctuation do not count.

    >>> alikeness("Red Lamp, 40 cm", "lamp 40 cm red"), alikeness("Red lamp", "Garden hose") < 50
    (100.0, True)
    """
    return token_sort_ratio(_bare(one), _bare(other))


def _bare(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def by_sight(unseen: list[Unseen]) -> dict[Sight, list[Unseen]]:
    """Catalog offers by what became of their pages."""
    groups: dict[Sight, list[Unseen]] = defaultdict(list)
    for one in unseen:
        groups[one.sight].append(one)
    return groups
