"""Search the candidates of one template and rank them.

Known values are located on some examples, every occurrence gives candidates, and these are tallied
on all examples. If there are many, the candidates run in rounds of successive halving first
(Jamieson and Talwalkar 2016): most of them find the same in the same place.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from catalog.models import IDENTIFIERS, Attribute
from catalog.runtime.progress import Progress, no_progress
from parser.page.document import Document
from parser.rules.model import Form, Rule
from parser.rules.selector import AnySelector
from parser.rules.trim import Trim
from rules_generator.candidates.breadcrumbs import breadcrumb_selectors
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.selector_pool import SelectorPool
from rules_generator.candidates.source_kinds import element_kind
from rules_generator.candidates.trimming import (
    WORD_ATTRIBUTES,
    drop_ambient_words,
    learn_trims,
    surroundings,
    trims_by_look,
)
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.locate.occurrences import Occurrence, find_occurrences
from rules_generator.locate.value_matcher import TRIMMED_ATTRIBUTES, ValueMatcher, slug_spellings
from rules_generator.scoring.filters import keep_sound
from rules_generator.scoring.ranking import rank_tallies
from rules_generator.scoring.tally import Tally, tally_all
from rules_generator.selection.empty_fields import (
    empty_field_rules,
    of_any_gtin,
    prefer_read_blocks,
)
from rules_generator.selection.heading_titles import with_heading
from rules_generator.selection.voting_set import select_rules
from rules_generator.training.example_pages import ExamplePages
from rules_generator.training.examples import Example, TrainingExample, first_known_values
from rules_generator.training.page_cache import TOO_SLOW, SlowPage
from rules_generator.training.sampling import spread_evenly

# Caps: selectors of complete values, of texts to trim, of texts tried with known words; objects
# with empty fields.
MAX_COMPLETE = 90
MAX_TRIMMED = 40
MAX_BY_LOOK = 30
MAX_READ_SELECTORS = 12
# Examples on which each attribute is located; a selector that leads to twenty values leads to
# fifty.
ENOUGH_LOCATED = 20
STRIDE = 3
# Successive halving: examples of the first and the second round, candidates that pass, of one kind
# of element.
FIRST_ROUND = 4
SECOND_ROUND = 12
MAX_PASSING = 24
MAX_PER_ELEMENT = 4
# Candidates that do not guess, that pass besides.
MAX_BESIDES = 6


# A text at a selector, and the values known for its example.
KnownText = tuple[str, Sequence[str]]


class SlowPages(Exception):
    """Pages with slow selectors, if one is too slow: all pages run the same selectors."""

    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__(TOO_SLOW)
        self.documents = documents


@dataclass(frozen=True)
class RankedCandidates:
    """One template's candidates, ranked per attribute, for rules at any threshold."""

    ranked: Mapping[Attribute, Sequence[tuple[float, Tally]]]
    general: Sequence[Rule] = ()
    config: LearnerConfig = DEFAULT_CONFIG

    def rules(self, threshold: float | None = None) -> list[Rule]:
        """Select the smallest set of rules per attribute that votes best."""
        score = self.config.score_threshold if threshold is None else threshold
        chosen: list[Rule] = []
        for ranked in self.ranked.values():
            chosen += select_rules(ranked, score, self.config)
        general = [rule for rule in self.general if rule.score >= score]
        return chosen + prefer_read_blocks(general, chosen)


def rank_candidates(
    examples: Sequence[TrainingExample],
    elsewhere: Sequence[Example],
    config: LearnerConfig = DEFAULT_CONFIG,
    progress: Progress = no_progress,
) -> RankedCandidates:
    """Run all candidates of one template on all its examples; `elsewhere` are those of other
    templates.

    Raises SlowPages if one of the pages takes too long.
    """
    pages = ExamplePages(examples, config)
    try:
        return _rank_all(pages, elsewhere, progress)
    except SlowPage as error:
        slow = [page.document for page in pages.pages if page.is_slow]
        raise SlowPages(slow) from error


