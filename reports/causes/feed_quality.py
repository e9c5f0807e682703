"""Feed quality: defects in the catalog's data of a shop, apart from missing offers.

Rejected rows by reason, links that cannot be read, listed offers with another price or title on the
page than in the catalog, and catalog offers that the run has not seen in the shop.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from rapidfuzz.fuzz import token_sort_ratio
from sqlalchemy import select
from sqlmodel import Session, col

from catalog.models import BadRow, KnownOffer, Shop
from reports.causes.config import CauseConfig
from reports.causes.recorded.rejected_rows import FeedRow
from reports.causes.unpaired_offers import UnpairedOffers
from reports.statistics.coverage import (
    MAX_REASON_LENGTH,
    OfferStatus,
    PagesByUrl,
    PageStatus,
    is_paired,
    linked_page,
    offer_status,
)
from reports.statistics.findings_reader import (
    MAX_CODE_LENGTH,
    MAX_CURRENCY_LENGTH,
    MAX_KEY_LENGTH,
    MAX_URL_LENGTH,
    Finding,
    NearestOffer,
    clean_text,
    decimal_text,
    parse_amount,
)

_BATCH_SIZE = 1000  # rows fetched at a time
_EXAMPLES_PER_REASON = 3

# Bounds against hostile input: different reasons, and characters of a reason, of a source and of a
# raw row.
_MAX_REASONS = 1000
_MAX_REJECTION_LENGTH = 200
_MAX_SOURCE_LENGTH = 80
_MAX_RAW_LENGTH = 300

READABLE_LINK = "readable"
OPAQUE_LINK = "opaque"
BROKEN_LINK = "broken"


@dataclass(slots=True, frozen=True)
class PriceDifference:
    """Listed offer with different prices on the page and in the catalog."""

    url: str
    title: str | None
    currency: str | None
    page_price: Decimal
    catalog_price: Decimal

    @property
    def share(self) -> float | None:
        """Difference relative to the catalog's price, positive if the page is dearer.

        None if the catalog's price is 0.
        """
        if not self.catalog_price:
            return None
        return float((self.page_price - self.catalog_price) / self.catalog_price)

    def as_row(self) -> dict[str, Any]:
        """Return the difference as report.json has it."""
        share = self.share
        if share is not None:
            share = round(share, 4)
        return {
            "url": self.url,
            "title": self.title,
            "currency": self.currency,
            "price_on_page": decimal_text(self.page_price),
            "price_in_catalog": decimal_text(self.catalog_price),
            "difference": share,
        }


@dataclass(slots=True, frozen=True)
class TitleDifference:
    """Listed offer with different titles on the page and in the catalog.

    `similarity` is from 0 to 100.
    """

    url: str
    page_title: str
    catalog_title: str
    similarity: float

    def as_row(self) -> dict[str, Any]:
        """Return the difference as report.json has it."""
        return {
            "url": self.url,
            "title_on_page": self.page_title,
            "title_in_catalog": self.catalog_title,
            "alike": round(self.similarity),
        }


@dataclass(slots=True, frozen=True)
class UnseenOffer:
    """Catalog offer that the run has not seen, with the outcome of looking up its page."""

    ref: str
    title: str | None
    price: Decimal | None
    currency: str | None
    url: str | None
    status: OfferStatus
    reason: str | None
    brand: str | None = None
    category: str | None = None
    ean: str | None = None
    han: str | None = None
    sku: str | None = None

    def as_row(self) -> dict[str, Any]:
        """Return the offer as report.json has it."""
        return {
            "ref": self.ref,
            "title": self.title,
            "price": decimal_text(self.price),
            "currency": self.currency,
            "url": self.url,
            "what": str(self.status),
            "reason": self.reason,
        }


@dataclass(slots=True)
class RejectionReason:
    """Reason for which rows were rejected, with the first few of them."""

    reason: str
    rows: int = 0
    examples: list[FeedRow] = field(default_factory=list)

    def as_row(self) -> dict[str, Any]:
        """Return the reason as report.json has it."""
        examples = [
            {"source": row.source, "line": row.line, "raw": row.raw} for row in self.examples
        ]
        return {"reason": self.reason, "rows": self.rows, "examples": examples}


@dataclass
class FeedQuality:
    """Defects of the feed, collected while findings, catalog offers and rejected rows are read."""

    config: CauseConfig = field(default_factory=CauseConfig)
    known_offers: int = 0
    imported_at: datetime | None = None
    unpaired: UnpairedOffers = field(default_factory=UnpairedOffers)
    links: Counter[str] = field(default_factory=Counter)
    rejections: dict[str, RejectionReason] = field(default_factory=dict)
    rejected_rows: int = 0
    prices: list[PriceDifference] = field(default_factory=list)
    titles: list[TitleDifference] = field(default_factory=list)
    prices_compared: int = 0
    titles_compared: int = 0
    unseen: list[UnseenOffer] = field(default_factory=list)

    def add_listed(self, finding: Finding) -> None:
        """Compare price and title of a listed offer with those of its catalog offer."""
        if finding.nearest is None or finding.known_id is None:
            return
        self._compare_prices(finding, finding.nearest)
        self._compare_titles(finding, finding.nearest)

    def _compare_prices(self, finding: Finding, listed: NearestOffer) -> None:
        if finding.price is None or listed.price is None:
            return
        if listed.currency not in (None, finding.currency):
            return
        self.prices_compared += 1
        if finding.price != listed.price:
            self.prices.append(
                PriceDifference(
                    url=finding.url,
                    title=finding.title,
                    currency=finding.currency,
                    page_price=finding.price,
                    catalog_price=listed.price,
                )
            )

    def _compare_titles(self, finding: Finding, listed: NearestOffer) -> None:
        if not finding.title or not listed.title:
            return
        self.titles_compared += 1
        similarity = title_similarity(finding.title, listed.title)
        if similarity < self.config.same_title_similarity:
            self.titles.append(
                TitleDifference(finding.url, finding.title, listed.title, similarity)
            )

    def read_rejected_rows(self, session: Session, shop: Shop) -> Iterator[FeedRow]:
        """Yield the rejected rows of the feed; each is counted as it passes."""
        columns: list[Any] = [
            col(BadRow.source),
            col(BadRow.line),
            col(BadRow.reason),
            col(BadRow.raw),
        ]
        query = (
            select(*columns)
            .where(col(BadRow.shop_id) == shop.id)
            .order_by(col(BadRow.id))
            .execution_options(yield_per=_BATCH_SIZE)
        )
        for source, line, reason, raw in session.connection().execute(query):
            file_name = source.rsplit("/", 1)[-1]
            row = FeedRow(
                source=clean_text(file_name, _MAX_SOURCE_LENGTH) or "the feed",
                line=line,
                reason=clean_text(reason, _MAX_REJECTION_LENGTH) or "no reason given",
                raw=raw,
            )
            self._count_rejection(row)
            yield row

    def _count_rejection(self, row: FeedRow) -> None:
        self.rejected_rows += 1
        reason = row.reason
        if reason not in self.rejections and len(self.rejections) >= _MAX_REASONS:
            reason = "other reasons"
        rejection = self.rejections.setdefault(reason, RejectionReason(reason))
        rejection.rows += 1
        if len(rejection.examples) < _EXAMPLES_PER_REASON:
            # The full text is searched for missing offers; an example is only looked at.
            raw = clean_text(row.raw, _MAX_RAW_LENGTH) or ""
            rejection.examples.append(FeedRow(row.source, row.line, row.reason, raw))

    def read_feed(
        self,
        session: Session,
        shop: Shop,
        run_id: int,
        pages: PagesByUrl | None,
        main_currency: str | None,
    ) -> None:
        """Count the catalog's offers, their links by kind, and the offers that may be unpaired.

        `pages` are None for a run that a newer one has superseded.
        """
        columns: list[Any] = [
            col(KnownOffer.brand),
            col(KnownOffer.category),
            col(KnownOffer.price),
            col(KnownOffer.currency),
            col(KnownOffer.url),
            col(KnownOffer.opaque),
            col(KnownOffer.imported_at),
            is_paired(run_id).label("is_paired"),
        ]
        query = (
            select(*columns)
            .where(col(KnownOffer.shop_id) == shop.id)
            .execution_options(yield_per=_BATCH_SIZE)
        )
        for row in session.connection().execute(query):
            self.known_offers += 1
            self.links[_link_kind(row.url is None, row.opaque)] += 1
            self.imported_at = max(self.imported_at or row.imported_at, row.imported_at)
            if not row.is_paired and _may_be_in_shop(row.url, pages):
                self.unpaired.add(row.brand, row.category, row.price, row.currency or main_currency)

    def read_unseen(self, session: Session, shop: Shop, run_id: int, pages: PagesByUrl) -> None:
        """List the catalog's offers that the run has not paired, the dearest first."""
        fields = (
            KnownOffer.ref,
            KnownOffer.title,
            KnownOffer.price,
            KnownOffer.currency,
            KnownOffer.url,
            KnownOffer.brand,
            KnownOffer.category,
            KnownOffer.ean,
            KnownOffer.han,
            KnownOffer.sku,
        )
        columns: list[Any] = [*map(col, fields)]
        query = (
            select(*columns)
            .where(col(KnownOffer.shop_id) == shop.id, ~is_paired(run_id))
            .execution_options(yield_per=_BATCH_SIZE)
        )
        for row in session.connection().execute(query):
            page = linked_page(row.url, pages)
            self.unseen.append(
                UnseenOffer(
                    ref=clean_text(row.ref, MAX_KEY_LENGTH) or "",
                    title=clean_text(row.title),
                    price=parse_amount(row.price),
                    currency=clean_text(row.currency, MAX_CURRENCY_LENGTH),
                    url=clean_text(row.url, MAX_URL_LENGTH),
                    status=offer_status(False, row.url, page),
                    reason=_page_reason(page),
                    brand=clean_text(row.brand, MAX_KEY_LENGTH),
                    category=clean_text(row.category),
                    ean=clean_text(row.ean, MAX_CODE_LENGTH),
                    han=clean_text(row.han, MAX_KEY_LENGTH),
                    sku=clean_text(row.sku, MAX_KEY_LENGTH),
                )
            )
        self.unseen.sort(key=lambda offer: (-(offer.price or 0), offer.ref))

    def sort(self) -> None:
        """Sort the lists by relevance: greatest differences and most frequent reasons first."""
        self.prices.sort(key=_difference_key)
        self.titles.sort(key=lambda offer: (offer.similarity, offer.url))
        by_frequency = sorted(
            self.rejections.values(), key=lambda rejection: (-rejection.rows, rejection.reason)
        )
        self.rejections = {rejection.reason: rejection for rejection in by_frequency}

    def as_json(self) -> dict[str, Any]:
        """Return the figures without the lists of offers."""
        kinds = (READABLE_LINK, OPAQUE_LINK, BROKEN_LINK)
        return {
            "known_offers": self.known_offers,
            "links": {kind: self.links[kind] for kind in kinds},
            "bad_rows": self.rejected_rows,
            "prices_compared": self.prices_compared,
            "prices_differ": len(self.prices),
            "titles_compared": self.titles_compared,
            "titles_differ": len(self.titles),
            "not_seen_on_the_shop": len(self.unseen),
            "bad_rows_by_reason": [rejection.as_row() for rejection in self.rejections.values()],
        }


