"""Induce a shop's rules from known offers and their pages (wrapper induction).

Examples are clustered by template; on each template's pages the known values are located, every
occurrence gives candidates, all candidates run on all examples, and the smallest set of rules that
votes best is kept. An example that the learnt rules contradict in most values is set aside - its
link leads elsewhere, or its page has become another one - and learning is repeated without it. So
are examples whose pages are made to be slow, and those whose pages are like no other example's and
show no known title: links that lead to a category, or to nothing any more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from catalog.models import Attribute
from catalog.runtime.progress import Progress, no_progress
from parser.page.document import Document
from parser.page.url_paths import is_home_page
from parser.page_reader import read_attributes
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import JsonAt
from parser.templates.template_match import page_fingerprint
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.induction.placeholder_skus import keep_dashes
from rules_generator.induction.site_defaults import (
    SiteDefaults,
    block_site_defaults,
    find_site_defaults,
)
from rules_generator.selection.search import RankedCandidates, SlowPages, rank_candidates
from rules_generator.training.examples import Example, TrainingExample
from rules_generator.training.page_cache import POSITIONAL, TOO_SLOW
from rules_generator.training.page_clusters import cluster_pages, template_signatures

# Reasons for setting an example aside, as they are stored with the rules.
CONTRADICTS = "contradicts what the other examples teach"
UNLIKE = "its page is like no other example's, and shows no known title"
# Examples of a template from which on a rule for titles need not stand alone.
ENOUGH_EXAMPLES = 6
# Elements like the title's, on the median page, up to which it stands alone.
MAX_ALIKE = 2
# Share of known values that the rules have to agree with for an example to stay.
MIN_AGREEMENT = 0.5


@dataclass(frozen=True)
class InductionReport:
    """Rules per template, examples set aside with the reason, attributes without a rule."""

    templates: dict[str, int] = field(default_factory=dict)
    set_aside: tuple[tuple[str, str], ...] = ()
    not_found: tuple[str, ...] = ()


@dataclass(frozen=True)
class LearntTemplate:
    """A template's signature, its ranked candidates, and its examples without those set aside."""

    signature: Signature
    candidates: RankedCandidates
    members: Sequence[TrainingExample]

    def has_title(self, template: Template) -> bool:
        """Return True if a rule finds the titles: on most of few examples, and standing alone."""
        for rule in template.rules_for(Attribute.TITLE):
            if not rule.is_learnt:
                continue
            if len(self.members) >= ENOUGH_EXAMPLES:
                return True
            if 2 * rule.support > len(self.members) and self._stands_alone(rule):
                return True
        return False

    def _stands_alone(self, rule: Rule) -> bool:
        """Return True if a rule reads data, or an element with hardly any like it on a page."""
        if isinstance(rule.selector, JsonAt):
            return True
        if POSITIONAL in rule.selector.css:
            return False
        counts = [len(member.document.all(rule.selector.css)) for member in self.members]
        return median(counts) <= MAX_ALIKE


@dataclass(frozen=True)
class LearntModel:
    """Everything learnt from a shop's examples before the threshold chooses rules."""

    examples: Sequence[TrainingExample]
    templates: Sequence[LearntTemplate]
    set_aside: tuple[tuple[str, str], ...]
    site_defaults: SiteDefaults = field(default_factory=dict)
    config: LearnerConfig = DEFAULT_CONFIG

    def rules(self, threshold: float | None = None, currency: str | None = None) -> RuleSet:
        """Choose the rules of all templates; a template whose few examples show no title is left
        out.

        Two links to categories may find their titles at the same place of a list: that is no
        template.
        """
        pairs, titled = [], []
        for number, learnt in enumerate(self.templates, start=1):
            rules = learnt.candidates.rules(threshold)
            if self.config.uses("site_defaults"):
                rules = [block_site_defaults(rule, self.site_defaults) for rule in rules]
            if self.config.uses("placeholder_skus"):
                rules = keep_dashes(rules, self.examples)
            template = Template(name=str(number), signature=learnt.signature, rules=tuple(rules))
            pairs.append((template, learnt))
            if learnt.has_title(template):
                titled.append((template, learnt))
        addresses, templates = list[str](), list[Template]()
        for template, learnt in titled or pairs:
            addresses += [member.address for member in learnt.members]
            templates.append(template)
        return RuleSet(learnt_from=tuple(addresses), currency=currency, templates=tuple(templates))


