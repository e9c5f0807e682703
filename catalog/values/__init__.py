"""Values of attributes: normalisation of raw text from any source, and comparison of normalised
values.

Every text of a page, a feed or a person goes through `normalise`, so that learner, matcher and
reports compare like with like. It is called on hundreds of thousands of short texts, so each kind
of value rejects cheaply first. `normalise` is idempotent: a normalised text stays unchanged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from catalog.models import Attribute, OfferFields
from catalog.values import availability, category, identifier, image, text
from catalog.values.identifier import DASH as DASH
from catalog.values.identifier import is_dash as is_dash
from catalog.values.identifier import is_long_gtin as is_long_gtin
from catalog.values.image import is_placeholder_image as is_placeholder_image
from catalog.values.prices import price
from catalog.values.prices.price import find_currency as find_currency
from catalog.values.prices.price import find_decimal_separator as find_decimal_separator

# Images of one offer that are stored.
MAX_IMAGES = 50


@dataclass(frozen=True)
class Hint:
    """Facts about the shop that decide how a raw text is read: currency, decimal separators, URL of
    the page.
    """

    currency: str | None = None
    decimal: str | None = None
    base_url: str | None = None


NO_HINT = Hint()
_COLUMNS = tuple(OfferFields.model_fields)
_NORMALISERS: dict[Attribute, Callable[[str], str | None]] = {
    Attribute.TITLE: text.normalise_title,
    Attribute.DESCRIPTION: text.normalise_description,
    Attribute.CURRENCY: price.find_currency,
    Attribute.BRAND: text.normalise_brand,
    Attribute.CATEGORY: category.normalise_category,
    Attribute.EAN: identifier.normalise_gtin,
    Attribute.HAN: identifier.normalise_token,
    Attribute.SKU: identifier.normalise_sku,
    Attribute.AVAILABILITY: availability.normalise_availability,
}
_KEYS: dict[Attribute, Callable[[str], str]] = {
    Attribute.DESCRIPTION: text.start_key,
    Attribute.PRICE: price.price_key,
    Attribute.CATEGORY: category.category_key,
    Attribute.IMAGE: image.image_key,
    Attribute.EAN: identifier.gtin_key,
}


def normalise(attribute: Attribute, raw: str, hint: Hint = NO_HINT) -> str | None:
    """Normalise a raw text; None where it is no value of this attribute.

    >>> normalise(Attribute.PRICE, "ab 1.299,00 €")
    '1299.00'
    >>> normalise(Attribute.EAN, "EAN: 4006381333931") is None
    True
    """
    if attribute in _NORMALISERS:
        return _NORMALISERS[attribute](raw)
    if attribute is Attribute.IMAGE:
        return image.normalise_image(raw, hint.base_url)
    return price.normalise_price(raw, hint.decimal or price.decimal_separators(hint.currency))


def value_key(attribute: Attribute, value: str) -> str:
    """Comparison key: two normalised values have the same key if they mean the same.

    >>> value_key(Attribute.EAN, "036000291452") == value_key(Attribute.EAN, "0036000291452")
    True
    """
    return _KEYS.get(attribute, text.text_key)(value)


def is_same_value(attribute: Attribute, a: str, b: str) -> bool:
    """Return True if two normalised values mean the same; descriptions may differ in a fifth of
    their words.
    """
    if attribute is Attribute.DESCRIPTION:
        return a == b or text.word_overlap(a, b) >= text.SAME_DESCRIPTION
    return value_key(attribute, a) == value_key(attribute, b)


def is_same_as_any(attribute: Attribute, value: str, accepted: Iterable[str]) -> bool:
    """Return True if a normalised value means the same as one of the accepted ones.

    >>> is_same_as_any(Attribute.BRAND, "LUMO", ["Acme", "Lumo"])
    True
    """
    return any(is_same_value(attribute, value, accepted_value) for accepted_value in accepted)


def make_offer(
    values: Mapping[Attribute, str | Sequence[str]],
    hint: Hint = NO_HINT,
    url: str | None = None,
    currency: str | None = None,
) -> OfferFields:
    """Make an offer of raw or normalised texts; attributes without a valid text stay None.

    The first valid text of an attribute counts. All images are taken, and a category's texts are
    the steps of its path. The currency of a price is `currency`, else that of the values, else the
    price text's own, else the hint's.
    """
    return OfferFields(**make_columns(values, hint, url, currency))


def make_columns(
    values: Mapping[Attribute, str | Sequence[str]],
    hint: Hint = NO_HINT,
    url: str | None = None,
    currency: str | None = None,
) -> dict[str, Any]:
    """Make the columns of an offer (see `make_offer`), those without a value included.

    An import calls this for each row: a model would cost more than all its values.
    """
    columns: dict[str, Any] = dict.fromkeys(_COLUMNS)
    columns["url"] = url
    texts: dict[Attribute, Sequence[str]] = {}
    for attribute, value in values.items():
        texts[attribute] = [value] if isinstance(value, str) else value
    columns["images"] = _normalise_images(texts.pop(Attribute.IMAGE, []), hint)
    category_texts = texts.pop(Attribute.CATEGORY, [])
    columns["category"] = category.join_path(category_texts) if category_texts else None
    amounts = texts.pop(Attribute.PRICE, [])
    currencies = texts.pop(Attribute.CURRENCY, [])
    # A currency without a price says nothing.
    if amounts:
        code = price.first_currency((currency or "", *currencies, *amounts), hint.currency)
        amount_hint = Hint(code, hint.decimal, hint.base_url)
        amount = _first_valid(Attribute.PRICE, amounts, amount_hint)
        if amount:
            columns["price"] = Decimal(amount)
            columns["currency"] = code
    for attribute, raws in texts.items():
        columns[attribute] = _first_valid(attribute, raws, hint)
    return columns


def offer_values(offer: OfferFields) -> dict[Attribute, list[str]]:
    """Return the normalised texts of an offer, for each attribute that it has."""
    values: dict[Attribute, list[str]] = {}
    for attribute in Attribute:
        texts = _texts(offer, attribute)
        if texts:
            values[attribute] = texts
    return values


def _texts(offer: OfferFields, attribute: Attribute) -> list[str]:
    if attribute is Attribute.IMAGE:
        return list(offer.images)
    value = getattr(offer, attribute.value)
    if value is None:
        return []
    if isinstance(value, Decimal):
        return [price.price_text(value)]
    return [str(value)]


def _first_valid(attribute: Attribute, raws: Sequence[str], hint: Hint) -> str | None:
    for raw in raws:
        value = normalise(attribute, raw, hint)
        if value is not None:
            return value
    return None


def _normalise_images(raws: Sequence[str], hint: Hint) -> list[str]:
    urls: dict[str, None] = {}
    for raw in raws:
        url = image.normalise_image(raw, hint.base_url)
        if url:
            urls[url] = None
    return list(urls)[:MAX_IMAGES]
