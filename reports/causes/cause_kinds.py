"""Kinds of causes, each with advice for the reader."""

from enum import StrEnum

from reports.causes.offer_columns import Trait


class CauseKind(StrEnum):
    """Probable reason why an offer is missing or undecided; the `cause` of every row."""

    REJECTED = "in the feed but rejected"
    LOST = "no longer in the feed"
    CATEGORY = "category absent from the feed"
    CATEGORY_PART = "category partly missing"
    BRAND = "brand absent from the catalog"
    BRAND_PART = "brand partly missing"
    PRICE = "price band absent from the feed"
    PRICE_PART = "price band partly missing"
    CURRENCY = "currency absent from the feed"
    EAN_PREFIX = "EAN prefix absent from the feed"
    STOPPED = "import stopped early"
    NEWER = "newer than the last import"
    NEW = "new since the last run"
    VARIANT = "variant of a listed offer"
    OUT_OF_STOCK = "out of stock on the page"
    AVAILABILITY = "availability on the page"
    EAN = "EAN missing or invalid"
    NO_PRICE = "price missing or implausible"
    PICTURE = "picture missing"
    LANGUAGE = "page in another language"
    TEMPLATE = "page template absent from the feed"
    FOLDER = "part of the website absent from the feed"
    AMBIGUOUS = "ambiguous"
    OTHER = "not in the feed"


_ASK_CATEGORY = "Ask the merchant whether the export leaves out these categories on purpose."
_ASK_BRAND = "Ask whether the merchant may not, or does not want to, advertise these brands."
_PRICE_FILTER = "Look for a price filter in the merchant's export or in the import."

ADVICE = {
    CauseKind.REJECTED: (
        "The merchant does send these offers. Correct the rows or the field mapping of the import."
    ),
    CauseKind.LOST: (
        "Ask the merchant why the feed no longer has these offers: the shop still sells them."
    ),
    CauseKind.CATEGORY: _ASK_CATEGORY,
    CauseKind.CATEGORY_PART: _ASK_CATEGORY,
    CauseKind.BRAND: _ASK_BRAND,
    CauseKind.BRAND_PART: _ASK_BRAND,
    CauseKind.PRICE: _PRICE_FILTER,
    CauseKind.PRICE_PART: _PRICE_FILTER,
    CauseKind.CURRENCY: "Ask the merchant for the feed of the shop in this currency.",
    CauseKind.EAN_PREFIX: (
        "The prefix stands for one supplier. Ask whether the export leaves this supplier out."
    ),
    CauseKind.STOPPED: (
        "The export or the import probably ended early. Compare the number of rows sent and read."
    ),
    CauseKind.NEWER: "Import the newest feed, then run again.",
    CauseKind.VARIANT: (
        "The export may send one offer for all variants, or leave some out. Ask for one row "
        "per variant."
    ),
    CauseKind.OUT_OF_STOCK: "Usually on purpose. Check again when the offers are back in stock.",
    CauseKind.AVAILABILITY: "Ask whether the export leaves out offers with this availability.",
    CauseKind.NEW: (
        "The feed is probably older than the shop's pages. Import the newest feed, then run again."
    ),
    CauseKind.EAN: (
        "Offers without a valid EAN are often dropped during import. Ask the merchant to add it."
    ),
    CauseKind.NO_PRICE: "Offers without a valid price are often dropped. Ask the merchant for it.",
    CauseKind.PICTURE: "Offers without a picture are often dropped. Ask the merchant to add one.",
    CauseKind.LANGUAGE: "Ask the merchant for the feed of the shop in this language.",
    CauseKind.TEMPLATE: (
        "These pages have a layout of their own. Ask whether the export covers this part of the "
        "shop, and check a few of their offers."
    ),
    CauseKind.FOLDER: "Ask whether the export covers this part of the website.",
    CauseKind.AMBIGUOUS: "Review these offers: the catalog may or may not list them.",
    CauseKind.OTHER: "No pattern found. Ask the merchant why these offers are not exported.",
}

WHOLE_KINDS = {
    Trait.CATEGORY: CauseKind.CATEGORY,
    Trait.BRAND: CauseKind.BRAND,
    Trait.PRICE: CauseKind.PRICE,
    Trait.CURRENCY: CauseKind.CURRENCY,
    Trait.EAN_PREFIX: CauseKind.EAN_PREFIX,
    Trait.EAN_STATE: CauseKind.EAN,
    Trait.PRICE_STATE: CauseKind.NO_PRICE,
    Trait.PICTURE: CauseKind.PICTURE,
    Trait.AVAILABILITY: CauseKind.AVAILABILITY,
    Trait.LANGUAGE: CauseKind.LANGUAGE,
    Trait.IS_NEW: CauseKind.NEWER,
    Trait.VARIANT: CauseKind.VARIANT,
    Trait.POSITION: CauseKind.STOPPED,
    Trait.TEMPLATE: CauseKind.TEMPLATE,
    Trait.FOLDER: CauseKind.FOLDER,
}

# Traits with a kind of its own for groups of which a part is listed.
PART_KINDS = {
    Trait.CATEGORY: CauseKind.CATEGORY_PART,
    Trait.BRAND: CauseKind.BRAND_PART,
    Trait.PRICE: CauseKind.PRICE_PART,
}
