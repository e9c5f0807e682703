"""Numbers, money, dates and ranges as text, in the same form in every report."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from reports.statistics.price_bands import Band

_UNKNOWN = "–"
_PERCENT = "\N{NO-BREAK SPACE}%"
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£"}
_MAX_CURRENCIES = 3  # totals written side by side: more do not fit into a table cell
_CENTS_BELOW = 100  # totals from here on are rounded to whole units


def format_count(number: int) -> str:
    """Format a count with thousands separators.

    >>> format_count(12345)
    '12,345'
    """
    return f"{number:,}"


def format_money(amount: Decimal | None, currency: str | None) -> str:
    """Format an amount with its currency, without cents if it has none.

    >>> format_money(Decimal("1299.9"), "EUR"), format_money(Decimal("500"), "CHF")
    ('€1,299.90', 'CHF 500')
    >>> format_money(None, "EUR")
    '–'
    """
    if amount is None:
        return _UNKNOWN
    decimals = 2
    if amount == amount.to_integral_value():
        decimals = 0
    number = f"{amount:,.{decimals}f}"
    if currency in _SYMBOLS:
        return f"{_SYMBOLS[currency]}{number}"
    if currency:
        return f"{currency} {number}"
    return number


def format_total(amount: Decimal, currency: str | None) -> str:
    """Format a sum of prices; cents of large sums would suggest a precision that they do not have.

    >>> format_total(Decimal("15379.02"), "EUR"), format_total(Decimal("5.10"), "EUR")
    ('€15,379', '€5.10')
    """
    if amount >= _CENTS_BELOW:
        amount = amount.quantize(Decimal(1))
    return format_money(amount, currency)


def format_totals(totals: Mapping[str, Decimal], main_currency: str | None) -> str:
    """Format sums in several currencies side by side, the main currency first.

    >>> format_totals({"USD": Decimal(20), "EUR": Decimal(700)}, "EUR"), format_totals({}, "EUR")
    ('€700 + $20', '–')
    """
    currencies = [currency for currency, total in totals.items() if total]
    currencies.sort(key=lambda currency: (currency != (main_currency or ""), currency))
    parts = [format_total(totals[currency], currency) for currency in currencies]
    hidden = len(parts) - _MAX_CURRENCIES
    if hidden > 0:
        parts[_MAX_CURRENCIES:] = [format_plural(hidden, "further currency", "further currencies")]
    return " + ".join(parts) or _UNKNOWN


def format_price(amount: Decimal | None, currency: str | None) -> str:
    """Format the price of one offer, always with cents.

    >>> format_price(Decimal("500"), "EUR")
    '€500.00'
    """
    text = format_money(amount, currency)
    if amount is not None and amount == amount.to_integral_value():
        return f"{text}.00"
    return text


def format_percent(share: float | None) -> str:
    """Format a share with one decimal; exactly 0 and 1 have none.

    >>> shares = (0.2175, 1.0, 0.9999, None)
    >>> [format_percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in shares]
    ['21.8 %', '100 %', '>99.9 %', '–']
    """
    if share is None:
        return _UNKNOWN
    if share in (0, 1):
        return f"{share * 100:.0f}{_PERCENT}"
    if share > 0.999:
        return f">99.9{_PERCENT}"
    if share < 0.001:
        return f"<0.1{_PERCENT}"
    return f"{share * 100:.1f}{_PERCENT}"


def format_change(share: float | None) -> str:
    """Format a relative change with its sign.

    >>> [format_change(share).replace("\N{NO-BREAK SPACE}", " ") for share in (-0.125, 0.0004)]
    ['−12.5 %', '+0.0 %']
    """
    if share is None:
        return _UNKNOWN
    sign = "+"
    if share < 0:
        sign = "−"
    return f"{sign}{abs(share) * 100:,.1f}{_PERCENT}"


def format_date(moment: datetime | None) -> str:
    """Format a date with the month's name, so that day and month cannot be confused.

    >>> from datetime import UTC
    >>> format_date(datetime(2026, 3, 9, tzinfo=UTC)), format_date(None)
    ('9 March 2026', 'an unknown date')
    """
    if moment is None:
        return "an unknown date"
    return f"{moment.day} {moment:%B %Y}"


def format_minute(moment: datetime | None) -> str:
    """Format a date and time to the minute, in UTC."""
    if moment is None:
        return _UNKNOWN
    return f"{format_date(moment)}, {moment:%H:%M} UTC"


def format_plural(number: int, singular: str, plural: str | None = None) -> str:
    """Format a count with its noun.

    >>> format_plural(1, "offer"), format_plural(2, "category", "categories")
    ('1 offer', '2 categories')
    """
    noun = plural or f"{singular}s"
    if number == 1:
        noun = singular
    return f"{format_count(number)} {noun}"


def format_category(category: str | None) -> str:
    """Format a category path for readers.

    >>> format_category("Garden > Mowers")
    'Garden › Mowers'
    """
    return (category or "").replace(" > ", " › ")


def format_band(band: Band | None, currency: str | None) -> str:
    """Format a price band; its upper border is excluded.

    >>> format_band(Band(Decimal(20), Decimal(50)), "EUR")
    '€20 – 50'
    >>> format_band(Band(None, Decimal(20)), "EUR")
    'under €20'
    """
    if band is None or (band.low is None and band.high is None):
        return "all prices"
    if band.low is None:
        return f"under {format_money(band.high, currency)}"
    if band.high is None:
        return f"{format_money(band.low, currency)} and over"
    return f"{format_money(band.low, currency)} – {format_money(band.high, None)}"
