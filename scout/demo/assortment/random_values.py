"""Random and derived values of the demo shop: repeatable draws, link slugs, identifiers, prices."""

import random
import re
from collections.abc import Sequence
from decimal import Decimal

from stdnum import ean as gtin

TRANSLITERATION = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "²": "2", "&": " "})
"""Letters that links spell in ASCII."""

CHEAP = 30
"""Prices below end in .49, .95 or .99."""

MODERATE = 300
"""Prices below end in .00, .90 or .95; from here on they are whole amounts that end in 9."""


def seeded_random(seed: int, purpose: str) -> random.Random:
    """Return a random generator for one purpose: other parts of the shop do not depend on it."""
    return random.Random(f"{seed}/{purpose}")  # noqa: S311


def slug(text: str) -> str:
    """Convert a title to the form that stands in a link.

    >>> slug('Ostertee Grüntee Nr. 4, 250 g')
    'ostertee-gruentee-nr-4-250-g'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower().translate(TRANSLITERATION)).strip("-")


def make_ean(company: int, item: int) -> str:
    """Make a GTIN-13 with GS1's prefix for demonstrations, 952, and its check digit.

    >>> make_ean(7, 42)
    '9520007000427'
    """
    body = f"952{company:04d}{item:05d}"
    return body + str(gtin.calc_check_digit(body))


def make_han(brand: str, model: str, colour: str, number: int) -> str:
    """Make a manufacturer's article number from brand, model and colour.

    >>> make_han("Tavrino", "FM 540", "Schwarz", 10121)
    'TAVFM540-SC21'
    """
    prefix, suffix = slug(brand)[:3], slug(colour)[:2]
    return f"{prefix}{slug(model).replace('-', '')}-{suffix}{number % 100:02d}".upper()


def make_price(bounds: Sequence[int], generator: random.Random) -> Decimal:
    """Draw a price between two bounds with the endings that shops like.

    Cheap prices are more frequent.
    """
    low, high = bounds
    # Uniform in the logarithm: as many offers between 10 and 20 as between 100 and 200.
    rough = low * (high / low) ** generator.random()
    if rough < CHEAP:
        endings = [Decimal("0.49"), Decimal("0.95"), Decimal("0.99")]
        return Decimal(int(rough)) + generator.choice(endings)
    if rough < MODERATE:
        endings = [Decimal("0.00"), Decimal("0.90"), Decimal("0.95")]
        return Decimal(int(rough)) + generator.choice(endings)
    return Decimal(10 * int(rough / 10) + 9) + Decimal("0.00")


def price_before(price: Decimal, generator: random.Random) -> Decimal:
    """Draw the struck-through price of an offer that is reduced to `price`."""
    raised = price * Decimal(generator.choice(["1.15", "1.25", "1.4"]))
    return raised.quantize(Decimal("0.1")) + Decimal("0.09")
