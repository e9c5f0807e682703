"""Values: raw text of any source to one canonical text per kind of attribute, and the comparison of two such texts.

Whatever a page, a feed or a person writes goes through `normalise`, so that the learner, the matcher and the reports
compare like with like. `normalise` is called on hundreds of thousands of short texts: each kind refuses cheaply first.
`normalise` leaves a canonical text as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from catalog.models import Attribute, OfferFields
from catalog.values import availability, category, identifier, image, price, text
from catalog.values.identifier import DASH as DASH
from catalog.values.identifier import is_dash as is_dash
from catalog.values.image import is_stand_in as is_stand_in
from catalog.values.price import currency_of as currency_of
from catalog.values.price import decimal_of as decimal_of

MOST_IMAGES = 50


@dataclass(frozen=True)
class Hint:
    """What is known about the shop when its raw text is read: a currency, a decimal separator, the page's address."""

    currency: str | None = None
    decimal: str | None = None
    base_url: str | None = None


NO_HINT = Hint()
_READERS: dict[Attribute, Callable[[str], str | None]] = {
    Attribute.TITLE: text.title,
    Attribute.DESCRIPTION: text.description,
    Attribute.CURRENCY: price.currency_of,
    Attribute.BRAND: text.brand,
    Attribute.CATEGORY: category.normalise,
    Attribute.EAN: identifier.gtin,
    Attribute.HAN: identifier.token,
    Attribute.SKU: identifier.sku,
    Attribute.AVAILABILITY: availability.normalise,
}
_KEYS: dict[Attribute, Callable[[str], str]] = {
    Attribute.DESCRIPTION: text.start_key,
    Attribute.PRICE: price.key,
    Attribute.CATEGORY: category.key,
    Attribute.IMAGE: image.key,
    Attribute.EAN: identifier.gtin_key,
}


def normalise(attribute: Attribute, raw: str, hint: Hint = NO_HINT) -> str | None:
    """The canonical text of a raw one; None where it is no value of the kind.

    >>> normalise(Attribute.PRICE, "ab 1.299,00 €")
    '1299.00'
    >>> normalise(Attribute.EAN, "EAN: 4006381333931") is None
    True
    """
    if attribute is Attribute.PRICE:
        return price.normalise(raw, hint.decimal or price.decimal_in(hint.currency))
    if attribute is Attribute.IMAGE:
        return image.normalise(raw, hint.base_url)
    return _READERS[attribute](raw)


def key(attribute: Attribute, value: str) -> str:
    """What two canonical texts share exactly where they mean the same value.

    >>> key(Attribute.EAN, "036000291452") == key(Attribute.EAN, "0036000291452")
    True
    """
    return _KEYS.get(attribute, text.key)(value)


def same(attribute: Attribute, a: str, b: str) -> bool:
    """Whether two canonical texts mean the same value; descriptions may differ in a fifth of their words."""
    if attribute is Attribute.DESCRIPTION:
        return a == b or text.overlap(a, b) >= text.SAME_DESCRIPTION
    return key(attribute, a) == key(attribute, b)


def fields(
    values: Mapping[Attribute, str | Sequence[str]],
    hint: Hint = NO_HINT,
    url: str | None = None,
    currency: str | None = None,
) -> OfferFields:
    """An offer of raw or canonical texts; what is no value of its kind stays empty.

    Of several texts the first that is a value counts, but images are all kept and a category's are its path. The
    currency of a price is the one given, else the one found, else the price text's own, else the hint's.
    """
    lists = {
        attribute: [value] if isinstance(value, str) else list(value)
        for attribute, value in values.items()
    }
    found: dict[str, Any] = {"url": url, "images": _images(lists.pop(Attribute.IMAGE, []), hint)}
    found["category"] = category.join(lists.pop(Attribute.CATEGORY, []))
    amounts, codes = lists.pop(Attribute.PRICE, []), lists.pop(Attribute.CURRENCY, [])
    code = price.currency((currency or "", *codes, *amounts), hint.currency)
    if amount := _first(Attribute.PRICE, amounts, replace(hint, currency=code)):
        found["price"], found["currency"] = Decimal(amount), code
    for attribute, raws in lists.items():
        found[attribute.value] = _first(attribute, raws, hint)
    return OfferFields(**found)


def values_of(offer: OfferFields) -> dict[Attribute, list[str]]:
    """The canonical texts of an offer, per attribute that it has."""
    found: dict[Attribute, list[str]] = {}
    for attribute in Attribute:
        if attribute is Attribute.IMAGE:
            texts = list(offer.images)
        else:
            value = getattr(offer, attribute.value)
            texts = (
                []
                if value is None
                else [price.canonical(value) if isinstance(value, Decimal) else str(value)]
            )
        if texts:
            found[attribute] = texts
    return found


def _first(attribute: Attribute, raws: Sequence[str], hint: Hint) -> str | None:
    return next(
        (value for raw in raws if (value := normalise(attribute, raw, hint)) is not None), None
    )


def _images(raws: Sequence[str], hint: Hint) -> list[str]:
    found = (image.normalise(raw, hint.base_url) for raw in raws)
    return list(dict.fromkeys(url for url in found if url))[:MOST_IMAGES]
