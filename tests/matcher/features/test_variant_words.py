"""Variant words: learnt from the catalog, they tell siblings apart."""

from decimal import Decimal

import pytest

from catalog.models import OfferFields, Verdict
from matcher.features.variant_words import VariantWords, learn_variant_words
from matcher.match import match_offers
from matcher.records.record import Record, build_records


def titled(*titles: str) -> list[Record]:
    return build_records(OfferFields(title=title) for title in titles)


def test_learns_the_words_that_tell_siblings_apart() -> None:
    """A word in the place of another, all else equal, is a variant word, in any language."""
    variant_words = learn_variant_words(
        titled("Kerze Zimt groß", "Kerze Vanille groß", "Stuhl aus Holz")
    )
    assert variant_words.words == {"zimt", "vanille"}
    shop, catalog = titled("Kerze Zimt klein", "Kerze Vanille klein")
    assert (
        variant_words.describe_difference(shop, catalog)
        == "variant: 'zimt' in the shop, 'vanille' in the catalog"
    )
    assert variant_words.count_unshared(shop, catalog) == 2


def test_two_wordings_of_one_product_are_no_siblings() -> None:
    """Two offers of one catalog product give no variant words."""
    wordings = [Record(title=title, product="7") for title in ("red lamp big", "red lamp large")]
    assert not learn_variant_words(wordings).words


def test_no_difference_is_no_variant() -> None:
    """Equal titles, and titles without a word in common, are no variants."""
    variant_words = learn_variant_words(titled("lamp red", "lamp blue"))
    lamp, red, chair = titled("lamp", "red lamp", "garden chair")
    assert variant_words.describe_difference(red, red) is None
    assert variant_words.describe_difference(lamp, chair) is None


ALIKE_BUT_DIFFERENT = [
    ("Lumo Lamp A12s", "Lumo Lamp A12", "'a12s' in the shop, 'a12' in the catalog"),
    ("Fono 6", "Fono 7", "'6' in the shop, '7' in the catalog"),
    ("Fono X 64 GB", "Fono X 128 GB", "64 gb in the shop, 128 gb in the catalog"),
    ("Fono X 2 TB", "Fono X 512 GB", "2000 gb in the shop, 512 gb in the catalog"),
    ("Kettle 1,5 l", "Kettle 1.7 l", "1500 ml in the shop, 1700 ml in the catalog"),
    ("Coffee 500 g", "Coffee 1 kg", "500 g in the shop, 1000 g in the catalog"),
    ('Screen 43"', 'Screen 55"', "43 inch in the shop, 55 inch in the catalog"),
    ("Cable 1 m", "Cable 2 m", "1000 mm in the shop, 2000 mm in the catalog"),
    ("Tea cups set of 2", "Tea cups", "2 pcs in the shop, one in the catalog"),
    ("2 x Cups", "Cups", "2 pcs in the shop, one in the catalog"),
    ("Ink black", "Ink black 2-pack", "one in the shop, 2 pcs in the catalog"),
    ("Cups 6 pcs", "Cups 12 pcs", "6 pcs in the shop, 12 pcs in the catalog"),
    ("Case for Fono X", "Fono X", "accessory in the shop, main product in the catalog"),
    ("Fono X", "Hülle für Fono X", "main product in the shop, accessory in the catalog"),
    (
        "Battery for Drill B2",
        "Drill B2",
        "accessory in the shop, main product in the catalog",
    ),
    (
        "History of Glass, volume 1",
        "History of Glass, volume 2",
        "'1' in the shop, '2' in the catalog",
    ),
    ("History of Glass Band 1", "History of Glass Band 2", "'1' in the shop, '2' in the catalog"),
    ("History of Glass I", "History of Glass II", "part 'i' in the shop, part 'ii' in the catalog"),
    ("Guide, 2nd edition", "Guide, 3rd edition", "'2nd' in the shop, '3rd' in the catalog"),
    ("Shirt red XL", "Shirt red L", "size 'xl' in the shop, size 'l' in the catalog"),
]


@pytest.mark.parametrize(("shop", "catalog", "difference"), ALIKE_BUT_DIFFERENT)
def test_alike_but_different(shop: str, catalog: str, difference: str) -> None:
    """Similar titles of different products are not listed, and the reason names the difference."""
    shop_offer = OfferFields(title=shop, price=Decimal(20))
    catalog_offer = OfferFields(title=catalog, price=Decimal(25))
    result = match_offers([shop_offer], [catalog_offer])[0]
    assert result.verdict is Verdict.MISSING
    assert f"variant: {difference}" in result.reasons


@pytest.mark.parametrize(
    ("shop", "catalog"),
    [
        ("Cups, set of 2", "Cups 2 pieces"),
        ("Case for Fono X", "Fono X case for Fono X"),
        ("Men's shirt red", "Men shirt red"),
        ("Shirt, size L", "Shirt L"),
        ("Tea for two", "Tea for two"),
        ("Oil 1,5 l", "Oil 1500 ml"),
    ],
)
def test_the_same_in_other_words_is_no_variant(shop: str, catalog: str) -> None:
    """Another spelling of a size, a pack or a purpose makes no variant."""
    assert VariantWords().describe_difference(*titled(shop, catalog)) is None
