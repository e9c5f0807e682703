"""Variant words: the words by which a catalog tells siblings apart, such as colours, sizes, scents.

Some differences can be read off the tokens: A12 is not A12s, 64 GB is not 128 GB, a set of two is
not a single item. Plain words are learnt from the catalog, in any language: a word that is the only
difference between the titles of two catalog offers is a variant word.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from matcher.array_types import Ints, Keys
from matcher.records.product_kinds import describe_kind_differences
from matcher.records.record import Record

# Words that fill one gap in a title; cap on memory.
MAX_SIBLINGS = 50
# Words of a title that are left out in turn; cap on time.
MAX_TITLE_WORDS = 16
# Catalog offers that are read; cap on time and memory for large catalogs.
MAX_READ = 50_000
# Words at the start of a title that siblings share.
_FAMILY_WORDS = 2
# Differing words per title that still make a variant, in explanations.
MAX_DIFFERENT_WORDS = 2
# Words that an explanation quotes.
MAX_QUOTED = 3


@dataclass(frozen=True)
class VariantWords:
    """The words that tell this catalog's siblings apart."""

    words: frozenset[str] = frozenset()

    def describe_difference(self, shop: Record, catalog: Record) -> str | None:
        """Describe why two offers are variants of one product; None if no difference is known."""
        kind_differences = describe_kind_differences(
            shop.words, shop.product_kind, catalog.words, catalog.product_kind
        )
        return (
            _quantity_difference(shop, catalog)
            or next(iter(kind_differences), None)
            or _model_number_difference(shop, catalog)
            or self._word_difference(shop, catalog)
        )

    def count_unshared(self, shop: Record, catalog: Record) -> int:
        """Count the variant words that only one of two titles has."""
        in_shop = self.words.intersection(shop.words)
        in_catalog = self.words.intersection(catalog.words)
        return len(in_shop - catalog.spellings) + len(in_catalog - shop.spellings)

    def _word_difference(self, shop: Record, catalog: Record) -> str | None:
        only_shop = [word for word in shop.words if word not in catalog.spellings]
        only_catalog = [word for word in catalog.words if word not in shop.spellings]
        if not only_shop and not only_catalog:
            return None
        if len(only_shop) > MAX_DIFFERENT_WORDS or len(only_catalog) > MAX_DIFFERENT_WORDS:
            return None
        if set(shop.words).isdisjoint(catalog.words):
            return None
        if not self.words.issuperset(only_shop + only_catalog):
            return None
        return f"variant: {_quote(only_shop)} in the shop, {_quote(only_catalog)} in the catalog"


def learn_variant_words(catalog: Sequence[Record]) -> VariantWords:
    """Learn the words by which the titles of two catalog offers differ, all other words equal.

    Two offers of one catalog product are one product in two wordings, not siblings. Of a large
    catalog, some families of titles are read.
    """
    # Title with a gap -> {word in the gap: product of the first offer with it}
    fillings: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for number, record in enumerate(_sample_families(catalog)):
        title = record.words[:MAX_TITLE_WORDS]
        # A title of one word differs from every other one of one word.
        if len(title) < 2:
            continue
        product = record.product or f"#{number}"
        for place, word in enumerate(title):
            filling = fillings[(*title[:place], "", *title[place + 1 :])]
            if len(filling) < MAX_SIBLINGS:
                filling.setdefault(word, product)
    variant_words: set[str] = set()
    for filling in fillings.values():
        if len(set(filling.values())) > 1:
            variant_words.update(filling)
    return VariantWords(frozenset(variant_words))


def _sample_families(catalog: Sequence[Record]) -> Sequence[Record]:
    """Return all offers; of a large catalog the families of the smallest keys."""
    if len(catalog) <= MAX_READ:
        return catalog
    keys = np.fromiter(map(family_key, catalog), np.uint64, len(catalog))
    return [catalog[row] for row in draw_families(keys).tolist()]


def family_key(record: Record) -> int:
    """Return a key of the titles that begin as this one does.

    Siblings mostly begin with the same words: a family holds siblings, a random draw would not.
    """
    start = " ".join(record.words[:_FAMILY_WORDS]).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(start, digest_size=8).digest(), "big")


def draw_families(keys: Keys) -> Ints:
    """Draw whole families up to MAX_READ offers by their keys; returns sorted rows."""
    return np.sort(np.argsort(keys, kind="stable")[:MAX_READ])


def _quantity_difference(shop: Record, catalog: Record) -> str | None:
    for unit, amounts in shop.quantities.items():
        catalog_amounts = catalog.quantities.get(unit)
        if catalog_amounts and not amounts & catalog_amounts:
            return (
                f"variant: {_format_amounts(amounts, unit)} in the shop, "
                f"{_format_amounts(catalog_amounts, unit)} in the catalog"
            )
    return None


def _model_number_difference(shop: Record, catalog: Record) -> str | None:
    only_shop = sorted(shop.model_numbers - catalog.spellings)
    only_catalog = sorted(catalog.model_numbers - shop.spellings)
    if only_shop and only_catalog:
        return f"variant: {_quote(only_shop)} in the shop, {_quote(only_catalog)} in the catalog"
    return None


def _format_amounts(amounts: frozenset[str], unit: str) -> str:
    return " and ".join(f"{amount} {unit}" for amount in sorted(amounts))


def _quote(tokens: Sequence[str]) -> str:
    return " ".join(f"'{token}'" for token in tokens[:MAX_QUOTED]) or "nothing"
