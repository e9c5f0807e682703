"""Report of a run as one value, built with a dozen queries and one pass over the findings.

Kept in memory are the findings that a report lists (missing and unsure ones by default), and of the
listed ones only those that differ from the catalog. Every output format writes the same `Report`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from sqlmodel import Session

from catalog.errors import UsageError
from catalog.models import ReviewDecision, Run, RunState, Shop, Stage, Verdict, utc_now
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.findings import Change
from catalog.storage.store import Store
from reports.causes.cause_inference import CauseContext, infer_causes
from reports.causes.cause_kinds import CauseKind
from reports.causes.config import CauseConfig
from reports.causes.feed_quality import FeedQuality
from reports.causes.groups.group_causes import infer_group_causes
from reports.causes.offer_columns import OfferRecord
from reports.causes.page_variants import VariantIndex
from reports.causes.recorded.lost_offers import read_lost_offers
from reports.causes.recorded.rejected_rows import find_rejected_rows
from reports.model.cause_shares import CauseShare, summarize_causes
from reports.model.offer_records import offer_record, with_variants
from reports.statistics.completeness import Completeness
from reports.statistics.completeness_builder import CompletenessBuilder
from reports.statistics.completeness_estimate import estimate_completeness
from reports.statistics.coverage import count_coverage, is_superseded, read_linked_pages
from reports.statistics.crawl_sample import read_crawl_sample
from reports.statistics.findings_reader import Finding, read_findings
from reports.statistics.sightings import (
    VanishedOffer,
    fill_sightings,
    read_vanished_offers,
)
from reports.statistics.trend import (
    PreviousRun,
    Trend,
    TrendBuilder,
    load_history,
    load_previous_run,
)

LISTED_ONE_BY_ONE = frozenset({Verdict.MISSING, Verdict.UNSURE})
# Order of the findings of a report; None stands for ignored ones of any verdict.
_STANDINGS = (Verdict.MISSING, Verdict.UNSURE, Verdict.LISTED, None)
_NO_RATES: Mapping[str, Decimal] = {}
_PROGRESS_STEP = 2000  # findings between two progress messages


@dataclass(frozen=True)
class Report:
    """Report of one run of one shop.

    `is_superseded` is True if a newer run has crawled the shop since. `findings` are the missing,
    unsure and ignored ones, the most valuable first; `listed` the listed ones if they were asked
    for. `resolved` are listed offers that were missing in the previous run, `no_longer_seen` the
    missing ones of that run that this one has not seen.
    """

    shop: Shop
    run: Run
    generated_at: datetime
    findings: list[Finding]
    completeness: Completeness
    causes: tuple[CauseShare, ...]
    trend: Trend
    feed_quality: FeedQuality
    is_superseded: bool
    listed: list[Finding] = field(default_factory=list)
    resolved: list[Finding] = field(default_factory=list)
    no_longer_seen: list[VanishedOffer] = field(default_factory=list)

    @property
    def has_import(self) -> bool:
        """True if the catalog has offers of the shop; else every offer counts as missing."""
        return self.feed_quality.known_offers > 0

    @property
    def is_read_by_heuristics(self) -> bool:
        """True if the shop's rules were not learnt from known offers."""
        return (self.run.figures.get("learn") or {}).get("by") == "general rules"

    @property
    def is_ending(self) -> bool:
        """True if the run ends with this report, which is its last step."""
        return self.run.state == RunState.RUNNING and self.run.stage == Stage.REPORT

    @property
    def run_state(self) -> RunState:
        """State of the run, as it will be when this report is complete."""
        return RunState.DONE if self.is_ending else RunState(self.run.state)

    @property
    def run_at(self) -> datetime:
        """Time at which the run ended, or started if it has not ended."""
        if self.is_ending:
            return self.generated_at
        return self.run.finished_at or self.run.started_at

    def changed(self, change: Change) -> list[Finding]:
        """Return the missing findings with a change since the previous run."""
        return [
            finding for finding in self.findings_with(Verdict.MISSING) if finding.since is change
        ]

    def findings_with(self, verdict: Verdict) -> list[Finding]:
        """Return the findings of a verdict without the ignored ones, the most valuable first."""
        return [
            finding
            for finding in self.findings
            if finding.verdict is verdict and not finding.is_ignored
        ]

    @property
    def ignored(self) -> list[Finding]:
        """Findings that a reviewer asked to leave out."""
        return [finding for finding in self.findings if finding.is_ignored]


