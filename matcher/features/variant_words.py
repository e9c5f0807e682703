"""Alike but different: A12 is not A12s, 64 GB is not 128 GB, a set of two is not one, red is not blue.

Some distinctions can be read off the tokens (quantities, model numbers). Which plain words tell siblings apart -
colours, sizes, scents - is learnt from the catalog itself: a word that is all the difference between the titles of two
of its offers is such a word, in whatever language.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from matcher.records.product_kinds import kind_differences
from matcher.records.record import Record

MOST_SIBLINGS = 50
MOST_WORDS = 16
MOST_READ = 50_000
RUN = 100


@dataclass(frozen=True)
class Variants:
    """The words that tell this catalog's siblings apart."""

    words: frozenset[str] = frozenset()

    def difference(self, shop: Record, known: Record) -> str | None:
        """What makes the two offers variants of one product, in words; None where nothing does."""
        kind = next(iter(kind_differences(shop.words, shop.kinds, known.words, known.kinds)), None)
        return _quantity(shop, known) or kind or _code(shop, known) or self._word(shop, known)

    def apart(self, shop: Record, known: Record) -> int:
        """How many words that tell siblings apart stand in one of the two titles only."""
        ours, theirs = self.words.intersection(shop.words), self.words.intersection(known.words)
        return len(ours - known.spellings) + len(theirs - shop.spellings)

    def _word(self, shop: Record, known: Record) -> str | None:
        ours = [word for word in shop.words if word not in known.spellings]
        theirs = [word for word in known.words if word not in shop.spellings]
        if (
            not (ours or theirs)
            or len(ours) > 2
            or len(theirs) > 2
            or not set(shop.words) & set(known.words)
        ):
            return None
        if not self.words.issuperset(ours + theirs):
            return None
        return f"variant: {_said(ours)} in the shop, {_said(theirs)} in the catalog"


def learn_variants(known: Sequence[Record]) -> Variants:
    """The words by which the titles of two known offers differ where all their other words are equal.

    Two offers of one catalog product are one thing in two wordings, no siblings.
    """
    frames: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for number, record in enumerate(_neighbourhoods(known)):
        words = record.words[:MOST_WORDS]
        for place, word in enumerate(words):
            frame = frames[(*words[:place], "", *words[place + 1 :])]
            if len(words) > 1 and len(frame) < MOST_SIBLINGS:
                frame.setdefault(word, record.product or f"#{number}")
    apart = (frame for frame in frames.values() if len(set(frame.values())) > 1)
    return Variants(frozenset(word for frame in apart for word in frame))


def _neighbourhoods(known: Sequence[Record]) -> Sequence[Record]:
    """All known offers; of a large catalog evenly spread runs of neighbours in the order of their titles.

    Siblings mostly begin alike, so that runs hold what single offers drawn by chance would not.
    """
    if len(known) <= MOST_READ:
        return known
    titled = sorted(known, key=lambda record: record.title)
    step = len(titled) * RUN / MOST_READ
    return [
        one for n in range(MOST_READ // RUN) for one in titled[int(n * step) : int(n * step) + RUN]
    ]


def _quantity(shop: Record, known: Record) -> str | None:
    for unit, values in shop.quantities.items():
        other = known.quantities.get(unit)
        if other and not values & other:
            return f"variant: {_amounts(values, unit)} in the shop, {_amounts(other, unit)} in the catalog"
    return None


def _code(shop: Record, known: Record) -> str | None:
    ours, theirs = shop.codes - known.spellings, known.codes - shop.spellings
    if ours and theirs:
        return f"variant: {_said(sorted(ours))} in the shop, {_said(sorted(theirs))} in the catalog"
    return None


def _amounts(values: frozenset[str], unit: str) -> str:
    return " and ".join(f"{value} {unit}" for value in sorted(values))


def _said(words: Sequence[str]) -> str:
    return " ".join(f"'{word}'" for word in words[:3]) or "nothing"
