"""Induce a shop's rules from known offers and their pages.

Examples are sorted by template; on each template's pages the known values are located, every place gives candidates,
all candidates run on all examples, and the smallest set that votes best is kept. An example that the learnt rules
contradict in most of what it says is set aside - its link leads elsewhere, or its page has become another - and
learning is done once more without it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from catalog.models import Attribute
from catalog.values import same
from parser.document import Document
from parser.gate import is_front_door, marks_of
from parser.read import read_attributes
from parser.rules import Rule, RuleSet, Signature, Template
from rules_generator import cuts, templates
from rules_generator.candidate import Candidate
from rules_generator.choose import choose, spot
from rules_generator.examples import Example
from rules_generator.locate import CUTTABLE, Form, Place, Wanted, places, slugs
from rules_generator.menus import LISTED, menus
from rules_generator.score import Opened, Tally, rank, tally
from rules_generator.soundness import sound
from rules_generator.ways import Ways

THRESHOLD = 0.5
MOST_CANDIDATES = 90
MOST_WITH_CUTS = 40
MOST_BY_LOOK = 30
CONTRADICTED = 0.5

ENOUGH_FOR_ALL = 16
HEAT, BEST_OF_HEAT, BEST_OF_SPOT = 12, 24, 4


@dataclass(frozen=True)
class Story:
    """How learning went: examples used per template, those set aside with the reason, attributes without a rule."""

    templates: dict[str, int] = field(default_factory=dict)
    set_aside: tuple[tuple[str, str], ...] = ()
    not_found: tuple[str, ...] = ()


@dataclass(frozen=True)
class Taught:
    """An example with its page open."""

    example: Example
    document: Document


@dataclass(frozen=True)
class Survey:
    """What the examples of one template say of all candidates, ranked; rules are chosen from it for any threshold."""

    ranked: Mapping[Attribute, Sequence[tuple[float, Tally]]]

    def rules(self, threshold: float = THRESHOLD) -> list[Rule]:
        """The smallest set of rules per attribute that votes best, none below the threshold."""
        return [rule for ranked in self.ranked.values() for rule in choose(ranked, threshold)]


@dataclass(frozen=True)
class Lesson:
    """All that is learnt from a shop's examples but the choice of rules, which depends on the threshold."""

    taught: Sequence[Taught]
    surveys: Sequence[tuple[Signature, Survey]]
    set_aside: tuple[tuple[str, str], ...]

    def rules(self, threshold: float = THRESHOLD, currency: str | None = None) -> RuleSet:
        """The rules of all templates; one whose few examples teach no title is left to the others."""
        made = [
            Template(name=str(number), signature=named, rules=tuple(survey.rules(threshold)))
            for number, (named, survey) in enumerate(self.surveys, start=1)
        ]
        kept = [template for template in made if template.of(Attribute.TITLE)] or made
        urls = tuple(one.example.page.address for one in self.taught)
        return RuleSet(learnt_from=urls, currency=currency, templates=tuple(kept))


def induce(
    taught: Sequence[Taught],
    background: Iterable[Document] = (),
    *,
    threshold: float = THRESHOLD,
    currency: str | None = None,
) -> tuple[RuleSet, Story]:
    """The rules that the examples teach; `background` is a sample of the shop's pages, known or not."""
    lesson = study(taught, background)
    rules = lesson.rules(threshold, currency)
    counts = {template.name: len(template.rules) for template in rules.templates}
    return rules, Story(counts, lesson.set_aside, _not_found(taught, rules.templates))


def study(taught: Sequence[Taught], background: Iterable[Document] = ()) -> Lesson:
    """Sort the examples by template and survey each template's candidates."""
    marks = [marks_of(one.document) for one in taught]
    others = [marks_of(document) for document in background if not is_front_door(document.url)] or marks
    surveys, aside = [], []
    for group in templates.cluster(marks):
        survey, contradicted = _survey_robustly([taught[place] for place in group.members])
        aside += contradicted
        surveys.append((templates.signature([marks[place] for place in group.members], others), survey))
    return Lesson(taught, tuple(surveys), tuple(aside))


def _not_found(taught: Sequence[Taught], made: Iterable[Template]) -> tuple[str, ...]:
    known = {attribute for one in taught for attribute in one.example.known}
    read = {rule.attribute for template in made for rule in template.rules}
    return tuple(sorted(attribute.value for attribute in known - read))