@dataclass
class _ReportBuilder:
    """Everything that the one pass over the findings collects.

    `decided` are the records of the listed and missing offers, for the causes. Findings with one of
    the `kept_verdicts` stay in memory.
    """

    completeness: CompletenessBuilder
    feed_quality: FeedQuality
    trend: TrendBuilder
    kept_verdicts: frozenset[Verdict]
    findings: list[Finding] = field(default_factory=list)
    listed: list[Finding] = field(default_factory=list)
    resolved: list[Finding] = field(default_factory=list)
    variants: VariantIndex = field(default_factory=VariantIndex)
    decided: list[OfferRecord] = field(default_factory=list)
    listed_with_ean: int = 0

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it if the report lists it."""
        self.completeness.add(finding)
        self.trend.add(finding)
        self.variants.add(finding)
        is_listed = finding.verdict is Verdict.LISTED and not finding.is_ignored
        if finding.since is Change.RESOLVED:
            self.resolved.append(finding)
        if is_listed and Verdict.LISTED in self.kept_verdicts:
            self.listed.append(finding)
        if not is_listed and (finding.is_ignored or finding.verdict in self.kept_verdicts):
            self.findings.append(finding)
        if finding.is_ignored or finding.verdict is Verdict.UNSURE:
            return
        # Causes are inferred for a report that lists the missing offers only.
        if Verdict.MISSING in self.kept_verdicts:
            record = offer_record(finding, self._is_new(finding))
            self.decided.append(record)
            self.listed_with_ean += is_listed and record.is_valid_ean
        if not is_listed:
            return
        # A reviewer's rejection names no catalog offer to compare with.
        if finding.decision is not ReviewDecision.REJECT:
            self.feed_quality.add_listed(finding)
            self.variants.add_listed(finding)

    def _is_new(self, finding: Finding) -> bool | None:
        previous = self.trend.previous
        if previous.run is None:
            return None
        return not any(map(previous.has_seen, finding.all_urls()))

    def records(self) -> list[OfferRecord]:
        """Return the records of the listed and missing offers, after all have been added."""
        collapsed = {
            finding.url
            for finding in self.findings
            if finding.is_missing and self.variants.evidence(finding) is not None
        }
        return [with_variants(record, self.variants, collapsed) for record in self.decided]

    def rank_findings(self) -> None:
        """Number and sort the findings by value at stake: missing ones first, ignored ones last.

        Findings of one verdict are ranked by their prices, those without a price last.
        """
        by_standing: dict[Verdict | None, list[Finding]] = {}
        for finding in self.findings_in_memory():
            standing = None if finding.is_ignored else finding.verdict
            by_standing.setdefault(standing, []).append(finding)
        number = 0
        for standing in _STANDINGS:
            for finding in self.completeness.ranking.rank(by_standing.get(standing, ())):
                number += 1
                finding.rank = number
        for findings in (self.findings, self.listed, self.resolved):
            findings.sort(key=lambda finding: finding.rank)

    def findings_in_memory(self) -> Iterator[Finding]:
        """Yield every finding that stays in memory, once."""
        yield from self.findings
        yield from self.listed
        if Verdict.LISTED not in self.kept_verdicts:
            yield from self.resolved


def build_report(
    store: Store,
    shop: Shop,
    run_id: int,
    keep: Collection[Verdict] = LISTED_ONE_BY_ONE,
    progress: Progress = no_progress,
    config: CauseConfig | None = None,
    rates: Mapping[str, Decimal] = _NO_RATES,
) -> Report:
    """Build the report of a run; `keep` are the verdicts whose findings it lists one by one.

    `rates` gives the value of one unit of each currency, to rank several currencies together.
    Raises UsageError if the shop has no such run.
    """
    config = config or CauseConfig()
    with store.read() as session:
        run = session.get(Run, run_id)
        if run is None or run.shop_id != shop.id:
            raise UsageError(
                f"{shop.name!r} has no run {run_id}: "
                "'scout report' without --run takes the last one"
            )
        previous = load_previous_run(session, shop, run)
        builder = _ReportBuilder(
            CompletenessBuilder(rates), FeedQuality(config), TrendBuilder(previous), frozenset(keep)
        )
        for number, finding in enumerate(read_findings(session, shop, run_id), 1):
            builder.add(finding)
            if number % _PROGRESS_STEP == 0:
                progress("offers read", number)
        feed_quality = builder.feed_quality
        superseded = is_superseded(session, shop, run_id)
        pages = None
        # The page table describes the newest crawl only.
        if not superseded:
            pages = read_linked_pages(session, shop)
            feed_quality.read_unseen(session, shop, run_id, pages)
        feed_quality.read_feed(session, shop, run_id, pages, builder.completeness.currency)
        builder.rank_findings()
        fill_sightings(session, run, previous, builder.findings_in_memory())
        builder.trend.mark_reappeared(builder.findings)
        context = _infer_causes(session, shop, run, builder, previous, config)
        feed_quality.sort()
        coverage = count_coverage(session, shop, run_id, pages)
        estimate = None
        if not superseded:
            sample = builder.completeness.sample
            estimate = estimate_completeness(
                read_crawl_sample(session, shop, run_id, sample, coverage)
            )
        return Report(
            shop=shop,
            run=run,
            generated_at=utc_now(),
            findings=builder.findings,
            completeness=builder.completeness.build(coverage, estimate),
            causes=summarize_causes(
                builder.findings, context.groups, builder.completeness.currency_weights
            ),
            trend=builder.trend.build(load_history(session, shop, run)),
            feed_quality=feed_quality,
            is_superseded=superseded,
            listed=builder.listed,
            resolved=builder.resolved,
            no_longer_seen=_read_vanished_offers(session, builder.trend),
        )


def _read_vanished_offers(session: Session, trend: TrendBuilder) -> list[VanishedOffer]:
    if trend.previous.run is None:
        return []
    return read_vanished_offers(session, trend.previous.run, trend.vanished_urls())


def measure_completeness(store: Store, shop: Shop, run_id: int) -> Completeness:
    """Return the figures of a run without its findings.

    Raises UsageError if the shop has no such run.
    """
    return build_report(store, shop, run_id, keep=()).completeness


def _infer_causes(
    session: Session,
    shop: Shop,
    run: Run,
    builder: _ReportBuilder,
    previous: PreviousRun,
    config: CauseConfig,
) -> CauseContext:
    """Infer the causes of the run, and fill in those of every finding."""
    findings, quality = builder.findings, builder.feed_quality
    rows = quality.read_rejected_rows(session, shop)
    rejected_rows = find_rejected_rows(findings, rows, config)
    lost_offers = read_lost_offers(session, shop, findings, run.finished_at or utc_now(), config)
    # An offer that the feed still has was not lost.
    recorded = dict.fromkeys(lost_offers, CauseKind.LOST)
    recorded |= dict.fromkeys(rejected_rows, CauseKind.REJECTED)
    imported_at = quality.imported_at
    is_import_older = (
        imported_at is not None
        and previous.ended_at is not None
        and imported_at < previous.ended_at
    )
    groups = infer_group_causes(
        builder.records(),
        recorded=recorded,
        unpaired=quality.unpaired,
        currency_weights=builder.completeness.currency_weights,
        # What the previous run did not see is newer than the import only if that was before.
        new_since=None if is_import_older else previous.ended_at,
        config=config,
    )
    total = builder.completeness.total
    context = CauseContext(
        groups=groups,
        variants=builder.variants,
        rejected_rows=rejected_rows,
        lost_offers=lost_offers,
        was_seen=previous.has_seen if previous.run else None,
        previous_run_at=previous.ended_at,
        ean_share=builder.listed_with_ean / total.listed if total.listed else 0.0,
        feed_offers=quality.known_offers,
        config=config,
    )
    infer_causes(findings, context)
    return context
