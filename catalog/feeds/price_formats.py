"""Formats of a feed's price columns: whether `12.990` is twelve or twelve thousand.

A single price does not show it, its column does: `0.990`, `1299.000` or `12.50` beside it have a
decimal point, `1.299,00` or `1.299.000` a separator of thousands. So each column's prices vote, and
its ambiguous prices are rewritten to forms that read in one way only.

Where no price of the column decides, these do, in this order: a currency of three decimals; the
other price columns of the feed, as one program writes them all; a currency whose markets group
digits by commas only; and the size of the prices, as hardly a shop asks more than 10,000 euros for
every second offer. A column that stays ambiguous is read as thousands, as in a text, with a note.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from catalog.values.prices.price import decimal_separators

# Characters of a price that are looked at. Bound against hostile input.
MAX_LENGTH = 200
# Ambiguous prices of a column from which their size shows the format.
MIN_SIZED_PRICES = 5
# Digits before the separator from which a price, read as thousands, is at least 10,000.
LARGE_PRICE_DIGITS = 2
# Currencies whose markets write a decimal point (CLDR), and everyday prices below a thousand: the
# point never groups digits.
_POINT_CURRENCIES = frozenset("GBP CAD AUD NZD SGD HKD MYR ILS".split())
# Currencies of everyday prices below a thousand, whose markets group digits by points as well.
_SIZED_CURRENCIES = frozenset("EUR USD CHF BGN".split())
READ_AS_THOUSANDS = "price like 1.299: read as thousands, as nothing in the feed shows decimals"
READ_AS_DECIMALS = "price like 12.990: read with three decimals, as most would be above 10,000"

_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_AMBIGUOUS = re.compile(r"(?<![\d.,])([1-9]\d{0,2})([.,])(\d{3})(?![\d.,]*\d)")


@dataclass
class _Votes:
    """Votes of a column on each separator: positive for decimals, negative for thousands.

    `ambiguous` counts the prices with three digits behind a point by the digits before it, `short`
    the whole amounts below 1,000, which a column of three decimals has not.
    """

    balance: Counter[str] = field(default_factory=Counter)
    ambiguous: Counter[int] = field(default_factory=Counter)
    short: int = 0

    def is_decimal(self, separator: str) -> bool | None:
        """Return True if a separator is one of decimals, False if of thousands, None if no price
        shows it.
        """
        balance = self.balance[separator]
        other_balance = self.balance["," if separator == "." else "."]
        if balance:
            return balance > 0
        # A column has one separator of decimals.
        return False if other_balance > 0 else None

    def has_large_prices(self) -> bool:
        """Return True if, read as thousands, half of the ambiguous prices were above 10,000."""
        count = self.ambiguous.total()
        large = sum(
            number for digits, number in self.ambiguous.items() if digits >= LARGE_PRICE_DIGITS
        )
        return count >= MIN_SIZED_PRICES and 2 * large >= count and not self.short


@dataclass(frozen=True)
class _Format:
    """Whether a separator is one of decimals, None if nothing shows it; a note if it is a guess."""

    is_decimal: bool | None = None
    note: str | None = None


@dataclass
class PriceFormats:
    """Formats of all price columns of a feed, learnt from their prices."""

    _votes: dict[str, _Votes] = field(default_factory=dict)

    def add(self, column: str, raw: str) -> None:
        """Let a price of a column vote."""
        number = _NUMBER.search(raw, 0, MAX_LENGTH)
        if number is None:
            return
        votes = self._votes.setdefault(column, _Votes())
        digits = number[0]
        for separator, is_decimal in _votes_of(digits):
            votes.balance[separator] += 1 if is_decimal else -1
        if digits.isdigit():
            votes.short += len(digits) <= 3
        elif digits[-4:-3] == "." and _AMBIGUOUS.fullmatch(digits):
            votes.ambiguous[len(digits) - 4] += 1

    def add_votes(self, formats: "PriceFormats") -> None:
        """Add the votes of other rows."""
        for column, other in formats._votes.items():
            votes = self._votes.setdefault(column, _Votes())
            votes.balance.update(other.balance)
            votes.ambiguous.update(other.ambiguous)
            votes.short += other.short

    def rewrite(self, column: str, raw: str, currency: str | None = None) -> str:
        """Rewrite an ambiguous price in the format of its column.

        >>> formats = PriceFormats()
        >>> formats.rewrite("price", "12.990 USD", "USD"), formats.rewrite("price", "12.990", "GBP")
        ('12.990 USD', '12.9900')
        >>> formats.add("price", "0.990 USD")
        >>> formats.rewrite("price", "12.990 USD"), formats.rewrite("price", "12,990")
        ('12.9900 USD', '12990')
        """
        if not is_ambiguous(raw):
            return raw
        return _AMBIGUOUS.sub(self._rewriter(column, currency), raw)

    def note(self, column: str, raw: str, currency: str | None) -> str | None:
        """Return a note on a price whose format is a guess; None where the feed shows it."""
        match = _ambiguous_match(raw)
        return None if match is None else self._format(column, match[2], currency).note

    def _rewriter(self, column: str, currency: str | None) -> Callable[[re.Match[str]], str]:
        def rewrite(match: re.Match[str]) -> str:
            is_decimal = self._format(column, match[2], currency).is_decimal
            if is_decimal is None:
                return match[0]
            if is_decimal:
                # Four decimals cannot be taken for a group of thousands.
                return f"{match[0]}0"
            return match[1] + match[3]

        return rewrite

    def _format(self, column: str, separator: str, currency: str | None) -> _Format:
        votes = self._votes.get(column) or _Votes()
        is_decimal = votes.is_decimal(separator)
        if is_decimal is None:
            is_decimal = self._is_decimal_elsewhere(separator, currency)
        # Commas before three digits group them in most markets.
        if is_decimal is not None or separator == ",":
            return _Format(is_decimal)
        if currency in _SIZED_CURRENCIES and votes.has_large_prices():
            return _Format(True, READ_AS_DECIMALS)
        return _Format() if votes.short else _Format(note=READ_AS_THOUSANDS)

    def _is_decimal_elsewhere(self, separator: str, currency: str | None) -> bool | None:
        """As `_Votes.is_decimal`, by the currency and by the other columns."""
        if separator in (decimal_separators(currency) or ""):
            return True
        balance = sum(votes.balance[separator] for votes in self._votes.values())
        if balance:
            return balance > 0
        return True if separator == "." and currency in _POINT_CURRENCIES else None


def is_ambiguous(raw: str) -> bool:
    """Return True if a price may have three decimals or a separator of thousands.

    >>> [is_ambiguous(raw) for raw in ("12.990", "EUR 7,500", "0.990", "1299.000", "1.299,00", "1.299.000")]
    [True, True, False, False, False, False]
    """
    # Most prices are plain numbers of two decimals.
    if len(raw) > MAX_LENGTH or raw[-3:-2] == ".":
        return False
    return _AMBIGUOUS.search(raw) is not None


def _ambiguous_match(raw: str) -> re.Match[str] | None:
    return _AMBIGUOUS.search(raw) if is_ambiguous(raw) else None


def _votes_of(number: str) -> list[tuple[str, bool]]:
    """Return the votes of a number: its separators, and whether they are of decimals.

    >>> _votes_of("1.299,00"), _votes_of("0.990"), _votes_of("12.990"), _votes_of("1,299,000")
    ([(',', True), ('.', False)], [('.', True)], [], [(',', False)])
    """
    last = max(number.rfind("."), number.rfind(","))
    if last < 0:
        return []
    separator = number[last]
    group_separator = "," if separator == "." else "."
    decimals = len(number) - last - 1
    if group_separator in number:
        if number.count(separator) > 1:
            return []
        return [(separator, True), (group_separator, False)]
    if number.count(separator) > 1:
        return [(separator, False)] if decimals == 3 else []
    if decimals != 3 or last > 3 or number.startswith("0"):
        return [(separator, True)]
    return []
