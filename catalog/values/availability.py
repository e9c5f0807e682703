"""Availability: in_stock, out_of_stock or preorder, from schema.org URLs, feed words, booleans and
shop phrases.

An offer that can be ordered but ships later (pre-order, back order, made to order) is `preorder`.
The phrases are the usual ones of shops in the languages of Europe and East Asia
(`availability.toml`). Denials are tried first, since most of them contain an assent: a negation up
to three words before an assent, or a count of zero beside one, means out of stock. A phrase that
offers a notification ("Notify me when available") says that the offer is not in stock, unless the
text around it says otherwise.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from catalog.values import text
from catalog.values.prices.price_words import words_pattern

IN_STOCK = "in_stock"
OUT_OF_STOCK = "out_of_stock"
PREORDER = "preorder"
# Characters of a text about availability. Longer ones are sentences about something else.
MAX_LENGTH = 120

_SCHEMA_ORG = re.compile(r"^(?:schema:|(?:https?://)?(?:www\.)?schema\.org/)")
# Words that settle it alone, most of them schema.org's.
_AVAILABILITY_OF_WORD = (
    dict.fromkeys("instock instoreonly onlineonly limitedavailability".split(), IN_STOCK)
    | dict.fromkeys("outofstock soldout discontinued oos".split(), OUT_OF_STOCK)
    | dict.fromkeys("preorder presale backorder madetoorder reserved".split(), PREORDER)
)
_DATA: dict[str, Any] = tomllib.loads(
    files("catalog.values").joinpath("availability.toml").read_text(encoding="utf-8")
)
# Combining marks of European scripts; those of Japanese make another letter.
_ACCENTS = re.compile("[\u0300-\u036f]")
# Letters of scripts that write words without spaces between them.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _fold(phrase: str) -> str:
    """Return a phrase without case and accents, so that `ΔΙΑΘΕΣΙΜΟ` is `διαθέσιμο`."""
    folded = phrase.casefold()
    if folded.isascii():
        return folded
    letters = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    # The dotless i of Turkish has no upper case of its own.
    return unicodedata.normalize("NFC", letters).replace("ı", "i")


def _alternatives(words: Iterable[str]) -> str:
    """Return a pattern for words of the data file, bounded by spaces in scripts that have them."""
    spaced: list[str] = []
    unspaced: list[str] = []
    for word in map(_fold, words):
        (unspaced if _UNSPACED.search(word) else spaced).append(word)
    bounded = rf"(?<![^\W_])(?:{words_pattern(spaced)})(?![^\W_])"
    pattern = f"{bounded}|{words_pattern(unspaced)}" if unspaced else bounded
    return rf"(?:{pattern})".replace(r"\#", r"\d{1,6}")


def _words(name: str) -> list[str]:
    """Return the words of a table of the data file, in all languages."""
    table: str | dict[str, str] = _DATA[name]
    texts = [table] if isinstance(table, str) else table.values()
    return [word for line in texts for word in line.split()]


def _word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(_alternatives(_words(name)))


_YES_WORDS = frozenset(map(_fold, _words("yes")))
_NO_WORDS = frozenset(map(_fold, _words("no")))
_AVAILABILITY_OF_WORD |= dict.fromkeys(_YES_WORDS, IN_STOCK) | dict.fromkeys(
    _NO_WORDS, OUT_OF_STOCK
)
_ASSENT = _alternatives(_words("in_stock"))
_ASSENT_PHRASES = re.compile(_ASSENT)
_DELAY_PHRASES = _word_pattern("preorder")
_NEGATION = rf"{_alternatives(_words('negations'))}(?! {_alternatives(_words('limits'))})"
_SOON = _alternatives(_words("soon"))
_AGAIN = rf"(?:{_alternatives(_words('again'))} )?"
# The assents stand at two places only: to compile them at each of six takes twice as long.
_DENIAL_PHRASES = re.compile(
    rf"{_alternatives(_words('out_of_stock'))}"
    rf"|(?:{_SOON} {_AGAIN}|{_NEGATION}(?: [^\W\d]+){{0,3}}? |(?<![\d.,])0(?: [^\W\d]+)? ){_ASSENT}"
    rf"|{_ASSENT}(?: {_AGAIN}{_SOON}| ?[:?=] ?{_alternatives(_words('no'))}$|:? 0(?![\d.,]))"
)
# In this order: denials contain assents.
_PHRASES = (
    (_DENIAL_PHRASES, OUT_OF_STOCK),
    (_DELAY_PHRASES, PREORDER),
    (_ASSENT_PHRASES, IN_STOCK),
)
_NOTIFY = _word_pattern("notify")
_ABOUT_AVAILABILITY = _word_pattern("about")
_CONDITION = _word_pattern("condition")
_SENTENCE_END = re.compile(r"[.!;|•·–—]\s+|\s[-/]\s")
# A condition before an assent: `ships when available` does not say that it is.
_CONDITIONAL_ASSENT = re.compile(
    rf"{_alternatives(_words('conjunctions'))}[^.;!]{{0,40}}?{_ASSENT}"
)
_TOKEN = re.compile(r"[^\W_]+")
# First letters of the phrases: a text without any of them needs no search.
_START_LENGTH = 3
_STARTS = frozenset(
    token[0][:_START_LENGTH]
    for name in ("in_stock", "out_of_stock", "preorder", "notify")
    for word in _words(name)
    if (token := _TOKEN.search(_fold(word)))
)
# A number of items in stock.
_COUNT = re.compile(r"\d{1,6}")
_GAPS_IN_WORD = re.compile(r"[\s_-]")


def normalise_availability(raw: str) -> str | None:
    """Return in_stock, out_of_stock or preorder; None where the text says nothing about
    availability.

    >>> normalise_availability("https://schema.org/InStock"), normalise_availability("Nicht auf Lager")
    ('in_stock', 'out_of_stock')
    >>> normalise_availability("Vorbestellung"), normalise_availability("blue") is None
    ('preorder', True)
    >>> normalise_availability("0"), normalise_availability("12")
    ('out_of_stock', 'in_stock')
    """
    if not 0 < len(raw) <= MAX_LENGTH:
        return None
    return _normalise(raw)


def is_bare(raw: str) -> bool:
    """Return True if a text is a number, a yes or a no: about availability only where its position
    says so.

    >>> is_bare(" 5052 "), is_bare("true"), is_bare("InStock")
    (True, True, False)
    """
    word = _fold(raw.strip())
    return word in _YES_WORDS or word in _NO_WORDS or word.isdigit()


@lru_cache(maxsize=4096)
def _normalise(raw: str) -> str | None:
    phrase = _fold(text.plain(raw))
    if _COUNT.fullmatch(phrase):
        return IN_STOCK if phrase.strip("0") else OUT_OF_STOCK
    word = _GAPS_IN_WORD.sub("", _SCHEMA_ORG.sub("", phrase).rstrip("/"))
    if availability := _AVAILABILITY_OF_WORD.get(word):
        return availability
    if not _has_start(phrase):
        return None
    # Phrases of feeds may have underscores between their words.
    phrase = phrase.replace("_", " ")
    without_commas = phrase.replace(",", "")
    if _NOTIFY.search(without_commas):
        return _availability_beside_notification(without_commas)
    return _availability_of_phrase(_CONDITIONAL_ASSENT.sub(" ", phrase))


def _has_start(phrase: str) -> bool:
    """Return True if a phrase may hold one of the data file."""
    for token in _TOKEN.findall(phrase):
        if token[:_START_LENGTH] in _STARTS:
            return True
    return _UNSPACED.search(phrase) is not None


def _availability_of_phrase(phrase: str) -> str | None:
    for pattern, availability in _PHRASES:
        if pattern.search(phrase):
            return availability
    return None


def _availability_beside_notification(phrase: str) -> str | None:
    """Return the availability of a phrase that offers a notification: that of its other sentences,
    else out of stock if the notification is about availability.

    >>> _availability_beside_notification("notify me when available")
    'out_of_stock'
    >>> _availability_beside_notification("in stock. notify me when the price drops")
    'in_stock'
    """
    is_offered = False
    for sentence in _SENTENCE_END.split(phrase):
        notification = _NOTIFY.search(sentence)
        statement = sentence[: notification.start()] if notification else sentence
        # `When available, notify me`: the condition belongs to the notification.
        is_condition = notification is not None and _CONDITION.search(statement)
        if not is_condition and (availability := _availability_of_phrase(statement)):
            return availability
        if notification and _ABOUT_AVAILABILITY.search(sentence):
            is_offered = True
    return OUT_OF_STOCK if is_offered else None
