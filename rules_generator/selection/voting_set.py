"""The smallest set of rules that votes best.

Candidates are taken best first. One joins where the vote then agrees with more of the known offers. One that only
repeats what the chosen ones find joins where it reads another kind of place: shops fill those from different sources,
so their agreement confirms, and one is left when the other is gone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from operator import itemgetter

from selectolax.lexbor import LexborNode

from catalog.models import NUMBERS, Attribute
from parser.rules.model import Origin, Rule
from parser.rules.selector import AnySelector
from parser.voting.vote_weights import weight_at
from rules_generator.candidates.naming import is_labelled, is_named
from rules_generator.candidates.place_kind import family, spot
from rules_generator.locate.element_selectors import upwards
from rules_generator.scoring.filters import is_telling
from rules_generator.scoring.tally import LARGEST_TIE, ON_ALL, Tally

MOST_RULES = 6
MOST_SPARE = 3
MOST_TRIED = 40
ENOUGH = 2
SEVERAL = 2
MOST_LEVELS = 20
GUESSED = 0.85
SPARED = frozenset({Attribute.PRICE, Attribute.BRAND})
LABELLED = frozenset({Attribute.BRAND, Attribute.CATEGORY})
WORTH = {True: 1.0, False: -1.0, None: -0.5}

Scored = tuple[float, Tally]


def choose(ranked: Sequence[Scored], threshold: float) -> list[Rule]:
    """The rules of one attribute, best first, out of ranked (score, tally) pairs; those below `threshold` are out.

    Scores as near as a tie are one: a rule that was silent once is not worse than one that was not.
    """
    worthy = _distinct(
        pair for pair in ranked if pair[0] >= threshold - LARGEST_TIE and pair[1].hits
    )
    chosen = _voters(worthy)
    if len(chosen) < ENOUGH:
        chosen += _stand_ins(worthy, chosen)
    chosen += _for_the_silent(ranked, chosen, threshold)
    spares = _spares(worthy, chosen) + _of_any_value(ranked, chosen, threshold)
    return [*map(_rule, chosen), *(_rule(one, "spare") for one in spares)]


def _rule(scored: Scored, origin: Origin = "learnt") -> Rule:
    score, tally = scored
    return tally.candidate.rule(_as_voter(score, tally), tally.hits, round(tally.share, 4), origin)


def _attribute_of(chosen: Sequence[Scored]) -> Attribute | None:
    return chosen[0][1].candidate.attribute if chosen else None


def _as_voter(score: float, tally: Tally) -> float:
    """The score that a rule votes with: a guess gives way to a place that says the value itself.

    The first word of a title may be the brand of all known offers, and of others a part of it.
    """
    return round(score * GUESSED if tally.candidate.is_guess else score, 4)


def _distinct(ranked: Iterable[Scored]) -> list[Scored]:
    """The best of those that find the same values in the same element: they stand or fall together."""
    best: dict[tuple[object, ...], Scored] = {}
    for pair in ranked:
        best.setdefault((pair[1].keys, spot(pair[1].candidate.selector)), pair)
    return list(best.values())[:MOST_TRIED]


def _voters(worthy: Sequence[Scored]) -> list[Scored]:
    chosen: list[Scored] = []
    agreed = -inf
    for score, tally in worthy:
        now = _balance([*chosen, (score, tally)])
        confirms = tally.candidate.attribute is not Attribute.DESCRIPTION and _confirms(
            tally, chosen, family
        )
        confirms = confirms and not _is_at_one_of(tally, chosen)
        if now > agreed or (now == agreed and confirms):
            chosen.append((score, tally))
            agreed = now
        if len(chosen) == MOST_RULES:
            break
    return chosen


def _for_the_silent(
    ranked: Sequence[Scored], chosen: Sequence[Scored], threshold: float
) -> list[Scored]:
    """What is never wrong, and speaks on several examples on which those chosen do not, or one price alone does.

    These may be of another layout, as a few of the shop's pages are. Of what every offer has, silence on the others
    counts against a rule; here it is scored by the examples on which it speaks. Of a number one example is enough, if
    the place is named for it.
    """
    attribute = _attribute_of(chosen)
    if attribute not in ON_ALL | LABELLED and attribute not in NUMBERS:
        return []
    enough = ENOUGH if attribute is Attribute.PRICE else 1
    found: list[Scored] = []
    for score, tally in _where_they_speak(ranked, threshold):
        if _speaks_for_others(tally, [*chosen, *found], enough):
            found.append((score, tally))
    return found[: MOST_RULES - len(chosen)]


def _where_they_speak(ranked: Sequence[Scored], threshold: float) -> Iterator[Scored]:
    """Those that reach the threshold if they are scored by the examples on which they speak, with that score."""
    best = max(tally.agreement for _, tally in ranked)
    scored = ((min(1.0, tally.agreement_where_it_speaks / best), tally) for _, tally in ranked)
    return (pair for pair in scored if pair[0] >= threshold - LARGEST_TIE)


def _speaks_for_others(tally: Tally, chosen: Sequence[Scored], enough: int) -> bool:
    at, attribute = spot(tally.candidate.selector), tally.candidate.attribute
    if (
        tally.misses
        or tally.candidate.is_guess
        or any(spot(other.candidate.selector) == at for _, other in chosen)
    ):
        return False
    if attribute in NUMBERS and not is_telling(tally):
        return False
    if attribute in LABELLED:
        return is_labelled(tally.candidate) and not tally.uncalled and tally.right_values >= SEVERAL
    told = zip(tally.right, *(other.values for _, other in chosen), strict=True)
    heard = sum(1 for right, *others in told if right and sum(map(bool, others)) < enough)
    return heard >= several_of(attribute)


def several_of(attribute: Attribute) -> int:
    """How many examples tell that a place holds an attribute: no text says a number of many digits by chance."""
    return 1 if attribute in NUMBERS else SEVERAL


def _stand_ins(worthy: Sequence[Scored], chosen: Sequence[Scored]) -> list[Scored]:
    """Where one rule alone speaks, one that agrees with it from another element, for pages on which it is silent.

    It is silent too where the catalog knows no value. What a page's head says for search engines is no stand-in for
    its description. Where there is no other element, another way to the same one may hold where the first does not.
    """
    found = [pair for pair in worthy if _stands_in(pair[1], chosen)]
    placed = [(_is_at_one_of(pair[1], chosen), pair) for pair in found]
    usable = [
        (is_again, pair) for is_again, pair in placed if not is_again or _is_sure_way(pair[1])
    ]
    return [pair for _, pair in sorted(usable, key=itemgetter(0))][: ENOUGH - len(chosen)]


def _spares(worthy: Sequence[Scored], chosen: Sequence[Scored]) -> list[Scored]:
    """Rules from further places, never wrong on the examples, for pages on which all of those chosen are silent.

    A layout that no example shows may lack the places that are chosen, and have others that all layouts share, such as
    what the shop's software tells a statistics script. Only of what every offer has silence tells of such a layout.
    """
    if _attribute_of(chosen) not in SPARED:
        return []
    found: list[Scored] = []
    for pair in worthy:
        if len(found) < MOST_SPARE and _is_spare(pair[1], [*chosen, *found]):
            found.append(pair)
    return found


def _is_spare(tally: Tally, others: Sequence[Scored]) -> bool:
    return tally.is_never_wrong and _stands_in(tally, others) and not _is_at_one_of(tally, others)


def _of_any_value(
    ranked: Sequence[Scored], chosen: Sequence[Scored], threshold: float
) -> list[Scored]:
    """Where those chosen say nothing but listed values, the best that may say others, if it was never wrong.

    Words that known headings begin with mean known brands; the menu that the heading names has all brands of the shop.
    """
    if _attribute_of(chosen) not in LABELLED or not all(
        _is_of_listed(tally) for _, tally in chosen
    ):
        return []
    others = (pair for pair in _where_they_speak(ranked, threshold) if not _is_of_listed(pair[1]))
    sure = (pair for pair in others if pair[1].hits and pair[1].is_never_wrong)
    return list(
        islice((pair for pair in sure if all(_agree(pair[1], other) for _, other in chosen)), 1)
    )


def _is_of_listed(tally: Tally) -> bool:
    trim = tally.candidate.trim
    return bool(trim.words or trim.means)


def _is_sure_way(tally: Tally) -> bool:
    """Whether it finds nothing else where the element is missing: every offer has it, or it alone is named so."""
    candidate = tally.candidate
    if candidate.attribute is Attribute.DESCRIPTION:
        return False
    return candidate.attribute in ON_ALL or (tally.crowd <= 1 and is_named(candidate))


def _stands_in(tally: Tally, chosen: Sequence[Scored]) -> bool:
    """Whether it agrees with those chosen from another element, and is silent where the catalog knows no value."""
    candidate = tally.candidate
    if not _confirms(tally, chosen, spot):
        return False
    if candidate.attribute is Attribute.DESCRIPTION and family(candidate.selector) == "meta":
        return False
    said = zip(tally.values, tally.right, *(other.values for _, other in chosen), strict=True)
    return not any(value and right is None and not any(others) for value, right, *others in said)


def _confirms(tally: Tally, chosen: Sequence[Scored], kind: Callable[[AnySelector], str]) -> bool:
    """Whether it reads another kind of place than those chosen, and contradicts none of them on any example."""
    if (
        tally.candidate.is_guess
        or not chosen
        or (_is_bare_constant(tally) and is_named(chosen[0][1].candidate))
    ):
        return False
    is_new = kind(tally.candidate.selector) not in {
        kind(other.candidate.selector) for _, other in chosen
    }
    return is_new and all(_agree(tally, other) for _, other in chosen)


def _is_at_one_of(tally: Tally, chosen: Sequence[Scored]) -> bool:
    return any(_are_one_place(tally, other) for _, other in chosen)


def _are_one_place(one: Tally, other: Tally) -> bool:
    """Whether both read one element, or one within the other's: such stand or fall together."""
    pairs = [
        (a, b)
        for a, b in zip(one.nodes, other.nodes, strict=False)
        if a is not None and b is not None
    ]
    return bool(pairs) and all(_is_within(a, b) or _is_within(b, a) for a, b in pairs)


