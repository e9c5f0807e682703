"""Names of brands: which stand for one brand is learnt from offers that are known to be one product."""

from matcher.records.brand_aliases import brand_names, with_one_name
from matcher.records.record import Record


def named(*brands: str, product: str) -> list[Record]:
    return [Record(title="lamp", brand=brand, product=product) for brand in brands]


def test_two_names_of_one_brand() -> None:
    """Names that meet in two products are one brand, called by its most frequent name."""
    known = [
        *named("lumo", "licht und mehr", product="1"),
        *named("licht und mehr", "lumo", "lumo", product="2"),
    ]
    assert brand_names([], known) == {"licht und mehr": "lumo"}
    assert {one.brand for one in with_one_name(known, brand_names([], known))} == {"lumo"}


def test_one_meeting_is_chance_unless_one_name_is_short_for_the_other() -> None:
    """A single product may be filed under a wrong brand; initials are believed at once."""
    assert not brand_names([], named("lumo", "ferro", product="1"))
    assert brand_names([], named("lum", "licht und mehr", product="1")).keys() == {"licht und mehr"}


def test_brands_that_mostly_keep_apart_stay_apart() -> None:
    """Two errors among many products make no synonym, and a product under many brands teaches none."""
    apart = [
        record
        for n in range(8)
        for record in (
            *named("lumo", f"x{n}", product=f"a{n}"),
            *named("ferro", f"y{n}", product=f"b{n}"),
        )
    ]
    wrong = [*named("lumo", "ferro", product="1"), *named("lumo", "ferro", product="2")]
    assert not brand_names([], [*apart, *wrong])
    assert not brand_names(
        [], [*named(*"abcdefghi", product="1"), *named(*"abcdefghi", product="2")]
    )


def test_names_of_shop_and_catalog_meet_by_gtin_and_link() -> None:
    """Pages and feed offers of one GTIN or one link tell how the shop calls a brand."""
    shop = [Record(brand="hp", ean=f"{n}", title="ink") for n in range(2)]
    known = [Record(brand="hewlett-packard", ean=f"{n}", title="ink") for n in range(2)]
    assert len({one.brand for one in with_one_name([*shop, *known], brand_names(shop, known))}) == 1
