"""Formats of a feed's price columns: whether `12.990` is twelve or twelve thousand.

A single price does not show it, its column does: `0.990`, `1299.000` or `12.50` beside it have a
decimal point, `1.299,00` or `1.299.000` a separator of thousands. So each column's prices vote, and
its ambiguous prices are rewritten to forms that read in one way only. Without a vote they stay as
they are, and the currency decides (`catalog.values.prices.price`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

# Votes from which a column's format is settled.
MAX_VOTES = 1_000
# Characters of a price that are looked at. Bound against hostile input.
MAX_LENGTH = 200

_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_AMBIGUOUS = re.compile(r"(?<![\d.,])([1-9]\d{0,2})([.,])(\d{3})(?![\d.,]*\d)")


@dataclass
class _Votes:
    """Votes of a column on each separator: positive for decimals, negative for thousands."""

    balance: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    total: int = 0

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


@dataclass
class PriceFormats:
    """Formats of all price columns of a feed, learnt from their prices."""

    _votes: dict[str, _Votes] = field(default_factory=dict)

    def add(self, column: str, raw: str) -> None:
        """Let a price of a column vote."""
        votes = self._votes.get(column)
        if votes is None:
            votes = self._votes[column] = _Votes()
        if votes.total >= MAX_VOTES:
            return
        number = _NUMBER.search(raw, 0, MAX_LENGTH)
        if number is None:
            return
        for separator, is_decimal in _votes_of(number[0]):
            votes.balance[separator] += 1 if is_decimal else -1
            votes.total += 1

    def is_settled(self, column: str) -> bool:
        """Return True if further prices of a column do not count any more."""
        votes = self._votes.get(column)
        return votes is not None and votes.total >= MAX_VOTES

    def rewrite(self, column: str, raw: str) -> str:
        """Rewrite an ambiguous price in the format of its column.

        >>> formats = PriceFormats()
        >>> formats.rewrite("price", "12.990 USD")
        '12.990 USD'
        >>> formats.add("price", "0.990 USD")
        >>> formats.rewrite("price", "12.990 USD"), formats.rewrite("price", "12,990")
        ('12.9900 USD', '12990')
        """
        if not is_ambiguous(raw):
            return raw
        votes = self._votes.get(column) or _Votes()
        return _AMBIGUOUS.sub(_rewriter(votes), raw)


def is_ambiguous(raw: str) -> bool:
    """Return True if a price may have three decimals or a separator of thousands.

    >>> [is_ambiguous(raw) for raw in ("12.990", "EUR 7,500", "0.990", "1299.000", "1.299,00", "1.299.000")]
    [True, True, False, False, False, False]
    """
    # Most prices are plain numbers of two decimals.
    if len(raw) > MAX_LENGTH or raw[-3:-2] == ".":
        return False
    return _AMBIGUOUS.search(raw) is not None


def _rewriter(votes: _Votes) -> Callable[[re.Match[str]], str]:
    def rewrite(match: re.Match[str]) -> str:
        is_decimal = votes.is_decimal(match[2])
        if is_decimal is None:
            return match[0]
        if is_decimal:
            # Four decimals cannot be taken for a group of thousands.
            return f"{match[0]}0"
        return match[1] + match[3]

    return rewrite


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
