"""What kind of thing a title names, where titles nearly alike name another one: a pack, a size, a part, an accessory.

`set of 2` beside no pack at all, size L beside XL, part I beside part II, a case *for* a phone beside the phone: the
words in question are few and short, so that the likeness of the titles hides them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matcher.records.units import quantities

_SIZES = frozenset("xs xl xxl xxxl 2xl 3xl 4xl 5xl small medium large".split())
_LETTERS = frozenset("sml")
_NUMERALS = frozenset("i ii iii iv vi vii viii ix xi xii".split())
_FOR = frozenset("for fur pour para voor".split())
_ONE = frozenset({"", "1"})


@dataclass(frozen=True)
class Kinds:
    """A title's pack sizes above one, clothing sizes, Roman numerals, and the words after its `for`."""

    packs: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    numerals: frozenset[str] = frozenset()
    host: frozenset[str] = frozenset()


def kinds(words: Sequence[str]) -> Kinds:
    """What a title's tokens say of the kind of thing it names.

    >>> kinds(("case", "for", "fono", "x")).host == {"fono", "x"}
    True
    >>> kinds(("men", "s", "shirt", "size", "l")).sizes, kinds(("cups", "2pcs")).packs
    (frozenset({'l'}), frozenset({'2'}))
    """
    last = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if before == "size" or word is words[-1]
    ]
    place = next((n for n, word in enumerate(words) if n and word in _FOR), len(words))
    return Kinds(
        packs=quantities(words).get("pcs", frozenset()) - _ONE,
        sizes=_SIZES.intersection(words)
        | (_LETTERS.intersection(last) if len(words) > 1 else frozenset()),
        numerals=_NUMERALS.intersection(words[1:]),
        host=frozenset(words[place + 1 :]),
    )


def kind_differences(
    shop: Sequence[str], ours: Kinds, known: Sequence[str], theirs: Kinds
) -> list[str]:
    """In words, each way in which one title names another kind of thing than the other."""
    found = []
    if bool(ours.packs) != bool(theirs.packs):
        found.append(f"variant: {_packs(ours)} in the shop, {_packs(theirs)} in the catalog")
    for name, a, b in (
        ("size", ours.sizes, theirs.sizes),
        ("part", ours.numerals, theirs.numerals),
    ):
        if a and b and not a & b:
            found.append(
                f"variant: {name} {_said(a)} in the shop, {name} {_said(b)} in the catalog"
            )
    if known and not theirs.host and ours.host.issuperset(known):
        found.append("variant: something for it in the shop, the thing itself in the catalog")
    elif shop and not ours.host and theirs.host.issuperset(shop):
        found.append("variant: the thing itself in the shop, something for it in the catalog")
    return found


def _packs(one: Kinds) -> str:
    return " and ".join(f"{value} pcs" for value in sorted(one.packs)) or "one"


def _said(words: frozenset[str]) -> str:
    return " ".join(f"'{word}'" for word in sorted(words))
