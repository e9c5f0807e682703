"""Trims learnt from the surroundings of known values (Hübscher 2018, 2.9), and from their look.

On each training page a text that contains the known value has a rest on its left and on its right.
The ends of the rests next to the value that all pages share are delimiters. They have no digits: a
cut must not take digits away. If the surroundings give nothing, identifiers may be found by their
shape, brands and categories as one of the catalog's.
"""

import os.path
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile

from catalog.models import Attribute
from parser.rules.trim import Trim, find_word

NO_TRIM = Trim()
# Attributes that may be trimmed by shape, and by known words.
SHAPE_ATTRIBUTES = frozenset({Attribute.SKU, Attribute.HAN})
WORD_ATTRIBUTES = frozenset({Attribute.BRAND, Attribute.CATEGORY})
GTIN_SHAPE = r"\d{8}|\d{12,14}"
# Caps: characters of a literal, known words.
MAX_LITERAL_CHARS = 40
MAX_WORDS = 200
# Different values that have to share a shape.
MIN_SHAPE_VALUES = 3
# Texts that have to name a foreign word for it to be ambient.
MIN_AMBIENT_TEXTS = 2
# Characters next to the value, and the share of texts that have to agree in them.
USUAL_CHARS = 3
USUAL_SHARE = 2 / 3
RUNS = re.compile(r"([A-Z]+)|([a-z]+)|([0-9]+)|(.)", re.DOTALL)
# Groups of RUNS that have digits, and any other character.
DIGITS_RUN = 3
OTHER_RUN = 4

# The rests of a text left and right of a value.
Surroundings = tuple[str, str]
# A run of one kind: the group of RUNS, and its text.
Run = tuple[int | None, str]


def surroundings(
    raw: str, values: Iterable[str], *, may_touch: bool = False
) -> Surroundings | None:
    """Return the rests left and right of the first value in a text; None if it has none, or as part
    of a word.

    With `may_touch`, a value of several words may stand next to another word without a gap.

    >>> surroundings("EAN: 123 *", ["123"]), surroundings("Lampshades", ["lamp"])
    (('EAN: ', ' *'), None)
    >>> surroundings("ShopDesk lamp", ["Desk lamp"], may_touch=True)
    ('Shop', '')
    """
    touching = None
    folded = raw.casefold()
    # A character may fold to several: positions would not fit.
    if len(folded) != len(raw):
        return None
    for value in values:
        start = folded.find(value.casefold())
        while start >= 0:
            left, right = raw[:start], raw[start + len(value) :]
            starts_in_word = _in_one_word(left[-1:], value[:1])
            if not starts_in_word and not _in_one_word(value[-1:], right[:1]):
                return left, right
            if may_touch and " " in value and touching is None:
                touching = left, right
            start = folded.find(value.casefold(), start + 1)
    return touching


def learn_trims(sides: Sequence[Surroundings]) -> list[Trim]:
    """Return the trims that the surroundings suggest; `scoring` counts which of them hold."""
    trimmed = list(filter(any, sides))
    if not trimmed:
        return []
    lefts, rights = zip(*trimmed, strict=True)
    trims = []
    left, right = _delimiter(lefts, at_end=True), _delimiter(rights, at_end=False)
    if left or right:
        trims.append(Trim(left=left, right=right, inside=True))
        trims.append(Trim(left=left, right=right, last=True))
    left = _delimiter(_usual_sides(lefts, at_end=True), at_end=True)
    right = _delimiter(_usual_sides(rights, at_end=False), at_end=False)
    if left or right:
        trims.append(Trim(left=left, right=right, inside=True))
    return list(dict.fromkeys(trims))


def trims_by_look(attribute: Attribute, values: Sequence[str]) -> list[Trim]:
    """Return the trims that the known values suggest: by the shape that all have, or as one of
    these words.

    >>> [trim.shape for trim in trims_by_look(Attribute.SKU, ["AB-12", "C-345", "AB-7"])]
    ['[A-Z]{1,2}\\\\-[0-9]{1,3}']
    """
    if attribute is Attribute.EAN:
        return [Trim(shape=GTIN_SHAPE)]
    if attribute in SHAPE_ATTRIBUTES:
        shape = _common_shape(values)
        return [Trim(shape=shape)] if shape else []
    word_choices = tuple(dict.fromkeys(values))[:MAX_WORDS]
    if attribute in WORD_ATTRIBUTES and len(word_choices) > 1:
        return [Trim(words=word_choices)]
    return []


