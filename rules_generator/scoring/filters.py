"""Filter the candidates that are evidence of a rule at all, independent of the others.

A score relative to the best means nothing if all are bad: in a shop that does not show its brand,
some link of a menu agrees with one known offer in ten, and is the best there is. So a rule has to
be right more often than wrong. If the known values differ, it has to read at least two of them: a
text that is the same on every page is right wherever the commonest value is. A rule that is never
wrong, and whose selector names the attribute, is kept all the same. Titles and prices may be stale
in many known offers at once, so less is asked of them.
"""

from collections.abc import Sequence

from catalog.models import IDENTIFIERS, Attribute
from catalog.values import value_key
from rules_generator.candidates.naming import names_attribute
from rules_generator.candidates.trimming import NO_TRIM
from rules_generator.scoring.tally import Tally, wilson_lower_bound
from rules_generator.training.examples import Example, first_known_values

# Examples that prove little.
FEW = 2
# Share of the known values that one constant has to have.
CONSTANT_SHARE = 0.75
# Attributes that menus and tags name as well.
NAME_ATTRIBUTES = frozenset({Attribute.BRAND, Attribute.CATEGORY})


def keep_sound(
    tallies: Sequence[Tally], examples: Sequence[Example], elsewhere: Sequence[Example]
) -> list[Tally]:
    """Keep the tallies of one attribute that are evidence; `elsewhere` are examples of other
    templates.
    """
    return [tally for tally in tallies if _is_sound(tally, examples, elsewhere)]


def _is_sound(tally: Tally, examples: Sequence[Example], elsewhere: Sequence[Example]) -> bool:
    return _is_mostly_right(tally) and _is_informative(tally, examples, elsewhere)


def _is_mostly_right(tally: Tally) -> bool:
    candidate, config = tally.candidate, tally.config
    attribute = candidate.attribute
    min_share = config.min_shares.get(attribute, config.min_share)
    if tally.correct <= min_share * (tally.correct + tally.wrong):
        return False
    # An unnamed place with values where the catalog knows none holds something else.
    if tally.unexpected > tally.correct and not names_attribute(candidate):
        return False
    return not candidate.is_guess or tally.bound >= config.guess_bound


def _is_informative(
    tally: Tally, examples: Sequence[Example], elsewhere: Sequence[Example]
) -> bool:
    """Return True if it tells values apart, or if the known offers all have the same."""
    candidate = tally.candidate
    attribute = candidate.attribute
    known_keys = _known_keys(attribute, examples)
    if len(known_keys) < FEW:
        return len(examples) <= FEW or names_attribute(candidate)
    right_keys = tally.right_keys
    if right_keys and _identifies(tally):
        return True
    if len(right_keys) >= FEW:
        is_clear = attribute not in NAME_ATTRIBUTES or names_attribute(candidate)
        return is_clear or _is_likely(tally, len(right_keys), len(set(known_keys)))
    if len(set(known_keys)) == 1:
        return _reads_the_only_value(tally, known_keys, _known_keys(attribute, elsewhere))
    return _reads_one_of_several(tally, known_keys)


def _reads_the_only_value(
    tally: Tally, known_keys: Sequence[str], elsewhere: Sequence[str]
) -> bool:
    """Return True if the one value of all examples is that of the whole shop, or no chance.

    It is usual in other templates too, or the selector names the attribute, or there are many
    examples.
    """
    all_known = [*known_keys, *elsewhere]
    is_usual = all_known.count(known_keys[0]) >= CONSTANT_SHARE * len(all_known)
    bound = wilson_lower_bound(tally.correct, tally.correct)
    is_certain = bound >= tally.config.constant_bound
    if not (is_usual or names_attribute(tally.candidate) or is_certain):
        return False
    if tally.candidate.attribute is Attribute.CATEGORY and tally.unexpected:
        return False
    return tally.correct >= FEW


def _reads_one_of_several(tally: Tally, known_keys: Sequence[str]) -> bool:
    """Return True if it reads one of several known values, and not by chance: two prove little."""
    if tally.wrong:
        return False
    is_named, tells_apart = names_attribute(tally.candidate), _tells_apart(tally, known_keys)
    if tally.correct > FEW:
        return is_named or tells_apart
    return tally.correct == FEW and is_named and tells_apart


def _known_keys(attribute: Attribute, examples: Sequence[Example]) -> list[str]:
    """Return the key of each example's known value."""
    return [value_key(attribute, value) for value in first_known_values(examples, attribute)]


def _is_likely(tally: Tally, right_values: int, known_values: int) -> bool:
    """Return True if an unnamed place holds brands or categories; menus show them too."""
    if not tally.wrong and tally.correct > FEW and right_values >= min(FEW + 1, known_values):
        return True
    return tally.bound >= tally.config.unnamed_bound


def _tells_apart(tally: Tally, known_keys: Sequence[str]) -> bool:
    """Return True if it finds one value on most of its examples, and abstains on several that have
    another.

    If it abstains on one or two only, it has to find all of its own.
    """
    value = next(iter(tally.right_keys))
    expected = known_keys.count(value or "")
    if tally.abstained <= FEW:
        return tally.abstained > 0 and tally.correct == expected
    return tally.correct > len(known_keys) / 2 or tally.correct >= CONSTANT_SHARE * expected


def _identifies(tally: Tally) -> bool:
    """Return True if it reads complete identifiers at a place named for them, and no unknown ones.

    One right value suffices then. Without it, 2 SKUs of one shop without scripts are lost.
    """
    candidate = tally.candidate
    if candidate.attribute not in IDENTIFIERS or candidate.trim != NO_TRIM:
        return False
    return not tally.wrong and not tally.unexpected and names_attribute(candidate)
