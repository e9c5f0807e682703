"""Causes: why an offer is probably missing, each with its evidence in words.

Nobody tells a portal why an offer never arrived, so a cause is an inference: the strongest that the run's figures
support, others kept as further observations. The order is from what is written down (a rejected row) over what holds
for a whole group, to what is only plausible. To add a cause: a kind here, a sentence in `ADVICE`, a function below that
gives its evidence or None, and a row in the table of cases of tests/reports/test_causes.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from stdnum import ean as gtin
from stdnum.exceptions import ValidationError

from catalog.models import Verdict
from reports.causes.gaps import Absence, PriceGap, widest
from reports.causes.page_variants import Siblings
from reports.causes.rejected_rows import Rejection
from reports.statistics.findings_reader import Finding
from reports.statistics.formatting import day, money, percent, steps
from reports.statistics.statistics import prefixes

_MOSTLY = 0.8


class CauseKind(StrEnum):
    """Why an offer is probably missing, or undecided; as the `cause` of every row says it."""

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
    CauseKind.REJECTED: "The merchant does send these offers. Correct the row or the import's mapping.",
    CauseKind.CATEGORY: "Ask the merchant whether the export leaves out these categories on purpose.",
    CauseKind.BRAND: "Ask whether the merchant may not, or does not want to, advertise these brands.",
    CauseKind.PRICE: "Look for a price filter in the merchant's export, or in the import.",
    CauseKind.VARIANT: "The export may send one offer for all variants, or leave some out. Ask for a row for each.",
    CauseKind.OUT_OF_STOCK: "Usually on purpose. Look again when the offers can be bought.",
    CauseKind.NEW: "Probably the feed is older than the shop's pages. Import the newest feed, then run again.",
    CauseKind.EAN: "Offers without a valid EAN are often dropped on the way. Ask the merchant to add it.",
    CauseKind.AMBIGUOUS: "Have a person decide: the catalog may or may not list these.",
    CauseKind.OTHER: "Ask the merchant why these offers are not exported.",
}


@dataclass(frozen=True)
class Context:
    """What the run as a whole says, against which a single finding is held.

    `earlier` are the URLs that the run before (of `earlier_at`) saw, None where there was none; `ean_share` is the
    share of listed offers whose page states a valid EAN.
    """

    categories: Mapping[str, Absence] = field(default_factory=dict)
    brands: Mapping[str, Absence] = field(default_factory=dict)
    gaps: Mapping[str | None, Sequence[PriceGap]] = field(default_factory=dict)
    siblings: Siblings = field(default_factory=Siblings)
    rejections: Mapping[int, Rejection] = field(default_factory=dict)
    earlier: Callable[[str], bool] | None = None
    earlier_at: datetime | None = None
    ean_share: float = 0.0
    feed_offers: int = 0


def explain(findings: Sequence[Finding], context: Context) -> None:
    """Fill in cause and evidence of every finding that is missing or unsure."""
    for place, finding in enumerate(findings):
        if finding.verdict is Verdict.LISTED:
            continue
        found = list(_causes(place, finding, context))
        finding.cause = found[0][0].value
        finding.evidence = tuple(evidence for _, evidence in found)


def _causes(place: int, finding: Finding, context: Context) -> Iterator[tuple[CauseKind, str]]:
    if finding.verdict is Verdict.UNSURE:
        yield CauseKind.AMBIGUOUS, _ambiguous(finding)
    tried: tuple[tuple[CauseKind, str | None], ...] = (
        (CauseKind.REJECTED, _rejected(context.rejections.get(place))),
        *_absences(finding, context),
        (CauseKind.VARIANT, context.siblings.evidence(finding)),
        (CauseKind.OUT_OF_STOCK, _out_of_stock(finding)),
        (CauseKind.NEW, _new(finding, context)),
        (CauseKind.EAN, _ean(finding, context)),
    )
    found = [(kind, evidence) for kind, evidence in tried if evidence]
    yield from found
    if not found and finding.verdict is Verdict.MISSING:
        yield CauseKind.OTHER, _other(finding, context)


def _ambiguous(finding: Finding) -> str:
    if finding.nearest is None:
        return f"the matcher could not decide (score {finding.score:.2f})"
    return (
        f"neither clearly “{finding.nearest.title}” nor clearly another (score {finding.score:.2f})"
    )


def _rejected(rejection: Rejection | None) -> str | None:
    if rejection is None:
        return None
    where = f"row {rejection.line} of {rejection.source}"
    return f"{where} has the same {rejection.by} and was rejected: {rejection.reason}"


def _absences(finding: Finding, context: Context) -> list[tuple[CauseKind, str | None]]:
    """Absent groups that the offer belongs to, the widest first: it explains the most with one reason."""
    prefix = next((one for one in prefixes(finding.category) if one in context.categories), None)
    brand = context.brands.get((finding.brand or "").casefold())
    gaps = context.gaps.get(finding.currency, ())
    gap = next(
        (one for one in gaps if finding.price is not None and one.holds(finding.price)), None
    )
    found: list[tuple[Absence, CauseKind, str]] = []
    if prefix is not None:
        absence = context.categories[prefix]
        found.append(
            (
                absence,
                CauseKind.CATEGORY,
                f"{_extent(absence)}category “{steps(prefix)}” is absent ({absence.counts})",
            )
        )
    if brand is not None:
        found.append(
            (
                brand,
                CauseKind.BRAND,
                f"{_extent(brand)}brand “{finding.brand}” is absent ({brand.counts})",
            )
        )
    if gap is not None:
        found.append(
            (gap, CauseKind.PRICE, f"{_range(gap, finding.currency)} is listed ({gap.counts})")
        )
    first = widest(absence for absence, _, _ in found)
    found.sort(key=lambda one: one[0] is not first)
    return [(kind, evidence) for _, kind, evidence in found]


def _extent(absence: Absence) -> str:
    return "nearly the whole " if absence.listed else "the whole "


def _range(gap: PriceGap, currency: str | None) -> str:
    if gap.above is None:
        return f"no offer below {money(gap.below, currency)}"
    if gap.below is None:
        return f"no offer from {money(gap.above, currency)} upwards"
    return f"no offer from {money(gap.above, currency)} to below {money(gap.below, currency)}"


def _out_of_stock(finding: Finding) -> str | None:
    return "the page says out of stock" if finding.availability == "out_of_stock" else None


def _new(finding: Finding, context: Context) -> str | None:
    if context.earlier is None or any(context.earlier(url) for url in (finding.url, *finding.urls)):
        return None
    return f"not seen on the shop in the run of {day(context.earlier_at)}"


def _ean(finding: Finding, context: Context) -> str | None:
    if valid_ean(finding.ean) or context.ean_share < _MOSTLY:
        return None
    says = f"gives “{finding.ean}”, no valid EAN" if finding.ean else "gives no EAN"
    return f"the page {says}; {percent(context.ean_share)} of the listed offers' pages give one"


def valid_ean(ean: str | None) -> bool:
    """Whether a GTIN of 8, 12, 13 or 14 digits has the right check digit.

    >>> valid_ean("4006381333931"), valid_ean("4006381333932"), valid_ean(None)
    (True, False, False)
    """
    try:
        return bool(ean and gtin.validate(ean))
    except ValidationError:
        return False


def _other(finding: Finding, context: Context) -> str:
    if not context.feed_offers:
        return "the catalog holds no offer of this shop"
    return (
        "no other cause found"
        if finding.nearest
        else "no other cause found; nothing like it is in the catalog"
    )
