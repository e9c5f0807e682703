"""Cuts learnt from what stands around the known values (Hübscher 2018, 2.9), and from how these look.

On each training page a text that contains the known value leaves something on its left and on its right. Where all
pages leave the same, that is a literal to cut; where only its end (or start) is the same, that is a delimiter; where
only the length agrees, a number of characters is. Identifiers and prices are cut at literals and delimiters without
digits only: a count could take digits away. Where the surroundings say nothing, identifiers may be told by their shape,
brands and categories by being one of those that the catalog knows.
"""

import os.path
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from catalog.models import Attribute
from parser.rules.trim import Trim, named_in

NO_CUT = Trim()
MOST_TRIMS = 6
LONGEST_LITERAL = 40
BY_COUNT = frozenset({Attribute.TITLE, Attribute.CATEGORY})
BY_SHAPE = frozenset({Attribute.SKU, Attribute.HAN})
BY_WORDS = frozenset({Attribute.BRAND, Attribute.CATEGORY})
GTIN = r"\d{8}|\d{12,14}"
FEWEST_OF_A_SHAPE = 3
MOST_WORDS = 200
OF_NO_MATTER = 2
NEXT_TO_IT = 3
MOSTLY = 2 / 3
RUNS = re.compile(r"([A-Z]+)|([a-z]+)|([0-9]+)|(.)", re.DOTALL)

Around = tuple[str, str]


def around(raw: str, values: Iterable[str]) -> Around | None:
    """What stands left and right of the first known value in a text; None where it holds none, or as part of a word.

    >>> around("EAN: 123 *", ["123"]), around("Lampshades", ["lamp"])
    (('EAN: ', ' *'), None)
    """
    folded = raw.casefold()
    if len(folded) != len(raw):
        return None
    for value in values:
        start = folded.find(value.casefold())
        while start >= 0:
            left, right = raw[:start], raw[start + len(value) :]
            if not _in_one_word(left[-1:], value[:1]) and not _in_one_word(value[-1:], right[:1]):
                return left, right
            start = folded.find(value.casefold(), start + 1)
    return None


def trims(attribute: Attribute, arounds: Sequence[Around]) -> list[Trim]:
    """The cuts that the surroundings suggest, at most six; which of them hold is for `score` to say."""
    found = [(left, right) for left, right in arounds if left or right]
    if not found:
        return []
    lefts, rights = [left for left, _ in found], [right for _, right in found]
    made = [Trim(left=_common(lefts) or 0, right=_common(rights) or 0)]
    left, right = _delimiter(lefts, at_end=True), _delimiter(rights, at_end=False)
    if left or right:
        made.append(Trim(left=left, right=right, inside=True))
        made.append(Trim(left=left if _same(lefts) else 0, right=right if _same(rights) else 0))
        made.append(Trim(left=left, right=right, last=True))
    usual = (
        _delimiter(_usual(lefts, at_end=True), at_end=True),
        _delimiter(_usual(rights, at_end=False), at_end=False),
    )
    if usual != (left, right):
        made.append(Trim(left=usual[0], right=usual[1], inside=True))
    if (
        attribute in BY_COUNT
        and _same([len(one) for one in lefts])
        and _same([len(one) for one in rights])
    ):
        made.append(Trim(left=len(lefts[0]), right=len(rights[0])))
    return [trim for trim in dict.fromkeys(made) if trim != NO_CUT][:MOST_TRIMS]


def by_look(attribute: Attribute, known: Sequence[str]) -> list[Trim]:
    """The cuts that the known values suggest by themselves: by the shape that all have, or as one of these words.

    >>> [trim.shape for trim in by_look(Attribute.SKU, ["AB-12", "C-345", "AB-7"])]
    ['[A-Z]{1,2}\\\\-[0-9]{1,3}']
    """
    if attribute is Attribute.EAN:
        return [Trim(shape=GTIN)]
    if attribute in BY_SHAPE:
        shape = _shape(known)
        return [Trim(shape=shape)] if shape else []
    words = tuple(dict.fromkeys(known))[:MOST_WORDS]
    return [Trim(words=words)] if attribute in BY_WORDS and len(words) > 1 else []


