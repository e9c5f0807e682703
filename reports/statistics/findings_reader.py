"""Findings of a run, streamed from the store with texts that are safe to print.

A shop may have 100,000 offers with long descriptions, so rows are read in batches, without the
fields that no report shows. Texts come from untrusted pages: control characters, lone surrogates
and excessive lengths are removed here. Escaping for a file format is the job of the module that
writes that format.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import Row, Select, and_, func, select
from sqlmodel import Session, col

from catalog.language.sentences import Sentence
from catalog.models import Match, Page, Review, ReviewDecision, Shop, Verdict
from catalog.runtime.batches import batches
from catalog.storage.findings import Change
from matcher.records.languages.language_address import primary_language

# Characters of a text, of a URL, of a brand or product number, of a short code (currency, GTIN).
# All are bounds against hostile input.
MAX_TEXT_LENGTH = 500
MAX_URL_LENGTH = 2000
MAX_KEY_LENGTH = 120
MAX_CODE_LENGTH = 40
MAX_CURRENCY_LENGTH = 8

# Bounds against hostile input: URLs and reasons per finding, and an amount that no offer can cost.
_MAX_URLS = 50
_MAX_REASONS = 20
_PRICE_LIMIT = 10**12

# Begin of the parser's reason for a page that is like an offer page of the shop.
_TEMPLATE_REASON = "like "

_BATCH_SIZE = 500  # rows fetched at a time
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(slots=True, frozen=True)
class NearestOffer:
    """Catalog offer paired with a finding (listed), or the most similar one (otherwise)."""

    title: str | None
    url: str | None
    price: Decimal | None
    currency: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for JSON, the price as exact text."""
        return {
            "title": self.title,
            "url": self.url,
            "price": decimal_text(self.price),
            "currency": self.currency,
        }


@dataclass(slots=True)
class Finding:
    """One offer of the shop with the verdict of the run and the review decision on it.

    `verdict` already follows the review decision; an ignored finding keeps its verdict but counts
    nowhere. `reports.causes.cause_inference` fills in `cause` and `evidence`: the first sentence
    supports the cause, further ones are additional observations. `reports.statistics.trend` fills
    in `since`, the change since the previous run, and `reports.statistics.sightings` when the offer
    was first and last seen, since when and which run it has this verdict, and whether it was
    missing in an earlier run. `variant_of` is the URL of the page that holds this offer among
    several. `template` names the kind of the page, None if the parser recognised none, `language`
    its primary language, such as "de", None if the page names none. `rank` numbers the run's
    findings by value from 1; 0 means not ranked yet. `score` is the probability that the catalog
    lists the offer. `stored_id` is the key of the stored finding, where it was read. `source` is
    the page that it was read from, with the readings (`reports.model.offer_sources`), where they
    were requested.
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
    nearest: NearestOffer | None
    known_id: int | None
    fetched_at: datetime | None
    decision: ReviewDecision | None = None
    note: str | None = None
    reviewer: str | None = None
    cause: str | None = None
    evidence: tuple[Sentence, ...] = ()
    since: Change | None = None
    why: Mapping[str, Any] | None = None
    variant_of: str | None = None
    match_id: int | None = None
    stored_id: int | None = None
    reviewed_at: datetime | None = None
    first_seen_at: datetime | None = None
    first_seen_run_id: int | None = None
    last_seen_at: datetime | None = None
    since_at: datetime | None = None
    since_run_id: int | None = None
    was_missing: bool = False
    rank: int = 0
    has_picture: bool = False
    template: str | None = None
    language: str | None = None
    source: Mapping[str, Any] | None = None

    @property
    def is_ignored(self) -> bool:
        """Return True if a reviewer asked to leave this finding out."""
        return self.decision is ReviewDecision.IGNORE

    @property
    def is_missing(self) -> bool:
        """Return True if the catalog lacks the offer and no reviewer left it out."""
        return self.verdict is Verdict.MISSING and not self.is_ignored

    @property
    def value(self) -> Decimal | None:
        """Value at stake: the price if the offer is missing, else None."""
        return self.price if self.is_missing else None

    def all_urls(self) -> tuple[str, ...]:
        """Return the offer's URL followed by every URL under which it was found."""
        return self.url, *self.urls

    def as_row(self) -> dict[str, Any]:
        """Return the finding as JSON, in the shape of `scout offers --json` and of report.json."""
        row: dict[str, Any] = {
            "url": self.url,
            "title": self.title,
            "price": decimal_text(self.price),
            "currency": self.currency,
            "brand": self.brand,
            "category": self.category,
            "ean": self.ean,
            "han": self.han,
            "sku": self.sku,
            "availability": self.availability,
            "verdict": str(self.verdict),
            "cause": self.cause,
            "evidence": [sentence.text for sentence in self.evidence],
            "score": round(self.score, 4),
            "nearest": self.nearest and self.nearest.as_json(),
            "reasons": list(self.reasons),
        }
        if self.why:
            row["why"] = self.why
        row |= {
            "since": self.since and str(self.since),
            "word": self.decision and str(self.decision),
            "note": self.note,
            "reviewer": self.reviewer,
            "reviewed_at": time_text(self.reviewed_at),
            "ignored": self.is_ignored,
            "value": decimal_text(self.value),
            "rank": self.rank,
            "first_seen": time_text(self.first_seen_at),
            "last_seen": time_text(self.last_seen_at),
            "verdict_since": time_text(self.since_at),
            "verdict_since_run": self.since_run_id,
            "fetched_at": time_text(self.fetched_at),
            "variant_of": self.variant_of,
            "other_urls": [url for url in self.urls if url != self.url],
        }
        if self.source is not None:
            row |= self.source
        return row


