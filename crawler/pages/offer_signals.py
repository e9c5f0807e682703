"""Offer signals in a page's source: prices, carts, product data.

The count is cheap and rough; it is compared with the counts of other pages of the shop, never with
a fixed bound.
"""

import re
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from catalog.values.shop_words import words_of

# Product data and written-out currencies.
SIGNALS = (
    b"schema.org/product",
    b'"@type":"product',
    b'"@type": "product',
    b"product:price",
    b'itemprop="price',
    b'itemprop="offers',
    b"&euro;",
    b"&pound;",
    b" eur",
    b" chf",
)
SCRIPT_START = b"<script"
SCRIPT_END = b"</script"
PATTERNS = (*SIGNALS, SCRIPT_START, SCRIPT_END)
# By the index of a script's tag among the patterns: True if it begins the script.
SCRIPT_TAGS = {PATTERNS.index(SCRIPT_START): True, PATTERNS.index(SCRIPT_END): False}
# Signs of currencies: counted among the characters that are not ASCII, mostly few.
SIGNS = tuple(sign.encode() for sign in "€₽₴₩£¥")
# Signals by the characters that are not ASCII in them.
FOREIGN_SIGNALS = {"ł".encode(): ("zł".encode(),), "руб".encode(): ("руб".encode(),)}
ASCII = bytes(range(128))
# Names of buttons. In a script they are texts of the shop's, on whichever page.
BUTTON_SIGNALS = (b"add-to-cart", b"add_to_cart", b"addtocart")
LANGUAGE = re.compile(rb"<html[^>]{0,500}?\blang=[\"']?([a-z]{2})", re.IGNORECASE)
# Languages whose words are looked for on a page that states no language.
USUAL_LANGUAGES = ("en", "de")
# Bytes in which a page states its language.
START_SIZE = 5_000
DOLLAR_AMOUNT = re.compile(rb"[$]\s?\d")


def count_offer_signals(body: bytes) -> int:
    """Count the occurrences of offer signals in a page's source.

    >>> count_offer_signals(b"<p>Only $ 12.00 <a>Add to cart</a>")
    2
    >>> count_offer_signals(b"<p>Imprint <script>text = 'Add to cart'</script>")
    0
    """
    source = body.lower()
    match = LANGUAGE.search(source, 0, START_SIZE)
    signals = _signals(match[1].decode() if match else "")
    count, in_script = 0, False
    for index, _, _ in signals.find_matches_as_indexes(source):
        if index in SCRIPT_TAGS:
            in_script = SCRIPT_TAGS[index]
        else:
            count += index < len(PATTERNS) or not in_script
    # Whole characters remain, so that none is counted that the page does not have.
    foreign = source.translate(None, ASCII)
    if foreign:
        count += sum(map(foreign.count, SIGNS))
        for characters, words in FOREIGN_SIGNALS.items():
            if characters in foreign:
                count += sum(map(source.count, words))
    if b"$" in source:
        count += len(DOLLAR_AMOUNT.findall(source))
    return count


# One pass finds all signals: on mirrored pages, to search for each of them takes fifty times as long.
@lru_cache(maxsize=128)
def _signals(language: str) -> BytesAhoCorasick:
    """Return the signals of a page in a language: `PATTERNS` first, then those of buttons that buy.

    Words on buttons are looked for in small letters and as titles, in English as well. Single words
    of Latin letters are left out: texts have them, too.
    """
    languages = dict.fromkeys((language, "en") if language else USUAL_LANGUAGES)
    buttons = set(BUTTON_SIGNALS)
    for phrase in words_of("buy", languages):
        if " " in phrase or not phrase.isascii():
            # `bytes.lower` knows ASCII only: a capital of another script remains in the source.
            spellings = (spelling.encode() for spelling in (phrase, phrase.capitalize()))
            buttons.update(spelling for spelling in spellings if spelling == spelling.lower())
    # Signals that overlap count once, the longest of them. To find each, the library could not skip
    # ahead: on mirrored pages it takes seven times as long.
    patterns = (*PATTERNS, *sorted(buttons))
    return BytesAhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest)
