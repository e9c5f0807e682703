"""Prices: amounts and currencies out of what shops, feeds and scripts write."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from catalog.values import make_offer
from catalog.values.prices import price

DEVELOPMENT = [
    ("1.299", "1299.00"),
    ("1.299,00 €", "1299.00"),
    ("1,299.00", "1299.00"),
    ("1 299,00", "1299.00"),
    ("1\u202f299,00\u00a0€", "1299.00"),
    ("1'299.-", "1299.00"),
    ("1’299.–", "1299.00"),
    ("₹ 1,29,900", "129900.00"),
    ("1.299.000 ₫", "1299000.00"),
    ("1,299,00", "1299.00"),
    ("12€99", "12.99"),
    ("€ 19,⁹⁹", "19.99"),
    ("1299,-", "1299.00"),
    ("12.-- €", "12.00"),
    ("$.99", "0.99"),
    ("0.299", "0.30"),
    ("ab 9,90 €*", "9.90"),
    ("from 12 to 15", "12.00"),
    ("12 – 15 €", "12.00"),
    ("fra 1.740,-", "1740.00"),
    ("od 12,99", "12.99"),
    ("8,00 - 54,00 €", "8.00"),
    ("UK 8 - $54.00 USD", "54.00"),
    ("40 - 54,90 €", "54.90"),
    ("$129.00 $99.00", "129.00"),
    ("2 x 12,99 €", "12.99"),
    ("Pack of 2 12.99 €", "12.99"),
    ("2 for $5", "5.00"),
    ("Preis: 12,99 inkl. 19% MwSt.", "12.99"),
    ("&euro;&nbsp;12,50", "12.50"),
    ("12,99€/Stück", "12.99"),
    ("0,00 €", "0.00"),
    ("₹1,299.00", "1299.00"),
    ("EUR12.00", "12.00"),
    ("CAD$12.00", "12.00"),
    ("١٬٢٩٩٫٠٠ ر.س", "1299.00"),
]
IN_ELEMENTS = [
    ("1 299€95", "1299.95"),
    ("1.299€00", "1299.00"),
    ("12 ,99 €", "12.99"),
    ("12, 99 €", "12.99"),
    ("1 299 ,00 €", "1299.00"),
    ("$12 .99", "12.99"),
    ("$12 99", "12.99"),
    ("ab493,95 €", "493.95"),
    ("Prix normal129,00 €", "129.00"),
    ("Nu1.299 kr", "1299.00"),
    ("8$54.00", "54.00"),
]
IN_WORDS = [
    ("Dhs. 1,299.00", "1299.00"),
    ("From Dhs. 120", "120.00"),
    ("Dhs. 120 - Dhs. 150", "120.00"),
    ("120.00 dh", "120.00"),
    ("R 1,299.00", "1299.00"),
    ("R129.90", "129.90"),
    ("S/. 49.90", "49.90"),
    ("Bs. 12", "12.00"),
    ("12.50 KD", "12.50"),
    ("KSh 1,200", "1200.00"),
    ("450 грн.", "450.00"),
    ("Q129.00", "129.00"),
    ("Php 1,299.00", "1299.00"),
    ("15 000 FCFA", "15000.00"),
    ("129,00 kn", "129.00"),
]
MACHINE = [
    ("1299.00", "1299.00"),
    ("1299", "1299.00"),
    ("12.5", "12.50"),
    ("0.99", "0.99"),
    ("19.989999", "19.99"),
    ("1299.0000", "1299.00"),
]
NO_PRICES = [
    "",
    "0.833,01€",
    "$12,345,678,901.00",
    "iPhone 12",
    "ABIPX493,95 €",
    "12 99",
    "5 10",
    "12 mm",
    "R 12",
    "L 120 B 80",
    "SR 12 amplifier",
    "Model R12.5",
    "20 ден",
    "20%",
    "-12.00 €",
    "2021-05-03",
    "10:30",
    "12 ALL",
    "1.2.3",
    "4006381333931",
    "99999999999999999999",
    "https://shop.example/12",
    "12 " * 100 + "€",
    "1" * 5000,
    "free",
]


@pytest.mark.parametrize(("raw", "amount"), DEVELOPMENT + IN_ELEMENTS + IN_WORDS + MACHINE)
def test_amounts(raw: str, amount: str) -> None:
    """An amount is read whatever separates its digits and whatever price words stand around it."""
    assert price.normalise_price(raw) == amount


@pytest.mark.parametrize("raw", NO_PRICES)
def test_no_prices(raw: str) -> None:
    """A number that is no price is none: no currency beside it and other words around it, or an
    absurd size.
    """
    assert price.normalise_price(raw) is None


@pytest.mark.parametrize(
    ("raw", "decimal", "amount"),
    [
        ("1.299", ".", "1.30"),
        ("1.299", ",", "1299.00"),
        ("1,299", ",", "1.30"),
        ("1,299", ".", "1299.00"),
        ("1299.00", ",", "1299.00"),
        ("12.5", ",", "12.50"),
        ("1.299.000", ".", "1299000.00"),
        ("1.299,00", ".", "1299.00"),
    ],
)
def test_hint_settles_ambiguity(raw: str, decimal: str, amount: str) -> None:
    """The shop's separator decides about `1.299`, and only about such: what is plain stays so."""
    assert price.normalise_price(raw, decimal) == amount