def _is_within(inner: LexborNode, outer: LexborNode) -> bool:
    return any(node.mem_id == outer.mem_id for node in islice(upwards(inner), MOST_LEVELS))


def _is_bare_constant(tally: Tally) -> bool:
    """Whether it finds one text on all examples, and is not named for the attribute: it could never contradict."""
    return len(set(tally.keys) - {None}) == 1 and tally.hits > 1 and not is_named(tally.candidate)


def _agree(one: Tally, other: Tally) -> bool:
    """Whether they found the same wherever both found something; descriptions may differ in a few words."""
    both = [
        place for place, (a, b) in enumerate(zip(one.values, other.values, strict=True)) if a and b
    ]
    return bool(both) and all(
        one.keys[place] == other.keys[place] or (one.right[place] and other.right[place])
        for place in both
    )


def _balance(chosen: Sequence[Scored]) -> float:
    """The examples on which the vote is right less those on which it is wrong, or speaks where the catalog does not.

    Where the known number stands nowhere on a page, the shop may show another variant's: that is not held to be wrong.
    """
    return sum(_worth_at(chosen, place) for place in range(len(chosen[0][1].values)))


def _worth_at(chosen: Sequence[Scored], place: int) -> float:
    """What the heaviest value on one example is worth."""
    weights: dict[str, float] = {}
    right: dict[str, bool | None] = {}
    for score, tally in chosen:
        group, one = tally.keys[place], tally.candidate
        if group is not None:
            weights[group] = weights.get(group, 0.0) + weight_at(
                _as_voter(score, tally), one.attribute, one.selector
            )
            right[group] = right.get(group) or (
                tally.right[place] if place not in tally.unseen else None
            )
    return WORTH[right[max(weights, key=lambda group: weights[group])]] if weights else 0.0
