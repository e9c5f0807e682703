"""Labels of attributes, in the languages of `catalog/values/shop_words.toml`, and their values."""

import re
from functools import lru_cache
from typing import NamedTuple

from catalog.models import Attribute
from catalog.values.shop_words import Concept, keys_of, word_key
from catalog.values.text import GAP

# Concept of the data file that labels each attribute.
CONCEPT_OF: dict[Attribute, Concept] = {
    Attribute.BRAND: "brand",
    Attribute.SKU: "article_number",
    Attribute.HAN: "manufacturer_number",
    Attribute.EAN: "trade_number",
    Attribute.PRICE: "price",
    Attribute.AVAILABILITY: "availability",
    Attribute.CATEGORY: "category",
}
# Marks between a label and its value.
MARK = re.compile(
    rf"{GAP}[:：]\s*|{GAP}(?:№|[#＃])(?:\s?[#＃])*\s*:?\s*|{GAP}=\s+|(?<!\s)\s++[-–—]\s+"
)
# Marks between several labels of one value: `EAN / GTIN`.
LABEL_SEPARATOR = re.compile(rf"{GAP}[/,|&]\s*")
# Marks between a value and the next label in one element.
VALUE_END = re.compile(rf"{GAP}[|;•·]\s*|(?<!\s)\s++/\s+|,\s++(?=[^\W\d]+[^:：]{{0,20}}[:：])")
# Words of the longest label that is followed by its value without a mark: `EAN code 4006381333931`.
MAX_LABEL_WORDS = 3
# Attributes whose value may follow its label without a mark: numbers in one word.
NUMBERS = (Attribute.EAN, Attribute.SKU, Attribute.HAN)


class LabelledText(NamedTuple):
    """A label's attribute, and the value behind it in the same element; empty without any."""

    attribute: Attribute
    value: str


@lru_cache(maxsize=1)
def _attribute_of_key() -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for attribute, concept in CONCEPT_OF.items():
        for key in keys_of(concept):
            attributes.setdefault(key, attribute)
    return attributes


def attribute_of_label(label: str) -> Attribute | None:
    """Return the attribute that a text is the label of; several labels must agree.

    >>> attribute_of_label("Art.-Nr."), attribute_of_label("EAN / GTIN"), attribute_of_label("Marke, EAN")
    (<Attribute.SKU: 'sku'>, <Attribute.EAN: 'ean'>, None)
    """
    attribute = _attribute_of_key().get(word_key(label))
    if attribute is not None:
        return attribute
    parts = LABEL_SEPARATOR.split(label)
    if len(parts) == 1:
        return None
    attributes = {_attribute_of_key().get(word_key(part)) for part in parts}
    return attributes.pop() if len(attributes) == 1 else None


@lru_cache(maxsize=4096)
def read_label(text: str) -> LabelledText | None:
    """Split a short text into its label and the value behind it; None if it has no label.

    >>> read_label("Hersteller: Bosch").value, read_label("EAN 4006381333931").value, read_label("SKU").value
    ('Bosch', '4006381333931', '')
    >>> read_label("Marke Eigenbau") is None, read_label("品牌：Sony").value
    (True, 'Sony')
    """
    attribute = attribute_of_label(text)
    if attribute is not None:
        return LabelledText(attribute, "")
    for match in MARK.finditer(text):
        attribute = attribute_of_label(text[: match.start()])
        if attribute is not None:
            return LabelledText(attribute, VALUE_END.split(text[match.end() :])[0].strip())
    words = text.split()
    for count in range(min(MAX_LABEL_WORDS, len(words) - 1), 0, -1):
        attribute = attribute_of_label(" ".join(words[:count]))
        remaining = words[count:]
        if attribute not in NUMBERS or not any(map(str.isdigit, remaining[0])):
            continue
        # Only a trade number may be written with spaces.
        is_spaced_number = attribute is Attribute.EAN and all(map(str.isdigit, remaining))
        if len(remaining) == 1 or is_spaced_number:
            return LabelledText(attribute, " ".join(remaining))
    return None


def without_label(attribute: Attribute, text: str) -> str:
    """Cut the attribute's label off a value.

    >>> without_label(Attribute.SKU, "Artikelnummer: AB-12"), without_label(Attribute.SKU, "AB-12")
    ('AB-12', 'AB-12')
    """
    labelled = read_label(text)
    if labelled is None or labelled.attribute is not attribute or not labelled.value:
        return text
    return labelled.value
