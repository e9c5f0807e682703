"""Phrases: numbers, money, dates and ranges as the report says them, in one way everywhere."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from reports.statistics.price_bands import Band

_PERCENT = "\N{NO-BREAK SPACE}%"
_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£"}


def count(number: int) -> str:
    """A count with its thousands divided.

    >>> count(12345)
    '12,345'
    """
    return f"{number:,}"


def money(amount: Decimal | None, currency: str | None) -> str:
    """An amount with its currency; without cents where there are none.

    >>> money(Decimal("1299.9"), "EUR"), money(Decimal("500"), "CHF"), money(None, "EUR")
    ('€1,299.90', 'CHF 500', '–')
    """
    if amount is None:
        return "–"
    number = f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,.2f}"
    if currency in _SIGNS:
        return f"{_SIGNS[currency]}{number}"
    return f"{currency} {number}" if currency else number


def worth(amount: Decimal | None, currency: str | None) -> str:
    """A sum of many prices: cents would only pretend to be exact.

    >>> worth(Decimal("15379.02"), "EUR"), worth(Decimal("5.10"), "EUR")
    ('€15,379', '€5.10')
    """
    return money(
        amount.quantize(Decimal(1)) if amount is not None and amount >= 100 else amount, currency
    )


def worths(values: Mapping[str, Decimal], main: str | None) -> str:
    """Sums in several currencies side by side, the main one first.

    >>> worths({"USD": Decimal(20), "EUR": Decimal(700)}, "EUR"), worths({}, "EUR")
    ('€700 + $20', '–')
    """
    kept = sorted(
        (money for money, value in values.items() if value),
        key=lambda money: (money != (main or ""), money),
    )
    return " + ".join(worth(values[money], money) for money in kept[:3]) or "–"


def price(amount: Decimal | None, currency: str | None) -> str:
    """The price of one offer: always with cents.

    >>> price(Decimal("500"), "EUR")
    '€500.00'
    """
    if amount is None:
        return "–"
    return (
        money(amount, currency)
        if amount != amount.to_integral_value()
        else f"{money(amount, currency)}.00"
    )


def percent(share: float | None) -> str:
    """A share; one decimal, which whole and no shares do without.

    >>> [percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (0.2175, 1.0, 0.9999, None)]
    ['21.8 %', '100 %', '>99.9 %', '–']
    """
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{share * 100:.0f}{_PERCENT}"
    if share > 0.999:
        return f">99.9{_PERCENT}"
    return f"<0.1{_PERCENT}" if share < 0.001 else f"{share * 100:.1f}{_PERCENT}"


def signed(share: float | None) -> str:
    """A change as a share, with its sign.

    >>> [signed(share).replace("\N{NO-BREAK SPACE}", " ") for share in (-0.125, 0.0004)]
    ['−12.5 %', '+0.0 %']
    """
    return "–" if share is None else f"{'−' if share < 0 else '+'}{abs(share) * 100:,.1f}{_PERCENT}"


def day(moment: datetime | None) -> str:
    """A date in words that no reader can take for another.

    >>> from datetime import UTC
    >>> day(datetime(2026, 3, 9, tzinfo=UTC)), day(None)
    ('9 March 2026', 'an unknown date')
    """
    return "an unknown date" if moment is None else f"{moment.day} {moment:%B %Y}"


def minute(moment: datetime | None) -> str:
    """A moment, to the minute, in UTC."""
    return "–" if moment is None else f"{day(moment)}, {moment:%H:%M} UTC"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "offer"), plural(2, "category", "categories")
    ('1 offer', '2 categories')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def steps(category: str | None) -> str:
    """A category path as it is read.

    >>> steps("Garden > Mowers")
    'Garden › Mowers'
    """
    return (category or "").replace(" > ", " › ")


def band_name(band: Band | None, currency: str | None) -> str:
    """A price band, its upper border left out.

    >>> band_name(Band(Decimal(20), Decimal(50)), "EUR"), band_name(Band(None, Decimal(20)), "EUR")
    ('€20 – 50', 'under €20')
    """
    if band is None or (band.low is None and band.high is None):
        return "all prices"
    if band.low is None:
        return f"under {money(band.high, currency)}"
    if band.high is None:
        return f"{money(band.low, currency)} and over"
    return f"{money(band.low, currency)} – {money(band.high, None)}"
