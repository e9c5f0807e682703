"""A shop's templates, and the signature by which each one's offer pages are recognised.

Pages of one template share most of their marks (`parser.gate`), so pages are put together by the Jaccard likeness of
their marks, most typical page first. A mark then weighs for a template as much as it is rarer on the shop's other
pages: what header and footer leave everywhere weighs nothing. Which pages are others nobody has said, and most of a
crawl may well be offers. Those are surely others that show clearly less than the examples of what these share, as in
learning from positive and unlabelled examples (Liu, Lee, Yu, Li: Partially Supervised Classification of Text Documents,
2002, 3.2). Were rarity measured on offers too, a few that are sold out would make the shop's only weighty mark of what
the others have.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from parser.gate import COSTS, cost_of, likeness
from parser.rules import Signature

Marks = frozenset[str]

ALIKE = 0.72
CORE, UNLIKE = 0.9, 0.9
MOST_TEMPLATES = 8
LEAST_PAGES = 3
ENOUGH_MARKS, MOST_MARKS = 12, 400
LIGHT = 0.02
LEAST, WIDE = 0.45, 0.15


@dataclass(frozen=True)
class Cluster:
    """Places (in the list of examples) of the pages of one template."""

    members: tuple[int, ...]


def cluster(pages: Sequence[Marks]) -> list[Cluster]:
    """Pages put together by template, largest first; pages like no others join the template they are likest to."""
    leaders: list[Marks] = []
    members: list[list[int]] = []
    for place, marks in enumerate(pages):
        likest = max(range(len(leaders)), key=lambda index: jaccard(marks, leaders[index]), default=None)
        if likest is not None and (jaccard(marks, leaders[likest]) >= ALIKE or len(leaders) >= MOST_TEMPLATES):
            members[likest].append(place)
        else:
            leaders.append(marks)
            members.append([place])
    return [Cluster(tuple(group)) for group in _without_strays(pages, leaders, members)]


def _without_strays(pages: Sequence[Marks], leaders: list[Marks], members: list[list[int]]) -> list[list[int]]:
    order = sorted(range(len(leaders)), key=lambda index: -len(members[index]))
    kept = [index for index in order if len(members[index]) >= LEAST_PAGES] or order[:1]
    for index in order:
        if index not in kept:
            for place in members[index]:
                likest = max(kept, key=lambda one: jaccard(pages[place], leaders[one]))
                members[likest].append(place)
    return [members[index] for index in kept]


def jaccard(a: Marks, b: Marks) -> float:
    """The share of common marks in all marks of two pages."""
    return len(a & b) / len(a | b) if a or b else 1.0


def signature(pages: Sequence[Marks], background: Sequence[Marks]) -> Signature:
    """The signature of the template that `pages` are built from; `background` is a sample of all pages of the shop.

    Names and data are a tenth of a page's marks, ids another. Where they tell the same pages apart as clearly, the
    others need not be looked for on each page of the shop.
    """
    whole = _signature(pages, background)
    for cost in sorted({0, *COSTS.values()})[:-1]:
        few = _signature(*(_of_cost(cost, group) for group in (pages, background)))
        if _tells_as_well(few, whole, [*pages, *background]):
            return few
    return whole


def _of_cost(cost: int, pages: Sequence[Marks]) -> list[Marks]:
    """Those of the pages' marks that cost no more than that."""
    return [frozenset(mark for mark in marks if cost_of(mark) <= cost) for marks in pages]


def _tells_as_well(few: Signature, whole: Signature, pages: Sequence[Marks]) -> bool:
    """Whether one signature parts the pages as another does, with room between them; some must be refused."""
    told = [(likeness(marks, few), likeness(marks, whole) >= whole.least) for marks in pages]
    taken, refused = (
        [share for share, is_taken in told if is_taken],
        [share for share, is_taken in told if not is_taken],
    )
    room = min(taken, default=0.0) - max(refused, default=1.0)
    return len(few.marks) >= ENOUGH_MARKS and room >= 2 * WIDE and max(refused) < few.least <= min(taken)


def _signature(pages: Sequence[Marks], background: Sequence[Marks]) -> Signature:
    counts = Counter(mark for marks in pages for mark in marks)
    core = frozenset(mark for mark, count in counts.items() if count >= CORE * len(pages))
    others = _unlike(core, pages, background)
    usual = Counter(mark for marks in others for mark in marks)
    weights = {mark: round(1 - usual[mark] / len(others), 4) if others else 1.0 for mark in core}
    heaviest = sorted(((weight, mark) for mark, weight in weights.items() if weight > LIGHT), reverse=True)[:MOST_MARKS]
    marks = {mark: weight for weight, mark in heaviest}
    if not marks:
        return Signature()
    found = Signature(marks=marks)
    usually = sorted(likeness(one, found) for one in pages)[len(pages) // 20]
    return Signature(marks=marks, least=round(_threshold([likeness(one, found) for one in background], usually), 4))


def _unlike(core: Marks, pages: Sequence[Marks], background: Sequence[Marks]) -> list[Marks]:
    """The pages of the background that are surely of no such template: of its core they show clearly less."""
    least = UNLIKE * median(len(core & marks) for marks in pages)
    return [marks for marks in background if len(core & marks) < least]


def _threshold(others: Sequence[float], usually: float) -> float:
    """The middle of the lowest wide gap in the likeness of the shop's pages, below what known offers usually show.

    Pages that are no offers show little of what is rare; an offer that is sold out may show a third less than usual.

    >>> round(_threshold([0.02, 0.03, 0.55, 0.9, 0.95, 0.97], 0.95), 3)
    0.725
    """
    points = sorted({LEAST, max(LEAST, usually), *(one for one in others if LEAST < one < usually)})
    gaps = [(after - before, before) for before, after in pairwise(points)]
    wide = [gap for gap in gaps if gap[0] >= WIDE] or [max(gaps, default=(0.0, LEAST))]
    width, below = wide[0]
    return below + width / 2