def _rank_all(
    pages: ExamplePages, elsewhere: Sequence[Example], progress: Progress
) -> RankedCandidates:
    config = pages.config
    matchers = _matchers(pages)
    located = []
    for index, matcher in matchers.items():
        located.append(find_occurrences(pages.examples[index].document, matcher))
    pages.not_shown = _not_shown(list(matchers), located)
    ranked, general = {}, list[Rule]()
    for number, attribute in enumerate(Attribute, 1):
        occurrences = [by_attribute.get(attribute, []) for by_attribute in located]
        candidates = _candidates(attribute, occurrences, list(matchers), pages)
        finalists = _successive_halving(candidates, pages)
        tallies = tally_all(finalists, pages)
        ranked[attribute] = rank_tallies(keep_sound(tallies, pages.examples, elsewhere))
        if attribute is Attribute.TITLE and config.uses("heading_titles"):
            ranked[attribute], heading = with_heading(ranked[attribute], tallies, pages.examples)
            general += heading
        progress("attributes learnt", number, len(Attribute))
    if config.uses("empty_fields"):
        read_selectors = []
        for ranking in ranked.values():
            for _, tally in ranking[:MAX_READ_SELECTORS]:
                read_selectors.append(tally.candidate.selector)
        general += empty_field_rules(pages.examples, read_selectors)
    return RankedCandidates(ranked, general, config)


def _matchers(pages: ExamplePages) -> dict[int, ValueMatcher]:
    """Pick at most 20 examples per attribute, evenly. Returns {example index: matcher}."""
    located = Counter[Attribute]()
    matchers = {}
    # In strides, so that the examples are spread over all.
    for index in sorted(range(len(pages.examples)), key=lambda index: index % STRIDE):
        example = pages.examples[index]
        needed = {}
        for attribute, values in example.known.items():
            if located[attribute] < ENOUGH_LOCATED:
                located[attribute] += 1
                needed[attribute] = values
        if needed:
            matchers[index] = ValueMatcher(needed, example.document.base)
    return dict(sorted(matchers.items()))


def _not_shown(
    indices: Sequence[int], located: Sequence[Mapping[Attribute, Sequence[Occurrence]]]
) -> dict[Attribute, list[int]]:
    """Return the examples whose page does not show the known value, by identifier."""
    not_shown = defaultdict[Attribute, list[int]](list)
    for index, by_attribute in zip(indices, located, strict=True):
        for attribute in IDENTIFIERS:
            if by_attribute.get(attribute) == []:
                not_shown[attribute].append(index)
    return not_shown


def _successive_halving(
    candidates: Sequence[Candidate], pages: ExamplePages
) -> Sequence[Candidate]:
    """Return the best candidates on a few examples, some of each kind of element."""
    if len(candidates) <= MAX_PASSING:
        return candidates
    attribute = candidates[0].attribute
    indices = [index for index, example in enumerate(pages.examples) if attribute in example.known]
    if len(indices) <= pages.config.halving_from:
        return candidates
    few = spread_evenly(indices, FIRST_ROUND)
    plausible = _most_plausible(tally_all(candidates, pages, few))
    more = spread_evenly(indices, SECOND_ROUND)
    per_element = Counter[str]()
    best, eliminated = list[Tally](), list[Tally]()
    for _, tally in rank_tallies(tally_all(plausible, pages, more)):
        kind = element_kind(tally.candidate.selector)
        has_room = per_element[kind] < MAX_PER_ELEMENT and len(best) < MAX_PASSING
        if tally.correct > 0 and has_room:
            per_element[kind] += 1
            best.append(tally)
        else:
            eliminated.append(tally)
    passing = [*best, *_without_guess(eliminated, best)]
    return list(dict.fromkeys(tally.candidate for tally in passing))


