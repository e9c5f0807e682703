"""Ranking by value: each currency by itself, or by rates; the same order for offers and groups
everywhere.
"""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from reports.statistics.value_ranking import ValueRanking

EUR_USD = ("EUR", "USD")


@dataclass
class PricedUrl:
    """An offer to rank."""

    url: str
    price: Decimal | None
    currency: str | None


OFFERS = [
    ("9 EUR", "5 USD", "2 EUR", "100 USD", "- EUR", "7 -"),
    ("- USD", "7 -", "100 USD", "2 EUR", "5 USD", "9 EUR"),
]
RANKINGS = [
    (ValueRanking(EUR_USD), "9 EUR, 100 USD, 7 -, 2 EUR, 5 USD"),
    (ValueRanking(("USD", "EUR", "")), "100 USD, 9 EUR, 7 -, 5 USD, 2 EUR"),
    (
        ValueRanking(EUR_USD, {"EUR": Decimal(1), "USD": Decimal("0.5")}),
        "100 USD, 7 -, 9 EUR, 5 USD, 2 EUR",
    ),
    # A rate for one currency compares it with no other.
    (ValueRanking(EUR_USD, {"USD": Decimal("0.5")}), "9 EUR, 100 USD, 7 -, 2 EUR, 5 USD"),
]


@pytest.mark.parametrize("offers", OFFERS)
@pytest.mark.parametrize(("ranking", "expected"), RANKINGS)
def test_offers(offers: tuple[str, ...], ranking: ValueRanking, expected: str) -> None:
    """Within a ranking values fall; the rankings take turns; offers without a price come last."""
    ranked = ranking.rank(_offer(text) for text in offers)
    assert ", ".join(offer.url for offer in ranked[:-1]) == expected
    assert ranked[-1].price is None


def _offer(text: str) -> PricedUrl:
    price, currency = text.split()
    return PricedUrl(
        text,
        None if price == "-" else Decimal(price),
        None if currency == "-" else currency,
    )


ONE_RATE = {"USD": Decimal("0.5")}
TWO_RATES = {"EUR": Decimal(1), **ONE_RATE}
GROUPS = [
    ({}, {"EUR": 5}, {"EUR": 4, "USD": 9000}),
    ({}, {"EUR": 5, "USD": 2}, {"EUR": 5}),
    ({}, {"USD": 1}, {}),
    (ONE_RATE, {"EUR": 5}, {"EUR": 4, "USD": 9000}),
    (TWO_RATES, {"EUR": 4, "USD": 9000}, {"EUR": 5}),
    (TWO_RATES, {"EUR": 5}, {"EUR": 4, "USD": 1}),
]


@pytest.mark.parametrize(("rates", "first", "second"), GROUPS)
def test_groups(rates: dict[str, Decimal], first: dict[str, int], second: dict[str, int]) -> None:
    """Groups are ranked by their value in the first currency, then in the next one; by converted
    values where several currencies have a rate.
    """
    ranking = ValueRanking(EUR_USD, rates)
    keys = [
        ranking.group_key({currency: Decimal(amount) for currency, amount in group.items()})
        for group in (first, second)
    ]
    assert keys[0] < keys[1]


SENTENCES = [
    (ValueRanking(("EUR",)), ""),
    (ValueRanking(("EUR", "USD", "CHF")), "EUR, USD and CHF are ranked separately, the highest value of each first; nothing is converted."),
    (ValueRanking(("JPY", "EUR"), {"EUR": Decimal(1)}), "JPY and EUR are ranked separately, the highest value of each first; nothing is converted."),
    (ValueRanking(("EUR", "")), "EUR and no currency are ranked separately, the highest value of each first; nothing is converted."),
    (ValueRanking(("EUR", "USD", "CHF"), {"EUR": Decimal(1), "USD": Decimal("0.920")}), "Ranked by value at the rates of the settings (EUR 1, USD 0.92); without a rate, ranked separately: CHF."),
]  # fmt: skip


@pytest.mark.parametrize(("ranking", "sentence"), SENTENCES)
def test_sentences(ranking: ValueRanking, sentence: str) -> None:
    """The ranking says how it compares currencies, if there are several."""
    assert ranking.describe() == sentence