def _survey_robustly(members: Sequence[Taught]) -> tuple[Survey, list[tuple[str, str]]]:
    """The survey of a template's examples without those that the rules of all contradict."""
    first = survey(members)
    rules = first.rules()
    bad = [one for one in members if _agreement(one, rules) < CONTRADICTED]
    if not bad or len(bad) * 2 > len(members):
        return first, []
    kept = [one for one in members if one not in bad]
    reason = "contradicts what the other examples teach"
    return survey(kept), [(one.example.page.address, reason) for one in bad]


def _agreement(one: Taught, rules: Sequence[Rule]) -> float:
    """The share of an example's known values that the rules read from its page."""
    readings = read_attributes(one.document, Template(name="", rules=tuple(rules)))
    said = [(attribute, reading.value) for attribute, reading in readings.items() if attribute in one.example.known]
    right = [
        value is not None and any(same(attribute, value, known) for known in one.example.known[attribute])
        for attribute, value in said
        if attribute is not Attribute.CURRENCY
    ]
    return sum(right) / len(right) if right else 1.0


def survey(members: Sequence[Taught]) -> Survey:
    """Run all candidates of one template on all its examples."""
    opened = Opened([one.example for one in members], [one.document for one in members])
    located = [places(one.document, Wanted(one.example.known, one.document.url)) for one in members]
    ranked = {}
    for attribute in Attribute:
        found = [one.get(attribute, []) for one in located]
        promising = _heat(_candidates(attribute, found, opened), opened)
        tallies = [tally(candidate, opened) for candidate in promising]
        ranked[attribute] = rank(sound(tallies, opened.examples))
    return Survey(ranked)


def _heat(candidates: Sequence[Candidate], opened: Opened) -> Sequence[Candidate]:
    """Where there are many examples, those candidates that do best on a few of them, some of each spot of the page."""
    attribute = candidates[0].attribute if candidates else None
    known = [place for place, example in enumerate(opened.examples) if attribute in example.known]
    if len(known) <= ENOUGH_FOR_ALL or len(candidates) <= BEST_OF_HEAT:
        return candidates
    few = known[:: max(1, len(known) // HEAT)][:HEAT]
    kept: Counter[str] = Counter()
    best: list[Candidate] = []
    for _, one in rank([tally(candidate, opened, few) for candidate in candidates]):
        place = spot(one.candidate.selector)
        if one.hits and kept[place] < BEST_OF_SPOT and len(best) < BEST_OF_HEAT:
            kept[place] += 1
            best.append(one.candidate)
    return best


def _candidates(attribute: Attribute, found: Sequence[Sequence[Place]], opened: Opened) -> list[Candidate]:
    """Whole values as they stand, and texts that contain one with the cuts that their surroundings suggest."""
    ways = Ways(found, opened.documents)
    whole = ways.to_whole(MOST_CANDIDATES)
    looks = cuts.by_look(attribute, _known(attribute, opened.examples))
    made = {Candidate(attribute, selector, form=form): None for selector, form in whole}
    if attribute in LISTED:
        made |= {Candidate(attribute, selector): None for selector in menus(found, opened.documents)}
        made |= {Candidate(attribute, one, trim): None for one, _ in whole[:MOST_BY_LOOK] for trim in looks}
    if attribute in CUTTABLE:
        for selector, form in ways.to_parts(MOST_WITH_CUTS):
            around = _arounds(attribute, form, opened.raw(selector), opened.examples)
            for trim in [*cuts.trims(attribute, around), *(looks if around else ())]:
                made[Candidate(attribute, selector, trim, "plain" if trim.words else form)] = None
    return list(made)


def _known(attribute: Attribute, examples: Sequence[Example]) -> list[str]:
    return [example.known[attribute][0] for example in examples if example.known.get(attribute)]


def _arounds(
    attribute: Attribute, form: Form, raws: Sequence[str | None], examples: Sequence[Example]
) -> list[cuts.Around]:
    pairs = zip(raws, examples, strict=True)
    found = (
        cuts.around(raw, _spelled(one.known[attribute], form))
        for raw, one in pairs
        if raw is not None and attribute in one.known
    )
    return [one for one in found if one is not None]


def _spelled(values: Sequence[str], form: Form) -> Sequence[str]:
    return [slug for value in values for slug in slugs(value)] if form == "slug" else values
