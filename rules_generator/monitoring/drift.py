"""Drift: do a shop's rules still read its pages as they did when they were learnt?

Pages of known offers show it: values read now are compared with the catalog, and with the agreement
when the rules were learnt - known offers are never quite up to date, so only a fall counts. A
redesign shows in most attributes at once, or in two that are no longer found at all, or in pages
that are not recognised. Pages of other offers show it by their rule yield.

Only pages fetched since the rules were learnt can show a change: resting pages, whose `lastmod` in
the sitemap is older, are read as ever. So they are passed over if there are enough others.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

from catalog.errors import LearnError
from catalog.models import Attribute, DriftKind, Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage, PageOpener, list_crawled_pages
from parser.page_reader import read_attributes
from parser.parse_job import stored_rules
from parser.rules.model import Rule, RuleSet, Template
from parser.templates.template_match import page_fingerprint, rank_templates
from parser.voting.winner import Reading
from rules_generator.monitoring.rule_yield import (
    RuleYield,
    comparable_yields,
    measure_yields,
    yield_drops,
)
from rules_generator.training.examples import TrainingExample
from rules_generator.training.training_set import latest_rules, load_training_set

# Examples below which nothing is concluded from a share.
MIN_EXAMPLES = 3
# Fresh examples from which on resting ones are left out.
ENOUGH_FRESH = 10
# Caps: examples compared, pages sampled for the yield.
MAX_EXAMPLES = 60
SAMPLE_SIZE = 100
# Shares of the former agreement: a redesign, drift, and a value that is gone.
REDESIGN_SHARE = 0.5
DRIFT_SHARE = 0.8
GONE_SHARE = 0.2


@dataclass(frozen=True)
class AttributeDrift:
    """How one attribute is read: values known, found, right; `then` is the former share."""

    known: int
    found: int
    right: int
    then: float | None = None

    @property
    def share(self) -> float:
        """The share of known values that are read rightly."""
        return self.right / self.known if self.known else 0.0

    @property
    def remaining(self) -> float:
        """The share relative to the former one; the share itself where that was not stored."""
        return min(1.0, self.share / self.then) if self.then else self.share

    @property
    def is_comparable(self) -> bool:
        """Whether enough values are known, and some were read rightly before."""
        return self.known >= MIN_EXAMPLES and self.then != 0

    @property
    def has_fallen(self) -> bool:
        """Whether clearly fewer values are read rightly than when the rules were learnt."""
        return self.is_comparable and self.remaining < DRIFT_SHARE

    @property
    def is_gone(self) -> bool:
        """Whether next to nothing is found where most was read rightly before."""
        was_usual = self.known >= MIN_EXAMPLES and (self.then or 0.0) > REDESIGN_SHARE
        return was_usual and self.found < GONE_SHARE * self.known


@dataclass(frozen=True)
class SilentRule:
    """A rule that once agreed with known offers and reads nothing right any more."""

    attribute: str
    selector: str
    template: str
    support: int


@dataclass(frozen=True)
class Drift:
    """The rules of one version on pages of known offers: pages compared and recognised, attributes,
    silent rules.

    `coverage` is the rule yield on a sample of all pages, or of those fetched since the rules were
    learnt, and `fallen` its drops to less than half. `summary` is all of it in one line.
    """

    version: int
    pages: int
    recognised: int
    attributes: dict[str, AttributeDrift] = field(default_factory=dict)
    silent: tuple[SilentRule, ...] = ()
    kind: DriftKind = DriftKind.HOLDS
    redesigned: bool = False
    summary: str = ""
    coverage: RuleYield | None = None
    fallen: tuple[str, ...] = ()


class PageReading(NamedTuple):
    """The reading of one example's page by the rules of the template it is most similar to."""

    example: TrainingExample
    readings: dict[Attribute, Reading]
    is_recognised: bool
    template: str

    def value(self, attribute: Attribute) -> str | None:
        """Return the value read for an attribute."""
        reading = self.readings.get(attribute)
        return reading.value if reading else None


