"""Offer signals in a page's source: prices, carts, product data.

The count is cheap and rough; it is compared with the counts of other pages of the shop, never with
a fixed bound.
"""

import re

# Signals by a substring that a group shares: one search for it can rule out the group.
SIGNALS = {
    b"product": (
        b"schema.org/product",
        b'"@type":"product',
        b'"@type": "product',
        b"product:price",
    ),
    b'itemprop="': (b'itemprop="price', b'itemprop="offers'),
    b"cart": (b"add-to-cart", b"add_to_cart", b"addtocart", b"add to cart"),
    b"&": (b"&euro;", b"&pound;"),
    b"": (b"warenkorb", b"\xe2\x82\xac", b"\xc2\xa3", b" eur", b" chf"),
}
DOLLAR_AMOUNT = re.compile(rb"[$]\s?\d")


def count_offer_signals(body: bytes) -> int:
    """Count the occurrences of offer signals in a page's source.

    >>> count_offer_signals(b"<p>Only $ 12.00 <a>Add to cart</a>")
    2
    >>> count_offer_signals(b"<p>Imprint")
    0
    """
    source = body.lower()
    count = 0
    for shared, signals in SIGNALS.items():
        if shared in source:
            count += sum(source.count(signal) for signal in signals)
    if b"$" in source:
        count += len(DOLLAR_AMOUNT.findall(source))
    return count
