"""Inference of causes: the probable reason why an offer is missing, with its evidence.

Nobody reports to a portal why an offer never arrived, so a cause is an inference: the strongest one
that the figures of the run support. Recorded facts come first (a rejected row, an offer that the
feed had before), then groups of offers that chance does not explain
(`reports.causes.groups.group_causes`), then a listed variant. A fact about a single offer only (it
is out of stock, its page states no EAN) is an observation: it may as well hold for listed offers.

To add a cause: a kind with its advice in `cause_kinds.py`, a trait in `offer_columns.py` with its
sentence in `group_sentences.py`, and a row in the table of cases of
tests/reports/causes/test_cause_inference.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from stdnum import ean as gtin
from stdnum.exceptions import ValidationError

from catalog.language.sentences import Sentence
from catalog.models import Verdict
from catalog.values.availability import OUT_OF_STOCK
from reports.causes.cause_kinds import CauseKind
from reports.causes.config import CauseConfig
from reports.causes.groups.group_causes import GroupCauses
from reports.causes.page_variants import VariantIndex
from reports.causes.recorded.lost_offers import LostOffer
from reports.causes.recorded.rejected_rows import RejectedRow
from reports.statistics.findings_reader import Finding

# One object for all offers: a report keeps the evidence of tens of thousands.
NO_PATTERN = Sentence("no pattern found")
_NOTHING_SIMILAR = Sentence("no pattern found; the catalog has nothing similar")
_EMPTY_CATALOG = Sentence("the catalog has no offers of this shop")
_OUT_OF_STOCK_ON_PAGE = Sentence("out of stock, according to its page")


@dataclass(frozen=True)
class CauseContext:
    """Figures of the whole run against which a single finding is judged.

    `groups` are the causes that hold for groups of offers. `rejected_rows` and `lost_offers` are
    keyed by the finding's URL. `was_seen` tells whether the previous run (of `previous_run_at`) saw
    a URL; None if there was none. `ean_share` is the share of listed offers whose page states a
    valid EAN.
    """

    groups: GroupCauses = field(default_factory=GroupCauses)
    variants: VariantIndex = field(default_factory=VariantIndex)
    rejected_rows: Mapping[str, RejectedRow] = field(default_factory=dict)
    lost_offers: Mapping[str, LostOffer] = field(default_factory=dict)
    was_seen: Callable[[str], bool] | None = None
    previous_run_at: datetime | None = None
    ean_share: float = 0.0
    feed_offers: int = 0
    config: CauseConfig = field(default_factory=CauseConfig)


@dataclass(frozen=True)
class _Cause:
    kind: CauseKind
    evidence: Sentence


def infer_causes(findings: Sequence[Finding], context: CauseContext) -> None:
    """Fill in cause and evidence of every finding that is missing or unsure."""
    # One object for equal sentences: a large shop has few different ones.
    shared: dict[Sentence, Sentence] = {}
    for finding in findings:
        if finding.verdict is Verdict.LISTED:
            continue
        causes = list(_causes_of(finding, context))
        finding.cause = causes[0].kind.value
        evidence = [*(cause.evidence for cause in causes), *_observations(finding, context)]
        # A cause of a group and an observation may have the same evidence.
        finding.evidence = tuple(
            shared.setdefault(sentence, sentence) for sentence in dict.fromkeys(evidence)
        )


def _causes_of(finding: Finding, context: CauseContext) -> Iterator[_Cause]:
    """Yield the causes that the figures support, the strongest first; at least one."""
    if finding.verdict is Verdict.UNSURE:
        yield _Cause(CauseKind.AMBIGUOUS, _ambiguous_evidence(finding))
    supported = list(_supported_causes(finding, context))
    yield from supported
    if not supported and finding.verdict is Verdict.MISSING:
        yield _Cause(CauseKind.OTHER, _other_evidence(finding, context))


def _supported_causes(finding: Finding, context: CauseContext) -> Iterator[_Cause]:
    rejected_row = context.rejected_rows.get(finding.url)
    if rejected_row is not None:
        yield _Cause(CauseKind.REJECTED, rejected_row.evidence)
    lost_offer = context.lost_offers.get(finding.url)
    if lost_offer is not None:
        yield _Cause(CauseKind.LOST, lost_offer.evidence)
    for group in context.groups.by_offer.get(finding.url, ()):
        if group.trait is not None:
            yield _Cause(group.kind, group.sentence)
    variant = context.variants.evidence(finding)
    if variant is not None and variant.proves_collapse:
        yield _Cause(CauseKind.VARIANT, variant.sentence)


def _observations(finding: Finding, context: CauseContext) -> Iterator[Sentence]:
    """Yield the facts of a single offer that are no cause by themselves."""
    variant = context.variants.evidence(finding)
    facts = (
        variant and variant.sentence,
        _out_of_stock_evidence(finding),
        _new_evidence(finding, context),
        _ean_evidence(finding, context),
    )
    yield from (fact for fact in facts if fact)


def _ambiguous_evidence(finding: Finding) -> Sentence:
    if finding.nearest is None:
        return Sentence(
            "the matcher could not decide (probability {share})", {"share": finding.score}
        )
    return Sentence(
        "possibly “{title}”, but the matcher could not decide (probability {share})",
        {"title": finding.nearest.title, "share": finding.score},
    )


def _out_of_stock_evidence(finding: Finding) -> Sentence | None:
    if finding.availability != OUT_OF_STOCK:
        return None
    return _OUT_OF_STOCK_ON_PAGE


def _new_evidence(finding: Finding, context: CauseContext) -> Sentence | None:
    if context.was_seen is None or any(map(context.was_seen, finding.all_urls())):
        return None
    return _not_seen_in_run(context.previous_run_at)


@lru_cache(maxsize=16)
def _not_seen_in_run(ended_at: datetime | None) -> Sentence:
    return Sentence("not seen in the shop in the run of {date}", {"date": ended_at})


def _ean_evidence(finding: Finding, context: CauseContext) -> Sentence | None:
    if is_valid_ean(finding.ean) or context.ean_share < context.config.usual_ean_share:
        return None
    if finding.ean:
        return Sentence(
            "the page states “{ean}”, which is not a valid EAN; the pages of {share} of the listed "
            "offers state one",
            {"ean": finding.ean, "share": context.ean_share},
        )
    return _no_ean(context.ean_share)


@lru_cache(maxsize=16)
def _no_ean(usual_share: float) -> Sentence:
    return Sentence(
        "the page states no EAN; the pages of {share} of the listed offers state one",
        {"share": usual_share},
    )


def is_valid_ean(ean: str | None) -> bool:
    """Return True for a GTIN of 8, 12, 13 or 14 digits with the right check digit.

    >>> is_valid_ean("4006381333931"), is_valid_ean("4006381333932"), is_valid_ean(None)
    (True, False, False)
    """
    try:
        return bool(ean and gtin.validate(ean))
    except ValidationError:
        return False


def _other_evidence(finding: Finding, context: CauseContext) -> Sentence:
    if not context.feed_offers:
        return _EMPTY_CATALOG
    if finding.nearest:
        return NO_PATTERN
    return _NOTHING_SIMILAR
