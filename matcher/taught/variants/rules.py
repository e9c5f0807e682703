"""Rules about variants. Two records whose markers of one rule are all different are variants by it.

Rules are given, or learnt: a rule that flags labelled pairs holds if nearly all of these are no
duplicates. Kosolapov et al. call such rules exceptions.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from rapidfuzz.distance import Levenshtein

from catalog.errors import UsageError
from matcher.array_types import Bools, Floats, Pairs
from matcher.dedupe.base.records import Records
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.variants.markers import (
    RULES,
    Markers,
    name_words,
    read_last_numerals,
    read_records,
)

# Labelled pairs that a rule must flag, and the share of them that must be no duplicates.
MIN_FLAGGED = 10
MIN_PRECISION = 0.95
# Labelled duplicates that a given rule must flag to be refuted.
MIN_WRONG = 2
# Labelled duplicates that must be there to learn a rule that none of them breaks.
MIN_DUPLICATES = 30
# Share of the labelled duplicates that are less similar than a pair that looks alike.
ALIKE_QUANTILE = 0.25
# Edits between two model numbers that are siblings (a12, a12s).
MAX_EDITS = 2
# Rules that hold without labels: their markers are words that say so.
VOLUME = "volume"
EDITION = "edition"
DEFAULT_RULES = (VOLUME, "part", EDITION)
YEAR = "year"
SIZE = "size"
# Words in names of columns whose years make another thing: a wine of another vintage, a car of another
# model year.
VINTAGE_WORDS = frozenset(
    ("vintage", "jahrgang", "millesime", "annata", "anada", "modelyear", "modelljahr", "baujahr")
)
# Of the pairs that look alike and name an edition once, the share with other years from which on the
# others are taken for different editions too.
MIN_OTHER_EDITIONS = 0.8
# Rule about two records of which one names an edition, and whose years are not known to be the same.
FIRST_EDITION = "first edition"
ALL_RULES = (*RULES, FIRST_EDITION)
# Feature of a pair by a rule: its markers are the same or differ, or one record has none.
SAME = 0.0
MARKED_ONCE = 0.5
DIFFERENT = 1.0


def default_rules(column_names: Iterable[str]) -> tuple[str, ...]:
    """Return the rules that hold without labels, by the names of the columns.

    >>> default_rules(["name", "Model year"]), default_rules(["title", "year"])
    (('volume', 'part', 'edition', 'year'), ('volume', 'part', 'edition'))
    """
    for name in column_names:
        words = name_words(name)
        if not VINTAGE_WORDS.isdisjoint((*words, "".join(words))):
            return (*DEFAULT_RULES, YEAR)
    return DEFAULT_RULES


def parse_rules(text: str) -> tuple[str, ...]:
    """Return the rules of an option, "none" for no rule. Raises UsageError.

    >>> parse_rules("volume, year")
    ('volume', 'year')
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["none"]:
        return ()
    for name in names:
        if name not in ALL_RULES:
            raise UsageError(f"--variants {name}: rules are {', '.join(ALL_RULES)}, or none")
    return tuple(dict.fromkeys(names))


