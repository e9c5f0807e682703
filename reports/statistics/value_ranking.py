"""Ranking by value across currencies: by the rates of the settings, else each currency by itself.

Amounts of several currencies cannot be compared without rates. So each currency has a ranking of
its own, and a list takes the first offer of each, then the second of each. Groups of offers are
ranked by their value in the currency of most offers, then in the next one. If several currencies
have a rate, these are ranked together by their converted amounts, before the others. Rates only
order lists: no amount is ever shown converted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Protocol, TypeVar

from catalog.language.languages import ENGLISH, Language

RankKey = tuple[Decimal, ...]


class PricedOffer(Protocol):
    """An offer that can be ranked."""

    url: str
    price: Decimal | None
    currency: str | None


Offer = TypeVar("Offer", bound=PricedOffer)


@dataclass(frozen=True)
class ValueRanking:
    """Order of currencies ("" for none), and the value of one unit of each currency with a rate."""

    order: tuple[str, ...] = ()
    rates: Mapping[str, Decimal] = field(default_factory=dict)

    def rank(self, offers: Iterable[Offer]) -> list[Offer]:
        """Return the offers, the most valuable first and those without a price last."""
        rankings: dict[int, list[Offer]] = {}
        unpriced = []
        for offer in offers:
            if offer.price is None:
                unpriced.append(offer)
            else:
                rankings.setdefault(self._ranking_of(offer.currency or ""), []).append(offer)
        placed: list[tuple[int, int, Offer]] = []
        for number, ranking in rankings.items():
            ranking.sort(key=self._offer_key)
            placed += [(position, number, offer) for position, offer in enumerate(ranking)]
        placed.sort(key=lambda place: place[:2])
        unpriced.sort(key=lambda offer: offer.url)
        return [*(offer for _, _, offer in placed), *unpriced]

    def _offer_key(self, offer: Offer) -> tuple[Decimal, str]:
        rate = self.rates.get(offer.currency or "", Decimal(1))
        return -(offer.price or Decimal(0)) * rate, offer.url

    def _ranking_of(self, currency: str) -> int:
        """Return the number of the ranking in which a currency takes part."""
        if currency in self._rated:
            return -1
        if currency in self.order:
            return self.order.index(currency)
        return len(self.order)

    def group_key(self, values: Mapping[str, Decimal]) -> RankKey:
        """Return the sort key of a group by its total value per currency, the greatest first."""
        converted = Decimal(0)
        for currency in self._rated:
            converted += self.rates[currency] * values.get(currency, Decimal(0))
        separate = [values.get(currency, Decimal(0)) for currency in self._unrated]
        return (-converted, *(-amount for amount in separate))

    @cached_property
    def _rated(self) -> Sequence[str]:
        """The currencies that are ranked together: none if there is a rate for only one."""
        rated = [currency for currency in self.order if currency in self.rates]
        return rated if len(rated) > 1 else []

    @cached_property
    def _unrated(self) -> Sequence[str]:
        return [currency for currency in self.order if currency not in self._rated]

    def describe(self, language: Language = ENGLISH) -> str:
        """Describe the ranking in one sentence; empty where there is only one currency.

        >>> ValueRanking(("EUR", "USD")).describe()
        'EUR and USD are ranked separately, the highest value of each first; nothing is converted.'
        >>> ValueRanking(("EUR", "USD"), {"EUR": Decimal(1), "USD": Decimal("0.9")}).describe()
        'Ranked by value at the rates of the settings (EUR 1, USD 0.9).'
        """
        if len(self.order) < 2:
            return ""
        rated = self._rated
        separate = [currency or language.gettext("no currency") for currency in self._unrated]
        rates = ", ".join(f"{name} {language.rate(self.rates[name])}" for name in rated)
        if not separate:
            text = language.gettext("Ranked by value at the rates of the settings ({rates}).")
            return text.format(rates=rates)
        if not rated:
            text = language.gettext(
                "{names} and {last} are ranked separately, the highest value of each first; "
                "nothing is converted."
            )
            return text.format(names=", ".join(separate[:-1]), last=separate[-1])
        text = language.gettext(
            "Ranked by value at the rates of the settings ({rates}); without a rate, ranked "
            "separately: {separate}."
        )
        return text.format(rates=rates, separate=", ".join(separate))
