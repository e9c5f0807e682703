"""Names of months in the languages of Europe, from Unicode's CLDR."""

import unicodedata
from functools import cache

from babel.dates import get_month_names

# Languages whose months are read; the first three letters of many are alike.
LANGUAGES = (
    *("en", "en_GB", "de", "de_AT", "fr", "es", "it", "nl", "pt", "pl", "cs", "sk", "sv", "da"),
    *("nb", "fi", "hu", "ro", "tr", "ru", "uk", "el"),
)
# Letters of the shortest names, such as `Jan.`
MIN_LETTERS = 3


@cache
def month_numbers() -> dict[str, int]:
    """Return the number of each name of a month, without marks and points, in lower case.

    A name that is one month here and another there is left out.

    >>> numbers = month_numbers()
    >>> [numbers[name] for name in ("may", "marz", "fevr", "diciembre")]
    [5, 3, 2, 12]
    """
    numbers = dict[str, int]()
    ambiguous = set[str]()
    for language in LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    folded = fold_name(name)
                    if len(folded) < MIN_LETTERS or not folded.isalpha():
                        continue
                    if numbers.setdefault(folded, number) != number:
                        ambiguous.add(folded)
    return {name: number for name, number in numbers.items() if name not in ambiguous}


def fold_name(name: str) -> str:
    """Return a name in lower case without its marks and points."""
    decomposed = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).strip(". ")
