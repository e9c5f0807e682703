"""The story of a run: everything a report says, gathered in a dozen queries and one pass over the findings.

Kept in memory are the findings that are told one by one (missing and unsure, unless more are asked for), and of the
listed ones only what differs from the catalog.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from sqlmodel import Session

from catalog.errors import UsageError
from catalog.models import Run, Shop, Verdict, Word, now
from catalog.runtime.progress import Progress, silent
from catalog.storage.store import Store
from reports.causes.causes import CauseKind, Context, explain, valid_ean
from reports.causes.feed_quality import Health
from reports.causes.gaps import Absence, PriceGap, absent_brands, absent_categories, price_gaps
from reports.causes.page_variants import Siblings
from reports.causes.rejected_rows import rejections
from reports.statistics.coverage import covered, pages_of_known, superseded
from reports.statistics.findings_reader import Finding, stream
from reports.statistics.statistics import Completeness, Count, Tally, prefixes
from reports.statistics.trend import Earlier, Since, Trend, earlier, history

TOLD = frozenset({Verdict.MISSING, Verdict.UNSURE})
_EVERY = 2000


@dataclass(frozen=True)
class CauseShare:
    """How many missing offers a cause explains, what they cost, and the evidence given most often."""

    kind: CauseKind
    tally: Tally
    evidence: tuple[tuple[str, int], ...]

    @property
    def offers(self) -> int:
        """How many missing offers it explains."""
        return self.tally.missing


@dataclass(frozen=True)
class Story:
    """One run of one shop, ready to be written. `stale`: a newer run has crawled the shop since."""

    shop: Shop
    run: Run
    told_at: datetime
    findings: list[Finding]
    completeness: Completeness
    causes: tuple[CauseShare, ...]
    trend: Trend
    health: Health
    stale: bool

    @property
    def untaught(self) -> bool:
        """Whether no known offer taught how the shop's pages are read."""
        return (self.run.figures.get("learn") or {}).get("by") == "general rules"

    def of(self, verdict: Verdict) -> list[Finding]:
        """The findings of a verdict that count, the most valuable first."""
        return [one for one in self.findings if one.verdict is verdict and not one.ignored]

    @property
    def ignored(self) -> list[Finding]:
        """The findings that a person asked to leave out."""
        return [one for one in self.findings if one.ignored]


@dataclass
class _Gathering:
    """What the one pass over the findings leaves behind."""

    count: Count
    health: Health
    since: Since
    keep: frozenset[Verdict]
    findings: list[Finding] = field(default_factory=list)
    siblings: Siblings = field(default_factory=Siblings)
    listed_with_ean: int = 0

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it if it will be told."""
        self.count.add(finding)
        self.since.add(finding)
        self.siblings.add(finding)
        if finding.ignored or finding.verdict in self.keep:
            self.findings.append(finding)
        if finding.verdict is Verdict.LISTED and not finding.ignored:
            self.listed_with_ean += valid_ean(finding.ean)
            if finding.word is not Word.REJECT:
                self.health.add_listed(finding)
                self.siblings.add_listed(finding)


def gather(
    store: Store,
    shop: Shop,
    run_id: int,
    keep: Collection[Verdict] = TOLD,
    progress: Progress = silent,
) -> Story:
    """The story of a run. Raises UsageError where the shop has no such run."""
    with store.read() as session:
        run = session.get(Run, run_id)
        if run is None or run.shop_id != shop.id:
            raise UsageError(
                f"{shop.name!r} has no run {run_id}: 'scout run' makes one, 'scout report' takes the last"
            )
        before = earlier(session, shop, run)
        passed = _Gathering(Count(), Health(), Since(before), frozenset(keep))
        for number, finding in enumerate(stream(session, shop, run_id), 1):
            passed.add(finding)
            if number % _EVERY == 0:
                progress("offers told", number)
        count, health, findings = passed.count, passed.health, passed.findings
        stale = superseded(session, shop, run_id)
        pages = None if stale else pages_of_known(session, shop)
        if pages is not None:
            health.read_unseen(session, shop, run_id, pages)
        health.read_feed(session, shop, count.currency)
        _rank(findings, count.weights)
        explain(findings, _context(session, shop, passed, before))
        return Story(
            shop=shop,
            run=run,
            told_at=now(),
            findings=findings,
            completeness=count.done(covered(session, shop, run_id, pages)),
            causes=_shares(findings),
            trend=passed.since.done(findings, history(session, shop, run)),
            health=health.done(),
            stale=stale,
        )


def _rank(findings: list[Finding], weights: Mapping[str, Decimal]) -> None:
    """Sort by value, the dearest first, those without a price last."""

    def key(finding: Finding) -> tuple[bool, Decimal, str]:
        price = finding.price
        return (
            price is None,
            -(price or 0) * weights.get(finding.currency or "", Decimal(1)),
            finding.url,
        )

    findings.sort(key=key)


def _context(session: Session, shop: Shop, passed: _Gathering, before: Earlier) -> Context:
    count, feed = passed.count, passed.health.feed
    total = count.total
    categories = absent_categories(count.categories, total, feed)
    brands = absent_brands(count.brands, total, feed)
    return Context(
        categories=categories,
        brands=brands,
        gaps=_gaps(passed, categories, brands),
        siblings=passed.siblings,
        rejections=rejections(passed.findings, passed.health.watched(session, shop)),
        earlier=before.saw if before.run else None,
        earlier_at=before.at,
        ean_share=passed.listed_with_ean / total.listed if total.listed else 0.0,
        feed_offers=feed.offers,
    )


def _gaps(
    passed: _Gathering, categories: Mapping[str, Absence], brands: Mapping[str, Absence]
) -> dict[str | None, list[PriceGap]]:
    """Price gaps per currency, not counting the offers that an absent category or brand explains already."""
    missing: dict[str | None, list[tuple[Decimal, str]]] = {}
    for one in passed.findings:
        known = (one.brand or "").casefold() in brands or any(
            prefix in categories for prefix in prefixes(one.category)
        )
        if (
            one.verdict is Verdict.MISSING
            and not one.ignored
            and one.price is not None
            and not known
        ):
            missing.setdefault(one.currency, []).append((one.price, one.variant_of or one.url))
    count, feed = passed.count, passed.health.feed
    return {
        currency: price_gaps(
            prices,
            count.priced(currency, Verdict.LISTED),
            count.currencies[currency].listed_products,
            feed.prices.get(currency, ()),
        )
        for currency, prices in missing.items()
    }


def _shares(findings: list[Finding]) -> tuple[CauseShare, ...]:
    tallies: dict[str, Tally] = {}
    evidence: dict[str, Counter[str]] = {}
    for finding in findings:
        if finding.verdict is Verdict.MISSING and not finding.ignored and finding.cause:
            tallies.setdefault(finding.cause, Tally()).add(finding)
            evidence.setdefault(finding.cause, Counter())[finding.evidence[0]] += 1
    shares = [
        CauseShare(CauseKind(cause), tally, tuple(evidence[cause].most_common(5)))
        for cause, tally in tallies.items()
    ]
    return tuple(
        sorted(shares, key=lambda share: (share.kind is CauseKind.OTHER, -share.offers, share.kind))
    )