@pytest.mark.parametrize(
    ("raw", "currency", "amount"),
    [
        ("109.900 KD", None, "109.90"),
        ("KWD 9.500", None, "9.50"),
        ("9.500 د.ك", None, "9.50"),
        ("ر.ع. 12.250", None, "12.25"),
        ("12,500 DT", None, "12.50"),
        ("1,250 KD", None, "1250.00"),
        ("1,250.500 KWD", None, "1250.50"),
        ("9.500", "KWD", "9.50"),
        ("9.500", "EUR", "9500.00"),
        ("9.500", None, "9500.00"),
    ],
)
def test_some_currencies_have_three_decimals(raw: str, currency: str | None, amount: str) -> None:
    """Where such a currency is named beside the amount, or known of the offer, `9.500` is no
    thousand.
    """
    offer = make_offer({Attribute.PRICE: raw}, currency=currency)
    assert str(offer.price) == amount


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("1.299,00 €", "EUR"),
        ("12€99", "EUR"),
        ("US $12", "USD"),
        ("$1,299.00 USD", "USD"),
        ("CA$12", "CAD"),
        ("CAD$12", "CAD"),
        ("C$ 12", "CAD"),
        ("Rs. 1,299", "INR"),
        ("R$ 12,90", "BRL"),
        ("R 12.90", "ZAR"),
        ("Dhs. 12", "AED"),
        ("S/ 12.90", "PEN"),
        ("Bs. 12", None),
        ("12,90 zł", "PLN"),
        ("12 Kč", "CZK"),
        ("chf", "CHF"),
        ("GEL", "GEL"),
        ("12.00 eur", "EUR"),
        ("12.50 kr", None),
        ("hair gel 100 ml", None),
        ("12", None),
        ("CADILL", None),
    ],
)
def test_currencies(raw: str, code: str | None) -> None:
    """A sign or a code beside the number names the currency; a sign of several countries names none
    alone.
    """
    assert price.find_currency(raw) == code


@pytest.mark.parametrize(
    ("raw", "hint", "code"),
    [
        ("$12", "CAD", "CAD"),
        ("$12", "EUR", "USD"),
        ("12 kr", "SEK", "SEK"),
        ("12", "EUR", "EUR"),
        ("€ 12", "CAD", "EUR"),
    ],
)
def test_shared_signs_follow_the_hint(raw: str, hint: str, code: str) -> None:
    """A dollar of a Canadian shop is a Canadian one; a sign that is not the hint's own overrides
    it.
    """
    assert price.first_currency([raw], hint) == code


def test_decimal_of_a_shop() -> None:
    """The separator of a shop is the one that most of its plain prices use."""
    assert price.find_decimal_separator(["12,50", "1.299", "9,99 €", "1.5"]) == ","
    assert price.find_decimal_separator(["12.50", "1.299,00", "9.99"]) == "."
    assert price.find_decimal_separator(["1.299", "12"]) is None


@given(
    st.decimals(min_value=0, max_value=9_999_999, places=2),
    st.sampled_from([",.", ".,", " ,", "'.", "’,", "\u202f,"]),
)
def test_every_way_of_grouping_gives_the_amount(amount: Decimal, separators: str) -> None:
    """Amounts are read with the separators of every locale."""
    thousands, decimal = separators
    written = f"{amount:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    assert price.normalise_price(written) == price.price_text(amount)
    assert price.normalise_price(f"{written} €") == price.price_text(amount)


@given(st.text(max_size=60), st.sampled_from([None, ".", ","]))
def test_any_text(raw: str, decimal: str | None) -> None:
    """Any text gives None or an amount that reads as itself."""
    result = price.normalise_price(raw, decimal)
    assert result is None or price.normalise_price(result, decimal) == result


@given(
    st.from_regex(r"[$€£₹]? ?[0-9]{1,3}([.,]?[0-9]{3})?([.,][0-9]{1,2})? ?[$€£₹]?", fullmatch=True)
)
def test_plain_prices_are_read_as_any_other(raw: str) -> None:
    """The short ways for prices as most are give what the long way gives."""
    result = price._search(raw)
    assert price._find(raw) == result
    amount = price._parse_amount(result.number, None) if result else None
    assert price.normalise_price(raw) == (None if amount is None else price.price_text(amount))
