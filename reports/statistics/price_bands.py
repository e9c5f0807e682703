"""Price bands: where to draw the lines, so that a shop's own prices spread over them and the borders are round.

Borders are 1-2-5 numbers (10, 20, 50, 100 ...) where prices span orders of magnitude, multiples of one 1-2-5 step where
they lie close together. The first band is open below, the last above, so every price falls in exactly one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

MOST = 9
_WIDE = 6


@dataclass(frozen=True)
class Band:
    """The prices from `low` (included) to `high` (left out); None is open."""

    low: Decimal | None
    high: Decimal | None

    def holds(self, price: Decimal) -> bool:
        """Whether a price falls in this band."""
        return (self.low is None or self.low <= price) and (self.high is None or price < self.high)


@dataclass(frozen=True)
class Bands:
    """All bands of a shop, in order, divided by `borders`."""

    borders: tuple[Decimal, ...]

    def all(self) -> list[Band]:
        """The bands, lowest first."""
        return [
            Band(low, high)
            for low, high in zip((None, *self.borders), (*self.borders, None), strict=True)
        ]

    def index(self, price: Decimal) -> int:
        """Which of `all()` a price falls in."""
        return bisect_right(self.borders, price)


def bands(prices: Sequence[Decimal]) -> Bands:
    """Bands that suit these prices; a single open band where there is nothing to divide.

    >>> bands([Decimal(n) for n in (12, 15, 18, 40, 90, 300, 700, 1500)]).borders
    (Decimal('20'), Decimal('50'), Decimal('100'), Decimal('200'), Decimal('500'), Decimal('1000'))
    >>> bands([Decimal(n) for n in range(20, 60)]).borders
    (Decimal('30'), Decimal('40'), Decimal('50'))
    """
    ordered = sorted(price for price in prices if price > 0)
    if not ordered:
        return Bands(())
    low, high = ordered[len(ordered) // 50], ordered[-1 - len(ordered) // 50]
    if low == high:
        return Bands(())
    borders = _steps(low, high) if high / low < _WIDE else _one_two_five(low, high)
    return Bands(tuple(_thinned(borders, ordered)))


def _one_two_five(low: Decimal, high: Decimal) -> list[Decimal]:
    powers = range(low.adjusted(), high.adjusted() + 1)
    borders = (Decimal(digit).scaleb(power) for power in powers for digit in (1, 2, 5))
    return [_plain(border) for border in borders if low < border <= high]


def _thinned(borders: list[Decimal], ordered: Sequence[Decimal]) -> list[Decimal]:
    """The borders without those that divide the fewest prices, until there are few enough to look at."""
    kept = list(borders)
    while len(kept) >= MOST:
        below = [0, *(bisect_left(ordered, border) for border in kept), len(ordered)]
        around = [below[place + 2] - below[place] for place in range(len(kept))]
        del kept[around.index(min(around))]
    return kept


def _steps(low: Decimal, high: Decimal) -> list[Decimal]:
    step = roundest((high - low) / Decimal("7.5"), (high - low) / 3)
    count = (low / step).to_integral_value(ROUND_FLOOR) + 1
    borders = []
    while count * step <= high:
        borders.append(_plain(count * step))
        count += 1
    return borders


def roundest(low: Decimal, high: Decimal) -> Decimal:
    """The roundest number from `low` to `high`: 1, 2 or 5 with as many noughts as fit, else the fewest digits.

    >>> roundest(Decimal("199.01"), Decimal("203")), roundest(Decimal("980"), Decimal("1049.90"))
    (Decimal('200'), Decimal('1000'))
    >>> roundest(Decimal("3.1"), Decimal("3.9")), roundest(Decimal("0"), Decimal("7"))
    (Decimal('3.5'), Decimal('0'))
    """
    if low <= 0 or low == high:
        return _plain(low)
    for power in range(high.adjusted(), low.adjusted() - 30, -1):
        for digit in (10, 5, 2, 1):
            step = Decimal(digit).scaleb(power)
            found = (low / step).to_integral_value(ROUND_CEILING) * step
            if found <= high:
                return _plain(found)
    return low


def _plain(number: Decimal) -> Decimal:
    return (
        number.quantize(Decimal(1)) if number == number.to_integral_value() else number.normalize()
    )
