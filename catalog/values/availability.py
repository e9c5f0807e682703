"""Availability: in_stock, out_of_stock or preorder, from schema.org addresses, feed words, booleans and shop phrases.

What can be ordered but comes later (pre-order, back order) is `preorder`. The phrases are the usual ones of German,
English, French, Spanish, Italian and Dutch shops; denials are looked for first, because most of them contain a yes.
"""

import re
from functools import lru_cache

from catalog.values import text

IN_STOCK, OUT_OF_STOCK, PREORDER = "in_stock", "out_of_stock", "preorder"
LONGEST = 120
_YES = "true yes y ja oui si sí instock instoreonly onlineonly limitedavailability"
_NO = "false no n nein non nee outofstock soldout discontinued oos"
_LATER = "preorder presale backorder madetoorder reserved"
_WORDS = {
    word: meaning
    for words, meaning in ((_YES, IN_STOCK), (_NO, OUT_OF_STOCK), (_LATER, PREORDER))
    for word in words.split()
}
_DENIALS = re.compile(
    r"\b(?:out[ _-]of[ _-]stock|sold[ _-]?out|not available|unavailable|not in stock|no longer available|discontinued"
    r"|ausverkauft|vergriffen|(?:nicht|nicht mehr|zurzeit nicht|derzeit nicht|momentan nicht) "
    r"(?:verfügbar|lieferbar|vorrätig|auf lager|erhältlich)"
    r"|rupture|épuisé|indisponible|non disponible|plus disponible|agotado|sin (?:stock|existencias)|no disponible"
    r"|fuera de stock|esaurito|non disponibile|terminato|uitverkocht|niet (?:op voorraad|leverbaar|beschikbaar))"
)
_DELAYS = re.compile(
    r"\b(?:pre[ _-]?order|back[ _-]?order|pre[ _-]?sale|vorbestell|pré-?commande|précommander|preventa|bajo pedido"
    r"|preordin|prenota|in prevendita|pre-?bestel)"
)
_ASSENTS = re.compile(
    r"\b(?:in[ _-]stock|available|auf lager|ab lager|lagernd|vorrätig|lieferbar|verfügbar|sofort|erhältlich|en stock"
    r"|disponible|en existencia|hay existencias|disponibile|in magazzino|op voorraad|leverbaar|beschikbaar"
    r"|only \d+ left|nur noch \d+)\b"
)


def normalise(raw: str) -> str | None:
    """One of the three words; None where the text says nothing of the kind.

    >>> normalise("https://schema.org/InStock"), normalise("Nicht auf Lager"), normalise("Vorbestellung")
    ('in_stock', 'out_of_stock', 'preorder')
    >>> normalise("0"), normalise("12"), normalise("blue") is None
    ('out_of_stock', 'in_stock', True)
    """
    return _read(raw) if 0 < len(raw) <= LONGEST else None


@lru_cache(maxsize=4096)
def _read(raw: str) -> str | None:
    said = text.plain(raw).casefold()
    if re.fullmatch(r"\d{1,6}", said):
        return IN_STOCK if said.strip("0") else OUT_OF_STOCK
    word = re.sub(r"[\s_-]", "", re.sub(r"^(?:https?://)?(?:www\.)?schema\.org/", "", said))
    if word in _WORDS:
        return _WORDS[word]
    for phrases, meaning in ((_DENIALS, OUT_OF_STOCK), (_DELAYS, PREORDER), (_ASSENTS, IN_STOCK)):
        if phrases.search(said):
            return meaning
    return None