def drop_ambient_words(trim: Trim, texts: Iterable[tuple[str, Sequence[str]]]) -> Trim:
    """Drop words that texts name whatever their value is, as the name of the shop behind each title
    does.

    `texts` are pairs of a text and the values known for it. A word within the first value does not
    count.

    >>> texts = [("Red cup - Tea & Co", ["Cup"]), ("Mug - Tea & Co", ["Mug"])]
    >>> drop_ambient_words(Trim(words=("Cup", "Mug", "Tea")), texts).words
    ('Cup', 'Mug')
    """
    foreign = Counter[str]()
    for text, (value, *_) in texts:
        other_words = tuple(word for word in trim.words if find_word(value, (word,)) is None)
        named = find_word(text, other_words)
        if named:
            foreign[named] += 1
    word_choices = tuple(word for word in trim.words if foreign[word] < MIN_AMBIENT_TEXTS)
    return trim.model_copy(update={"words": word_choices})


def _common_shape(values: Sequence[str]) -> str:
    """Return the regular expression of all values' shape; empty without a common one."""
    all_runs = list(map(_runs, set(values)))
    kinds = set(map(_kinds, all_runs))
    if len(all_runs) < MIN_SHAPE_VALUES or len(kinds) != 1 or DIGITS_RUN not in next(iter(kinds)):
        return ""
    return "".join(map(_run_shape, zip(*all_runs, strict=True)))


def _runs(value: str) -> list[Run]:
    return [(match.lastindex, match[0]) for match in RUNS.finditer(value)]


def _kinds(runs: Iterable[Run]) -> tuple[str | int | None, ...]:
    """Return the kinds of a value's runs; each other character is a kind of its own."""
    return tuple(text if kind == OTHER_RUN else kind for kind, text in runs)


def _run_shape(runs: Sequence[Run]) -> str:
    kind, text = runs[0]
    if kind == OTHER_RUN:
        return re.escape(text)
    sizes = [len(run_text) for _, run_text in runs]
    characters = ("[A-Z]", "[a-z]", "[0-9]")[(kind or 1) - 1]
    return f"{characters}{{{min(sizes)},{max(sizes)}}}"


def _delimiter(sides: Sequence[str], *, at_end: bool) -> str:
    """Return the common end (or start) of the sides next to the value, up to a digit."""
    full = list(filter(None, sides))
    if not full or len(full) * 2 < len(sides):
        return ""
    # Away from the value, character by character.
    outward = [side[::-1] if at_end else side for side in full]
    shared = os.path.commonprefix(outward)[:MAX_LITERAL_CHARS]  # noqa: RUF071
    without_digits = "".join(takewhile(lambda char: not char.isdigit(), shared))
    literal = _complete_words(without_digits, outward)
    return literal[::-1] if at_end else literal


def _usual_sides(sides: Sequence[str], *, at_end: bool) -> Sequence[str]:
    """Return the sides that agree next to the value if most do: a few may have something else
    there.

    >>> _usual_sides(["pen-id-", "ink-id-", "sheets-500-count-"], at_end=True)
    ['pen-id-', 'ink-id-']
    """
    neighbours = [side[-USUAL_CHARS:] if at_end else side[:USUAL_CHARS] for side in sides]
    commonest, count = Counter(neighbours).most_common(1)[0]
    if count < USUAL_SHARE * len(sides):
        return sides
    pairs = zip(sides, neighbours, strict=True)
    return [side for side, neighbour in pairs if neighbour == commonest]


def _complete_words(literal: str, sides: Sequence[str]) -> str:
    """Return the literal without the beginnings of words that go on differently.

    >>> _complete_words(" Re", [" Resin", " Refill"]), _complete_words(" by", [" by me", " by"])
    (' ', ' by')
    """
    size = len(literal)
    if any(_in_one_word(literal[-1:], side[size : size + 1]) for side in sides):
        return literal.rstrip("".join(filter(_is_cased, literal)))
    return literal


def _in_one_word(before: str, after: str) -> bool:
    """Return True if two neighbouring characters belong to one word."""
    return _is_cased(before) and _is_cased(after)


def _is_cased(char: str) -> bool:
    return char.lower() != char.upper()
