"""The prices of a schema.org offer told apart: the asked price, list prices, prices per unit.

An offer may have several `priceSpecification`s: the list price that is struck through, a price per
kilogram, one for members, and the price itself, in any order. A rule reads the first `price` of a
path, so the price of a specification that is not asked is renamed, and the asked one becomes the
price of its offer where that has none.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

# Names under which the prices of a specification are found that are not asked.
LIST_PRICE = "listPrice"
UNIT_PRICE = "unitPrice"
OTHER_PRICE = "otherPrice"
# Bounds against hostile input.
MAX_LEVELS = 12
MAX_OBJECTS = 2_000
MAX_SPECIFICATIONS = 50


class _Role(IntEnum):
    """The meaning of a specification, the likeliest price first."""

    SALE = 0
    PRICE = 1
    # A price that is asked if the offer has no other.
    FALLBACK = 2
    UNIT = 3
    LIST = 4
    OTHER = 5


_NEVER_ASKED = (_Role.LIST, _Role.OTHER)
_NAMES = {_Role.UNIT: UNIT_PRICE, _Role.FALLBACK: LIST_PRICE, _Role.LIST: LIST_PRICE}
# schema.org's PriceTypeEnumeration, and spellings of shops; letters only, in lower case.
_ROLE_OF_PRICE_TYPE = {
    "saleprice": _Role.SALE,
    "activeprice": _Role.SALE,
    "invoiceprice": _Role.PRICE,
    "listprice": _Role.FALLBACK,
    "regularprice": _Role.FALLBACK,
    "srp": _Role.LIST,
    "msrp": _Role.LIST,
    "strikethroughprice": _Role.LIST,
    "minimumadvertisedprice": _Role.LIST,
}
# Types of specifications that are no prices of goods.
_OTHER_TYPES = ("deliverychargespecification", "paymentchargespecification")
# Conditions under which a price is not the one that everybody pays.
_CONDITIONS = (
    "validForMemberTier",
    "eligibleTransactionVolume",
    "billingDuration",
    "billingIncrement",
)
# Unit codes of a single piece (UN/ECE Recommendation 20), in lower case.
_PIECES = frozenset("c62 h87 ea pce pcs pc nmp st stk".split())
_PRICES = ("price", "minPrice")


def separate_prices(data: Any) -> None:
    """Rename the prices that are not asked in all offers of a thing; set the asked one as the
    offer's price where it has none.

    >>> struck = {"priceType": "https://schema.org/ListPrice", "price": 32}
    >>> offer = {"priceSpecification": [struck, {"price": 12, "priceCurrency": "EUR"}]}
    >>> separate_prices({"offers": offer})
    >>> offer["price"], offer["priceCurrency"], offer["priceSpecification"]
    (12, 'EUR', [{'price': 12, 'priceCurrency': 'EUR'}, {'priceType': 'https://schema.org/ListPrice', 'listPrice': 32}])
    """
    for offer in _offers(data):
        _separate(offer)


def list_prices(data: Any) -> Iterator[Any]:
    """Yield the list prices that were renamed in a thing."""
    for offer in _offers(data):
        for specification in _specifications(offer):
            if LIST_PRICE in specification:
                yield specification[LIST_PRICE]


def _offers(data: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects with price specifications."""
    pending = [(data, 0)]
    for _ in range(MAX_OBJECTS):
        if not pending:
            return
        value, level = pending.pop()
        if isinstance(value, dict):
            if "priceSpecification" in value:
                yield value
            children = list(value.values())
        else:
            children = value if isinstance(value, list) else []
        if level < MAX_LEVELS:
            pending += [(child, level + 1) for child in children if isinstance(child, dict | list)]


def _specifications(offer: dict[str, Any]) -> list[dict[str, Any]]:
    stored = offer["priceSpecification"]
    items = stored if isinstance(stored, list) else [stored]
    specifications: list[dict[str, Any]] = []
    for item in items[:MAX_SPECIFICATIONS]:
        if isinstance(item, dict):
            specifications.append(item)
            components = item.get("priceComponent")
            # A compound with a total needs no components.
            if isinstance(components, list) and _price_of(item) is None:
                specifications += [part for part in components if isinstance(part, dict)]
    return specifications


