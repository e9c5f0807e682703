"""Names of months in the languages of Europe, from Unicode's CLDR."""

from functools import cache

from babel.dates import get_month_names

from catalog.values.shop_words import word_key
from matcher.taught.columns.scripts import romanise

# Languages whose months are read; the first three letters of many are alike.
LANGUAGES = (
    *("en", "en_GB", "de", "de_AT", "fr", "es", "it", "nl", "pt", "pl", "cs", "sk", "sv", "da"),
    *("nb", "fi", "hu", "ro", "tr", "ru", "uk", "el"),
)
# Letters of the shortest names, such as `Jan.`
MIN_LETTERS = 3


def month_number(name: str) -> int:
    """Return the number of a month by its name or an abbreviation of it, 0 if it is none.

    >>> [month_number(name) for name in ("May", "März", "févr.", "Diciembre", "октября", "x")]
    [5, 3, 2, 12, 10, 0]
    """
    return _month_numbers().get(_key(name), 0)


@cache
def _month_numbers() -> dict[str, int]:
    """Return the number of each name's key; a name of different months is left out."""
    numbers = dict[str, int]()
    ambiguous = set[str]()
    for language in LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    key = _key(name)
                    if len(key) < MIN_LETTERS or not key.isalpha():
                        continue
                    if numbers.setdefault(key, number) != number:
                        ambiguous.add(key)
    return {name: number for name, number in numbers.items() if name not in ambiguous}


def _key(name: str) -> str:
    # Columns are compared in Latin letters, and their kinds are detected before.
    return word_key(romanise(name))
