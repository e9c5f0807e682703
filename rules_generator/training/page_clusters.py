"""A shop's templates, and the signature by which each one's offer pages are recognised.

Pages of one template share most of their marks (`parser.templates.template_match`), so pages are put together by the Jaccard likeness of
their marks, most typical page first. A mark then weighs for a template as much as it is rarer on the shop's other
pages: what header and footer leave everywhere weighs nothing. Which pages are others nobody has said, and most of a
crawl may well be offers. Those are surely others that show clearly less than the examples of what these share, as in
learning from positive and unlabelled examples (Liu, Lee, Yu, Li: Partially Supervised Classification of Text Documents,
2002, 3.2). Were rarity measured on offers too, a few that are sold out would make the shop's only weighty mark of what
the others have.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from parser.rules.model import Signature
from parser.templates.template_match import COSTS, cost_of, likeness, nearness

Marks = frozenset[str]

ALIKE = 0.72
CORE = 0.9
UNLIKE = 0.9
MOST_TEMPLATES = 8
LEAST_PAGES = 3
ENOUGH_MARKS = 12
MOST_MARKS = 400
LIGHT = 0.02
SHARED = 0.1
LEAST = 0.45
WIDE = 0.15


@dataclass(frozen=True)
class Cluster:
    """Places (in the list of examples) of the pages of one template, and those of the strays that were put there."""

    members: tuple[int, ...]
    strays: tuple[int, ...] = ()

    @property
    def own(self) -> tuple[int, ...]:
        """The members that are like each other."""
        return tuple(place for place in self.members if place not in self.strays)


def cluster(pages: Sequence[Marks]) -> list[Cluster]:
    """Pages put together by template, largest first; pages like no others join the template they are likest to."""
    leaders: list[Marks] = []
    members: list[list[int]] = []
    for place, marks in enumerate(pages):
        likest = max(
            range(len(leaders)), key=lambda index: jaccard(marks, leaders[index]), default=None
        )
        if likest is not None and (
            jaccard(marks, leaders[likest]) >= ALIKE or len(leaders) >= MOST_TEMPLATES
        ):
            members[likest].append(place)
        else:
            leaders.append(marks)
            members.append([place])
    return _without_strays(pages, leaders, members)


def _without_strays(
    pages: Sequence[Marks], leaders: list[Marks], members: list[list[int]]
) -> list[Cluster]:
    order = sorted(range(len(leaders)), key=lambda index: -len(members[index]))
    kept = [index for index in order if len(members[index]) >= LEAST_PAGES]
    if not kept:
        return [Cluster(tuple(range(len(pages))))] if pages else []
    strays: dict[int, list[int]] = {index: [] for index in kept}
    for index in order:
        for place in members[index] if index not in kept else ():
            likest = max(kept, key=lambda one: jaccard(pages[place], leaders[one]))
            strays[likest].append(place)
    return [Cluster((*members[index], *strays[index]), tuple(strays[index])) for index in kept]


def jaccard(a: Marks, b: Marks) -> float:
    """The share of common marks in all marks of two pages."""
    return len(a & b) / len(a | b) if a or b else 1.0


def signatures(
    examples: Sequence[Marks], clusters: Sequence[Cluster], background: Sequence[Marks]
) -> list[Signature]:
    """The signature of each template that examples were put together by; `background` is a sample of the shop's pages.

    Where no other page is known, there is none. Names and data are a tenth of a page's marks, ids another. Where they
    tell the same pages apart as clearly, the others need not be looked for on each page of the shop.
    """
    if len(clusters) == 1 and not background:
        return [Signature()]
    whole = _signatures(examples, clusters, background)
    for cost in sorted({0, *COSTS.values()})[:-1]:
        few = _signatures(_of_cost(cost, examples), clusters, _of_cost(cost, background))
        if _tell_as_well(few, whole, [*examples, *background]):
            return few
    return whole


def _of_cost(cost: int, pages: Sequence[Marks]) -> list[Marks]:
    """Those of the pages' marks that cost no more than that."""
    return [frozenset(mark for mark in marks if cost_of(mark) <= cost) for marks in pages]


