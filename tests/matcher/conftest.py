"""An invented shop whose offers have siblings that differ in a colour or a number."""

from decimal import Decimal

import pytest

from catalog.models import OfferFields


@pytest.fixture
def lamps() -> list[OfferFields]:
    """Thirty-six lamps: enough to train the classifier on."""
    return make_lamps()


def make_lamps() -> list[OfferFields]:
    """Make the lamps anew."""
    colours, kinds = ("red", "blue", "green"), ("desk lamp", "floor lamp", "wall light", "pendant")
    return [
        OfferFields(
            url=f"https://shop.example/p/{kinds[n % 4].replace(' ', '-')}-{n}",
            title=f"Lumo {kinds[n % 4]} {100 + n // 12} {colours[n % 3]}",
            price=Decimal(20 + 3 * n),
            currency="EUR",
            brand="Lumo",
            sku=f"LU-{1000 + n}",
            images=[f"https://cdn.example/pictures/lumo-{n}.jpg"],
            description=(
                f"A {colours[n % 3]} {kinds[n % 4]} of the series {100 + n // 12}, "
                f"item {n}, 2 m of cable"
            ),
        )
        for n in range(36)
    ]