@dataclass(slots=True, frozen=True)
class _Review:
    decision: ReviewDecision | None = None
    note: str | None = None
    reviewed_at: datetime | None = None
    reviewer: str | None = None


_NOT_REVIEWED = _Review()


def read_findings(session: Session, shop: Shop, run_id: int) -> Iterator[Finding]:
    """Yield every finding of the run, in the order in which the matcher stored them."""
    reviews = _read_reviews(session, shop)
    of_run = col(Match.run_id) == run_id
    for row in session.connection().execute(_match_query().where(of_run).order_by(col(Match.id))):
        yield _finding(row, reviews)


def read_findings_of(session: Session, match_ids: Sequence[int]) -> dict[int, Finding]:
    """Read the findings of some matches, without review decisions; returns them by match."""
    findings = {}
    for batch in batches(match_ids, _BATCH_SIZE):
        of_batch = col(Match.id).in_(batch)
        for row in session.connection().execute(_match_query().where(of_batch)):
            findings[row.id] = _finding(row, {})
    return findings


def read_findings_at(
    session: Session, shop: Shop, run_id: int, urls: Sequence[str]
) -> Iterator[tuple[str, Finding]]:
    """Yield the findings of a run at these URLs of matches, with the present decisions.

    Each comes with the URL of its match, which the finding may have shortened.
    """
    reviews = _read_reviews(session, shop)
    for batch in batches(urls, _BATCH_SIZE):
        of_batch = col(Match.url).in_(batch)
        query = _match_query().where(col(Match.run_id) == run_id, of_batch)
        for row in session.connection().execute(query):
            yield row.url, _finding(row, reviews)


