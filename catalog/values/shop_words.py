"""Words of labels, buttons and breadcrumbs of shops, loaded from `shop_words.toml`.

Words are compared by their key: without case, accents, spaces and punctuation.
"""

import tomllib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Literal

Concept = Literal[
    "brand",
    "article_number",
    "manufacturer_number",
    "trade_number",
    "price",
    "availability",
    "category",
    "buy",
    "from",
    "home",
    "assortment",
    "uncategorized",
    "product_type",
]
# Characters of the longest text that may be a word of the data file.
MAX_WORD_LENGTH = 60
# Characters of a key from which on a button may go on behind it, as in `Add to cart - 12.00`.
MIN_PHRASE_LENGTH = 7

_WORDS_BY_CONCEPT: dict[str, dict[str, str]] = tomllib.loads(
    files("catalog.values").joinpath("shop_words.toml").read_text(encoding="utf-8")
)
# Combining marks of European scripts; those of Japanese make another letter.
_FIRST_ACCENT = "\u0300"
_LAST_ACCENT = "\u036f"


@lru_cache(maxsize=8192)
def word_key(word: str) -> str:
    """Return the comparison key of a word.

    >>> word_key("Artikel-Nr."), word_key("Référence"), word_key("カテゴリー")
    ('artikelnr', 'reference', 'カテゴリー')
    """
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", word).casefold())
    letters = "".join(
        letter for letter in decomposed if not _FIRST_ACCENT <= letter <= _LAST_ACCENT
    )
    composed = unicodedata.normalize("NFC", letters)
    # The sign of a long vowel is a letter to Unicode, the middle dot of Catalan is none.
    return "".join(letter for letter in composed if letter.isalnum())


def words_of(concept: Concept, languages: Iterable[str] | None = None) -> list[str]:
    """Return the words of a concept as the data file spells them, in some languages or in all.

    >>> words_of("home", ["fr", "xx"])
    ['accueil', "page d'accueil"]
    """
    by_language = _WORDS_BY_CONCEPT[concept]
    spellings: list[str] = []
    for language in by_language if languages is None else languages:
        spellings += by_language.get(language, "").split()
    return [word.replace("_", " ") for word in spellings]


@lru_cache(maxsize=32)
def keys_of(concept: Concept) -> frozenset[str]:
    """Return the keys of a concept's words in all languages."""
    return frozenset(map(word_key, words_of(concept)))


def names(concept: Concept, text: str) -> bool:
    """Return True if a text is a word of the concept.

    >>> names("home", "Startseite"), names("uncategorized", "Sin categoría"), names("home", "Home Decor")
    (True, True, False)
    """
    return len(text) <= MAX_WORD_LENGTH and word_key(text) in keys_of(concept)


@lru_cache(maxsize=1)
def _buy_phrases() -> tuple[str, ...]:
    phrases = [word for word in words_of("buy") if " " in word or not word.isascii()]
    keys = {word_key(phrase) for phrase in phrases}
    return tuple(sorted(key for key in keys if len(key) >= MIN_PHRASE_LENGTH))


def is_buy_text(text: str) -> bool:
    """Return True if a button of this text puts an offer into the basket, or buys it.

    >>> is_buy_text("In den Warenkorb"), is_buy_text("Add to cart - $12.00"), is_buy_text("Cart (2)")
    (True, True, False)
    """
    if not 0 < len(text) <= MAX_WORD_LENGTH:
        return False
    key = word_key(text)
    return key in keys_of("buy") or key.startswith(_buy_phrases())
