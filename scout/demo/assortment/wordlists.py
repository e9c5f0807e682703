"""Small things the demo shop is made of: repeatable draws, words in links, identifiers, prices."""

import random
import re
from collections.abc import Sequence
from decimal import Decimal

from stdnum import ean as gtin

ROMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "²": "2", "&": " "})


def chance(seed: int, purpose: str) -> random.Random:
    """A source of draws for one purpose, so that a change in one part of the shop leaves the others as they were."""
    return random.Random(f"{seed}/{purpose}")  # noqa: S311


def slug(text: str) -> str:
    """A title as it stands in a link.

    >>> slug('Ostertee Grüntee Nr. 4, 250 g')
    'ostertee-gruentee-nr-4-250-g'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower().translate(ROMAN)).strip("-")


def make_ean(company: int, item: int) -> str:
    """A GTIN-13 below GS1's prefix for demonstrations, 952, with its check digit.

    >>> make_ean(7, 42)
    '9520007000427'
    """
    body = f"952{company:04d}{item:05d}"
    return body + str(gtin.calc_check_digit(body))


def make_han(brand: str, model: str, colour: str, number: int) -> str:
    """A manufacturer's number as manufacturers make them.

    >>> make_han("Tavrino", "FM 540", "Schwarz", 10121)
    'TAVFM540-SC21'
    """
    return f"{slug(brand)[:3]}{slug(model).replace('-', '')}-{slug(colour)[:2]}{number % 100:02d}".upper()


def make_price(between: Sequence[int], draw: random.Random) -> Decimal:
    """A price as shops like them, cheap ones more often than dear ones."""
    least, most = between
    rough = least * (most / least) ** draw.random()
    if rough < 30:
        return Decimal(int(rough)) + draw.choice(
            [Decimal("0.49"), Decimal("0.95"), Decimal("0.99")]
        )
    if rough < 300:
        return Decimal(int(rough)) + draw.choice(
            [Decimal("0.00"), Decimal("0.90"), Decimal("0.95")]
        )
    return Decimal(10 * int(rough / 10) + 9) + Decimal("0.00")


def price_before(price: Decimal, draw: random.Random) -> Decimal:
    """The price that is struck through beside a reduced one."""
    return (price * Decimal(draw.choice(["1.15", "1.25", "1.4"]))).quantize(
        Decimal("0.1")
    ) + Decimal("0.09")
