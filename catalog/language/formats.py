"""Formats of numbers, money and times in the conventions of a locale, with the data of Babel
(CLDR).

Babel looks up the parts of a format at each call. A report formats tens of thousands of numbers of
few different values, so the results are cached.
"""

from datetime import datetime, tzinfo
from decimal import Decimal
from functools import lru_cache

from babel import Locale, dates, numbers
from babel.core import UnknownLocaleError

UNKNOWN = "–"
# Texts of a format that are kept.
_CACHE_SIZE = 4096
# Text of the placeholder of a currency in the patterns of CLDR.
_CURRENCY = "¤"


@lru_cache(maxsize=_CACHE_SIZE)
def format_number(number: Decimal | float, decimals: int, locale: Locale) -> str:
    """Format a number with its thousands separated and a fixed number of decimals."""
    pattern = "#,##0"
    if decimals:
        pattern = f"#,##0.{'0' * decimals}"
    return numbers.format_decimal(number, format=pattern, locale=locale)


@lru_cache(maxsize=_CACHE_SIZE)
def format_share(share: float, decimals: int, locale: Locale) -> str:
    """Format a share as a percentage."""
    pattern = locale.percent_formats[None].pattern
    if decimals:
        pattern = pattern.replace("0", f"0.{'0' * decimals}", 1)
    return numbers.format_percent(share, format=pattern, locale=locale)


@lru_cache(maxsize=_CACHE_SIZE)
def format_money(amount: Decimal, currency: str | None, decimals: int, locale: Locale) -> str:
    """Format an amount of money; a currency that is no known code is shown as it is."""
    if not currency:
        return format_number(amount, decimals, locale)
    pattern = locale.currency_formats["standard"].pattern
    if not decimals:
        pattern = pattern.replace(".00", "")
    # Babel lacks CLDR's spacing between a number and a symbol of letters.
    if pattern.startswith(_CURRENCY) and _symbol(currency, locale)[-1].isalpha():
        pattern = pattern.replace(_CURRENCY, f"{_CURRENCY}\N{NO-BREAK SPACE}")
    return numbers.format_currency(
        amount, currency, format=pattern, locale=locale, currency_digits=False
    )


def _symbol(currency: str, locale: Locale) -> str:
    return numbers.get_currency_symbol(currency, locale=locale)


def format_date(moment: datetime, time_zone: tzinfo, locale: Locale) -> str:
    """Format a date with the month's name, so that day and month cannot be confused."""
    return dates.format_date(moment.astimezone(time_zone), "long", locale=locale)


@lru_cache(maxsize=_CACHE_SIZE)
def format_minute(moment: datetime, time_zone: tzinfo, locale: Locale) -> str:
    """Format a date and time to the minute, with the time zone."""
    time = dates.format_time(moment, "HH:mm z", tzinfo=time_zone, locale=locale)
    return f"{format_date(moment, time_zone, locale)}, {time}"


def parse_locale(code: str) -> Locale:
    """Return the locale of a code such as `en_GB`. Raises ValueError if there is none."""
    try:
        return Locale.parse(code)
    except UnknownLocaleError as error:
        raise ValueError(str(error)) from error
