"""Induce a shop's rules from known offers and their pages.

Examples are sorted by template; on each template's pages the known values are located, every place gives candidates,
all candidates run on all examples, and the smallest set that votes best is kept. An example that the learnt rules
contradict in most of what it says is set aside - its link leads elsewhere, or its page has become another - and
learning is done once more without it. So are those whose pages are made to be slow, and those whose pages are like no
other example's and show no known title: links that lead to a category or to nothing any more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import JsonAt
from parser.templates.template_match import is_front_door, marks_of
from rules_generator.induction.brand_conventions import have_bare_titles, have_own_categories
from rules_generator.induction.placeholder_skus import keeping_dashes
from rules_generator.induction.site_defaults import Own, own_of, without_own
from rules_generator.selection.search import THRESHOLD, SlowPages, Survey, survey
from rules_generator.training import page_clusters
from rules_generator.training.examples import Example
from rules_generator.training.page_cache import COUNTED, TOO_SLOW
from rules_generator.training.training_example import Taught

CONTRADICTS = "contradicts what the other examples teach"
UNLIKE = "its page is like no other example's, and shows no known title"
MANY = 6
FEW = 2
CONTRADICTED = 0.5
NOT_OWN = {Attribute.CURRENCY}


@dataclass(frozen=True)
class Story:
    """How learning went: rules per template, examples set aside with the reason, attributes without a rule."""

    page_clusters: dict[str, int] = field(default_factory=dict)
    set_aside: tuple[tuple[str, str], ...] = ()
    not_found: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """All that is learnt from a shop's examples but the choice of rules, which depends on the threshold.

    `members` are each survey's examples, without those set aside.
    """

    taught: Sequence[Taught]
    surveys: Sequence[tuple[Signature, Survey]]
    members: Sequence[Sequence[Taught]]
    set_aside: tuple[tuple[str, str], ...]
    own: Own = field(default_factory=dict)

    def rules(self, threshold: float = THRESHOLD, currency: str | None = None) -> RuleSet:
        """The rules of all templates; one whose few examples teach no title is left to the others.

        Two links to categories may find their titles at the same place of a list: that is no template.
        """
        known = [one.example for one in self.taught]
        bare, own = have_bare_titles(known), have_own_categories(known)
        shown = [(one.example, one.document) for one in self.taught]
        made = [
            Template(
                name=str(number),
                signature=named,
                rules=keeping_dashes(
                    (without_own(rule, self.own) for rule in survey.rules(threshold)), shown
                ),
                bare_titles=bare,
                own_categories=own,
            )
            for number, (named, survey) in enumerate(self.surveys, start=1)
        ]
        told = list(zip(made, self.members, strict=True))
        kept = [(one, members) for one, members in told if _teaches_titles(one, members)] or told
        urls = tuple(one.address for _, members in kept for one in members)
        return RuleSet(learnt_from=urls, currency=currency, templates=tuple(one for one, _ in kept))


def _teaches_titles(template: Template, members: Sequence[Taught]) -> bool:
    """Whether a rule finds the titles; of few examples on most, and where it is not one of many."""
    rules = [rule for rule in template.of(Attribute.TITLE) if rule.taught]
    if len(members) >= MANY:
        return bool(rules)
    return any(2 * rule.support > len(members) and _stands_alone(rule, members) for rule in rules)


def _stands_alone(rule: Rule, members: Sequence[Taught]) -> bool:
    """Whether a rule looks into data, or at an element that has hardly any like it on most of the pages."""
    if isinstance(rule.selector, JsonAt):
        return True
    return (
        COUNTED not in rule.selector.css
        and median(len(one.document.all(rule.selector.css)) for one in members) <= FEW
    )


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
    alone = {one.address for one in chain.from_iterable(lesson.members)}.difference(
        rules.learnt_from
    )
    aside = (*lesson.set_aside, *((url, UNLIKE) for url in sorted(alone)))
    return rules, Story(counts, aside, _not_found(taught, rules.templates))


def study(taught: Sequence[Taught], background: Iterable[Document] = ()) -> Lesson:
    """Sort the examples by template and survey each template's candidates."""
    marks = [marks_of(one.document) for one in taught]
    seen, fronts = list[frozenset[str]](), list[Document]()
    for document in background:
        if is_front_door(document.url):
            fronts.append(document)
        else:
            seen.append(marks_of(document))
    groups = page_clusters.cluster(marks)
    surveys, members, aside = [], [], list[tuple[str, str]]()
    for group, named in zip(groups, page_clusters.signatures(marks, groups, seen), strict=True):
        elsewhere = [one.example for place, one in enumerate(taught) if place not in group.members]
        survey, kept, reasons = _survey_robustly(
            [taught[place] for place in group.members], elsewhere
        )
        aside += reasons
        surveys.append((named, survey))
        members.append(kept)
    return Lesson(
        taught,
        tuple(surveys),
        tuple(members),
        tuple(aside),
        own_of(fronts, [one.example for one in taught]),
    )


def _not_found(taught: Sequence[Taught], made: Iterable[Template]) -> tuple[str, ...]:
    known = {attribute for one in taught for attribute in one.example.known}
    read = {rule.attribute for template in made for rule in template.rules}
    return tuple(sorted(attribute.value for attribute in known - read))


def _survey_robustly(
    members: Sequence[Taught], elsewhere: Sequence[Example]
) -> tuple[Survey, Sequence[Taught], list[tuple[str, str]]]:
    """The survey of a template's examples without those set aside; the examples, and the others with the reason.

    That is that the rules of all contradict them, or that a page is made to be slow.
    """
    first, fast = _survey(members, elsewhere)
    rules = [rule for rule in first.rules() if not rule.stands_in]
    bad = [one for one in fast if _agreement(one, rules) < CONTRADICTED]
    few = 2 * len(bad) <= len(fast)
    survey, kept = (
        _survey([one for one in fast if one not in bad], elsewhere)
        if bad and few
        else (first, fast)
    )
    slow = [one for one in members if one not in kept and one not in bad]
    return (
        survey,
        kept,
        [(one.address, CONTRADICTS) for one in bad if few]
        + [(one.address, TOO_SLOW) for one in slow],
    )


def _survey(
    members: Sequence[Taught], elsewhere: Sequence[Example]
) -> tuple[Survey, Sequence[Taught]]:
    """The survey of those examples whose pages are not made to be slow, and these."""
    while True:
        try:
            return survey(
                [one.example for one in members], [one.document for one in members], elsewhere
            ), members
        except SlowPages as error:
            members = [one for one in members if one.document not in error.documents]


def _agreement(one: Taught, rules: Sequence[Rule]) -> float:
    """The share of an example's known values that the rules read from its page.

    Where the title is among them, silence on others counts for nothing: the page is of another layout.
    """
    readings = read_attributes(one.document, Template(name="", rules=tuple(rules)))
    asked = {
        name: found.value
        for name, found in readings.items()
        if name in one.example.known.keys() - NOT_OWN
    }
    right = {name for name, value in asked.items() if one.example.agrees(name, value) is True}
    counted = [
        name for name, value in asked.items() if value is not None or Attribute.TITLE not in right
    ]
    return len(right) / len(counted) if counted else 1.0