def _match_query() -> Select[Any]:
    """Return the query of matches with the columns of a finding, streamed in batches."""
    fields = (
        Match.id,
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
    columns: list[Any] = [
        *map(col, fields),
        col(Page.fetched_at),
        col(Page.read_reason),
        col(Page.url).label("page_url"),
        col(Page.language),
        col(Page.alternates),
        col(Page.sitemap_alternates),
    ]
    # A variant has no page of its own: its fetch time is that of the page that holds it.
    page = and_(
        col(Page.shop_id) == col(Match.shop_id),
        col(Page.url) == func.coalesce(Match.variant_of, Match.url),
    )
    query = select(*columns).select_from(Match).outerjoin(Page, page)
    return query.execution_options(yield_per=_BATCH_SIZE)


def _read_reviews(session: Session, shop: Shop) -> dict[str, _Review]:
    columns: list[Any] = [
        col(Review.url),
        col(Review.decision),
        col(Review.note),
        col(Review.reviewed_at),
        col(Review.reviewer),
    ]
    query = select(*columns).where(col(Review.shop_id) == shop.id)
    reviews = {}
    for url, decision, note, reviewed_at, reviewer in session.connection().execute(query):
        reviews[url] = _Review(
            ReviewDecision(decision),
            clean_text(note),
            reviewed_at,
            clean_text(reviewer, MAX_KEY_LENGTH),
        )
    return reviews


def _review_of(urls: Iterable[str], reviews: Mapping[str, _Review]) -> _Review:
    """Return the review under the first of these URLs that has one."""
    for url in urls:
        if url in reviews:
            return reviews[url]
    return _NOT_REVIEWED


def _finding(match: Row[Any], reviews: Mapping[str, _Review]) -> Finding:
    offer = match.offer or {}
    url = clean_text(match.url, MAX_URL_LENGTH) or ""
    # Most offers have one URL, which is kept once.
    urls = tuple(
        url if text == url else text
        for text in (
            clean_text(text, MAX_URL_LENGTH) or "" for text in (match.urls or [])[:_MAX_URLS]
        )
    )
    review = _review_of((match.url, *urls), reviews)
    return Finding(
        url=url,
        urls=urls,
        title=clean_text(offer.get("title")),
        price=parse_amount(offer.get("price")),
        currency=_interned(clean_text(offer.get("currency"), MAX_CURRENCY_LENGTH)),
        brand=_interned(clean_text(offer.get("brand"), MAX_KEY_LENGTH)),
        category=_interned(clean_text(offer.get("category"))),
        ean=clean_text(offer.get("ean"), MAX_CODE_LENGTH),
        han=clean_text(offer.get("han"), MAX_KEY_LENGTH),
        sku=clean_text(offer.get("sku"), MAX_KEY_LENGTH),
        availability=_interned(clean_text(offer.get("availability"), MAX_CODE_LENGTH)),
        verdict=apply_decision(Verdict(match.verdict), review.decision),
        score=float(match.score),
        reasons=tuple(
            _interned(clean_text(reason)) or "" for reason in (match.reasons or [])[:_MAX_REASONS]
        ),
        nearest=_nearest(match.nearest),
        known_id=match.known_id,
        fetched_at=match.fetched_at,
        decision=review.decision,
        note=review.note,
        reviewer=review.reviewer,
        variant_of=clean_text(match.variant_of, MAX_URL_LENGTH),
        match_id=match.id,
        reviewed_at=review.reviewed_at,
        has_picture=bool(offer.get("images")),
        template=_template(match.read_reason),
        language=_language(match),
    )


def _template(read_reason: str | None) -> str | None:
    """Return the template that the parser recognised a page by.

    >>> _template("like template 3"), _template("unlike the shop's offer pages (0.01)")
    ('template 3', None)
    """
    prefix, _, template = (read_reason or "").partition(_TEMPLATE_REASON)
    if prefix or not template:
        return None
    return _interned(clean_text(template, MAX_CODE_LENGTH))


def _language(page: Row[Any]) -> str | None:
    """Return the language of a page, as its versions in other languages or the page itself name it.

    A page names itself among its versions (hreflang). Templates often have one `lang` for all
    pages.
    """
    for versions in (page.alternates, page.sitemap_alternates):
        for code, url in (versions or {}).items():
            if url == page.page_url and (language := primary_language(code)):
                return _interned(language)
    return _interned(primary_language(page.language or "") or None)


def _nearest(stored: Mapping[str, Any] | None) -> NearestOffer | None:
    if not stored:
        return None
    return NearestOffer(
        title=clean_text(stored.get("title")),
        url=clean_text(stored.get("url"), MAX_URL_LENGTH),
        price=parse_amount(stored.get("price")),
        currency=_interned(clean_text(stored.get("currency"), MAX_CURRENCY_LENGTH)),
    )


def apply_decision(verdict: Verdict, decision: ReviewDecision | None) -> Verdict:
    """Return the verdict after a review decision; "ignore" leaves it unchanged.

    >>> apply_decision(Verdict.MISSING, ReviewDecision.REJECT).value
    'listed'
    >>> apply_decision(Verdict.UNSURE, ReviewDecision.ACCEPT).value
    'missing'
    """
    if decision is ReviewDecision.REJECT:
        return Verdict.LISTED
    if decision is ReviewDecision.ACCEPT and verdict is Verdict.UNSURE:
        return Verdict.MISSING
    return verdict


def _interned(value: str | None) -> str | None:
    """Return one shared object per text: brands and categories repeat in thousands of findings."""
    if value is None:
        return None
    return sys.intern(value)


def clean_text(value: object, max_length: int = MAX_TEXT_LENGTH) -> str | None:
    r"""Return an untrusted text on one printable line; None if nothing is left.

    >>> clean_text("Lamp\x00\n  red \ud800")
    'Lamp red'
    >>> clean_text("  ") is None and clean_text(None) is None
    True
    """
    if value is None:
        return None
    # Most texts are clean already. A printable text has no white space but the simple space.
    if (
        isinstance(value, str)
        and len(value) <= max_length
        and value.isprintable()
        and "  " not in value
        and value.strip() == value
    ):
        return value or None
    # Cut before cleaning, so that a huge text costs little; whitespace may still shrink it.
    raw = str(value)[: max_length * 4]
    line = " ".join(_UNPRINTABLE.sub(" ", raw).split())
    if len(line) > max_length:
        line = line[: max_length - 1] + "…"
    return line or None


def parse_amount(value: object) -> Decimal | None:
    """Return a stored price as a Decimal; None unless it is finite and plausible.

    >>> parse_amount("1299.00"), parse_amount("NaN"), parse_amount("1e40"), parse_amount("-5")
    (Decimal('1299.00'), None, None, None)
    """
    if value is None:
        return None
    try:
        number = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    if number.is_finite() and 0 <= number < _PRICE_LIMIT:
        return number
    return None


def time_text(moment: datetime | None) -> str | None:
    """Return a time as JSON and CSV carry it: ISO 8601 to the second, in UTC."""
    if moment is None:
        return None
    return moment.isoformat(timespec="seconds")


def decimal_text(number: Decimal | None) -> str | None:
    """Return a number as JSON and CSV carry it: exact text without an exponent."""
    if number is None:
        return None
    return f"{number:f}"
