"""Which candidates have earned to be rules at all, whatever the others reach.

A score relative to the best says nothing where all are bad: in a shop that does not show its brand, some link of a menu
agrees with one known offer in ten, and is the best there is. So a rule has to be right more often than wrong, and on
different values where the known offers differ: a text that is the same on every page is a perfect reader of the
commonest value, and knows nothing - unless it is never wrong, and named for what it is said to be. Titles and prices
may be stale in many known offers at once; they ask for less. A heading is no description, though some catalogs repeat
it as one.
"""

from collections.abc import Sequence

from catalog.models import NUMBERS, Attribute
from catalog.values import key
from parser.rules.selector import JsonAt
from parser.rules.trim import Trim
from rules_generator.candidates.naming import HEADINGS, is_named
from rules_generator.candidates.place_kind import last_step
from rules_generator.candidates.trimming import NO_CUT
from rules_generator.scoring.tally import Tally, lower_bound
from rules_generator.training.examples import Example, in_short

LEAST_SHARE = {
    Attribute.TITLE: 0.2,
    Attribute.PRICE: 0.35,
    Attribute.CATEGORY: 0.75,
    Attribute.DESCRIPTION: 0.65,
}
USUAL_SHARE = 0.55
SURE = 0.83
LIKELY = 0.76
VERY_SURE = 0.9
MOST_OWN = 1.5
FEW = 2
MOST_OF = 0.75
NAMED = 6
ALSO_MEANT = 4
BRANDS_NAMED = 3
NAMES = frozenset({Attribute.BRAND, Attribute.CATEGORY})


def sound(
    tallies: Sequence[Tally], examples: Sequence[Example], elsewhere: Sequence[Example]
) -> list[Tally]:
    """The tallies of one attribute that are evidence of a rule; `elsewhere` are examples of other templates.

    A place that may say any value needs no list of those that are known, though it never is wrong with one.
    """
    kept = [one for one in tallies if _is_sound(one, examples, elsewhere)]
    open_ones = {(one.candidate.selector, one.candidate.trim) for one in kept}
    return [
        one
        for one in kept
        if (one.candidate.selector, _without_list(one.candidate.trim)) not in open_ones
    ]


def _without_list(trim: Trim) -> Trim | None:
    """The cut as it is when all values may follow, of one after which only listed ones do."""
    return trim.model_copy(update={"means": ()}) if trim.means and not trim.words else None


def _is_sound(one: Tally, examples: Sequence[Example], elsewhere: Sequence[Example]) -> bool:
    return _is_mostly_right(one, examples) and (
        _knows_something(one, examples, elsewhere) or _names_it(one)
    )


def _is_mostly_right(one: Tally, examples: Sequence[Example]) -> bool:
    attribute, found = one.candidate.attribute, one.hits + one.misses
    if attribute is Attribute.DESCRIPTION and last_step(one.candidate.selector.css).startswith(
        HEADINGS
    ):
        return False
    if one.hits <= LEAST_SHARE.get(attribute, USUAL_SHARE) * found:
        return False
    if attribute is Attribute.HAN and _is_the_shops_own(one, examples):
        return False
    if _is_of_several(one) and lower_bound(one.hits, found) < VERY_SURE:
        return False
    return (
        not one.candidate.is_guess
        or lower_bound(one.hits, found) >= SURE
        or _names_it(one)
        or _is_brands_menu(one)
    )


def _is_of_several(one: Tally) -> bool:
    """Whether it takes the first of several products' values out of a shop's state, in whatever order they stand."""
    return isinstance(one.candidate.selector, JsonAt) and one.crowd > MOST_OWN


def _is_brands_menu(one: Tally) -> bool:
    """Whether headings name brands of a menu, several of them, and never another one than the offer's.

    Menus of categories list much else that is sold, and headings may name that by chance.
    """
    is_of_brands = one.candidate.is_of_menu and one.candidate.attribute is Attribute.BRAND
    return is_of_brands and one.is_never_wrong and one.right_values >= BRANDS_NAMED


