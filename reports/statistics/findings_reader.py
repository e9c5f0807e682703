"""Reading: what a run said of each offer of a shop, streamed from the store and made safe to print.

A shop may have 100,000 offers, each with a long description, so rows are read in batches and kept without the fields
that no report shows. All texts come from strangers' pages: control characters, lone surrogates and absurd lengths end
here, escaping for a format is that format's own business.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import Row, and_, func, select
from sqlmodel import Session, col

from catalog.models import Match, Page, PersonsWord, Shop, Verdict, Word

LONGEST = 500
_BATCH = 500
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(slots=True, frozen=True)
class Nearest:
    """The catalog offer that a finding was paired with (listed), or the one that comes nearest to it."""

    title: str | None
    url: str | None
    price: Decimal | None
    currency: str | None


@dataclass(slots=True)
class Finding:
    """One offer of the shop, what the run said of it, and what a person said of that.

    `verdict` already follows the person's word; an ignored finding keeps its verdict, but counts nowhere. `cause` and
    `evidence` (the first sentence belongs to the cause, others are further observations) are filled in by
    `reports.causes.causes`, `since` (new or still) by `reports.statistics.trend`. `variant_of` is the page that keeps it among several.
    """

    url: str
    urls: tuple[str, ...]
    title: str | None
    price: Decimal | None
    currency: str | None
    brand: str | None
    category: str | None
    ean: str | None
    han: str | None
    sku: str | None
    availability: str | None
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    nearest: Nearest | None
    known_id: int | None
    fetched_at: datetime | None
    word: Word | None = None
    note: str | None = None
    cause: str | None = None
    evidence: tuple[str, ...] = ()
    since: str | None = None
    why: Mapping[str, Any] | None = None
    variant_of: str | None = None

    @property
    def ignored(self) -> bool:
        """A person asked to leave this one out."""
        return self.word is Word.IGNORE

    def as_row(self) -> dict[str, Any]:
        """The finding as JSON: the shape of `scout offers --json` and of report.json."""
        near = self.nearest
        return {
            "url": self.url,
            "title": self.title,
            "price": plain(self.price),
            "currency": self.currency,
            "brand": self.brand,
            "category": self.category,
            "ean": self.ean,
            "han": self.han,
            "sku": self.sku,
            "availability": self.availability,
            "verdict": str(self.verdict),
            "cause": self.cause,
            "evidence": list(self.evidence),
            "score": round(self.score, 4),
            "nearest": near
            and {
                "title": near.title,
                "url": near.url,
                "price": plain(near.price),
                "currency": near.currency,
            },
            "reasons": list(self.reasons),
            **({"why": self.why} if self.why else {}),
            "since": self.since,
            "word": self.word and str(self.word),
            "note": self.note,
            "fetched_at": self.fetched_at and self.fetched_at.isoformat(timespec="seconds"),
            "variant_of": self.variant_of,
            "other_urls": [url for url in self.urls if url != self.url],
        }


def stream(session: Session, shop: Shop, run_id: int) -> Iterator[Finding]:
    """Every finding of the run, in the order in which the matcher wrote them."""
    words = _words(session, shop)
    fields = (
        Match.url,
        Match.urls,
        Match.known_id,
        Match.verdict,
        Match.score,
        Match.reasons,
        Match.offer,
        Match.nearest,
        Match.variant_of,
    )
    columns: list[Any] = [*map(col, fields), col(Page.fetched_at)]
    page = and_(
        col(Page.shop_id) == col(Match.shop_id),
        col(Page.url) == func.coalesce(Match.variant_of, Match.url),
    )
    query = (
        select(*columns)
        .select_from(Match)
        .outerjoin(Page, page)
        .where(col(Match.run_id) == run_id)
        .order_by(col(Match.id))
        .execution_options(yield_per=_BATCH)
    )
    for row in session.connection().execute(query):
        yield _finding(row, words)


def _words(session: Session, shop: Shop) -> dict[str, tuple[Word, str | None]]:
    query = select(col(PersonsWord.url), col(PersonsWord.word), col(PersonsWord.note))
    said = session.connection().execute(query.where(col(PersonsWord.shop_id) == shop.id))
    return {url: (Word(word), text(note)) for url, word, note in said}


def _finding(match: Row[Any], words: Mapping[str, tuple[Word, str | None]]) -> Finding:
    offer, near = match.offer or {}, match.nearest
    urls = tuple(text(url) or "" for url in (match.urls or [])[:50])
    word, note = next((words[url] for url in (match.url, *urls) if url in words), (None, None))
    return Finding(
        url=text(match.url, 2000) or "",
        urls=urls,
        title=text(offer.get("title")),
        price=amount(offer.get("price")),
        currency=_shared(text(offer.get("currency"), 8)),
        brand=_shared(text(offer.get("brand"), 120)),
        category=_shared(text(offer.get("category"))),
        ean=text(offer.get("ean"), 40),
        han=text(offer.get("han"), 120),
        sku=text(offer.get("sku"), 120),
        availability=_shared(text(offer.get("availability"), 40)),
        verdict=after(Verdict(match.verdict), word),
        score=float(match.score),
        reasons=tuple(text(reason) or "" for reason in (match.reasons or [])[:20]),
        nearest=_nearest(near) if near else None,
        known_id=match.known_id,
        fetched_at=match.fetched_at,
        word=word,
        note=note,
        variant_of=text(match.variant_of, 2000),
    )


def _nearest(near: Mapping[str, Any]) -> Nearest:
    return Nearest(
        title=text(near.get("title")),
        url=text(near.get("url"), 2000),
        price=amount(near.get("price")),
        currency=_shared(text(near.get("currency"), 8)),
    )


def after(verdict: Verdict, word: Word | None) -> Verdict:
    """The verdict when a person has said a word on it.

    >>> after(Verdict.MISSING, Word.REJECT).value, after(Verdict.UNSURE, Word.ACCEPT).value
    ('listed', 'missing')
    """
    if word is Word.REJECT:
        return Verdict.LISTED
    if word is Word.ACCEPT and verdict is Verdict.UNSURE:
        return Verdict.MISSING
    return verdict


def _shared(value: str | None) -> str | None:
    return None if value is None else sys.intern(value)


def text(value: object, longest: int = LONGEST) -> str | None:
    r"""A stranger's text on one line, without what breaks files or terminals; None where nothing is left.

    >>> text("Lamp\x00\n  red \ud800")
    'Lamp red'
    >>> text("  ") is None and text(None) is None
    True
    """
    if value is None:
        return None
    raw = str(value)[: longest * 4]
    line = " ".join(_UNPRINTABLE.sub(" ", raw).split())
    return (line if len(line) <= longest else line[: longest - 1] + "…") or None


def amount(value: object) -> Decimal | None:
    """A price as stored; None where it is no finite number that a shop could ask.

    >>> amount("1299.00"), amount("NaN"), amount("1e40"), amount("-5")
    (Decimal('1299.00'), None, None, None)
    """
    if value is None:
        return None
    try:
        number = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number < 10**12 else None


def plain(number: Decimal | None) -> str | None:
    """A number as JSON and CSV carry it: exact, without an exponent."""
    return None if number is None else f"{number:f}"