def _difference_key(offer: PriceDifference) -> tuple[float, str]:
    """Return a sort key by relative difference, as the report shows it, the greatest first."""
    if offer.share is None:
        return -math.inf, offer.url
    return -abs(offer.share), offer.url


def _link_kind(lacks_url: bool, is_opaque: bool) -> str:
    if is_opaque:
        return OPAQUE_LINK
    if lacks_url:
        return BROKEN_LINK
    return READABLE_LINK


def _may_be_in_shop(url: str | None, pages: PagesByUrl | None) -> bool:
    """Return False if the page of a catalog offer is known to be gone or was not fetched.

    The run cannot have seen such an offer.
    """
    if url is None or pages is None:
        return True
    page = linked_page(url, pages)
    return page.state is None or page.offer_status is OfferStatus.PAGE_FOUND


def _page_reason(page: PageStatus) -> str | None:
    # How an offer page was recognised is no reason for the offer's not having been paired.
    if page.offer_status is OfferStatus.PAGE_FOUND:
        return OfferStatus.PAGE_FOUND.value
    reason = clean_text(page.reason, MAX_REASON_LENGTH)
    if reason or not page.state:
        return reason
    return f"page {page.state}"


def title_similarity(title: str, other_title: str) -> float:
    """Return the similarity of two titles from 0 to 100, ignoring case, order and punctuation.

    >>> title_similarity("Red Lamp, 40 cm", "lamp 40 cm red")
    100.0
    >>> title_similarity("Red lamp", "Garden hose") < 50
    True
    """
    return token_sort_ratio(_words_of(title), _words_of(other_title))


def _words_of(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def group_by_status(offers: Iterable[UnseenOffer]) -> dict[OfferStatus, list[UnseenOffer]]:
    """Group catalog offers by the outcome of looking up their pages."""
    groups: dict[OfferStatus, list[UnseenOffer]] = defaultdict(list)
    for offer in offers:
        groups[offer.status].append(offer)
    return groups
