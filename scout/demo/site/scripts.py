"""Product data as shops leave it in scripts: JSON with prices in cents, hand-written JavaScript, application state."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scout.demo.assortment.offers import Offer, Variant


def page_meta(offer: Offer, choices: Sequence[Offer | Variant]) -> dict[str, Any]:
    """The theme's `var meta`: all choices of the product, prices in cents; which one is chosen it does not say."""
    variants = [
        {
            "id": choice.id if isinstance(choice, Variant) else choice.number,
            "price": int(choice.price * 100),
            "name": offer.title if isinstance(choice, Variant) else choice.title,
            "sku": choice.sku,
            "barcode": choice.ean,
        }
        for choice in choices
    ]
    kind = f"{offer.category.parent} > {offer.category.name}"
    product = {"id": offer.number, "vendor": offer.brand, "type": kind, "variants": variants}
    return {"product": product, "page": {"pageType": "product", "resourceId": offer.number}}


def data_layer(offer: Offer) -> str:
    """The tag manager's call: JavaScript with bare keys and single quotes, as people write it by hand."""
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
    """The application's state: the offer on the page, and beside it others that are not."""
    return {
        "route": {"name": "product", "path": offer.path, "locale": offer.locale},
        "product": {
            **_facts(offer),
            "description": offer.description,
            "attributes": dict(offer.specs),
        },
        "recommendations": [_facts(other) for other in related],
        "session": {"loggedIn": False, "basket": {"items": [], "total": 0.0}},
    }


def attribute_json(offer: Offer) -> str:
    """What a `data-` attribute carries; the template escapes it."""
    facts = {
        "id": offer.number,
        "ean": offer.ean,
        "mpn": offer.han,
        "amount": f"{offer.price:.2f}",
        "sku": offer.sku,
    }
    return json.dumps(
        {**facts, "currency": offer.currency, "stock": int(offer.available) * 7}, ensure_ascii=False
    )


def javascript(value: Any) -> str:
    """A value as hand-written JavaScript: bare keys, single quotes, a comma after the last.

    >>> javascript({"a": "it's", "b": [1, None, True]})
    "{a: 'it\\\\'s', b: [1, null, true,],}"
    """
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{key}: {javascript(part)}," for key, part in value.items()) + "}"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("<", "\\x3c") + "'"
    if isinstance(value, list):
        return "[" + " ".join(f"{javascript(part)}," for part in value) + "]"
    return json.dumps(value)


def _facts(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.number,
        "title": offer.title,
        "manufacturer": {"name": offer.brand, "partNumber": offer.han},
        "sku": offer.sku,
        "gtin": offer.ean,
        "category": [offer.category.parent, offer.category.name],
        "pricing": {
            "current": float(offer.price),
            "before": float(offer.old_price) if offer.old_price else None,
        },
        "currency": offer.currency,
        "images": [offer.image, offer.image.replace("-1.svg", "-2.svg")],
        "inStock": offer.available,
    }
