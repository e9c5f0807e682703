"""Brand aliases: learnt from offers of one product, GTIN or link."""

from matcher.records.brand_aliases import apply_brand_aliases, learn_brand_aliases
from matcher.records.record import Record


def branded(*brands: str, product: str) -> list[Record]:
    return [Record(title="lamp", brand=brand, product=product) for brand in brands]


def test_two_names_of_one_brand() -> None:
    """Names that meet in two products are one brand, called by its most frequent name."""
    catalog = [
        *branded("lumo", "licht und mehr", product="1"),
        *branded("licht und mehr", "lumo", "lumo", product="2"),
    ]
    assert learn_brand_aliases([], catalog) == {"licht und mehr": "lumo"}
    assert {
        record.brand for record in apply_brand_aliases(catalog, learn_brand_aliases([], catalog))
    } == {"lumo"}


def test_one_meeting_is_chance_unless_one_name_is_short_for_the_other() -> None:
    """A single product may be filed under a wrong brand; initials are believed at once."""
    assert not learn_brand_aliases([], branded("lumo", "ferro", product="1"))
    assert learn_brand_aliases([], branded("lum", "licht und mehr", product="1")).keys() == {
        "licht und mehr"
    }


def test_brands_that_mostly_keep_apart_stay_apart() -> None:
    """Two errors among many products make no alias, nor does a product of many brands."""
    apart = [
        record
        for n in range(8)
        for record in (
            *branded("lumo", f"x{n}", product=f"a{n}"),
            *branded("ferro", f"y{n}", product=f"b{n}"),
        )
    ]
    wrong = [*branded("lumo", "ferro", product="1"), *branded("lumo", "ferro", product="2")]
    assert not learn_brand_aliases([], [*apart, *wrong])
    assert not learn_brand_aliases(
        [], [*branded(*"abcdefghi", product="1"), *branded(*"abcdefghi", product="2")]
    )


def test_names_of_shop_and_catalog_meet_by_gtin_and_link() -> None:
    """Pages and catalog offers of one GTIN or one link show the shop's name of a brand."""
    shop = [Record(brand="hp", ean=f"{n}", title="ink") for n in range(2)]
    catalog = [Record(brand="hewlett-packard", ean=f"{n}", title="ink") for n in range(2)]
    assert (
        len(
            {
                record.brand
                for record in apply_brand_aliases(
                    [*shop, *catalog], learn_brand_aliases(shop, catalog)
                )
            }
        )
        == 1
    )