class VariantFinder:
    """The markers of all records of one table, or of two."""

    def __init__(self, left: Records, right: Records | None, kinds: Sequence[ColumnKind]) -> None:
        self._sides = [left] if right is None else [left, right]
        self._kinds = kinds
        self._markers: dict[str, list[list[Markers]]] = {}

    @cached_property
    def _numbers(self) -> list[list[Markers]]:
        """The numbers of each record of each side: of its volume, of its part, and of its title.

        A part of an article has two: its own and that of the journal's volume.
        """
        numbers = list[list[Markers]]()
        for side, records in enumerate(self._sides):
            last_numerals = read_last_numerals(records, self._kinds)
            read = self._read(VOLUME)[side], self._read("part")[side], last_numerals
            numbers.append(
                [frozenset[str]().union(*markers) for markers in zip(*read, strict=True)]
            )
        return numbers

    def find(self, rule: str, pairs: Pairs) -> Bools:
        """Return whether each pair is of variants by a rule."""
        if rule == FIRST_EDITION:
            return self._find_first_editions(pairs)
        sides = self._read(rule)
        left, right = sides[0], sides[-1]
        left_marked, right_marked = self._marked_sides(rule, pairs)
        is_variant = np.zeros(len(pairs), bool)
        for place in np.flatnonzero(left_marked & right_marked).tolist():
            first, second = left[pairs[place, 0]], right[pairs[place, 1]]
            is_variant[place] = first is not second and _differ(rule, first, second)
        if rule == VOLUME:
            is_variant |= self._differ_in_numbering(pairs)
        if rule == EDITION:
            # A first edition is rarely called so, but its year is another one.
            is_once = self._name_later_edition_once(pairs)
            is_variant[is_once] |= self._years_apart(pairs[is_once]) > 1
        return is_variant

    def find_unnamed_volumes(self, pairs: Pairs) -> Bools:
        """Return the pairs of a volume and a record that may be of any of several volumes.

        That record names none and is paired with different ones: all else that it says is true of
        each of them.
        """
        numbers = self._numbers[0], self._numbers[-1]
        is_self_join = len(self._sides) == 1
        # Of each record without a number, the places of its pairs with numbered records.
        places: dict[tuple[int, int], list[int]] = defaultdict(list)
        for place, (left, right) in enumerate(pairs.tolist()):
            if numbers[0][left] and not numbers[1][right]:
                places[0 if is_self_join else 1, right].append(place)
            elif numbers[1][right] and not numbers[0][left]:
                places[0, left].append(place)
        is_unnamed = np.zeros(len(pairs), bool)
        for of_record in places.values():
            named = [
                numbers[0][pairs[place, 0]] or numbers[1][pairs[place, 1]] for place in of_record
            ]
            if not frozenset.intersection(*named):
                is_unnamed[of_record] = True
        return is_unnamed

    def _differ_in_numbering(self, pairs: Pairs) -> Bools:
        """Return the pairs of which one calls a volume what the other calls a part, or nothing."""
        names_both = np.zeros(len(pairs), bool)
        for rule in (VOLUME, "part"):
            left_marked, right_marked = self._marked_sides(rule, pairs)
            names_both |= left_marked & right_marked
        differ = np.zeros(len(pairs), bool)
        for place in np.flatnonzero(~names_both).tolist():
            first, second = self._numbers[0][pairs[place, 0]], self._numbers[-1][pairs[place, 1]]
            differ[place] = bool(first) and bool(second) and first.isdisjoint(second)
        return differ

    def _find_first_editions(self, pairs: Pairs) -> Bools:
        is_variant = self._name_later_edition_once(pairs)
        is_same_year = self._years_apart(pairs[is_variant]) <= 1
        is_variant[is_variant] = ~is_same_year
        return is_variant

    def _name_later_edition_once(self, pairs: Pairs) -> Bools:
        """Return the pairs of which one record only names an edition after the first."""
        sides = self._read(EDITION)
        # A record may say that it is the first edition.
        is_later = [
            np.fromiter((bool(markers - {"1"}) for markers in side), bool, len(side))
            for side in sides
        ]
        is_once: Bools = is_later[0][pairs[:, 0]] != is_later[-1][pairs[:, 1]]
        return is_once

    def _years_apart(self, pairs: Pairs) -> Floats:
        """Return the least distance of two years of each pair, NaN where one is unknown."""
        sides = self._read("year")
        apart = np.full(len(pairs), np.nan, np.float32)
        for place, (left, right) in enumerate(pairs.tolist()):
            first, second = sides[0][left], sides[-1][right]
            if first and second:
                apart[place] = min(abs(int(a) - int(b)) for a in first for b in second)
        return apart

    def _marked_sides(self, rule: str, pairs: Pairs) -> tuple[Bools, Bools]:
        """Return whether the left and the right record of each pair has a marker."""
        sides = self._read(rule)
        is_marked = [np.fromiter(map(bool, side), bool, len(side)) for side in sides]
        return is_marked[0][pairs[:, 0]], is_marked[-1][pairs[:, 1]]

    def compare(self, rule: str, pairs: Pairs) -> Floats:
        """Return SAME, MARKED_ONCE or DIFFERENT for each pair, NaN without any marker."""
        left_marked, right_marked = self._marked_sides(rule, pairs)
        both = left_marked & right_marked
        marked_once = left_marked != right_marked
        if rule == EDITION:
            # That it is the first edition is rarely said.
            marked_once &= self._name_later_edition_once(pairs)
        compared = np.where(marked_once, MARKED_ONCE, np.nan).astype(np.float32)
        compared[both] = np.where(self.find(rule, pairs[both]), DIFFERENT, SAME)
        return compared

    def _read(self, rule: str) -> list[list[Markers]]:
        if rule not in self._markers:
            self._markers[rule] = [
                read_records(records, self._kinds, RULES[rule]) for records in self._sides
            ]
        return self._markers[rule]


