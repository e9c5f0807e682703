"""Tally each candidate: its agreement with the known offers, counted on all examples at once.

A candidate is correct, wrong or abstains on each example; abstaining costs next to nothing (Hübscher 2018, 2.10). Its
agreement is the lower bound of Wilson's interval for correct / (correct + wrong), so three of three is worth less than
thirty of thirty. The score is that bound relative to the best candidate's: known offers may be stale, and if a third of
the prices is wrong even the perfect selector agrees on two thirds only. A value where the catalog knows none counts a
little against a candidate: the catalog may lack it, or the shop may show its own slogan in place of a description.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import log2, sqrt

from selectolax.lexbor import LexborNode

from catalog.models import IDENTIFIERS, Attribute
from catalog.values import value_key
from catalog.values.availability import is_bare
from parser.page.document import scalar_text
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, reads_one_element
from parser.rules.trim import Trim
from parser.scripts.syntax.jsonpath import compile_path
from parser.voting.votes import normalised_value
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import is_main_heading, names_attribute, naming_fitness
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.locate.value_matcher import NAME_ATTRIBUTES, SLUG_ATTRIBUTES
from rules_generator.scoring.spelling import match_catalog_spelling, spelling_distance
from rules_generator.training.example_pages import ExamplePages
from rules_generator.training.examples import Example

# Standard deviations of Wilson's interval.
WILSON_Z = 1.0
# Attributes that every offer has, of which each offer has its own, and whose texts are long.
ALWAYS_PRESENT = frozenset({Attribute.TITLE, Attribute.PRICE})
DISTINCTIVE = frozenset({*IDENTIFIERS, Attribute.IMAGE, Attribute.DESCRIPTION})
LONG_ATTRIBUTES = frozenset({Attribute.DESCRIPTION, Attribute.IMAGE})
# Cap: values that stand for none.
MAX_FILLERS = 5
FREE_PRICE = "0.00"
# Examples on which elements and matches are counted.
COUNTED_EXAMPLES = 5
ANY_KEY = ".*"
# Tie-break: penalty per doubling of the matches, its cap, and the penalty of slugs, which have lost the capitals.
MATCH_PENALTY = 0.05
MAX_MATCH_PENALTY = 0.2
SLUG_PENALTY = 0.2
# Surplus characters that count as much as not being named.
SURPLUS_SCALE = 100
ADDRESS = re.compile(r"(?:https?:)?/")
SEPARATOR = re.compile(r"[\W_]")
BARE_NUMBER = re.compile(r"\d+(?:\.(\d+))?", re.ASCII)
# Digits behind a point that may be thousands.
THOUSAND_DIGITS = 3


@dataclass(frozen=True)
class Tally:
    """The values of a candidate on each example (None: it abstains), and which of them are right.

    `right` is None where the catalog does not know the attribute. `surplus` is the mean number of characters of raw
    texts beyond their values. `named` counts the examples that are right once words known from them alone may count,
    `not_shown` are the examples whose page does not show the known value. `nodes` are the elements read on the first
    few examples, `match_count` the mean number of elements, or of values of data, that the selector matches there.
    `spelling_distance` tells right values from the catalog's spelling.
    """

    candidate: Candidate
    values: tuple[str | None, ...]
    right: tuple[bool | None, ...]
    config: LearnerConfig = DEFAULT_CONFIG
    surplus: float = 0.0
    named: int = 0
    not_shown: Collection[int] = ()
    nodes: tuple[LexborNode | None, ...] = ()
    match_count: float = 1.0
    spelling_distance: float = 0.0

    @cached_property
    def correct(self) -> int:
        """The number of examples with the known value."""
        return sum(1 for right in self.right if right)

    @cached_property
    def wrong(self) -> int:
        """The number of examples with another value."""
        return self._count(has_value=True, right=False)

    @cached_property
    def unexpected(self) -> int:
        """The number of examples with a value where the catalog knows none."""
        return self._count(has_value=True, right=None)

    @cached_property
    def abstained(self) -> int:
        """The number of examples without a value where the catalog knows one."""
        return self._count(has_value=False, right=False)

    def _count(self, *, has_value: bool, right: bool | None) -> int:
        pairs = zip(self.values, self.right, strict=True)
        return sum(
            1 for value, is_right in pairs if (value is not None) is has_value and is_right is right
        )

    @property
    def is_never_wrong(self) -> bool:
        """Whether all its values are known ones."""
        return not self.wrong and not self.unexpected

    @cached_property
    def keys(self) -> tuple[str | None, ...]:
        """The values by the key that makes them equal."""
        attribute = self.candidate.attribute
        return tuple(
            None if value is None else value_key(attribute, value) for value in self.values
        )

    @property
    def right_keys(self) -> set[str | None]:
        """The distinct right values."""
        return {
            value_key for value_key, is_right in zip(self.keys, self.right, strict=True) if is_right
        }

    @cached_property
    def share(self) -> float:
        """The share of right values among those compared."""
        return self.correct / (self.correct + self.wrong) if self.correct else 0.0

    @cached_property
    def bound(self) -> float:
        """The Wilson bound of the share of right values."""
        return wilson_lower_bound(self.correct, self.correct + self.wrong)

    @cached_property
    def agreement(self) -> float:
        """The Wilson bound with penalties for unexpected values and abstentions."""
        config = self.config
        is_always = self.candidate.attribute in ALWAYS_PRESENT
        abstain = config.abstain_penalty_always if is_always else config.abstain_penalty
        penalty = config.unexpected_penalty * self.unexpected
        total = self.correct + self.wrong + penalty + abstain * self.abstained
        return wilson_lower_bound(self.correct, total)


# A score relative to the best tally's, and the tally.
ScoredTally = tuple[float, Tally]


def wilson_lower_bound(right: float, total: float, z: float = WILSON_Z) -> float:
    """Return the lower end of Wilson's score interval for a share (Wilson 1927).

    >>> round(wilson_lower_bound(3, 3), 2), round(wilson_lower_bound(30, 30), 2)
    (0.75, 0.97)
    """
    if not total:
        return 0.0
    share = right / total
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, (share + z * z / (2 * total) - spread) / (1 + z * z / total))


def tally_candidate(
    candidate: Candidate, pages: ExamplePages, indices: Sequence[int] | None = None
) -> Tally:
    """Run a candidate on all examples, or on those at `indices`."""
    selected = range(len(pages.examples)) if indices is None else indices
    examples = [pages.examples[index] for index in selected]
    raws = pages.candidate_texts(candidate.attribute, candidate.selector, selected)
    trimmed = [
        None if raw is None else _cross_validated_trim(candidate, pages, index).apply(raw)
        for index, raw in zip(selected, raws, strict=True)
    ]
    candidate = _as_slug(_with_decimal_point(candidate, trimmed), raws, trimmed)
    bases = [pages.documents[index].base for index in selected]
    values = _values(candidate, trimmed, bases)
    right = [
        example.agrees(candidate.attribute, value)
        for example, value in zip(examples, values, strict=True)
    ]
    candidate, values = match_catalog_spelling(candidate, values, examples)
    surplus = [
        len(raw) - len(value) for raw, value in zip(raws, values, strict=True) if raw and value
    ]
    fillers = _fillers(candidate.attribute, values, right) if pages.config.uses("fillers") else ()
    if fillers:
        values = [None if value in fillers else value for value in values]
        candidate = replace(candidate, blocklist=fillers)
    nodes = _nodes(candidate.selector, pages, selected)
    return Tally(
        candidate=candidate,
        values=tuple(values),
        right=tuple(right),
        config=pages.config,
        surplus=max(0.0, sum(surplus) / len(surplus)) if surplus else 0.0,
        named=_named(candidate, raws, examples),
        not_shown=pages.not_shown.get(candidate.attribute, ()),
        nodes=nodes,
        # Only the final tally on all examples breaks ties by it.
        match_count=_match_count(candidate, pages, nodes) if indices is None else 1.0,
        spelling_distance=spelling_distance(candidate.attribute, values, right, examples),
    )


def _values(
    candidate: Candidate, trimmed: Sequence[str | None], bases: Sequence[str]
) -> list[str | None]:
    rule = candidate.rule()
    # In a shop whose known offers are all in stock, any number above 0 would agree.
    is_unnamed_stock = candidate.attribute is Attribute.AVAILABILITY and not names_attribute(
        candidate
    )
    values: list[str | None] = []
    for text, base in zip(trimmed, bases, strict=True):
        if text is None or (is_unnamed_stock and is_bare(text)):
            values.append(None)
        else:
            values.append(normalised_value(rule, text, base))
    return values


def _match_count(
    candidate: Candidate, pages: ExamplePages, nodes: Sequence[LexborNode | None]
) -> float:
    """Return the mean number of matches on the first few examples that have any."""
    counts = list(islice(filter(None, _matches(candidate, pages, nodes)), COUNTED_EXAMPLES))
    return sum(counts) / len(counts) if counts else 1.0


def _matches(
    candidate: Candidate, pages: ExamplePages, nodes: Sequence[LexborNode | None]
) -> Iterator[int]:
    selector = candidate.selector
    if isinstance(selector, JsonAt) and ANY_KEY in selector.path:
        for index in range(len(pages.documents)):
            yield _count_values(candidate, selector, pages, index)
        return
    for index, node in enumerate(nodes):
        if node is not None:
            yield pages.pages[index].count(selector.css)


def _count_values(candidate: Candidate, selector: JsonAt, pages: ExamplePages, index: int) -> int:
    """Count the distinct values on a page at a path that goes into any key; an offer's own ones count as one."""
    document, example, rule = pages.documents[index], pages.examples[index], candidate.rule()
    find_values = compile_path(selector.path)
    distinct: set[str] = set()
    for data in islice(document.data_of(selector), COUNTED_EXAMPLES):
        for scalar_value in find_values(data):
            raw = scalar_text(scalar_value)
            text = candidate.trim.apply(raw) if raw is not None else None
            value = normalised_value(rule, text, document.base) if text is not None else None
            if value is not None:
                distinct.add(value)
    own_values = {value for value in distinct if example.agrees(candidate.attribute, value)}
    return len(distinct - own_values) + bool(own_values)


