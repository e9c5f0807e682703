"""Variants: which words tell siblings apart is learnt from the catalog itself."""

from catalog.models import OfferFields
from matcher.record import Record, records
from matcher.variants import learn_variants


def titled(*titles: str) -> list[Record]:
    return records(OfferFields(title=title) for title in titles)


def test_learns_the_words_that_tell_siblings_apart() -> None:
    """A word in the place of another, all else equal, tells siblings apart, in whatever language."""
    variants = learn_variants(titled("Kerze Zimt groß", "Kerze Vanille groß", "Stuhl aus Holz"))
    assert variants.words == {"zimt", "vanille"}
    shop, known = titled("Kerze Zimt klein", "Kerze Vanille klein")
    assert variants.difference(shop, known) == "variant: 'zimt' in the shop, 'vanille' in the catalog"
    assert variants.apart(shop, known) == 2


def test_two_wordings_of_one_product_are_no_siblings() -> None:
    """Known offers of one catalog product teach no distinction."""
    one, other = (Record(title=title, product="7") for title in ("red lamp big", "red lamp large"))
    assert not learn_variants([one, other]).words


def test_says_nothing_where_nothing_differs() -> None:
    """Equal titles, and titles without a word in common, are no variants."""
    variants = learn_variants(titled("lamp red", "lamp blue"))
    lamp, red, chair = titled("lamp", "red lamp", "garden chair")
    assert variants.difference(red, red) is None
    assert variants.difference(lamp, chair) is None