def _separate(offer: dict[str, Any]) -> None:
    specifications = _specifications(offer)
    roles = [_role_of(specification) for specification in specifications]
    asked = _asked(specifications, roles, has_price=_is_price(offer.get("price")))
    for index, (specification, role) in enumerate(zip(specifications, roles, strict=True)):
        if index == asked or role <= _Role.PRICE:
            continue
        for name in _PRICES:
            if name in specification:
                specification[_NAMES.get(role, OTHER_PRICE)] = specification.pop(name)
    if asked is None:
        return
    chosen = specifications[asked]
    stored = offer["priceSpecification"]
    # Only one at the top of the list is moved: a component stays in its compound.
    if isinstance(stored, list) and any(item is chosen for item in stored):
        offer["priceSpecification"] = [chosen, *(item for item in stored if item is not chosen)]
    price = offer.get("price")
    # The offer's own price may be one of its list prices.
    list_amounts = {str(specification.get(LIST_PRICE)) for specification in specifications}
    if not _is_price(price) or str(price) in list_amounts:
        offer["price"] = _price_of(chosen)
    if not offer.get("priceCurrency") and chosen.get("priceCurrency"):
        offer["priceCurrency"] = chosen["priceCurrency"]


def _asked(
    specifications: list[dict[str, Any]], roles: list[_Role], *, has_price: bool
) -> int | None:
    """Return the index of the asked price; None where no specification has one."""
    indices = [
        index
        for index, specification in enumerate(specifications)
        if _price_of(specification) is not None and roles[index] not in _NEVER_ASKED
    ]
    best = min(indices, key=lambda index: (roles[index], index), default=None)
    if best is None or (has_price and roles[best] > _Role.PRICE):
        return None
    return best


def _role_of(specification: dict[str, Any]) -> _Role:
    kinds = _letters(specification.get("@type"))
    if any(kind in kinds for kind in _OTHER_TYPES):
        return _Role.OTHER
    role = _ROLE_OF_PRICE_TYPE.get(_letters(specification.get("priceType")), _Role.PRICE)
    if role in _NEVER_ASKED:
        return role
    if any(specification.get(name) for name in _CONDITIONS) or _is_of_several(specification):
        return _Role.OTHER
    if _is_per_unit(specification):
        return _Role.UNIT
    return role


def _letters(value: Any) -> str:
    """Return the letters of a name, or of the last name of a list, without its vocabulary."""
    if isinstance(value, dict):
        value = value.get("@id") or value.get("name")
    if isinstance(value, list):
        return " ".join(_letters(item) for item in value[:MAX_LEVELS])
    if not isinstance(value, str):
        return ""
    name = value.rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return "".join(filter(str.isalpha, name)).lower()


def _is_per_unit(specification: dict[str, Any]) -> bool:
    """Return True if a price is that of a kilogram or litre.

    A reference quantity with a base of its own (`valueReference`) is the offer's content: the price
    is for all of it.
    """
    quantity = specification.get("referenceQuantity")
    if isinstance(quantity, list):
        quantity = quantity[0] if quantity else None
    if isinstance(quantity, dict):
        if quantity.get("valueReference"):
            return False
        code = str(quantity.get("unitCode") or "").lower()
        return not (code in _PIECES and str(quantity.get("value", 1)) in ("1", "1.0"))
    if quantity:
        return True
    unit = specification.get("unitCode")
    return isinstance(unit, str) and bool(unit) and unit.lower() not in _PIECES


def _is_of_several(specification: dict[str, Any]) -> bool:
    """Return True if a price holds from two pieces on."""
    quantity = specification.get("eligibleQuantity")
    if not isinstance(quantity, dict):
        return False
    minimum = quantity.get("minValue", quantity.get("value"))
    try:
        return float(str(minimum)) > 1
    except ValueError:
        return False


def _price_of(specification: dict[str, Any]) -> Any:
    for name in _PRICES:
        if _is_price(specification.get(name)):
            return specification[name]
    return None


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool) and value != ""