def editions_are_named(edition: Floats, year: Floats, is_match: Bools) -> bool:
    """Tell from pairs that look alike whether a record without an edition is of another one.

    `edition` and `year` are the features that `VariantFinder.compare` gives. Matches of the same year
    are of one edition: hardly any of them may name it once. Or most pairs that name it once are of
    other years, and so of other editions: a pair whose years are unknown is one of these.
    """
    is_marked = is_match & ~np.isnan(edition)
    is_once = is_marked & (edition == MARKED_ONCE)
    one_edition = int((is_marked & (year == SAME)).sum())
    one_named_once = int((is_once & (year == SAME)).sum())
    if one_edition >= MIN_FLAGGED and one_named_once <= (1 - MIN_PRECISION) * one_edition:
        return True
    two_editions = int((is_once & (year == DIFFERENT)).sum())
    once = one_named_once + two_editions
    return once >= MIN_FLAGGED and two_editions >= MIN_OTHER_EDITIONS * once


def learn_rules(
    are_variants: Mapping[str, Bools], labels: Bools, similarity: Floats, given: Iterable[str]
) -> list[str]:
    """Return the rules that labelled pairs confirm, and the given ones that they do not refute.

    `are_variants` says by rule which of the labelled pairs are variants.

    Only pairs that look alike count: as similar as three in four duplicates. Among all labelled
    pairs most are no duplicates, so nearly every rule would seem to hold.
    """
    duplicates = int(labels.sum())
    looks_alike = labels.copy()
    if duplicates:
        looks_alike |= similarity >= np.quantile(similarity[labels], ALIKE_QUANTILE)
    learnt = list[str]()
    for rule, is_variant in are_variants.items():
        flagged = is_variant & looks_alike
        wrong = int((flagged & labels).sum())
        count = int(flagged.sum())
        is_confirmed = (
            duplicates >= MIN_DUPLICATES
            and count >= MIN_FLAGGED
            and wrong <= (1 - MIN_PRECISION) * count
        )
        # One wrong label, or one misread record, refutes no rule.
        is_refuted = wrong >= MIN_WRONG and wrong > (1 - MIN_PRECISION) * count
        if is_confirmed or (rule in given and not is_refuted):
            learnt.append(rule)
    return learnt


def _differ(rule: str, first: Markers, second: Markers) -> bool:
    """Return True if two records' markers are those of variants."""
    if rule == SIZE:
        return _sizes_differ(first, second)
    if rule == "model":
        return _models_differ(first, second)
    return first.isdisjoint(second)


def _sizes_differ(first: Markers, second: Markers) -> bool:
    """Return True if both name a size in one unit, and no such size is the same.

    >>> _sizes_differ(frozenset({"500 ml"}), frozenset({"250 ml", "6 pcs"}))
    True
    """
    first_units = {marker.split()[1] for marker in first - second}
    second_units = {marker.split()[1] for marker in second - first}
    shared_units = {marker.split()[1] for marker in first & second}
    return bool((first_units & second_units) - shared_units)


def _models_differ(first: Markers, second: Markers) -> bool:
    """Return True if each has a model number that the other lacks, and the two are siblings.

    >>> _models_differ(frozenset({"a12"}), frozenset({"a12s"}))
    True
    >>> _models_differ(frozenset({"a12", "wh1000"}), frozenset({"wh1000"}))
    False
    """
    only_first, only_second = first - second, second - first
    for number in only_first:
        for sibling in only_second:
            if Levenshtein.distance(number, sibling, score_cutoff=MAX_EDITS) <= MAX_EDITS:
                return True
    return False
