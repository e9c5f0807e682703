"""Availability: in_stock, out_of_stock or preorder, from schema.org addresses, feed words, booleans and shop phrases.

What can be ordered but comes later (pre-order, back order) is `preorder`. The phrases are the usual ones of German,
English, French, Spanish, Italian and Dutch shops; denials are looked for first, because most of them contain a yes: a
word of denial up to three words before one is a no, and so is a count of none beside one.
"""

import re
from functools import lru_cache

from catalog.values import text

IN_STOCK = "in_stock"
OUT_OF_STOCK = "out_of_stock"
PREORDER = "preorder"
LONGEST = 120
_SCHEMA = re.compile(r"^(?:schema:|(?:https?://)?(?:www\.)?schema\.org/)")
_BARE_YES = "true yes y ja oui si sí"
_BARE_NO = "false no n nein non nee"
_BARE = frozenset(f"{_BARE_YES} {_BARE_NO}".split())
_YES = f"{_BARE_YES} instock instoreonly onlineonly limitedavailability"
_NO = f"{_BARE_NO} outofstock soldout discontinued oos"
_LATER = "preorder presale backorder madetoorder reserved"
_WORDS = {
    word: meaning
    for words, meaning in ((_YES, IN_STOCK), (_NO, OUT_OF_STOCK), (_LATER, PREORDER))
    for word in words.split()
}
_DELAYS = re.compile(
    r"\b(?:pre[ _-]?order|back[ _-]?order|pre[ _-]?sale|vorbestell|pré-?commande|précommander|preventa|bajo pedido"
    r"|preordin|prenota|in prevendita|pre-?bestel)"
)
_ASSENT = (
    r"\b(?:in[ _-]stock|available|auf lager|ab lager|lagernd|vorrätig|lieferbar|verfügbar|sofort|erhältlich|en stock"
    r"|disponibles?|en existencia|hay existencias|disponibile|in magazzino|op voorraad|leverbaar|beschikbaar"
    r"|only \d+ left|nur noch \d+)\b"
)
_ASSENTS = re.compile(_ASSENT)
_NOT = r"\b(?:no|not|nicht|kein\w*|pas|plus|non|niet|geen)\b(?! (?:only|nur|que|seulement|solo|alleen)\b)"
_DENIALS = re.compile(
    r"\b(?:out[ _-]of[ _-]stock|no stock|sold[ _-]?out|unavailable|discontinued|ausverkauft|vergriffen"
    r"|rupture|épuisé|indisponible|agotado|sin (?:stock|existencias)|fuera de stock|esaurito|terminato|uitverkocht)"
    rf"|{_NOT}(?: [^\W\d]+){{0,3}}? {_ASSENT}"
    rf"|(?<![\d.,])0(?: [^\W\d]+)? {_ASSENT}|{_ASSENT}:? 0(?![\d.,])|\bonly 0 left"
)


def normalise(raw: str) -> str | None:
    """One of the three words; None where the text says nothing of the kind.

    >>> normalise("https://schema.org/InStock"), normalise("Nicht auf Lager"), normalise("Vorbestellung")
    ('in_stock', 'out_of_stock', 'preorder')
    >>> normalise("0"), normalise("12"), normalise("blue") is None
    ('out_of_stock', 'in_stock', True)
    """
    return _read(raw) if 0 < len(raw) <= LONGEST else None


def is_bare(raw: str) -> bool:
    """Whether a text is a number, a yes or a no, which says nothing of stock unless its place does.

    >>> is_bare(" 5052 "), is_bare("true"), is_bare("InStock")
    (True, True, False)
    """
    return raw.strip().casefold() in _BARE or raw.strip().isdigit()


@lru_cache(maxsize=4096)
def _read(raw: str) -> str | None:
    said = text.plain(raw).casefold()
    if re.fullmatch(r"\d{1,6}", said):
        return IN_STOCK if said.strip("0") else OUT_OF_STOCK
    word = re.sub(r"[\s_-]", "", _SCHEMA.sub("", said).rstrip("/"))
    if word in _WORDS:
        return _WORDS[word]
    for phrases, meaning in ((_DENIALS, OUT_OF_STOCK), (_DELAYS, PREORDER), (_ASSENTS, IN_STOCK)):
        if phrases.search(said):
            return meaning
    return None
