"""Drift: do a shop's rules still read its pages as they did when they were learnt?

Pages of known offers say so: what the rules read from them now is compared with what the catalog knows, and with how
well they agreed when they were learnt - known offers are never quite up to date, so only a fall counts. A redesign
shows in most attributes at once, or in two of which nothing is found any more, or in pages that are not recognised.
Pages of other offers tell too, by how much is found on them (`coverage`).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from catalog.errors import LearnError
from catalog.models import Attribute, Shop
from catalog.progress import Progress, silent
from catalog.settings import Settings
from catalog.store import Store
from parser.document import Document
from parser.gate import marks_of, ranked
from parser.pages import CrawledPage, Opener, crawled_pages
from parser.read import Reading, read_attributes
from parser.rules import RuleSet, Template
from parser.worker import stored_rules
from rules_generator.coverage import Coverage, covered, fallen
from rules_generator.induce import Taught
from rules_generator.teachers import newest_rules, teachers

FEWEST, MOST, SAMPLE = 3, 60, 100
HALF = 0.5
FALLEN, GONE = 0.8, 0.2


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

    `coverage` is what they find on a sample of all pages, and `fallen` what of that is less than half of what it was.
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


def drift_shop(settings: Settings, store: Store, shop: Shop, *, progress: Progress = silent) -> Drift:
    """Re-score the shop's newest rules on the newest pages of its known offers.

    Raises LearnError where there are no rules, or no known offer has a page; NoKnownOffers.
    """
    rules, stored = stored_rules(store, shop), newest_rules(store, shop)
    pages, opener = crawled_pages(store, shop), Opener(settings.bodies)
    taught = teachers(store, shop, pages, opener, MOST).taught
    progress("pages compared", len(taught), len(taught))
    if not taught:
        raise LearnError(f"no known offer of {shop.name!r} has a crawled page: there is nothing to compare with")
    story = stored.story if stored else {}
    seen = (covered(sample(pages, opener, SAMPLE), [rules])[0], Coverage.from_json(story.get("coverage") or {}))
    return drift_of(taught, rules, dict(story.get("agreement") or {}), seen)


def sample(pages: Sequence[CrawledPage], opener: Opener, most: int) -> Iterator[Document]:
    """A fixed sample of the shop's pages, known offers or not; each is gone before the next is opened."""
    chosen = random.Random(len(pages)).sample(pages, min(most, len(pages)))  # noqa: S311 - not for secrecy
    return (document for _, document in opener.open_all(chosen))


def drift_of(
    taught: Sequence[Taught],
    rules: RuleSet,
    then: dict[str, float],
    seen: tuple[Coverage, Coverage] = (Coverage(), Coverage()),
) -> Drift:
    """What the rules read from pages of known offers; `then` is the share right per attribute when they were learnt.

    `seen` is what they find on a sample of all pages, now and then.
    """
    read = [(one, *_read(one, rules)) for one in taught]
    recognised = sum(is_offer for _, _, is_offer, _ in read)
    attributes = {
        attribute.value: _held(attribute, [(one, readings) for one, readings, _, _ in read], then)
        for attribute in Attribute
        if attribute is not Attribute.CURRENCY and any(attribute in one.example.known for one in taught)
    }
    lost = _silent(rules, [(one, readings, template) for one, readings, _, template in read])
    judged = [one.held for one in attributes.values() if one.known >= FEWEST and one.then != 0]
    gone = sum(one.is_gone for one in attributes.values())
    halved = bool(judged) and median(judged) < HALF
    redesigned = len(taught) >= FEWEST and (recognised < HALF * len(taught) or halved or gone > 1)
    less = fallen(*seen)
    said = _say(len(taught), recognised, attributes, redesigned, less)
    return Drift(
        rules.version, len(taught), recognised, attributes, tuple(lost), redesigned, said, seen[0], tuple(less)
    )


def shares(taught: Sequence[Taught], rules: RuleSet) -> dict[str, float]:
    """The share of known values per attribute that the rules read rightly, to be noted when they are learnt."""
    return {name: round(held.share, 4) for name, held in drift_of(taught, rules, {}).attributes.items()}


def _read(one: Taught, rules: RuleSet) -> tuple[dict[Attribute, Reading], bool, str]:
    """What the likest template's rules read from a page, and whether the page is still like it.

    Rules that stand in for others are left out: they would find the values where the shop has moved them,
    and it would not be seen.
    """
    if not rules.templates:
        return {}, False, ""
    marks = marks_of(one.document)
    best = ranked(marks, rules.templates)[0]
    return read_attributes(one.document, _without_stand_ins(best.template)), best.takes, best.template.name


def _without_stand_ins(template: Template) -> Template:
    leading = {rule.attribute for rule in template.rules if not rule.stands_in}
    kept = tuple(rule for rule in template.rules if not rule.stands_in or rule.attribute not in leading)
    return template.model_copy(update={"rules": kept})


def _held(
    attribute: Attribute, read: Sequence[tuple[Taught, dict[Attribute, Reading]]], then: dict[str, float]
) -> Held:
    known = [(one, readings.get(attribute)) for one, readings in read if attribute in one.example.known]
    values = [(one, reading.value if reading else None) for one, reading in known]
    return Held(
        known=len(known),
        found=sum(value is not None for _, value in values),
        right=sum(one.example.agrees(attribute, value) is True for one, value in values),
        then=then.get(attribute.value),
    )


def _silent(rules: RuleSet, read: Sequence[tuple[Taught, dict[Attribute, Reading], str]]) -> list[Silent]:
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
                found.append(Silent(rule.attribute.value, str(rule.selector), template.name, rule.support))
    return found


def _say(pages: int, recognised: int, attributes: dict[str, Held], redesigned: bool, less: Sequence[str]) -> str:
    wrong = [
        f"{name} {one.share:.0%}" + (f" (was {one.then:.0%})" if one.then is not None else "")
        for name, one in attributes.items()
        if one.known >= FEWEST and one.held < FALLEN and one.then != 0
    ]
    seen = f"{recognised} of {pages} known offers' pages are recognised" if pages else "no known offer to compare with"
    found = f"; found: {', '.join(less)}" if less else ""
    if redesigned:
        return f"the shop was redesigned: {seen}; read rightly: {', '.join(wrong) or 'as before'}{found}"
    if wrong or less:
        rightly = f" read rightly: {', '.join(wrong)};" if wrong else ""
        return f"some rules have drifted:{rightly} {seen}{found}"
    return f"the rules hold: {seen}"
