"""Offer signals in a page's source: prices, carts, product data.

The count is cheap and rough; it is compared with the counts of other pages of the shop, never with
a fixed bound.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from catalog.values.shop_words import words_of

# Signals by a substring that a group shares: one search for it can rule out the group.
SIGNALS = {
    b"product": (
        b"schema.org/product",
        b'"@type":"product',
        b'"@type": "product',
        b"product:price",
    ),
    b'itemprop="': (b'itemprop="price', b'itemprop="offers'),
    b"&": (b"&euro;", b"&pound;"),
    b"": (b" eur", b" chf"),
}
# Signs of currencies: counted among the characters that are not ASCII, mostly few.
SIGNS = tuple(sign.encode() for sign in "€₽₴₩£¥")
# Signals by the characters that are not ASCII in them.
FOREIGN_SIGNALS = {"ł".encode(): ("zł".encode(),), "руб".encode(): ("руб".encode(),)}
ASCII = bytes(range(128))
# Signals of buttons. In a script they are texts of the shop's, on whichever page.
BUTTON_SIGNALS = {b"cart": (b"add-to-cart", b"add_to_cart", b"addtocart")}
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
    count = _count(source, SIGNALS)
    # Whole characters remain, so that none is counted that the page does not have.
    foreign = source.translate(None, ASCII)
    if foreign:
        count += sum(map(foreign.count, SIGNS))
        for characters, signals in FOREIGN_SIGNALS.items():
            if characters in foreign:
                count += sum(map(source.count, signals))
    if b"$" in source:
        count += len(DOLLAR_AMOUNT.findall(source))
    # The parts behind the ends of scripts: the first is all before the first script.
    first, *later_parts = source.split(b"<script")
    outside_scripts = first + b" ".join(part.partition(b"</script")[2] for part in later_parts)
    count += _count(outside_scripts, BUTTON_SIGNALS)
    match = LANGUAGE.search(source, 0, START_SIZE)
    buy_words = _buy_words(match[1].decode() if match else "")
    return count + _count(outside_scripts, buy_words)


def _count(source: bytes, groups: Mapping[bytes, Sequence[bytes]]) -> int:
    count = 0
    for shared, signals in groups.items():
        if shared in source:
            count += sum(source.count(signal) for signal in signals)
    return count


@lru_cache(maxsize=128)
def _buy_words(language: str) -> Mapping[bytes, Sequence[bytes]]:
    """Return the words of buttons that buy, in a language and in English, by their first words.

    In small letters and as titles.

    Single words of Latin letters are left out: texts have them as well.
    """
    languages = dict.fromkeys((language, "en") if language else USUAL_LANGUAGES)
    phrases = [word for word in words_of("buy", languages) if " " in word or not word.isascii()]
    # `bytes.lower` knows ASCII only.
    spellings = {spelling.encode() for word in phrases for spelling in (word, word.capitalize())}
    groups: dict[bytes, list[bytes]] = {}
    for word in sorted(spellings):
        if word == word.lower():
            first, space, _ = word.partition(b" ")
            groups.setdefault(first + space, []).append(word)
    return groups
