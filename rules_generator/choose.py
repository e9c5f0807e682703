"""The smallest set of rules that votes best.

Candidates are taken best first. One joins where the vote then agrees with more of the known offers. One that only
repeats what the chosen ones find joins where it reads another kind of place: shops fill those from different sources,
so their agreement confirms, and one is left when the other is gone.
"""

import re
from collections.abc import Sequence

from catalog.models import Attribute
from parser.read import weight_of
from parser.rules import Rule
from parser.selector import AnySelector, JsonAt, TextAt
from rules_generator.score import Tally

MOST_RULES = 6
MOST_TRIED = 40
ENOUGH_OF_A_KIND = 2
LAST_STEP = re.compile(r"[^\s>+]+$")
PLACE_AMONG = re.compile(r":nth-[a-z-]+\(\d+\)")


def choose(ranked: Sequence[tuple[float, Tally]], threshold: float) -> list[Rule]:
    """The rules of one attribute, best first, out of ranked (score, tally) pairs; those below `threshold` are out."""
    chosen: list[tuple[float, Tally]] = []
    agreed = 0
    for score, tally in [pair for pair in ranked if pair[0] >= threshold and pair[1].hits][:MOST_TRIED]:
        if len(chosen) >= MOST_RULES:
            break
        now = _votes_right([*chosen, (score, tally)])
        if now > agreed or (now == agreed and _confirms(tally, chosen)):
            chosen.append((score, tally))
            agreed = now
    return [tally.candidate.rule(round(score, 4), tally.hits) for score, tally in chosen]


def _confirms(tally: Tally, chosen: Sequence[tuple[float, Tally]]) -> bool:
    """Whether it reads another kind of place than those chosen, and contradicts none of them on any example."""
    if tally.candidate.attribute is Attribute.DESCRIPTION:
        return False
    chosen_ones = [other.candidate.selector for _, other in chosen]
    kind = family if len(chosen) >= ENOUGH_OF_A_KIND else spot
    is_new = kind(tally.candidate.selector) not in {kind(other) for other in chosen_ones}
    return is_new and all(_agree(tally, other) for _, other in chosen)


def _agree(one: Tally, other: Tally) -> bool:
    both = [(a, b) for a, b in zip(one.keys, other.keys, strict=True) if a is not None and b is not None]
    return bool(both) and all(a == b for a, b in both)


def family(selector: AnySelector) -> str:
    """The kind of place a selector reads: shops fill places of one kind from one source.

    >>> family(TextAt(css="h1")), family(JsonAt(block="ld+json Product", path="$.name"))
    ('text', 'schema.org')
    """
    if isinstance(selector, JsonAt):
        return "schema.org" if selector.block.startswith("ld+json") else "data"
    if isinstance(selector, TextAt):
        return "head" if selector.css.startswith("title") else "text"
    return "meta" if selector.css.startswith("meta") else "attribute"


def spot(selector: AnySelector) -> str:
    """The kind of place, told more finely: the block of data, or the element and the attribute at the selector's end.

    >>> spot(TextAt(css="div.product span.sku")), spot(TextAt(css="html > b:nth-of-type(2)"))
    ('text span.sku', 'text b')
    """
    if isinstance(selector, JsonAt):
        return f"{family(selector)} {selector.css} {selector.block}"
    last = LAST_STEP.search(selector.css)
    name = "" if isinstance(selector, TextAt) else f" {selector.name}"
    return f"{family(selector)} {PLACE_AMONG.sub('', last[0]) if last else ''}{name}"


def _votes_right(chosen: Sequence[tuple[float, Tally]]) -> int:
    return sum(_right_at(chosen, place) for place in range(len(chosen[0][1].values)))


def _right_at(chosen: Sequence[tuple[float, Tally]], place: int) -> bool:
    """Whether the heaviest value on one example is the known one."""
    weights: dict[str, float] = {}
    right: dict[str, bool] = {}
    for score, tally in chosen:
        group = tally.keys[place]
        if group is not None:
            weights[group] = weights.get(group, 0.0) + weight_of(score)
            right[group] = right.get(group, False) or bool(tally.right[place])
    return bool(weights) and right[max(weights, key=lambda group: weights[group])]