def _nodes(
    selector: AnySelector, pages: ExamplePages, indices: Iterable[int]
) -> tuple[LexborNode | None, ...]:
    if not reads_one_element(selector):
        return ()
    first = islice(indices, COUNTED_EXAMPLES)
    return tuple(pages.pages[index].first(selector.css) for index in first)


def _with_decimal_point(candidate: Candidate, texts: Sequence[str | None]) -> Candidate:
    """Take a point for the decimal sign if a field holds bare numbers, some with other than three decimals.

    Then three digits are decimals, too. In texts for readers, `33.948` is always a thousand.
    """
    if candidate.attribute is not Attribute.PRICE or candidate.form != "plain":
        return candidate
    numbers = [BARE_NUMBER.fullmatch(text) for text in texts if text is not None]
    if not all(numbers):
        return candidate
    decimals = [number[1] for number in numbers if number and number[1]]
    if any(len(digits) != THOUSAND_DIGITS for digits in decimals):
        return replace(candidate, form="point")
    return candidate


def _as_slug(
    candidate: Candidate, raws: Sequence[str | None], texts: Sequence[str | None]
) -> Candidate:
    """Take the value for a slug if it is one word in all addresses or classes: several words would have hyphens."""
    selector = candidate.selector
    if candidate.form != "plain" or candidate.attribute not in SLUG_ATTRIBUTES:
        return candidate
    if not isinstance(selector, AttributeAt):
        return candidate
    is_address = selector.name in NAME_ATTRIBUTES or any(raw and ADDRESS.match(raw) for raw in raws)
    has_separators = any(text and SEPARATOR.search(text) for text in texts)
    return replace(candidate, form="slug") if is_address and not has_separators else candidate


