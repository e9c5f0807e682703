"""Statistics of a catalog of which only some offers are in memory.

Whether a word is rare, an identifier unique or a picture a logo depends on all offers. Where only
the candidates of a shop's offers are read, an index counts the others (`matcher.known_index`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from catalog.models import OfferFields
from matcher.array_types import Doubles, Ints, Keys


@dataclass(frozen=True)
class CatalogStatistics:
    """The statistics of a whole catalog that matching needs.

    `size` is the number of offers, `linked` that of offers with a link. `brands` counts them by
    brand, `brand_groups` gives brands that offers of one product, EAN or link have, by the key of
    the latter (`group_key`). `boilerplate` are runs of words, `variant_words` those that tell
    siblings apart. `image_count` returns the number of offers with an image; 0 for few.

    `gram_counts` and `word_counts` return for keys of n-grams and for words of descriptions how many
    offers have them, `token_counts` the same for the hashed columns of tokens in a matrix of some width;
    `min_token_count` is the least such count. `training_rounds` are the indices of the
    `training_offers` in each round that the classifier is trained on, `training_products` their
    products.
    """

    size: int
    linked: int
    brands: Mapping[str, int]
    brand_groups: Mapping[int, Sequence[str]]
    group_key: Callable[[str, str], int]
    boilerplate: frozenset[str]
    variant_words: frozenset[str]
    image_count: Callable[[str], int]
    gram_counts: Callable[[Keys], Ints]
    token_counts: Callable[[Ints, int], Ints]
    min_token_count: int
    word_counts: Callable[[Sequence[str]], Doubles]
    training_offers: Sequence[OfferFields]
    training_products: Sequence[str]
    training_rounds: Sequence[Sequence[int]]
