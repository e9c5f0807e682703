"""Values: the one entry for all kinds, and offers made of texts and back."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

import catalog.values
from catalog.models import Attribute, OfferFields
from catalog.values import Hint, is_same_value, make_offer, normalise, offer_values, value_key

RAW = {
    Attribute.TITLE: "Lamp &amp; Shade",
    Attribute.DESCRIPTION: "<p>Light.</p>",
    Attribute.PRICE: "ab 1.299,00 €",
    Attribute.BRAND: ["n/a", "Lumo"],
    Attribute.CATEGORY: ["Home", "Lamps"],
    Attribute.IMAGE: ["/a.jpg", "/placeholder.png", "/a.jpg", "/b.jpg"],
    Attribute.EAN: "4006381333931",
    Attribute.HAN: "L-1",
    Attribute.SKU: "n/a",
    Attribute.AVAILABILITY: "Auf Lager",
}
HINT = Hint(base_url="https://shop.example/p")


def test_public_names() -> None:
    """The names that other packages import exist."""
    names = {
        "Hint",
        "normalise",
        "value_key",
        "is_same_value",
        "find_currency",
        "find_decimal_separator",
        "make_offer",
        "offer_values",
    }
    assert names <= set(dir(catalog.values))


def test_an_offer_of_raw_texts() -> None:
    """Of raw texts the first valid one counts, all images do, and a list of categories is a
    path.
    """
    assert make_offer(RAW, HINT, url="https://shop.example/p") == OfferFields(
        url="https://shop.example/p",
        title="Lamp & Shade",
        description="Light.",
        price=Decimal("1299.00"),
        currency="EUR",
        brand="Lumo",
        category="Lamps",
        images=["https://shop.example/a.jpg", "https://shop.example/b.jpg"],
        ean="4006381333931",
        han="L-1",
        sku=None,
        availability="in_stock",
    )


def test_texts_of_an_offer_make_it_again() -> None:
    """An offer's canonical texts are canonical: the same offer comes of them."""
    offer = make_offer(RAW, HINT)
    texts = offer_values(offer)
    assert texts[Attribute.PRICE] == ["1299.00"]
    assert Attribute.SKU not in texts
    assert make_offer(texts) == offer


def test_currency_of_an_offer() -> None:
    """The currency given goes before that of the price text, that before the hint's; without a
    price there is none.
    """
    assert make_offer({Attribute.PRICE: "12 €"}, currency="CHF").currency == "CHF"
    assert make_offer({Attribute.PRICE: "12 €"}, Hint(currency="CHF")).currency == "EUR"
    assert make_offer({Attribute.PRICE: "$12"}, Hint(currency="CAD")).currency == "CAD"
    assert make_offer({Attribute.PRICE: "12"}, Hint(currency="CHF")).currency == "CHF"
    assert make_offer({Attribute.PRICE: "12", Attribute.CURRENCY: "chf"}).currency == "CHF"
    assert make_offer({Attribute.PRICE: "12"}, currency="no code").currency is None
    assert make_offer({Attribute.PRICE: "soon"}, currency="CHF").currency is None


def test_same_by_kind() -> None:
    """Each kind compares what matters in it."""
    assert is_same_value(Attribute.EAN, "036000291452", "0036000291452")
    assert is_same_value(
        Attribute.IMAGE, "https://a.example/x_300x.jpg?v=1", "https://b.example/files/X.jpg"
    )
    assert is_same_value(Attribute.BRAND, "LUMO", "Lumo")
    assert not is_same_value(Attribute.PRICE, "12.00", "12.01")


@given(st.sampled_from(Attribute), st.text(max_size=120))
def test_canonical_stays(attribute: Attribute, raw: str) -> None:
    """Normalising is idempotent for every attribute and text, and a normalised text has a key."""
    result = normalise(attribute, raw, HINT)
    if result is not None:
        assert normalise(attribute, result, HINT) == result
        assert value_key(attribute, result)
        assert is_same_value(attribute, result, result)


PIECES = {
    Attribute.TITLE: [
        "&amp;",
        "&lt;",
        "amp;",
        "#38;",
        "<b>",
        "</b>",
        "<",
        ">",
        "\u200b",
        "\ufe0f",
        "™",
        "½",
        "ﬁ",
        "\u0301",
        "e",
    ],
    Attribute.DESCRIPTION: [
        "<p>",
        "</p>",
        "<",
        ">",
        "&lt;",
        "&gt;",
        "br/",
        "<script>",
        "<!--",
        "-->",
        "n/a",
        "&amp;",
        "p",
    ],
    Attribute.PRICE: [
        "$",
        "€",
        "12",
        ".",
        ",",
        "50",
        " kr",
        "k",
        " 1,250",
        "'",
        "-",
        "⁹",
        "½",
        "٫",
        "%",
        "99999999",
    ],
    Attribute.CURRENCY: [
        "$",
        "CAD",
        "kr",
        "€",
        " ",
        "(",
        ")",
        "12",
        "all",
        "TOP",
        "MOP$",
        "t$",
        "fr",
        "Rs.",
        "元",
        "ден",
    ],
    Attribute.BRAND: [
        " > ",
        "n/a",
        "-",
        "<i>",
        "&gt;",
        "4006381333931",
        "Lumo",
        "&amp;gt;",
        "\x00",
        "\ufffd",
    ],
    Attribute.CATEGORY: [
        "Home",
        " > ",
        " | ",
        " / ",
        "»",
        "::",
        "&gt;",
        "<a>",
        "\n",
        "->",
        ">",
        "A",
        "n/a",
        "1",
        "<",
    ],
    Attribute.IMAGE: [
        "//a.example",
        "/b.jpg",
        " 2x",
        ", ",
        "url(",
        ")",
        "&amp;",
        "%2F",
        "_800x",
        "_{width}x",
        "?",
        "https:",
        " ",
        "é",
    ],
    Attribute.EAN: ["4006381333931", "0306406152", "X", "-", " ", "96385074", "0", "\u202f"],
    Attribute.HAN: ["-", "A1", "&#45;", "n/a", " ", "\n", "&amp;", "<", "\u200b", "é", "ﬁ"],
    Attribute.SKU: ["-", "–", "A1", "&#45;", "n/a", " ", "\n", "&amp;", "--"],
    Attribute.AVAILABILITY: [
        "in stock",
        "not ",
        "notify me when ",
        "0",
        "12",
        "schema:",
        "preorder",
        ". ",
        "true",
        "_",
    ],
}


@given(st.sampled_from(Attribute), st.data())
def test_canonical_stays_of_typical_pieces(attribute: Attribute, data: st.DataObject) -> None:
    """Normalising is idempotent on texts made of the parts that matter to the attribute."""
    pieces = st.one_of(st.sampled_from(PIECES[attribute]), st.text(max_size=2))
    raw = data.draw(st.lists(pieces, max_size=12).map("".join))
    result = normalise(attribute, raw, HINT)
    if result is not None:
        assert normalise(attribute, result, HINT) == result
