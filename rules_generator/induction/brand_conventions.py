"""Whether a shop's known offers keep titles and categories apart from the brand."""

from collections.abc import Iterable

from catalog.models import Attribute
from catalog.values import same
from parser.voting.brand_checks import without
from rules_generator.training.examples import Example

MANY = 6
SEVERAL = 2

Pairs = list[tuple[str, str]]


def have_bare_titles(examples: Iterable[Example]) -> bool:
    """Whether no known title begins with its brand, though many are known, and several brands."""
    pairs = _beside_brands(Attribute.TITLE, examples)
    return _tell_enough(pairs) and not any(without(title, brand) for title, brand in pairs)


def have_own_categories(examples: Iterable[Example]) -> bool:
    """Whether no known category is the offer's brand, though many are known, and several brands."""
    pairs = _beside_brands(Attribute.CATEGORY, examples)
    return _tell_enough(pairs) and not any(
        same(Attribute.CATEGORY, category, brand) for category, brand in pairs
    )


def _beside_brands(attribute: Attribute, examples: Iterable[Example]) -> Pairs:
    known = [
        one.known for one in examples if attribute in one.known and Attribute.BRAND in one.known
    ]
    return [(value, one[Attribute.BRAND][0]) for one in known for value in one[attribute]]


def _tell_enough(pairs: Pairs) -> bool:
    return len(pairs) >= MANY and len({brand for _, brand in pairs}) >= SEVERAL
