"""Columns: which column of a feed is which field."""

import pytest

from catalog.errors import MissingFields, UsageError
from catalog.feeds import columns


@pytest.mark.parametrize(
    ("names", "result"),
    [
        (
            ["id", "title", "link", "price"],
            {"id": ["id"], "title": ["title"], "link": ["link"], "price": ["price"]},
        ),
        (
            ["g:ID", "g:Title", "g:sale price"],
            {"id": ["g:ID"], "title": ["g:Title"], "sale_price": ["g:sale price"]},
        ),
        (
            ["Artikelnummer", "Bezeichnung", "Preis", "Währung", "Hersteller", "Verfügbarkeit"],
            {
                "title": ["Bezeichnung"],
                "price": ["Preis"],
                "currency": ["Währung"],
                "brand": ["Hersteller"],
                "sku": ["Artikelnummer"],
                "availability": ["Verfügbarkeit"],
            },
        ),
        (
            ["Référence", "Nom", "Catégorie"],
            {"title": ["Nom"], "sku": ["Référence"], "category": ["Catégorie"]},
        ),
        (["aw_deep_link", "merchant_deep_link"], {"link": ["merchant_deep_link", "aw_deep_link"]}),
        (
            ["title", "google_product_category", "product_type"],
            {"title": ["title"], "category": ["product_type", "google_product_category"]},
        ),
        (
            ["Titel", "Preis (EUR)", "Angebotspreis [€]", "Preis (netto)", "Marke (EUR)"],
            {"title": ["Titel"], "price": ["Preis (EUR)"], "sale_price": ["Angebotspreis [€]"]},
        ),
        (["product", "url"], {"link": ["url"], "title": ["product"]}),
        (["product", "title"], {"title": ["title"], "product": ["product"]}),
        (["title", "item_group_id"], {"title": ["title"]}),
        (
            ["name", "price.value", "price.currency"],
            {"title": ["name"], "price": ["price.value"], "currency": ["price.currency"]},
        ),
    ],
)
def test_usual_names(names: list[str], result: dict[str, list[str]]) -> None:
    """The usual names of several languages and networks are known, the better ones first."""
    assert columns.resolve_columns(names, {}, "feed.csv") == result


def test_no_name_serves_two_fields() -> None:
    """A name stands in the table of one field only."""
    names = [name for names in columns.COLUMN_NAMES.values() for name in names.split()]
    assert len(names) == len(set(names))
    assert all(columns.normalise_name(name) == name for name in names)


def test_mapping_goes_before_names() -> None:
    """The user's word replaces the usual names of a field; the column is then taken for nothing
    else.
    """
    result = columns.resolve_columns(
        ["price", "Street Price", "title"], {"price": "street price"}, "feed.csv"
    )
    assert result["price"] == ["Street Price"]
    assert columns.resolve_columns(["title", "name"], {"brand": "title"}, "f") == {
        "title": ["name"],
        "brand": ["title"],
    }


def test_missing_fields_say_what_is_there() -> None:
    """Without title and link the error names the columns seen and the way to name the right one."""
    with pytest.raises(
        MissingFields,
        match=r"feed.csv has no title and no link.*it has foo, bar; .*--map title=COLUMN",
    ):
        columns.resolve_columns(["foo", "bar"], {}, "feed.csv")


def test_mapped_column_that_is_not_there() -> None:
    """A mapping to a column that the feed lacks is an error, not an empty field."""
    with pytest.raises(
        MissingFields, match=r"--map price=cost: feed.csv has no column 'cost'; it has title"
    ):
        columns.resolve_columns(["title"], {"price": "cost"}, "feed.csv")


def test_mapped_field_that_there_is_none_of() -> None:
    """A mapping of an unknown field is a wrong use of the command."""
    with pytest.raises(UsageError, match="there is no field 'colour'; there are id, link, title"):
        columns.resolve_columns(["title"], {"colour": "title"}, "feed.csv")
