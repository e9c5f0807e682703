"""Marks of an offer in a page's source: prices, carts, product data. Cheap and rough, and only ever compared."""

import re

MARKS = {
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
DOLLARS = re.compile(rb"[$]\s?\d")


def offer_marks(body: bytes) -> int:
    """How often a page's source says something that offers say.

    >>> offer_marks(b"<p>Only $ 12.00 <a>Add to cart</a>"), offer_marks(b"<p>Imprint")
    (2, 0)
    """
    small = body.lower()
    found = sum(
        small.count(mark) for part, marks in MARKS.items() if part in small for mark in marks
    )
    return found + (len(DOLLARS.findall(small)) if b"$" in small else 0)
