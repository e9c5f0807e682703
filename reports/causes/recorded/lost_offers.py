"""Lost offers: offers that the feed had until an import without them, and that the shop still
sells.

An offer is the same if it has the same link, the same EAN, the same number or the same whole title.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from catalog.language.sentences import Sentence
from catalog.models import LostOffer as StoredLostOffer
from catalog.models import Shop
from reports.causes.config import CauseConfig
from reports.causes.recorded.rejected_rows import (
    ARTICLE_NUMBER,
    EAN,
    LINK,
    MANUFACTURER_NUMBER,
    TITLE,
    is_identifying_number,
    normalise_words,
)
from reports.statistics.findings_reader import Finding
from url_cleaner.urls.url import url_key

_DEFAULTS = CauseConfig()
_BATCH_SIZE = 1000  # rows fetched at a time


@dataclass(frozen=True)
class LostOffer:
    """Offer that the feed had before; `matched_by` names the field that is the same."""

    lost_at: datetime
    matched_by: str

    @property
    def evidence(self) -> Sentence:
        """The match as a sentence."""
        return Sentence(
            "the feed had this offer until the import of {date} (same {matched_by})",
            {"date": self.lost_at, "matched_by": Sentence(self.matched_by)},
        )


def read_lost_offers(
    session: Session,
    shop: Shop,
    findings: Sequence[Finding],
    run_ended_at: datetime,
    config: CauseConfig = _DEFAULTS,
) -> dict[str, LostOffer]:
    """Return the lost offer of each missing finding that has one, by the finding's URL.

    An import after the end of the run has not caused what the run saw.
    """
    columns: list[Any] = [
        col(StoredLostOffer.url),
        col(StoredLostOffer.ean),
        col(StoredLostOffer.sku),
        col(StoredLostOffer.han),
        col(StoredLostOffer.title),
        col(StoredLostOffer.lost_at),
    ]
    query = (
        select(*columns)
        .where(col(StoredLostOffer.shop_id) == shop.id)
        .where(col(StoredLostOffer.cleared_by).is_(None))
        .where(col(StoredLostOffer.lost_at) <= run_ended_at)
        .order_by(col(StoredLostOffer.id))
        .execution_options(yield_per=_BATCH_SIZE)
    )
    lost_at: dict[tuple[str, str], datetime] = {}
    for url, ean, sku, han, title, moment in session.connection().execute(query):
        urls = (url,) if url else ()
        for key in _keys(urls, ean, sku, han, title, config):
            lost_at[key] = moment
    if not lost_at:
        return {}
    lost_offers = {}
    for finding in findings:
        if not finding.is_missing:
            continue
        keys = _keys(
            finding.all_urls(), finding.ean, finding.sku, finding.han, finding.title, config
        )
        for key in keys:
            if key in lost_at:
                lost_offers[finding.url] = LostOffer(lost_at[key], key[0])
                break
    return lost_offers


def _keys(
    urls: Iterable[str],
    ean: str | None,
    sku: str | None,
    han: str | None,
    title: str | None,
    config: CauseConfig,
) -> list[tuple[str, str]]:
    """Return what identifies an offer: name of the field and normalised text, surest first."""
    keys = [(LINK, url_key(url)) for url in urls]
    if ean:
        keys.append((EAN, ean.lstrip("0")))
    for name, number in ((ARTICLE_NUMBER, sku), (MANUFACTURER_NUMBER, han)):
        if number and is_identifying_number(number, config):
            keys.append((name, normalise_words(number)))
    if title and len(title) >= config.min_title_length:
        keys.append((TITLE, normalise_words(title)))
    return keys