def drift_shop(
    settings: Settings, store: Store, shop: Shop, *, progress: Progress = no_progress
) -> Drift:
    """Re-score the shop's newest rules on fresh pages of its known offers.

    Raises LearnError where there are no rules, or no known offer has a page; NoKnownOffers.
    """
    rules, stored = stored_rules(store, shop), latest_rules(store, shop)
    pages, opener = list_crawled_pages(store, shop), PageOpener(settings.bodies)
    training_set = load_training_set(store, shop, pages, opener, MAX_EXAMPLES, rules.learnt_at)
    if not training_set.examples:
        raise LearnError(
            f"no known offer of {shop.name!r} has a crawled page: there is nothing to compare with"
        )
    [yields] = sample_yields(pages, opener, [rules], rules.learnt_at)
    story = stored.story if stored else {}
    drift = drift_since_learning(training_set.examples, rules, story, yields)
    progress("pages compared", drift.pages, drift.pages)
    return drift


def drift_since_learning(
    examples: Sequence[TrainingExample],
    rules: RuleSet,
    story: Mapping[str, Any],
    yields: tuple[RuleYield, RuleYield],
) -> Drift:
    """Measure the drift of rules by their stored `story` and `yields` (fresh, resting)."""
    before = RuleYield.from_json(story.get("coverage") or {})
    agreement = dict(story.get("agreement") or {})
    return measure_drift(examples, rules, agreement, comparable_yields(*yields, before))


def sample_yields(
    pages: Sequence[CrawledPage],
    opener: PageOpener,
    rule_sets: Sequence[RuleSet],
    since: datetime | None,
) -> list[tuple[RuleYield, RuleYield]]:
    """Measure rule sets' yields on a fixed sample of pages: (fetched `since`, resting)."""
    size = min(SAMPLE_SIZE, len(pages))
    # Seeded by the number of pages, so that the same crawl gives the same sample.
    sample = random.Random(len(pages)).sample(pages, size)  # noqa: S311 - not for secrecy
    by_age: dict[bool, list[CrawledPage]] = {True: [], False: []}
    for page in sample:
        by_age[page.is_fresh(since)].append(page)
    yields = []
    for group in by_age.values():
        documents = map(itemgetter(1), opener.open_all(group))
        yields.append(measure_yields(documents, rule_sets))
    fresh, resting = yields
    return list(zip(fresh, resting, strict=True))


def measure_drift(
    examples: Sequence[TrainingExample],
    rules: RuleSet,
    agreement: dict[str, float],
    yields: tuple[RuleYield, RuleYield] = (RuleYield(), RuleYield()),
) -> Drift:
    """Measure the drift of rules; `agreement` is the share right per attribute when they were
    learnt.

    `yields` are those on a sample of all pages, now and before.
    """
    compared = _mostly_fresh(examples, rules.learnt_at)
    pages = [_read(example, rules) for example in compared]
    recognised = sum(page.is_recognised for page in pages)
    attributes = {}
    for attribute in Attribute:
        drift = _attribute_drift(attribute, pages, agreement)
        # The currency hardly ever changes.
        if drift.known and attribute is not Attribute.CURRENCY:
            attributes[attribute.value] = drift
    drops = yield_drops(*yields)
    kind = DriftKind.HOLDS
    if _is_redesigned(len(compared), recognised, attributes.values()):
        kind = DriftKind.REDESIGNED
    elif drops or any(drift.has_fallen for drift in attributes.values()):
        kind = DriftKind.DRIFTED
    return Drift(
        version=rules.version,
        pages=len(compared),
        recognised=recognised,
        attributes=attributes,
        silent=tuple(_silent_rules(rules, pages)),
        kind=kind,
        redesigned=kind is DriftKind.REDESIGNED,
        summary=_describe(len(compared), recognised, attributes, kind, drops),
        coverage=yields[0],
        fallen=tuple(drops),
    )


def agreement_shares(examples: Sequence[TrainingExample], rules: RuleSet) -> dict[str, float]:
    """Return the share of known values that the rules read rightly, by attribute."""
    attributes = measure_drift(examples, rules, {}).attributes
    return {name: round(drift.share, 4) for name, drift in attributes.items()}


