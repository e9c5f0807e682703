"""Texts of the reasons of decisions, for those who show them to readers in their language.

The module loads no part of the matcher, whose libraries are large.
"""

from catalog.language.recognition import StoredTexts
from catalog.language.sentences import gettext_noop

SAME_LINK = gettext_noop("the catalog's link leads to this page")
SAME_LINK_PATH = gettext_noop("the catalog's link leads to this page, apart from its parameters")
SAME_LINK_END = gettext_noop("the catalog's link ends like this page's")
# Features of the table that a reason names: the reasons for the same and for another value.
IDENTIFIER_REASONS = {
    "ean": (gettext_noop("same EAN"), gettext_noop("another EAN")),
    "sku": (gettext_noop("same article number"), gettext_noop("another article number")),
    "han": (
        gettext_noop("same manufacturer's number"),
        gettext_noop("another manufacturer's number"),
    ),
    "image": (gettext_noop("same image"), gettext_noop("another image")),
}
CONFIRMED = gettext_noop("a reviewer confirmed that the catalog lacks it")
REJECTED = gettext_noop("a reviewer rejected the finding: the catalog lists it")
NOTHING_ALIKE = gettext_noop("nothing in the catalog resembles it")
TAKEN = gettext_noop("the nearest catalog offer belongs to another offer of the shop")
TOO_FAR = gettext_noop("the nearest catalog offer is too different (probability {share})")
NO_TITLE = gettext_noop("no title to compare")
SAME_TITLE = gettext_noop("same title")
SIMILAR_TITLES = gettext_noop("titles {number}% alike")
SAME_PRICE = gettext_noop("same price")
OTHER_PRICE = gettext_noop("price {price_shop} in the shop, {price_catalog} in the catalog")
# The difference of two variants, which `matcher.features.variant_words` and
# `matcher.records.product_kinds` describe; special ones first.
VARIANT_REASONS = (
    gettext_noop("variant: accessory in the shop, main product in the catalog"),
    gettext_noop("variant: main product in the shop, accessory in the catalog"),
    gettext_noop("variant: size {shop} in the shop, size {catalog} in the catalog"),
    gettext_noop("variant: part {shop} in the shop, part {catalog} in the catalog"),
    gettext_noop("variant: nothing in the shop, {catalog} in the catalog"),
    gettext_noop("variant: {shop} in the shop, nothing in the catalog"),
    gettext_noop("variant: {shop} in the shop, {catalog} in the catalog"),
)
MATCH_REASONS = StoredTexts((*VARIANT_REASONS, TOO_FAR, SIMILAR_TITLES, OTHER_PRICE))
