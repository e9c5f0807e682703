"""Product data in scripts, as shops have it.

JSON with prices in cents, hand-written JavaScript, and application state.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scout.demo.assortment.offers import Offer, Variant


def page_meta(offer: Offer, choices: Sequence[Offer | Variant]) -> dict[str, Any]:
    """Return the theme's `var meta`: all choices of the product, without the chosen one."""
    category_path = f"{offer.category.parent} > {offer.category.name}"
    product = {
        "id": offer.number,
        "vendor": offer.brand,
        "type": category_path,
        "variants": [_meta_variant(offer, choice) for choice in choices],
    }
    return {"product": product, "page": {"pageType": "product", "resourceId": offer.number}}


def _meta_variant(offer: Offer, choice: Offer | Variant) -> dict[str, Any]:
    number, name = offer.number, offer.title
    if isinstance(choice, Variant):
        number = choice.id
    else:
        number, name = choice.number, choice.title
    return {
        "id": number,
        "price": int(choice.price * 100),
        "name": name,
        "sku": choice.sku,
        "barcode": choice.ean,
    }


def data_layer(offer: Offer) -> str:
    """Return the tag manager's call, as if written by hand: bare keys, single quotes."""
    item = {
        "item_id": offer.sku,
        "item_name": offer.title,
        "item_brand": offer.brand,
        "item_category": offer.category.parent,
        "item_category2": offer.category.name,
        "price": float(offer.price),
        "quantity": 1,
    }
    return javascript(
        {"event": "view_item", "ecommerce": {"currency": offer.currency, "items": [item]}}
    )


def page_state(offer: Offer, related: Sequence[Offer]) -> dict[str, Any]:
    """Return the hydration state: the offer on the page, and other offers as recommendations."""
    return {
        "route": {"name": "product", "path": offer.path, "locale": offer.locale},
        "product": {
            **_state_product(offer),
            "description": offer.description,
            "attributes": dict(offer.specs),
        },
        "recommendations": [_state_product(neighbour) for neighbour in related],
        "session": {"loggedIn": False, "basket": {"items": [], "total": 0.0}},
    }


def attribute_json(offer: Offer) -> str:
    """Return the JSON of a `data-` attribute; the template escapes it."""
    product = {
        "id": offer.number,
        "ean": offer.ean,
        "mpn": offer.han,
        "amount": f"{offer.price:.2f}",
        "sku": offer.sku,
        "currency": offer.currency,
        "stock": int(offer.available) * 7,
    }
    return json.dumps(product, ensure_ascii=False)


def javascript(value: Any) -> str:
    """Format a value as hand-written JavaScript: bare keys, single quotes, trailing commas.

    >>> javascript({"a": "it's", "b": [1, None, True]})
    "{a: 'it\\\\'s', b: [1, null, true,],}"
    """
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{key}: {javascript(part)}," for key, part in value.items()) + "}"
    if isinstance(value, str):
        # "<" is escaped, because "</script>" in a string would end the script element.
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("<", "\\x3c") + "'"
    if isinstance(value, list):
        return "[" + " ".join(f"{javascript(part)}," for part in value) + "]"
    return json.dumps(value)


def _state_product(offer: Offer) -> dict[str, Any]:
    old_price = float(offer.old_price) if offer.old_price else None
    return {
        "id": offer.number,
        "title": offer.title,
        "manufacturer": {"name": offer.brand, "partNumber": offer.han},
        "sku": offer.sku,
        "gtin": offer.ean,
        "category": [offer.category.parent, offer.category.name],
        "pricing": {"current": float(offer.price), "before": old_price},
        "currency": offer.currency,
        "images": [offer.image, offer.image.replace("-1.svg", "-2.svg")],
        "inStock": offer.available,
    }