def _mostly_fresh(
    examples: Sequence[TrainingExample], since: datetime | None
) -> Sequence[TrainingExample]:
    fresh = [example for example in examples if example.page.is_fresh(since)]
    return fresh if len(fresh) >= ENOUGH_FRESH else examples


def _read(example: TrainingExample, rules: RuleSet) -> PageReading:
    """Read a page by the rules of its template, without fallback rules.

    These would find the values where the shop has moved them, and hide the drift.
    """
    if not rules.templates:
        return PageReading(example, {}, False, "")
    best = rank_templates(page_fingerprint(example.document), rules.templates)[0]
    readings = read_attributes(example.document, _without_fallbacks(best.template))
    return PageReading(example, readings, best.matches, best.template.name)


def _without_fallbacks(template: Template) -> Template:
    primary = {rule.attribute for rule in template.rules if not rule.is_fallback}
    remaining = []
    for rule in template.rules:
        if not rule.is_fallback or rule.attribute not in primary:
            remaining.append(rule)
    return template.model_copy(update={"rules": tuple(remaining)})


def _attribute_drift(
    attribute: Attribute, pages: Sequence[PageReading], agreement: dict[str, float]
) -> AttributeDrift:
    compared, read, right = 0, 0, 0
    for page in pages:
        example = page.example
        if attribute in example.known:
            value = page.value(attribute)
            compared += 1
            read += value is not None
            right += example.agrees(attribute, value) is True
    return AttributeDrift(compared, read, right, then=agreement.get(attribute.value))


def _is_redesigned(compared: int, recognised: int, attributes: Iterable[AttributeDrift]) -> bool:
    if compared < MIN_EXAMPLES:
        return False
    remaining = [drift.remaining for drift in attributes if drift.is_comparable]
    is_halved = bool(remaining) and median(remaining) < REDESIGN_SHARE
    gone = sum(drift.is_gone for drift in attributes)
    return recognised < REDESIGN_SHARE * compared or is_halved or gone > 1


def _silent_rules(rules: RuleSet, pages: Sequence[PageReading]) -> list[SilentRule]:
    """Return the learnt rules that read nothing right from any page of their template."""
    silent_rules = []
    for template in rules.templates:
        matching = [page for page in pages if page.template == template.name]
        if len(matching) < MIN_EXAMPLES:
            continue
        for rule in template.rules:
            if rule.support and _is_silent(rule, matching):
                selector = str(rule.selector)
                silent_rules.append(
                    SilentRule(rule.attribute.value, selector, template.name, rule.support)
                )
    return silent_rules


def _is_silent(rule: Rule, pages: Sequence[PageReading]) -> bool:
    """Return True if a rule voted on some of the pages, and was right on none."""
    has_voted = False
    for page in pages:
        example = page.example
        if rule.attribute not in page.readings or rule.attribute not in example.known:
            continue
        for vote in page.readings[rule.attribute].all_votes:
            if vote.rule == rule:
                has_voted = True
                if example.agrees(rule.attribute, vote.value):
                    return False
    return has_voted


def _describe(
    compared: int,
    recognised: int,
    attributes: dict[str, AttributeDrift],
    kind: DriftKind,
    drops: Sequence[str],
) -> str:
    wrong = []
    for name, drift in attributes.items():
        if drift.has_fallen:
            former = f" (was {drift.then:.0%})" if drift.then is not None else ""
            wrong.append(f"{name} {drift.share:.0%}{former}")
    seen = f"{recognised} of {compared} known offers' pages are recognised"
    if not compared:
        seen = "no known offer to compare with"
    dropped = f"; found: {', '.join(drops)}" if drops else ""
    if kind is DriftKind.REDESIGNED:
        rightly = ", ".join(wrong) or "as before"
        return f"the shop was redesigned: {seen}; read correctly: {rightly}{dropped}"
    if kind is DriftKind.DRIFTED:
        rightly = f" read correctly: {', '.join(wrong)};" if wrong else ""
        return f"some rules have drifted:{rightly} {seen}{dropped}"
    return f"the rules hold: {seen}"