def induce(
    examples: Sequence[TrainingExample],
    background: Iterable[Document] = (),
    *,
    threshold: float | None = None,
    currency: str | None = None,
    config: LearnerConfig = DEFAULT_CONFIG,
    progress: Progress = no_progress,
) -> tuple[RuleSet, InductionReport]:
    """Induce rules from examples; `background` is an unlabelled sample of the shop's pages."""
    model = learn_model(examples, background, config, progress)
    rules = model.rules(threshold, currency)
    counts = {template.name: len(template.rules) for template in rules.templates}
    unlike = set[str]()
    for learnt in model.templates:
        unlike.update(member.address for member in learnt.members)
    unlike.difference_update(rules.learnt_from)
    set_aside = (*model.set_aside, *dict.fromkeys(sorted(unlike), UNLIKE).items())
    return rules, InductionReport(counts, set_aside, _not_found(examples, rules.templates))


def learn_model(
    examples: Sequence[TrainingExample],
    background: Iterable[Document] = (),
    config: LearnerConfig = DEFAULT_CONFIG,
    progress: Progress = no_progress,
) -> LearntModel:
    """Cluster the examples by template and rank each template's candidates."""
    fingerprints = [page_fingerprint(example.document) for example in examples]
    other_pages, home_pages = list[frozenset[str]](), list[Document]()
    for document in background:
        # A home page may show an offer, but is never an offer page.
        if is_home_page(document.url):
            home_pages.append(document)
        else:
            other_pages.append(page_fingerprint(document))
    clusters = cluster_pages(fingerprints)
    signatures = template_signatures(fingerprints, clusters, other_pages)
    templates, set_aside = [], list[tuple[str, str]]()
    for cluster, signature in zip(clusters, signatures, strict=True):
        members, elsewhere = [], []
        for index, example in enumerate(examples):
            if index in cluster.members:
                members.append(example)
            else:
                elsewhere.append(example)
        candidates, remaining, reasons = _rank_robustly(members, elsewhere, config, progress)
        templates.append(LearntTemplate(signature, candidates, remaining))
        set_aside += reasons
    defaults = find_site_defaults(home_pages, examples)
    return LearntModel(examples, tuple(templates), tuple(set_aside), defaults, config)


def _not_found(
    examples: Sequence[TrainingExample], templates: Iterable[Template]
) -> tuple[str, ...]:
    missing = set[Attribute]()
    for example in examples:
        missing |= example.known.keys()
    for template in templates:
        missing -= {rule.attribute for rule in template.rules}
    return tuple(sorted(attribute.value for attribute in missing))


def _rank_robustly(
    members: Sequence[TrainingExample],
    elsewhere: Sequence[Example],
    config: LearnerConfig,
    progress: Progress,
) -> tuple[RankedCandidates, Sequence[TrainingExample], list[tuple[str, str]]]:
    """Rank a template's candidates without bad examples. Returns the ranking, the examples, those
    set aside.

    Examples are set aside if the rules of all contradict them, or their page is made to be slow. If
    most are contradicted, the rules are at fault.
    """
    ranking, fast = _rank_fast(members, elsewhere, config, progress)
    rules = [rule for rule in ranking.rules() if not rule.is_fallback]
    agreeing, contradicted = list[TrainingExample](), list[TrainingExample]()
    for member in fast:
        is_contradicted = _agreement(member, rules) < MIN_AGREEMENT
        (contradicted if is_contradicted else agreeing).append(member)
    if 2 * len(contradicted) > len(fast):
        contradicted = []
    remaining = fast
    if contradicted:
        ranking, remaining = _rank_fast(agreeing, elsewhere, config, progress)
    set_aside = [(member.address, CONTRADICTS) for member in contradicted]
    for member in members:
        if member not in remaining and member not in contradicted:
            set_aside.append((member.address, TOO_SLOW))
    return ranking, remaining, set_aside


def _rank_fast(
    members: Sequence[TrainingExample],
    elsewhere: Sequence[Example],
    config: LearnerConfig,
    progress: Progress,
) -> tuple[RankedCandidates, Sequence[TrainingExample]]:
    """Rank the candidates of the examples, slow pages left out. Returns the rest too."""
    remaining = members
    while True:
        try:
            ranking = rank_candidates(remaining, elsewhere, config, progress)
        except SlowPages as error:
            remaining = [member for member in remaining if member.document not in error.documents]
        else:
            return ranking, remaining


def _agreement(member: TrainingExample, rules: Sequence[Rule]) -> float:
    """Return the share of an example's known values that the rules read from its page.

    If its title is among them, abstentions count for nothing: the page is of another layout.
    """
    right, wrong, abstained = set[Attribute](), 0, 0
    readings = read_attributes(member.document, Template(name="", rules=tuple(rules)))
    for attribute, reading in readings.items():
        agrees = member.agrees(attribute, reading.value)
        # The currency is read from the page but is a default of the shop.
        if agrees is None or attribute is Attribute.CURRENCY:
            continue
        if agrees:
            right.add(attribute)
        elif reading.value is None:
            abstained += 1
        else:
            wrong += 1
    counted = len(right) + wrong + (0 if Attribute.TITLE in right else abstained)
    return len(right) / counted if counted else 1.0
