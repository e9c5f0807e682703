"""Spelling: what the shop's pages write otherwise than the catalog does, though it is the same, and how it is undone.

Values that differ in kinds of quotes and dashes, or in what stands between the steps of a category, count as right. But
what is read is compared with the catalog by people, too: it is to be spelled as they spell it. Of a brand the catalog
may have a longer and a shorter spelling for offers of one shop; who reads the shorter one is not wrong.
"""

from collections.abc import Sequence
from dataclasses import replace

from catalog.models import Attribute
from catalog.values import key
from catalog.values.category import in_steps
from catalog.values.text import SIGNS, Sign, overlap
from parser.rules.selector import JsonAt
from parser.voting.votes import in_form
from rules_generator.candidates.candidate import Candidate
from rules_generator.training.examples import Example

WORDS_APART = 10
SPELLED = frozenset({Attribute.TITLE, Attribute.BRAND, Attribute.CATEGORY})

Pairs = list[tuple[str, str]]


def as_catalog_spells(
    candidate: Candidate,
    values: Sequence[str | None],
    examples: Sequence[Example],
    is_typeset: bool,
) -> tuple[Candidate, list[str | None]]:
    """The candidate in the form that spells its values as the catalog does, and the values so.

    `is_typeset` tells that the shop's software is one that sets a typesetter's signs by itself.
    """
    if candidate.attribute not in SPELLED or candidate.form != "plain":
        return candidate, list(values)
    pairs = _right_ones(candidate.attribute, values, examples)
    if candidate.attribute is Attribute.CATEGORY and _is_path(pairs):
        candidate = replace(candidate, form="path")
    elif signs := _signs_to_type(pairs, is_typeset and not isinstance(candidate.selector, JsonAt)):
        candidate = replace(candidate, form="typed", signs=signs)
    rule = candidate.rule()
    return candidate, [value and in_form(rule, value) for value in values]


def respelled(
    attribute: Attribute,
    values: Sequence[str | None],
    right: Sequence[bool | None],
    examples: Sequence[Example],
) -> float:
    """How far right values are from what the catalog has: the share of those that it spells otherwise, but for case.

    Of descriptions it is the share of words that differ, and a few of these count like all of a name: where two places
    tell nearly the same, one may have words of its own, such as the names of tabs, or have lost the gaps between lines.
    """
    if attribute is not Attribute.DESCRIPTION and attribute not in SPELLED:
        return 0.0
    told = zip(values, right, examples, strict=True)
    apart = [
        _apart(attribute, value or "", one.known[attribute])
        for value, is_right, one in told
        if is_right
    ]
    return sum(apart) / len(apart) if apart else 0.0


def _apart(attribute: Attribute, value: str, known: Sequence[str]) -> float:
    if value in known:
        return 0.0
    if attribute is Attribute.DESCRIPTION:
        return WORDS_APART * (1 - max(overlap(value, one) for one in known))
    return float(value.casefold() not in map(str.casefold, known))


def _right_ones(
    attribute: Attribute, values: Sequence[str | None], examples: Sequence[Example]
) -> Pairs:
    """What the pages and what the catalog have, where these are the same but for their spelling."""
    told = zip(values, examples, strict=True)
    pairs = [
        (value, known) for value, one in told for known in one.known.get(attribute, ()) if value
    ]
    return [
        (value, known) for value, known in pairs if key(attribute, value) == key(attribute, known)
    ]


def _is_path(pairs: Pairs) -> bool:
    """Whether the catalog has steps where more of these pages have bars or slashes than not."""
    told = [
        in_steps(value).casefold() == known.casefold()
        for value, known in pairs
        if in_steps(value) != value
    ]
    return 2 * sum(told) > len(told)


def _signs_to_type(pairs: Pairs, is_typeset: bool) -> tuple[Sign, ...]:
    """The kinds of signs that the catalog has as a keyboard does where the shop's pages show a typesetter's.

    A kind that no example tells of is taken as others are, or as the shop's software has it.
    """
    told = {kind: _more_are_typed(kind, pairs) for kind in SIGNS}
    untold = is_typeset or any(told.values())
    return tuple(
        kind for kind, is_typed in told.items() if (untold if is_typed is None else is_typed)
    )


def _more_are_typed(kind: Sign, pairs: Pairs) -> bool | None:
    """Whether more known texts have the keyboard's signs of a kind where the page's have others; None if none tells."""
    signs = SIGNS[kind].keys()
    told = [signs.isdisjoint(known) for value, known in pairs if not signs.isdisjoint(value)]
    return 2 * sum(told) > len(told) if told else None
