"""Price bands: round borders over which a shop's own prices spread evenly.

Borders are preferred numbers of the 1-2-5 series (10, 20, 50, 100 ...) if prices span orders of
magnitude, and multiples of one 1-2-5 step if they lie close together. The first band is open below
and the last one above, so every price falls into exactly one band.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise

from catalog.language.languages import Language

MAX_BANDS = 9  # as many as a reader takes in at once
_WIDE_RATIO = 6  # highest by lowest price from which borders follow the 1-2-5 series
_OUTLIER_SHARE = 50  # one price in so many is ignored at both ends when the range is measured


@dataclass(frozen=True)
class Band:
    """Prices from `low` (included) to `high` (excluded); None is open."""

    low: Decimal | None
    high: Decimal | None

    def holds(self, price: Decimal) -> bool:
        """Return True if a price falls into this band."""
        return (self.low is None or self.low <= price) and (self.high is None or price < self.high)


def format_band(band: Band | None, currency: str | None, language: Language) -> str:
    """Format a price band; its upper border is excluded.

    >>> from catalog.language.languages import ENGLISH
    >>> format_band(Band(Decimal(20), Decimal(50)), "EUR", ENGLISH)
    '€20 – €50'
    >>> format_band(Band(None, Decimal(20)), "EUR", ENGLISH)
    'below €20'
    """
    if band is None or (band.low is None and band.high is None):
        return language.gettext("all prices")
    low, high = language.money(band.low, currency), language.money(band.high, currency)
    if band.low is None:
        return language.gettext("below {price}").format(price=high)
    if band.high is None:
        return language.gettext("{price} and above").format(price=low)
    return f"{low} – {high}"


@dataclass(frozen=True)
class Bands:
    """All price bands of a shop in ascending order, divided by `borders`."""

    borders: tuple[Decimal, ...]

    def all(self) -> list[Band]:
        """Return the bands, lowest first."""
        return [Band(low, high) for low, high in pairwise((None, *self.borders, None))]

    def index(self, price: Decimal) -> int:
        """Return the index in `all()` of the band that holds a price."""
        return bisect_right(self.borders, price)


def choose_bands(prices: Sequence[Decimal]) -> Bands:
    """Choose bands for these prices; one open band if there is nothing to divide.

    >>> choose_bands([Decimal(n) for n in (12, 15, 18, 40, 90, 300, 700, 1500)]).borders
    (Decimal('20'), Decimal('50'), Decimal('100'), Decimal('200'), Decimal('500'), Decimal('1000'))
    >>> choose_bands([Decimal(n) for n in range(20, 60)]).borders
    (Decimal('30'), Decimal('40'), Decimal('50'))
    """
    ordered = sorted(price for price in prices if price > 0)
    if not ordered:
        return Bands(())
    outliers = len(ordered) // _OUTLIER_SHARE
    low, high = ordered[outliers], ordered[-1 - outliers]
    if low == high:
        return Bands(())
    if high / low < _WIDE_RATIO:
        borders = _equal_steps(low, high)
    else:
        borders = _one_two_five_series(low, high)
    return Bands(tuple(_drop_thin_bands(borders, ordered)))


def _one_two_five_series(low: Decimal, high: Decimal) -> list[Decimal]:
    borders = []
    for power in range(low.adjusted(), high.adjusted() + 1):
        for digit in (1, 2, 5):
            border = Decimal(digit).scaleb(power)
            if low < border <= high:
                borders.append(_without_exponent(border))
    return borders


def _drop_thin_bands(borders: list[Decimal], ordered: Sequence[Decimal]) -> list[Decimal]:
    """Drop the borders that divide the fewest prices, until at most `MAX_BANDS` bands are left."""
    remaining = list(borders)
    while len(remaining) >= MAX_BANDS:
        below = [0, *(bisect_left(ordered, border) for border in remaining), len(ordered)]
        # Prices in the two bands that a border divides.
        divided = [below[index + 2] - below[index] for index in range(len(remaining))]
        del remaining[divided.index(min(divided))]
    return remaining


def _equal_steps(low: Decimal, high: Decimal) -> list[Decimal]:
    # Between three and seven and a half steps over the range, whichever step is roundest.
    step = roundest_number((high - low) / Decimal("7.5"), (high - low) / 3)
    multiple = (low / step).to_integral_value(ROUND_FLOOR) + 1
    borders = []
    while multiple * step <= high:
        borders.append(_without_exponent(multiple * step))
        multiple += 1
    return borders


def roundest_number(low: Decimal, high: Decimal) -> Decimal:
    """Return the roundest number from `low` to `high`: 1, 2 or 5 and zeros, else fewest digits.

    >>> roundest_number(Decimal("199.01"), Decimal("203"))
    Decimal('200')
    >>> roundest_number(Decimal("980"), Decimal("1049.90"))
    Decimal('1000')
    >>> roundest_number(Decimal("3.1"), Decimal("3.9")), roundest_number(Decimal("0"), Decimal("7"))
    (Decimal('3.5'), Decimal('0'))
    """
    if low <= 0 or low == high:
        return _without_exponent(low)
    # 30 powers of ten below the upper end exceed the digits of any stored price.
    for power in range(high.adjusted(), low.adjusted() - 30, -1):
        for digit in (10, 5, 2, 1):
            step = Decimal(digit).scaleb(power)
            multiple = (low / step).to_integral_value(ROUND_CEILING) * step
            if multiple <= high:
                return _without_exponent(multiple)
    return low


def _without_exponent(number: Decimal) -> Decimal:
    if number == number.to_integral_value():
        return number.quantize(Decimal(1))
    return number.normalize()