def _named(candidate: Candidate, raws: Sequence[str | None], examples: Sequence[Example]) -> int:
    """Count the titles that name the right one of the known words."""
    if not candidate.trim.words:
        return 0
    count = 0
    for raw, example in zip(raws, examples, strict=True):
        if raw is None or not _is_mostly_title(raw, example):
            continue
        value = candidate.trim.apply(raw)
        if value is not None and example.agrees(candidate.attribute, value):
            count += 1
    return count


def _is_mostly_title(raw: str, example: Example) -> bool:
    """Return True for a title; other texts, such as breadcrumbs, name related categories as well."""
    title = next(iter(example.known.get(Attribute.TITLE, ())), "")
    return bool(title) and title.casefold() in raw.casefold() and len(raw) <= 2 * len(title)


def _fillers(
    attribute: Attribute, values: Sequence[str | None], right: Sequence[bool | None]
) -> tuple[str, ...]:
    """Return the values that stand for none: on several examples and right on none, where each offer has its own.

    A price of 0 is one if no known offer is free; shops that show no price say so.
    """
    pairs = list(zip(values, right, strict=True))
    right_values = {value for value, is_right in pairs if is_right}
    if attribute is Attribute.PRICE:
        return (FREE_PRICE,) if FREE_PRICE in values and FREE_PRICE not in right_values else ()
    if attribute not in DISTINCTIVE or not right_values:
        return ()
    counts = Counter(value for value, is_right in pairs if value is not None and not is_right)
    return tuple(
        value
        for value, count in counts.most_common(MAX_FILLERS)
        if count > 1 and value not in right_values
    )


