"""Words that stand beside prices, loaded from `price_words.toml`: multipliers, units, and the words
that tell a price from an old one.
"""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

_DATA: dict[str, Any] = tomllib.loads(
    files("catalog.values.prices").joinpath("price_words.toml").read_text(encoding="utf-8")
)


def words_pattern(words: Iterable[str]) -> str:
    """Return a pattern for words of the data file: `*` is any ending, `_` a space.

    >>> words_pattern(["kg", "sale_price", "litr*"])
    'sale\\\\ price|litr\\\\w{0,12}|kg'
    """
    longest_first = sorted(set(words), key=len, reverse=True)
    return "|".join(
        re.escape(word.replace("_", " ")).replace(r"\*", r"\w{0,12}") for word in longest_first
    )


def _split_words(table: dict[str, str]) -> dict[str, int]:
    factors: dict[str, int] = {}
    for factor, factor_words in table.items():
        for word in factor_words.split():
            factors[word] = int(factor)
    return factors


# Factor of each word, `*` for any ending.
MULTIPLIERS: dict[str, int] = _split_words(_DATA["multipliers"])
# Factors of words that are multipliers of one currency only.
MULTIPLIERS_OF_CURRENCY: dict[str, dict[str, int]] = _DATA["multipliers_of_currency"]
UNITS: list[str] = _DATA["units"]["words"].split()
UNIT_PREPOSITIONS: list[str] = _DATA["units"]["prepositions"].split()
UNIT_PRICE_WORDS: list[str] = _DATA["units"]["price_words"].split()
OLD_PRICE_WORDS: list[str] = _DATA["old_price"]["words"].split()
CURRENT_PRICE_WORDS: list[str] = _DATA["current_price"]["words"].split()
OTHER_AMOUNT_WORDS: list[str] = _DATA["other_amount"]["words"].split()
WORDS_BEHIND_OTHER_AMOUNT: list[str] = _DATA["other_amount"]["words_behind"].split()