def _without_guess(eliminated: Sequence[Tally], best: Sequence[Tally]) -> list[Tally]:
    """If all finalists are guesses, also return the six best candidates that are not."""
    if not all(tally.candidate.is_guess for tally in best):
        return []
    certain = (tally for tally in eliminated if tally.correct and not tally.candidate.is_guess)
    return list(islice(certain, MAX_BESIDES))


def _most_plausible(tallies: Sequence[Tally]) -> list[Candidate]:
    """Keep the four most plausible of candidates with one element and one set of values."""
    counts = Counter[tuple[object, ...]]()
    plausible = []
    for _, tally in rank_tallies(tallies):
        group = (tally.keys, element_kind(tally.candidate.selector))
        counts[group] += 1
        if counts[group] <= MAX_PER_ELEMENT:
            plausible.append(tally.candidate)
    return plausible


def _candidates(
    attribute: Attribute,
    occurrences: Sequence[Sequence[Occurrence]],
    indices: Sequence[int],
    pages: ExamplePages,
) -> list[Candidate]:
    """Make the candidates of one attribute from its occurrences on the annotated examples."""
    annotated = [pages.pages[index] for index in indices]
    pool = SelectorPool(occurrences, annotated)
    looks = trims_by_look(attribute, first_known_values(pages.examples, attribute))
    complete = pool.complete_values(MAX_COMPLETE)
    if attribute is Attribute.EAN:
        complete = [(of_any_gtin(selector), form) for selector, form in complete]
    candidates = [Candidate(attribute, selector, form=form) for selector, form in complete]
    if attribute in WORD_ATTRIBUTES:
        for selector, _ in complete[:MAX_BY_LOOK]:
            texts = _known_texts(attribute, selector, indices, pages)
            for trim in _fitting_looks(looks, texts):
                candidates.append(Candidate(attribute, selector, trim))
    if attribute is Attribute.CATEGORY and pages.config.uses("breadcrumbs"):
        paths = [pages.examples[index].known.get(attribute, ()) for index in indices]
        for crumbs in breadcrumb_selectors(paths, annotated):
            candidates.append(Candidate(attribute, crumbs))
    if attribute in TRIMMED_ATTRIBUTES:
        for selector, form in pool.containing_texts(MAX_TRIMMED):
            texts = _known_texts(attribute, selector, indices, pages)
            candidates += _trimmed_candidates(attribute, selector, form, texts, looks)
    return list(dict.fromkeys(candidates))


def _trimmed_candidates(
    attribute: Attribute,
    selector: AnySelector,
    form: Form,
    texts: Sequence[KnownText],
    looks: Sequence[Trim],
) -> Iterator[Candidate]:
    """Yield candidates that take the value out of a longer text."""
    if attribute is Attribute.TITLE:
        yield Candidate(attribute, selector)
    all_sides = []
    for raw, values in texts:
        spelled = chain.from_iterable(map(slug_spellings, values)) if form == "slug" else values
        sides = surroundings(raw, spelled, may_touch=attribute is Attribute.TITLE)
        if sides is not None:
            all_sides.append(sides)
    if not all_sides:
        return
    for trim in learn_trims(all_sides):
        yield Candidate(attribute, selector, trim, form)
    for trim in _fitting_looks(looks, texts):
        yield Candidate(attribute, selector, trim, "plain" if trim.words else form)


def _known_texts(
    attribute: Attribute, selector: AnySelector, indices: Sequence[int], pages: ExamplePages
) -> list[KnownText]:
    """Return the texts that a selector finds on examples, each with the values known for it."""
    texts = []
    for raw, index in zip(pages.texts(selector, indices), indices, strict=True):
        values = pages.examples[index].known.get(attribute)
        if raw is not None and values:
            texts.append((raw, values))
    return texts


def _fitting_looks(looks: Sequence[Trim], texts: Sequence[KnownText]) -> Iterator[Trim]:
    """Yield the trims by look that fit the texts: known words without ambient ones."""
    for look in looks:
        trim = drop_ambient_words(look, texts) if look.words else look
        if trim.words or trim.shape:
            yield trim
