"""Inference of causes: the probable reason why an offer is missing, with its evidence.

Nobody reports to a portal why an offer never arrived, so a cause is an inference: the strongest one
that the figures of the run support; others are kept as further observations. Causes are tried from
certain to merely plausible: a rejected row is on record, a gap holds for a whole group, the others
concern one offer.

To add a cause: a kind, its sentence in `ADVICE`, a function that returns its evidence or None, and
a row in the table of cases of tests/reports/causes/test_cause_inference.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from stdnum import ean as gtin
from stdnum.exceptions import ValidationError

from catalog.models import Verdict
from reports.causes.config import CauseConfig
from reports.causes.gaps import Gap, PriceGap, widest_gap
from reports.causes.page_variants import VariantIndex
from reports.causes.rejected_rows import RejectedRow
from reports.statistics.category_paths import category_prefixes
from reports.statistics.findings_reader import Finding
from reports.statistics.formatting import (
    format_category,
    format_date,
    format_money,
    format_percent,
)


class CauseKind(StrEnum):
    """Probable reason why an offer is missing or undecided; the `cause` of every row."""

    REJECTED = "in the feed but rejected"
    CATEGORY = "category absent from the feed"
    BRAND = "brand absent from the catalog"
    PRICE = "price band absent from the feed"
    VARIANT = "variant of a listed offer"
    OUT_OF_STOCK = "out of stock on the page"
    NEW = "new since the last run"
    EAN = "EAN missing or invalid"
    AMBIGUOUS = "ambiguous"
    OTHER = "not in the feed"


ADVICE = {
    CauseKind.REJECTED: (
        "The merchant does send these offers. Correct the rows or the field mapping of the import."
    ),
    CauseKind.CATEGORY: (
        "Ask the merchant whether the export leaves out these categories on purpose."
    ),
    CauseKind.BRAND: (
        "Ask whether the merchant may not, or does not want to, advertise these brands."
    ),
    CauseKind.PRICE: "Look for a price filter in the merchant's export or in the import.",
    CauseKind.VARIANT: (
        "The export may send one offer for all variants, or leave some out. Ask for one row "
        "per variant."
    ),
    CauseKind.OUT_OF_STOCK: "Usually on purpose. Check again when the offers are back in stock.",
    CauseKind.NEW: (
        "The feed is probably older than the shop's pages. Import the newest feed, then run again."
    ),
    CauseKind.EAN: (
        "Offers without a valid EAN are often dropped during import. Ask the merchant to add it."
    ),
    CauseKind.AMBIGUOUS: "Review these offers: the catalog may or may not list them.",
    CauseKind.OTHER: "Ask the merchant why these offers are not exported.",
}


@dataclass(frozen=True)
class CauseContext:
    """Figures of the whole run against which a single finding is judged.

    `category_gaps` are keyed by category path, `brand_gaps` by casefolded brand, `price_gaps` by
    currency, `rejected_rows` by the index of the finding. `was_seen` tells whether the previous run
    (of `previous_run_at`) saw a URL; None if there was none. `ean_share` is the share of listed
    offers whose page states a valid EAN.
    """

    category_gaps: Mapping[str, Gap] = field(default_factory=dict)
    brand_gaps: Mapping[str, Gap] = field(default_factory=dict)
    price_gaps: Mapping[str | None, Sequence[PriceGap]] = field(default_factory=dict)
    variants: VariantIndex = field(default_factory=VariantIndex)
    rejected_rows: Mapping[int, RejectedRow] = field(default_factory=dict)
    was_seen: Callable[[str], bool] | None = None
    previous_run_at: datetime | None = None
    ean_share: float = 0.0
    feed_offers: int = 0
    config: CauseConfig = field(default_factory=CauseConfig)


@dataclass(frozen=True)
class _Cause:
    kind: CauseKind
    evidence: str


@dataclass(frozen=True)
class _GroupCause:
    gap: Gap
    cause: _Cause


def infer_causes(findings: Sequence[Finding], context: CauseContext) -> None:
    """Fill in cause and evidence of every finding that is missing or unsure."""
    for index, finding in enumerate(findings):
        if finding.verdict is Verdict.LISTED:
            continue
        causes = list(_causes_of(finding, context.rejected_rows.get(index), context))
        finding.cause = causes[0].kind.value
        finding.evidence = tuple(cause.evidence for cause in causes)


def _causes_of(
    finding: Finding, rejected_row: RejectedRow | None, context: CauseContext
) -> Iterator[_Cause]:
    """Yield the causes that the figures support, the strongest first; at least one."""
    if finding.verdict is Verdict.UNSURE:
        yield _Cause(CauseKind.AMBIGUOUS, _ambiguous_evidence(finding))
    supported = []
    if rejected_row is not None:
        supported.append(_Cause(CauseKind.REJECTED, rejected_row.evidence))
    supported += _gap_causes(finding, context)
    single_offer_evidence = (
        (CauseKind.VARIANT, context.variants.evidence(finding)),
        (CauseKind.OUT_OF_STOCK, _out_of_stock_evidence(finding)),
        (CauseKind.NEW, _new_evidence(finding, context)),
        (CauseKind.EAN, _ean_evidence(finding, context)),
    )
    supported += [_Cause(kind, evidence) for kind, evidence in single_offer_evidence if evidence]
    yield from supported
    if not supported and finding.verdict is Verdict.MISSING:
        yield _Cause(CauseKind.OTHER, _other_evidence(finding, context))


def _ambiguous_evidence(finding: Finding) -> str:
    undecided = f"the matcher could not decide (score {finding.score:.2f})"
    if finding.nearest is None:
        return undecided
    return f"possibly “{finding.nearest.title}”, but {undecided}"


def _gap_causes(finding: Finding, context: CauseContext) -> list[_Cause]:
    """Return the gaps that hold the offer, the widest first, for it explains the most offers."""
    causes = []
    prefix = _topmost_gap(finding.category, context.category_gaps)
    if prefix is not None:
        gap = context.category_gaps[prefix]
        causes.append(
            _group_cause(CauseKind.CATEGORY, gap, f"category “{format_category(prefix)}”")
        )
    brand_gap = context.brand_gaps.get((finding.brand or "").casefold())
    if brand_gap is not None:
        causes.append(_group_cause(CauseKind.BRAND, brand_gap, f"brand “{finding.brand}”"))
    price_gap = _price_gap_of(finding, context)
    if price_gap is not None:
        text = f"{_price_range(price_gap, finding.currency)} is listed ({price_gap.counts})"
        causes.append(_GroupCause(price_gap, _Cause(CauseKind.PRICE, text)))
    widest = widest_gap(cause.gap for cause in causes)
    # The sort is stable: the others keep their order.
    causes.sort(key=lambda cause: cause.gap is not widest)
    return [cause.cause for cause in causes]


def _topmost_gap(category: str | None, gaps: Mapping[str, Gap]) -> str | None:
    for prefix in category_prefixes(category):
        if prefix in gaps:
            return prefix
    return None


def _price_gap_of(finding: Finding, context: CauseContext) -> PriceGap | None:
    if finding.price is None:
        return None
    for gap in context.price_gaps.get(finding.currency, ()):
        if gap.holds(finding.price):
            return gap
    return None


def _group_cause(kind: CauseKind, gap: Gap, group: str) -> _GroupCause:
    extent = "nearly the whole" if gap.listed else "the whole"
    return _GroupCause(gap, _Cause(kind, f"{extent} {group} is absent ({gap.counts})"))


def _price_range(gap: PriceGap, currency: str | None) -> str:
    low, high = format_money(gap.shown_low, currency), format_money(gap.shown_high, currency)
    if gap.shown_low is None:
        return f"no offer below {high}"
    if gap.shown_high is None:
        return f"no offer from {low} upwards"
    return f"no offer from {low} to below {high}"


def _out_of_stock_evidence(finding: Finding) -> str | None:
    if finding.availability != "out_of_stock":
        return None
    return "the page says out of stock"


def _new_evidence(finding: Finding, context: CauseContext) -> str | None:
    if context.was_seen is None or any(map(context.was_seen, finding.all_urls())):
        return None
    return f"not seen in the shop in the run of {format_date(context.previous_run_at)}"


def _ean_evidence(finding: Finding, context: CauseContext) -> str | None:
    if is_valid_ean(finding.ean) or context.ean_share < context.config.usual_ean_share:
        return None
    statement = "states no EAN"
    if finding.ean:
        statement = f"states “{finding.ean}”, which is not a valid EAN"
    usual = format_percent(context.ean_share)
    return f"the page {statement}; the pages of {usual} of the listed offers state one"


def is_valid_ean(ean: str | None) -> bool:
    """Return True for a GTIN of 8, 12, 13 or 14 digits with the right check digit.

    >>> is_valid_ean("4006381333931"), is_valid_ean("4006381333932"), is_valid_ean(None)
    (True, False, False)
    """
    try:
        return bool(ean and gtin.validate(ean))
    except ValidationError:
        return False


def _other_evidence(finding: Finding, context: CauseContext) -> str:
    if not context.feed_offers:
        return "the catalog has no offers of this shop"
    if finding.nearest:
        return "no other cause found"
    return "no other cause found; the catalog has nothing similar"
