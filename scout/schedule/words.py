"""Cron expressions in words, by cron-descriptor."""

import calendar
import re
from functools import cache

from babel.dates import get_day_names, get_month_names
from cron_descriptor import (
    ExpressionDescriptor,
    FormatError,
    MissingFieldError,
    Options,
    WrongArgumentError,
)

from catalog.language.languages import Language
from scout.schedule.cron import NICKNAMES

_LOCALES = {"en": "en_US", "de": "de_DE"}


def describe_cron(text: str, language: Language) -> str:
    """Return a cron expression in words; the expression itself where it cannot be described.

    >>> from catalog.language.languages import load_language
    >>> describe_cron("30 5 * * *", load_language("en")), describe_cron("?", load_language("en"))
    ('At 05:30', '?')
    >>> describe_cron("0 6 * * 1-5", load_language("de"))
    'Um 06:00, Montag bis Freitag'
    """
    options = Options()
    options.use_24hour_time_format = True
    options.locale_code = _LOCALES.get(language.code, "en_US")
    expression = NICKNAMES.get(text.strip().lower(), text)
    try:
        words = ExpressionDescriptor(expression, options).get_description()
    except (FormatError, MissingFieldError, WrongArgumentError, ValueError, IndexError):
        return text
    # The library names days and months by the locale of the process.
    names = _names(language.code)
    pattern = r"\b(" + "|".join(map(re.escape, names)) + r")\b"
    return re.sub(pattern, lambda match: names[match[0]], words)


@cache
def _names(code: str) -> dict[str, str]:
    """Return the names of days and months in a language, by those of the process's locale."""
    days, months = get_day_names("wide", locale=code), get_month_names("wide", locale=code)
    names = {calendar.day_name[number]: days[number] for number in range(7)}
    return names | {calendar.month_name[number]: months[number] for number in range(1, 13)}