def _cross_validated_trim(candidate: Candidate, pages: ExamplePages, index: int) -> Trim:
    """Return the trim as it would be without this example: a word known from it alone does not count for it."""
    if not candidate.trim.words:
        return candidate.trim
    unique = pages.unique_value(candidate.attribute, index)
    other_words = tuple(word for word in candidate.trim.words if word != unique)
    return candidate.trim.model_copy(update={"words": other_words or ("",)})


def relative_scores(tallies: Sequence[Tally]) -> list[float]:
    """Return the score of each tally, relative to the best agreement among them."""
    best = max((tally.agreement for tally in tallies), default=0.0)
    if not best:
        return [0.0 for _ in tallies]
    return [_prior(tally) * tally.agreement / best for tally in tallies]


def _prior(tally: Tally) -> float:
    """Return the prior on the score: 0.8 for positional selectors, 0.85 where these find a long text, else 1."""
    if not tally.candidate.is_positional or not tally.config.uses("positional_prior"):
        return 1.0
    if tally.candidate.attribute in LONG_ATTRIBUTES:
        return tally.config.positional_prior_long
    return tally.config.positional_prior


def rank_tallies(tallies: Sequence[Tally]) -> list[ScoredTally]:
    """Return (score, tally) pairs, best first; ties go to the selector whose names fit the attribute."""
    scored = zip(relative_scores(tallies), tallies, strict=True)
    return sorted(
        scored, key=lambda pair: -(pair[0] + pair[1].config.tie_margin * _tie_break(pair[1]))
    )


def _tie_break(tally: Tally) -> float:
    """Return the tie-break: names that fit, minus surplus text, other matches, and other spellings.

    A selector that finds the first of many elements finds another one where the first is missing; of headings and
    pictures, the page's first is meant.
    """
    candidate = tally.candidate
    attribute = candidate.attribute
    surplus = 0.0
    if attribute not in LONG_ATTRIBUTES:
        surplus = min(tally.surplus, SURPLUS_SCALE) / SURPLUS_SCALE
    is_first_meant = attribute is Attribute.IMAGE or (
        attribute is Attribute.TITLE and is_main_heading(candidate)
    )
    matches = 0.0
    if not is_first_meant:
        matches = min(MATCH_PENALTY * log2(max(tally.match_count, 1.0)), MAX_MATCH_PENALTY)
    slug = SLUG_PENALTY if candidate.form == "slug" else 0.0
    return naming_fitness(candidate) - surplus - matches - tally.spelling_distance - slug