def _tell_as_well(
    few: Sequence[Signature], whole: Sequence[Signature], pages: Sequence[Marks]
) -> bool:
    """Whether some signatures part the pages as others do: from those that are no offers, and from each other."""
    parted = all(_parts_as_well(one, other, pages) for one, other in zip(few, whole, strict=True))
    return parted and all(_nearest(marks, few) == _nearest(marks, whole) for marks in pages)


def _parts_as_well(few: Signature, whole: Signature, pages: Sequence[Marks]) -> bool:
    """Whether one signature parts the pages as another does, with room between them; some must be refused."""
    told = [(likeness(marks, few), likeness(marks, whole) >= whole.least) for marks in pages]
    taken, refused = (
        [share for share, is_taken in told if is_taken],
        [share for share, is_taken in told if not is_taken],
    )
    room = min(taken, default=0.0) - max(refused, default=1.0)
    return (
        len(few.marks) >= ENOUGH_MARKS
        and room >= 2 * WIDE
        and max(refused) < few.least <= min(taken)
    )


def _nearest(marks: Marks, found: Sequence[Signature]) -> int | None:
    """The place of the signature that takes a page and is nearest to it."""
    near = [nearness(marks, one) for one in found]
    return near.index(best) if near and (best := max(near))[0] else None


def _signatures(
    examples: Sequence[Marks], clusters: Sequence[Cluster], background: Sequence[Marks]
) -> list[Signature]:
    groups = [[examples[place] for place in group.own] for group in clusters]
    cores = [_core(own) for own in groups]
    least = [
        UNLIKE * median(len(core & one) for one in own)
        for core, own in zip(cores, groups, strict=True)
    ]
    unlike = [marks for marks in background if not _is_like_any(marks, cores, least)]
    made = []
    for core, own, group in zip(cores, groups, clusters, strict=True):
        others = [marks for place, marks in enumerate(examples) if place not in group.members]
        weights = _heaviest(core, _rarity(unlike) if background else _rarity_beside(others))
        taken = [*own, *(examples[place] for place in group.strays)]
        made.append(_signature(weights, taken, [*others, *background]) if weights else Signature())
    return made


def _core(own: Sequence[Marks]) -> Marks:
    """What the pages of a template share."""
    counts = Counter(mark for marks in own for mark in marks)
    return frozenset(mark for mark, count in counts.items() if count >= CORE * len(own))


def _is_like_any(marks: Marks, cores: Sequence[Marks], least: Sequence[float]) -> bool:
    """Whether a page may be of some template; others surely are not: of each core they show clearly less."""
    return any(len(core & marks) >= enough for core, enough in zip(cores, least, strict=True))


def _heaviest(core: Marks, weight_of: Callable[[str], float]) -> dict[str, float]:
    weights = {mark: round(weight_of(mark), 4) for mark in core}
    ordered = sorted(
        ((weight, mark) for mark, weight in weights.items() if weight > LIGHT), reverse=True
    )
    return {mark: weight for weight, mark in ordered[:MOST_MARKS]}


def _rarity(pages: Sequence[Marks]) -> Callable[[str], float]:
    """On which share of the pages a mark is not; on all where there are none."""
    counts = Counter(mark for marks in pages for mark in marks)
    return lambda mark: 1 - counts[mark] / max(1, len(pages))


def _rarity_beside(others: Sequence[Marks]) -> Callable[[str], float]:
    """What a mark weighs where only pages of the shop's other templates are known: what they share a little, too."""
    rare = _rarity(others)
    return lambda mark: SHARED + (1 - SHARED) * rare(mark)


def _signature(
    weights: dict[str, float], taken: Sequence[Marks], elsewhere: Sequence[Marks]
) -> Signature:
    """The signature with the likeness from which on a page is taken for one of the template."""
    found = Signature(marks=weights)
    shares = sorted(likeness(one, found) for one in taken)
    least = _threshold([likeness(one, found) for one in elsewhere], shares[len(shares) // 20])
    return Signature(marks=weights, least=round(least, 4))


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
