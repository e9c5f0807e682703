"""Drift: do a shop's rules still read its pages as they did when they were learnt?

Pages of known offers say so: what the rules read from them now is compared with what the catalog knows, and with how
well they agreed when they were learnt - known offers are never quite up to date, so only a fall counts. A redesign
shows in most attributes at once, or in two of which nothing is found any more, or in pages that are not recognised.
Pages of other offers tell too, by how much is found on them (`coverage`).

Only pages that the shop was asked for since the rules were learnt can show a change: those that rest, as a sitemap's
`lastmod` lets them, are read as they ever were. So they are passed over where there are enough others.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from catalog.errors import LearnError
from catalog.models import Attribute, Shop
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage, Opener, crawled_pages
from parser.parse_job import stored_rules
from parser.read import read_attributes
from parser.rules.model import RuleSet, Template
from parser.templates.template_match import marks_of, ranked
from parser.voting.winner import Reading
from rules_generator.monitoring.rule_yield import Coverage, covered, fallen, judged
from rules_generator.training.training_example import Taught
from rules_generator.training.training_set import newest_rules, teachers

FEWEST = 3
ENOUGH = 10
MOST = 60
SAMPLE = 100
HALF = 0.5
FALLEN = 0.8
GONE = 0.2


@dataclass(frozen=True)
class Held:
    """How one attribute is read now: of `known` values so many `found` and `right`; `then`, the share right once."""

    known: int
    found: int
    right: int
    then: float | None = None

    @property
    def share(self) -> float:
        """The share of known values that is read rightly."""
        return self.right / self.known if self.known else 0.0

    @property
    def held(self) -> float:
        """What is left of the share there once was; the share itself where that was not noted."""
        return min(1.0, self.share / self.then) if self.then else self.share

    @property
    def is_gone(self) -> bool:
        """Whether next to nothing is found any more where most was read rightly once."""
        return self.known >= FEWEST and (self.then or 0.0) > HALF and self.found < GONE * self.known


@dataclass(frozen=True)
class Silent:
    """A rule that once agreed with known offers and finds nothing right any more."""

    attribute: str
    selector: str
    template: str
    support: int


@dataclass(frozen=True)
class Drift:
    """The rules of one version on pages of known offers: pages compared and recognised, attributes, rules gone.

    `coverage` is what they find on a sample of all pages, or of those fetched since they were learnt, and `fallen` what
    of that is less than half of what it was.
    """

    version: int
    pages: int
    recognised: int
    attributes: dict[str, Held] = field(default_factory=dict)
    silent: tuple[Silent, ...] = ()
    redesigned: bool = False
    said: str = ""
    coverage: Coverage | None = None
    fallen: tuple[str, ...] = ()


def drift_shop(
    settings: Settings, store: Store, shop: Shop, *, progress: Progress = silent
) -> Drift:
    """Re-score the shop's newest rules on fresh pages of its known offers.

    Raises LearnError where there are no rules, or no known offer has a page; NoKnownOffers.
    """
    rules, stored = stored_rules(store, shop), newest_rules(store, shop)
    pages, opener = crawled_pages(store, shop), Opener(settings.bodies)
    taught = teachers(store, shop, pages, opener, MOST, rules.learnt_at).taught
    if not taught:
        raise LearnError(
            f"no known offer of {shop.name!r} has a crawled page: there is nothing to compare with"
        )
    story = stored.story if stored else {}
    [found] = surveyed(pages, opener, [rules], rules.learnt_at)
    seen = judged(*found, Coverage.from_json(story.get("coverage") or {}))
    drift = drift_of(taught, rules, dict(story.get("agreement") or {}), seen)
    progress("pages compared", drift.pages, drift.pages)
    return drift


def surveyed(
    pages: Sequence[CrawledPage],
    opener: Opener,
    rule_sets: Sequence[RuleSet],
    since: datetime | None,
) -> list[tuple[Coverage, Coverage]]:
    """What each rule set finds on a fixed sample of the shop's pages, known offers or not.

    Those fetched since that moment and the others are counted apart.
    """
    chosen = random.Random(len(pages)).sample(pages, min(SAMPLE, len(pages)))  # noqa: S311 - not for secrecy
    fresh, rested = (
        covered((document for _, document in opener.open_all(group)), rule_sets)
        for group in (
            [page for page in chosen if page.is_fresh(since) is asked] for asked in (True, False)
        )
    )
    return list(zip(fresh, rested, strict=True))


def drift_of(
    taught: Sequence[Taught],
    rules: RuleSet,
    then: dict[str, float],
    seen: tuple[Coverage, Coverage] = (Coverage(), Coverage()),
) -> Drift:
    """What the rules read from pages of known offers; `then` is the share right per attribute when they were learnt.

    `seen` is what they find on a sample of all pages, now and then.
    """
    taught = _fresh(taught, rules.learnt_at)
    read = [(one, *_read(one, rules)) for one in taught]
    recognised = sum(is_offer for _, _, is_offer, _ in read)
    attributes = {
        attribute.value: _held(attribute, [(one, readings) for one, readings, _, _ in read], then)
        for attribute in Attribute
        if attribute is not Attribute.CURRENCY
        and any(attribute in one.example.known for one in taught)
    }
    lost = _silent(rules, [(one, readings, template) for one, readings, _, template in read])
    judged = [one.held for one in attributes.values() if one.known >= FEWEST and one.then != 0]
    gone = sum(one.is_gone for one in attributes.values())
    halved = bool(judged) and median(judged) < HALF
    redesigned = len(taught) >= FEWEST and (recognised < HALF * len(taught) or halved or gone > 1)
    less = fallen(*seen)
    said = _say(len(taught), recognised, attributes, redesigned, less)
    return Drift(
        rules.version,
        len(taught),
        recognised,
        attributes,
        tuple(lost),
        redesigned,
        said,
        seen[0],
        tuple(less),
    )


def shares(taught: Sequence[Taught], rules: RuleSet) -> dict[str, float]:
    """The share of known values per attribute that the rules read rightly, to be noted when they are learnt."""
    return {
        name: round(held.share, 4) for name, held in drift_of(taught, rules, {}).attributes.items()
    }


def _fresh(taught: Sequence[Taught], since: datetime | None) -> Sequence[Taught]:
    fresh = [one for one in taught if one.example.page.is_fresh(since)]
    return fresh if len(fresh) >= ENOUGH else taught


def _read(one: Taught, rules: RuleSet) -> tuple[dict[Attribute, Reading], bool, str]:
    """What the likest template's rules read from a page, and whether the page is still like it.

    Rules that stand in for others are left out: they would find the values where the shop has moved them,
    and it would not be seen.
    """
    if not rules.templates:
        return {}, False, ""
    marks = marks_of(one.document)
    best = ranked(marks, rules.templates)[0]
    return (
        read_attributes(one.document, _without_stand_ins(best.template)),
        best.takes,
        best.template.name,
    )


def _without_stand_ins(template: Template) -> Template:
    leading = {rule.attribute for rule in template.rules if not rule.stands_in}
    kept = tuple(
        rule for rule in template.rules if not rule.stands_in or rule.attribute not in leading
    )
    return template.model_copy(update={"rules": kept})


def _held(
    attribute: Attribute,
    read: Sequence[tuple[Taught, dict[Attribute, Reading]]],
    then: dict[str, float],
) -> Held:
    known = [
        (one, readings.get(attribute)) for one, readings in read if attribute in one.example.known
    ]
    values = [(one, reading.value if reading else None) for one, reading in known]
    return Held(
        known=len(known),
        found=sum(value is not None for _, value in values),
        right=sum(one.example.agrees(attribute, value) is True for one, value in values),
        then=then.get(attribute.value),
    )


def _silent(
    rules: RuleSet, read: Sequence[tuple[Taught, dict[Attribute, Reading], str]]
) -> list[Silent]:
    """Learnt rules that read nothing right from any page of their template."""
    found = []
    for template in rules.templates:
        pages = [(one, readings) for one, readings, name in read if name == template.name]
        for rule in template.rules if len(pages) >= FEWEST else ():
            votes = [
                (one, vote)
                for one, readings in pages
                if rule.attribute in readings and rule.attribute in one.example.known
                for vote in readings[rule.attribute].all_votes
                if vote.rule == rule
            ]
            if (
                rule.support
                and votes
                and not any(one.example.agrees(rule.attribute, vote.value) for one, vote in votes)
            ):
                found.append(
                    Silent(rule.attribute.value, str(rule.selector), template.name, rule.support)
                )
    return found


def _say(
    pages: int, recognised: int, attributes: dict[str, Held], redesigned: bool, less: Sequence[str]
) -> str:
    wrong = [
        f"{name} {one.share:.0%}" + (f" (was {one.then:.0%})" if one.then is not None else "")
        for name, one in attributes.items()
        if one.known >= FEWEST and one.held < FALLEN and one.then != 0
    ]
    seen = (
        f"{recognised} of {pages} known offers' pages are recognised"
        if pages
        else "no known offer to compare with"
    )
    found = f"; found: {', '.join(less)}" if less else ""
    if redesigned:
        return f"the shop was redesigned: {seen}; read rightly: {', '.join(wrong) or 'as before'}{found}"
    if wrong or less:
        rightly = f" read rightly: {', '.join(wrong)};" if wrong else ""
        return f"some rules have drifted:{rightly} {seen}{found}"
    return f"the rules hold: {seen}"
