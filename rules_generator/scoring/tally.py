"""Tally each candidate: its agreement with the known offers, counted on all examples at once.

A candidate is correct, wrong or abstains on each example. Its agreement is the lower bound of
Wilson's interval for correct / (correct + wrong), so three of three is worth less than thirty of
thirty. Abstaining costs nothing but the support (Hübscher 2018, 2.10).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, islice
from math import sqrt
from statistics import fmean

from selectolax.lexbor import LexborNode

from catalog.models import IDENTIFIERS, Attribute
from catalog.values import value_key
from catalog.values.availability import is_bare
from parser.rules.selector import AnySelector, reads_one_element
from parser.rules.trim import Trim
from parser.voting.votes import normalisation_key, normalised_value
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import names_attribute
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.scoring.spelling import spelling_distance
from rules_generator.training.example_pages import ExamplePages

# Standard deviations of Wilson's interval.
WILSON_Z = 1.0
# Attributes of which each offer has its own.
DISTINCTIVE = frozenset({*IDENTIFIERS, Attribute.IMAGE, Attribute.DESCRIPTION})
# Cap: values that stand for none.
MAX_FILLERS = 5
FREE_PRICE = "0.00"
# Examples on which elements are compared.
COMPARED_EXAMPLES = 5
BARE_NUMBER = re.compile(r"\d+(?:\.(\d+))?", re.ASCII)
# Digits behind a point that may be thousands.
THOUSAND_DIGITS = 3


@dataclass(frozen=True)
class Tally:
    """The values of a candidate on each example (None: it abstains), and which of them are right.

    `right` is None where the catalog does not know the attribute. `not_shown` are the examples
    whose page does not show the known value, `nodes` the elements read on the first few examples,
    and `match_count` the mean number of elements that the selector matches there.
    `spelling_distance` tells right values from the catalog's spelling.
    """

    candidate: Candidate
    values: tuple[str | None, ...]
    right: tuple[bool | None, ...]
    config: LearnerConfig = DEFAULT_CONFIG
    not_shown: Collection[int] = ()
    nodes: tuple[LexborNode | None, ...] = ()
    match_count: float = 1.0
    spelling_distance: float = 0.0

    @cached_property
    def _outcomes(self) -> Counter[tuple[bool, bool | None]]:
        """The number of examples by whether there is a value, and whether it is right."""
        return Counter(
            (value is not None, is_right)
            for value, is_right in zip(self.values, self.right, strict=True)
        )

    @property
    def correct(self) -> int:
        """The number of examples with the known value."""
        return self._outcomes[True, True]

    @property
    def wrong(self) -> int:
        """The number of examples with another value."""
        return self._outcomes[True, False]

    @property
    def unexpected(self) -> int:
        """The number of examples with a value where the catalog knows none."""
        return self._outcomes[True, None]

    @property
    def abstained(self) -> int:
        """The number of examples without a value where the catalog knows one."""
        return self._outcomes[False, False]

    @cached_property
    def keys(self) -> tuple[str | None, ...]:
        """The values by the key that makes them equal."""
        attribute = self.candidate.attribute
        return tuple(value and value_key(attribute, value) for value in self.values)

    @property
    def right_keys(self) -> set[str | None]:
        """The distinct right values."""
        return set(compress(self.keys, self.right))

    @cached_property
    def share(self) -> float:
        """The share of right values among those compared."""
        return self.correct / (self.correct + self.wrong) if self.correct else 0.0

    @cached_property
    def bound(self) -> float:
        """The Wilson bound of the share of right values."""
        return wilson_lower_bound(self.correct, self.correct + self.wrong)


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
    trimmed: list[str | None] = []
    for index, raw in zip(selected, raws, strict=True):
        if raw is None:
            trimmed.append(None)
        else:
            trimmed.append(_cross_validated_trim(candidate, pages, index).apply(raw))
    candidate = _with_decimal_point(candidate, trimmed)
    values = _values(candidate, trimmed, pages, selected)
    right = []
    for index, value in zip(selected, values, strict=True):
        right.append(pages.agrees(candidate.attribute, index, value))
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
        not_shown=pages.not_shown.get(candidate.attribute, ()),
        nodes=nodes,
        # Only the final tally on all examples is ranked by it.
        match_count=_match_count(candidate.selector, pages, nodes) if indices is None else 1.0,
        spelling_distance=spelling_distance(candidate.attribute, values, right, examples),
    )


def tally_all(
    candidates: Iterable[Candidate], pages: ExamplePages, indices: Sequence[int] | None = None
) -> list[Tally]:
    """Run candidates on all examples, or on those at `indices`."""
    return [tally_candidate(candidate, pages, indices) for candidate in candidates]


def _values(
    candidate: Candidate,
    trimmed: Sequence[str | None],
    pages: ExamplePages,
    indices: Iterable[int],
) -> list[str | None]:
    rule = candidate.rule()
    # Most candidates of an attribute find the same text on a page.
    normalised = pages.normalised.setdefault(normalisation_key(rule), {})
    # In a shop whose known offers are all in stock, any number above 0 would agree.
    is_unnamed_stock = candidate.attribute is Attribute.AVAILABILITY and not names_attribute(
        candidate
    )
    values: list[str | None] = []
    for index, text in zip(indices, trimmed, strict=True):
        if text is None or (is_unnamed_stock and is_bare(text)):
            values.append(None)
            continue
        place = index, text
        if place not in normalised:
            base = pages.examples[index].document.base
            normalised[place] = normalised_value(rule, text, base)
        values.append(normalised[place])
    return values


def _match_count(
    selector: AnySelector, pages: ExamplePages, nodes: Sequence[LexborNode | None]
) -> float:
    """Return the mean number of matches on the first few examples that have any."""
    counts = []
    for index, node in enumerate(nodes):
        if node is not None:
            counts.append(pages.pages[index].count(selector.css))
    return fmean(counts) if counts else 1.0


def _nodes(
    selector: AnySelector, pages: ExamplePages, indices: Iterable[int]
) -> tuple[LexborNode | None, ...]:
    if not reads_one_element(selector):
        return ()
    first = islice(indices, COMPARED_EXAMPLES)
    return tuple(pages.pages[index].first(selector.css) for index in first)


def _with_decimal_point(candidate: Candidate, texts: Sequence[str | None]) -> Candidate:
    """Take a point for the decimal sign if a field holds bare numbers, some with other than three
    decimals.

    Then three digits are decimals, too. In texts for readers, `33.948` is always a thousand.
    """
    if candidate.attribute is not Attribute.PRICE or candidate.form != "plain":
        return candidate
    has_other_decimals = False
    for text in texts:
        number = BARE_NUMBER.fullmatch(text or "0")
        if number is None:
            return candidate
        has_other_decimals |= len(number[1] or "000") != THOUSAND_DIGITS
    return replace(candidate, form="point") if has_other_decimals else candidate


def _fillers(
    attribute: Attribute, values: Sequence[str | None], right: Sequence[bool | None]
) -> tuple[str, ...]:
    """Return the values that stand for none: on several examples and right on none, where each
    offer has its own.

    A price of 0 is one if no known offer is free; shops that show no price say so.
    """
    right_values = set(compress(values, right))
    if attribute is Attribute.PRICE:
        return (FREE_PRICE,) if FREE_PRICE in values and FREE_PRICE not in right_values else ()
    if attribute not in DISTINCTIVE or not right_values:
        return ()
    counts = Counter(value for value in values if value is not None and value not in right_values)
    return tuple(value for value, count in counts.most_common(MAX_FILLERS) if count > 1)


def _cross_validated_trim(candidate: Candidate, pages: ExamplePages, index: int) -> Trim:
    """Return the trim without this example, whose own words must not count for it."""
    if not candidate.trim.words:
        return candidate.trim
    unique = pages.unique_value(candidate.attribute, index)
    other_words = tuple(word for word in candidate.trim.words if word != unique)
    return candidate.trim.model_copy(update={"words": other_words or ("",)})
