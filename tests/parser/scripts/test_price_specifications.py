"""The prices of schema.org offers told apart."""

import json
from typing import Any

import pytest

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.price_specifications import list_prices, separate_prices
from parser.scripts.schema_org import SCHEMA_ORG

Specification = dict[str, Any]

ASKED: Specification = {"@type": "UnitPriceSpecification", "price": "12.00", "priceCurrency": "EUR"}


def _typed(kind: str, price: str = "32.00") -> Specification:
    return {"@type": "UnitPriceSpecification", "priceType": kind, "price": price}


LISTED = _typed("https://schema.org/ListPrice")
PER_KILO = {"price": "48.00", "referenceQuantity": {"value": "1", "unitCode": "KGM"}}
MEMBERS = {"price": "10.00", "validForMemberTier": {"@type": "MemberProgramTier"}}

PRICES: dict[str, tuple[Any, str | None]] = {
    "one specification": (ASKED, "12.00"),
    "a list of one": ([ASKED], "12.00"),
    "the list price first": ([LISTED, ASKED], "12.00"),
    "the list price last": ([ASKED, LISTED], "12.00"),
    "the struck price first": ([_typed("https://schema.org/StrikethroughPrice"), ASKED], "12.00"),
    "a short name": ([_typed("StrikethroughPrice"), ASKED], "12.00"),
    "an old URL": ([_typed("http://schema.org/ListPrice"), ASKED], "12.00"),
    "a prefix": ([_typed("schema:ListPrice"), ASKED], "12.00"),
    "a type as an object": ([LISTED | {"priceType": {"@id": "https://schema.org/MSRP"}}, ASKED], "12.00"),
    "a type in a list": ([LISTED | {"priceType": ["https://schema.org/ListPrice"]}, ASKED], "12.00"),
    "the maker's price": ([_typed("https://schema.org/MSRP"), ASKED], "12.00"),
    "the suggested price": ([_typed("https://schema.org/SRP"), ASKED], "12.00"),
    "the least advertised price": ([_typed("MinimumAdvertisedPrice"), ASKED], "12.00"),
    "the regular price": ([_typed("https://schema.org/RegularPrice"), ASKED], "12.00"),
    "the sale price last": ([_typed("RegularPrice"), _typed("https://schema.org/SalePrice", "12.00")], "12.00"),
    "the sale price beside one without a type": ([{"price": "32.00"}, _typed("SalePrice", "12.00")], "12.00"),
    "only a list price": (LISTED, "32.00"),
    "only a struck price": (_typed("StrikethroughPrice"), None),
    "only the maker's price": ([_typed("MSRP")], None),
    "a price per kilogram first": ([PER_KILO, ASKED], "12.00"),
    "a price per litre by its unit": ([{"price": "9.00", "unitCode": "LTR"}, ASKED], "12.00"),
    "a list of quantities": ([PER_KILO | {"referenceQuantity": [{"unitCode": "KGM"}]}, ASKED], "12.00"),
    "only a price per kilogram": (PER_KILO, "48.00"),
    "per piece": ({"price": "12.00", "referenceQuantity": {"value": 1, "unitCode": "C62"}}, "12.00"),
    "per hundred pieces": ([{"price": "90.00", "referenceQuantity": {"value": 100, "unitCode": "C62"}}, ASKED], "12.00"),
    "the content with its base": (
        {"price": "12.00", "referenceQuantity": {"value": "4.5", "unitCode": "LTR",
         "valueReference": {"value": "1", "unitCode": "LTR"}}}, "12.00"),
    "for members": ([MEMBERS, ASKED], "12.00"),
    "for ten pieces": ([{"price": "9.00", "eligibleQuantity": {"minValue": 10}}, ASKED], "12.00"),
    "a rate": ([{"price": "1.00", "billingDuration": "P1M"}, ASKED], "12.00"),
    "postage": ([{"@type": "DeliveryChargeSpecification", "price": "4.90"}, ASKED], "12.00"),
    "a compound": ({"@type": "CompoundPriceSpecification", "priceComponent": [LISTED, ASKED]}, "12.00"),
    "a least price": ({"minPrice": "12.00", "maxPrice": "20.00"}, "12.00"),
    "an empty price": ([{"price": ""}, ASKED], "12.00"),
    "nothing": ([], None),
    "no object": ("12.00", None),
    "no number": ({"price": None}, None),
}  # fmt: skip


@pytest.mark.parametrize(("stored", "expected"), PRICES.values(), ids=PRICES.keys())
def test_the_asked_price_is_that_of_the_offer(stored: Any, expected: str | None) -> None:
    """Whatever the order and the spelling, an offer's price is the one that is asked."""
    offer: dict[str, Any] = {"@type": "Offer", "priceSpecification": json.loads(json.dumps(stored))}
    separate_prices({"@type": "Product", "offers": [offer]})
    assert offer.get("price") == expected


OWN_PRICES: dict[str, tuple[str, Any, str]] = {
    "its own": ("12.00", LISTED, "12.00"),
    "its own beside a list": ("12.00", [LISTED, PER_KILO], "12.00"),
    "its own beside a price per kilogram": ("12.00", PER_KILO, "12.00"),
    "the asked one if its own is the list price": ("32.00", [LISTED, ASKED], "12.00"),
}


@pytest.mark.parametrize(("own", "stored", "expected"), OWN_PRICES.values(), ids=OWN_PRICES.keys())
def test_an_offer_keeps_its_own_price(own: str, stored: Any, expected: str) -> None:
    """A specification replaces the price of an offer only where that is the list price."""
    offer = {"price": own, "priceSpecification": json.loads(json.dumps(stored))}
    separate_prices(offer)
    assert offer["price"] == expected


@pytest.mark.parametrize(
    "path", ["$.offers.price", "$.offers.priceSpecification[0].price", "$.offers.priceSpecification.*.price"]
)  # fmt: skip
@pytest.mark.parametrize("stored", [[LISTED, ASKED], [ASKED, LISTED], [PER_KILO, LISTED, ASKED]])
def test_rules_read_the_asked_price_at_each_path(path: str, stored: list[Specification]) -> None:
    """A rule that was learnt on offers without a reduction is right on those with one."""
    offer = {"@type": "Product", "offers": {"priceSpecification": stored}}
    script = f'<script type="application/ld+json">{json.dumps(offer)}</script>'
    page = Document(script, "https://shop.example/")
    assert page.find(JsonAt(css=SCHEMA_ORG, block="ld+json Product", path=path)) == "12.00"


def test_list_prices_are_kept_beside() -> None:
    """The price before a reduction is still known, under its own name."""
    offer = {"priceSpecification": [json.loads(json.dumps(LISTED)), dict(ASKED)]}
    separate_prices({"offers": offer})
    assert list(list_prices({"offers": offer})) == ["32.00"]


def test_nested_data_is_bounded() -> None:
    """Objects and levels beyond the caps are left alone."""
    deep: Any = {"priceSpecification": dict(ASKED)}
    for _ in range(500):
        deep = {"offers": [deep]}
    separate_prices(deep)
    separate_prices([{"priceSpecification": [dict(ASKED)] * 1_000}] * 10_000)