def telling(trim: Trim, said: Iterable[tuple[str, str]]) -> Trim:
    """The cut without words that stand in texts whatever their value is, as in the name of the shop behind each title.

    `said` are the texts with the values known of them. A word within a text's own value tells nothing against it.

    >>> telling(Trim(words=("Cup", "Mug", "Tea")), [("Red cup - Tea & Co", "Cup"), ("Mug - Tea & Co", "Mug")]).words
    ('Cup', 'Mug')
    """
    strange = Counter(
        found
        for text, value in said
        if (
            found := named_in(
                text, tuple(word for word in trim.words if named_in(value, (word,)) is None)
            )
        )
    )
    return trim.model_copy(
        update={"words": tuple(word for word in trim.words if strange[word] < OF_NO_MATTER)}
    )


def _shape(values: Sequence[str]) -> str:
    """The regular expression of what all values look like; empty where they differ, or have no digit."""
    runs = [
        [(match.lastindex, match[0]) for match in RUNS.finditer(value)] for value in set(values)
    ]
    kinds = {tuple(kind if kind != 4 else text for kind, text in one) for one in runs}
    if len(runs) < FEWEST_OF_A_SHAPE or len(kinds) != 1 or 3 not in next(iter(kinds)):
        return ""
    return "".join(_run([one[place] for one in runs]) for place in range(len(runs[0])))


def _run(alike: Sequence[tuple[int | None, str]]) -> str:
    kind, text = alike[0]
    if kind == 4:
        return re.escape(text)
    sizes = [len(text) for _, text in alike]
    return f"{('[A-Z]', '[a-z]', '[0-9]')[(kind or 1) - 1]}{{{min(sizes)},{max(sizes)}}}"


def _common(sides: Sequence[str]) -> str | None:
    """The literal that most pages leave on one side."""
    literal, count = Counter(sides).most_common(1)[0]
    return literal if literal and count * 2 > len(sides) and _is_literal(literal) else None


def _delimiter(sides: Sequence[str], *, at_end: bool) -> str:
    """What all non-empty sides have in common next to the value, as far as there is no digit in it."""
    full = [side for side in sides if side]
    if not full or len(full) * 2 < len(sides):
        return ""
    turned = [side[::-1] if at_end else side for side in full]
    shared = os.path.commonprefix(turned)[:LONGEST_LITERAL]  # noqa: RUF071 - character by character is what is wanted
    literal = _of_whole_words(re.split(r"\d", shared, maxsplit=1)[0], turned)
    return literal[::-1] if at_end else literal


def _usual(sides: Sequence[str], *, at_end: bool) -> Sequence[str]:
    """The sides that say the same next to the value, where most do: a few may say something else there, or by chance.

    >>> _usual(["pen-id-", "ink-id-", "sheets-500-count-"], at_end=True)
    ['pen-id-', 'ink-id-']
    """
    beside = [side[-NEXT_TO_IT:] if at_end else side[:NEXT_TO_IT] for side in sides]
    commonest, count = Counter(beside).most_common(1)[0]
    most = count >= MOSTLY * len(sides)
    return (
        [side for side, said in zip(sides, beside, strict=True) if said == commonest]
        if most
        else sides
    )


def _of_whole_words(literal: str, sides: Sequence[str]) -> str:
    """The literal without the beginnings of words that go on differently.

    >>> _of_whole_words(" Re", [" Resin", " Refill"]), _of_whole_words(" by", [" by me", " by"])
    (' ', ' by')
    """
    if any(_in_one_word(literal[-1:], side[len(literal) : len(literal) + 1]) for side in sides):
        return literal.rstrip("".join(char for char in literal if _is_cased(char)))
    return literal


def _in_one_word(before: str, after: str) -> bool:
    """Whether two characters side by side are letters of one word; scripts without cases have no gaps to tell."""
    return _is_cased(before) and _is_cased(after)


def _is_cased(char: str) -> bool:
    return char.lower() != char.upper()


def _same(values: Sequence[object]) -> bool:
    return len(set(values)) == 1


def _is_literal(text: str) -> bool:
    return len(text) <= LONGEST_LITERAL and not any(char.isdigit() for char in text)