def _names_it(one: Tally) -> bool:
    """Whether a title names the value on so many examples, and never another that is known, that it is meant to.

    Most of the words may be those of one example only, which nothing has confirmed. A place that also has words of its
    own for some values is meant to say them, and fewer examples show it.
    """
    least = ALSO_MEANT if one.candidate.trim.means else NAMED
    return one.named >= least and one.hits > 0 and one.is_never_wrong


def _knows_something(one: Tally, examples: Sequence[Example], elsewhere: Sequence[Example]) -> bool:
    """Whether it tells values apart, where the known offers differ."""
    attribute = one.candidate.attribute
    known = _known(attribute, examples)
    if len(known) < FEW:
        return len(examples) <= FEW or is_named(one.candidate)
    right = {group for group, is_right in zip(one.keys, one.right, strict=True) if is_right}
    if right and is_telling(one):
        return True
    if len(right) >= FEW:
        return (
            attribute not in NAMES
            or is_named(one.candidate)
            or _is_likely(one, len(right), len(set(known)))
        )
    if len(set(known)) == 1:
        everywhere = [*known, *_known(attribute, elsewhere)]
        is_usual = everywhere.count(known[0]) >= MOST_OF * len(everywhere)
        if not (
            is_usual or is_named(one.candidate) or lower_bound(one.hits, one.hits) >= VERY_SURE
        ):
            return False
        return one.hits >= FEW and not (attribute is Attribute.CATEGORY and one.uncalled)
    named, apart = is_named(one.candidate), _tells_apart(one, known)
    return not one.misses and (
        (one.hits > FEW and (named or apart)) or (one.hits == FEW and named and apart)
    )


def _known(attribute: Attribute, examples: Sequence[Example]) -> list[str]:
    """What makes the known values equal; brands by their shorter spellings, as these alone tell none apart."""
    known = [
        key(attribute, example.known[attribute][0])
        for example in examples
        if example.known.get(attribute)
    ]
    return in_short(known) if attribute is Attribute.BRAND else known


def _is_likely(one: Tally, right: int, known: int) -> bool:
    """Whether a place that is not named for a brand or a category is one all the same, right on so many of the known.

    Menus and tags say names, too.
    """
    if not one.misses and one.hits > FEW and right >= min(FEW + 1, known):
        return True
    return lower_bound(one.hits, one.hits + one.misses) >= LIKELY


def _is_the_shops_own(one: Tally, examples: Sequence[Example]) -> bool:
    """Whether what it was right on is the shop's own key again, though several offers have none of the manufacturer's.

    A place is believed all the same that speaks of those offers only that have one, and of most of them.
    """
    hits = [example.known for example, right in zip(examples, one.right, strict=True) if right]
    known = sum(1 for example in examples if example.known.get(Attribute.HAN))
    if len(examples) - known < FEW or (not one.uncalled and one.hits >= MOST_OF * known):
        return False
    return all(values[Attribute.HAN] == values.get(Attribute.SKU) for values in hits)


def _tells_apart(one: Tally, known: Sequence[str]) -> bool:
    """Whether it finds one value on all or most of the examples, and is silent on several that have another.

    On one of these alone, if it misses none of its own.
    """
    value = next(group for group, is_right in zip(one.keys, one.right, strict=True) if is_right)
    if one.silent <= FEW:
        return one.silent > 0 and one.hits == known.count(value or "")
    return one.hits > len(known) / 2 or one.hits >= MOST_OF * known.count(value or "")


def is_telling(tally: Tally) -> bool:
    """Whether it says whole numbers where a place is named for them, and none that the catalog does not know."""
    candidate = tally.candidate
    is_whole = candidate.attribute in NUMBERS and candidate.trim == NO_CUT
    return is_whole and tally.is_never_wrong and is_named(candidate)
