"""Categories and availability: paths and phrases of many shops."""

import pytest

from catalog.values import availability, category


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("Garden > Tools > Saws", "Garden > Tools > Saws"),
        ("Garden&gt;Tools", "Garden > Tools"),
        ("Garden &amp;gt; Tools", "Garden > Tools"),
        ("Home » Garden » Tools", "Garden > Tools"),
        ("Startseite / Garten / Sägen", "Garten > Sägen"),
        ("Home | Men's/Women's | Shoes", "Men's/Women's > Shoes"),
        ("Hygiene | Masks", "Hygiene | Masks"),
        ("TPU / Gel Skins", "TPU / Gel Skins"),
        ("Garden / Tools / Saws", "Garden > Tools > Saws"),
        ("Garden > Saws / Files > Hand | Power", "Garden > Saws / Files > Hand | Power"),
        ("Garden › Tools", "Garden > Tools"),
        ("Home\n  Garden\n\n  Tools\n", "Garden > Tools"),
        ("Garden > Garden > Tools", "Garden > Tools"),
        ("Garden -> Tools", "Garden > Tools"),
        ("<a href='/g'>Garden</a> > <a>Tools</a>", "Garden > Tools"),
        ("Shoes", "Shoes"),
        ("Home", "Home"),
        ("Home > Shop > Shoes", "Shoes"),
        (" > Shoes > ", "Shoes"),
    ],
)
def test_paths(raw: str, path: str) -> None:
    """A path is read with every separator, without words for home."""
    assert category.normalise_category(raw) == path


def test_bars_and_slashes_as_separators() -> None:
    """A single bar or slash is left as the shop wrote it, and no difference to a path."""
    assert category.path_steps("TPU / Gel Skins > Clear | Matt") == [
        "TPU",
        "Gel Skins",
        "Clear",
        "Matt",
    ]
    assert (
        category.category_key("TPU / Gel Skins")
        == category.category_key("tpu > gel skins")
        == category.category_key("TPU | Gel Skins")
    )
    assert category.category_key("Men's/Women's") != category.category_key("Men's > Women's")


@pytest.mark.parametrize(
    "raw", ["", " > ", "n/a", "1604", " > ".join(map(str, range(30))), "x" * 600, "x" * 9000]
)
def test_no_paths(raw: str) -> None:
    """Nothing, a bare number or an absurd length is no category."""
    assert category.normalise_category(raw) is None


def test_lists_are_paths() -> None:
    """A list's texts are the steps, each possibly a path of its own."""
    assert category.join_path(["Home", "Garden > Tools", "Saws"]) == "Garden > Tools > Saws"
    assert category.join_path([]) is None


@pytest.mark.parametrize(
    ("raw", "meaning"),
    [
        ("https://schema.org/InStock", "in_stock"),
        ("http://schema.org/OutOfStock", "out_of_stock"),
        ("schema.org/PreOrder", "preorder"),
        ("https://schema.org/BackOrder", "preorder"),
        ("LimitedAvailability", "in_stock"),
        ("in stock", "in_stock"),
        ("in_stock", "in_stock"),
        ("true", "in_stock"),
        ("False", "out_of_stock"),
        ("0", "out_of_stock"),
        ("17", "in_stock"),
        ("Only 3 left!", "in_stock"),
        ("Currently unavailable", "out_of_stock"),
        ("Not in stock", "out_of_stock"),
        ("Sold out", "out_of_stock"),
        ("Sofort lieferbar, 1-3 Tage", "in_stock"),
        ("Derzeit nicht lieferbar", "out_of_stock"),
        ("Ausverkauft", "out_of_stock"),
        ("Vorbestellbar", "preorder"),
        ("Nur noch 2 Stück auf Lager", "in_stock"),
        ("En stock", "in_stock"),
        ("Rupture de stock", "out_of_stock"),
        ("Épuisé", "out_of_stock"),
        ("Précommande", "preorder"),
        ("Disponible", "in_stock"),
        ("No disponible", "out_of_stock"),
        ("Agotado", "out_of_stock"),
        ("Disponibile", "in_stock"),
        ("Non disponibile", "out_of_stock"),
        ("Esaurito", "out_of_stock"),
        ("Op voorraad", "in_stock"),
        ("Niet op voorraad", "out_of_stock"),
        ("Uitverkocht", "out_of_stock"),
        ("preorder", "preorder"),
        ("blue", None),
        ("", None),
        ("available " * 50, None),
        ("This product is no longer in stock", "out_of_stock"),
        ("There are not enough products in stock", "out_of_stock"),
        ("Ce produit n'est plus en stock", "out_of_stock"),
        ("Plus que 2 en stock", "in_stock"),
        ("Este producto ya no está disponible", "out_of_stock"),
        ("Non più disponibile", "out_of_stock"),
        ("Niet meer op voorraad", "out_of_stock"),
        ("Nicht sofort lieferbar", "out_of_stock"),
        ("Nicht nur online verfügbar", "in_stock"),
        ("Derzeit keine Artikel verfügbar", "out_of_stock"),
        ("0 in stock", "out_of_stock"),
        ("10 in stock", "in_stock"),
        ("Auf Lager: 0", "out_of_stock"),
        ("Only 0 left", "out_of_stock"),
        ("No minimum order, available now", "in_stock"),
        ("https://schema.org/InStock/", "in_stock"),
        ("schema:OutOfStock", "out_of_stock"),
    ],
)
def test_availability(raw: str, meaning: str | None) -> None:
    """Addresses, feed words, booleans, stock numbers and phrases of six languages say the same
    three things.
    """
    assert availability.normalise_availability(raw) == meaning
