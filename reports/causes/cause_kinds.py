"""Kinds of causes, each with advice for the reader."""

from enum import StrEnum

from catalog.language.sentences import gettext_noop
from reports.causes.offer_columns import Trait


class CauseKind(StrEnum):
    """Probable reason why an offer is missing or undecided; the `cause` of every row."""

    REJECTED = gettext_noop("in the feed but rejected")
    LOST = gettext_noop("no longer in the feed")
    CATEGORY = gettext_noop("category absent from the feed")
    CATEGORY_PART = gettext_noop("category partly missing")
    BRAND = gettext_noop("brand absent from the catalog")
    BRAND_PART = gettext_noop("brand partly missing")
    PRICE = gettext_noop("price band absent from the feed")
    PRICE_PART = gettext_noop("price band partly missing")
    CURRENCY = gettext_noop("currency absent from the feed")
    EAN_PREFIX = gettext_noop("EAN prefix absent from the feed")
    STOPPED = gettext_noop("import stopped early")
    NEWER = gettext_noop("newer than the last import")
    NEW = gettext_noop("new since the last run")
    VARIANT = gettext_noop("variant of a listed offer")
    OUT_OF_STOCK = gettext_noop("out of stock on the page")
    AVAILABILITY = gettext_noop("availability on the page")
    EAN = gettext_noop("EAN missing or invalid")
    NO_PRICE = gettext_noop("price missing or implausible")
    PICTURE = gettext_noop("picture missing")
    LANGUAGE = gettext_noop("page in another language")
    TEMPLATE = gettext_noop("page template absent from the feed")
    FOLDER = gettext_noop("part of the website absent from the feed")
    AMBIGUOUS = gettext_noop("ambiguous")
    OTHER = gettext_noop("not in the feed")


_ASK_CATEGORY = gettext_noop(
    "Ask the merchant whether the export leaves out these categories on purpose."
)
_ASK_BRAND = gettext_noop(
    "Ask whether the merchant may not, or does not want to, advertise these brands."
)
_PRICE_FILTER = gettext_noop("Look for a price filter in the merchant's export or in the import.")

ADVICE = {
    CauseKind.REJECTED: gettext_noop(
        "The merchant does send these offers. Correct the rows or the field mapping of the import."
    ),
    CauseKind.LOST: gettext_noop(
        "Ask the merchant why the feed no longer has these offers: the shop still sells them."
    ),
    CauseKind.CATEGORY: _ASK_CATEGORY,
    CauseKind.CATEGORY_PART: _ASK_CATEGORY,
    CauseKind.BRAND: _ASK_BRAND,
    CauseKind.BRAND_PART: _ASK_BRAND,
    CauseKind.PRICE: _PRICE_FILTER,
    CauseKind.PRICE_PART: _PRICE_FILTER,
    CauseKind.CURRENCY: gettext_noop("Ask the merchant for the feed of the shop in this currency."),
    CauseKind.EAN_PREFIX: gettext_noop(
        "The prefix stands for one supplier. Ask whether the export leaves this supplier out."
    ),
    CauseKind.STOPPED: gettext_noop(
        "The export or the import probably ended early. Compare the number of rows sent and read."
    ),
    CauseKind.NEWER: gettext_noop("Import the newest feed, then run again."),
    CauseKind.VARIANT: gettext_noop(
        "The export may send one offer for all variants, or leave some out. Ask for one row "
        "per variant."
    ),
    CauseKind.OUT_OF_STOCK: gettext_noop(
        "Usually on purpose. Check again when the offers are back in stock."
    ),
    CauseKind.AVAILABILITY: gettext_noop(
        "Ask whether the export leaves out offers with this availability."
    ),
    CauseKind.NEW: gettext_noop(
        "The feed is probably older than the shop's pages. Import the newest feed, then run again."
    ),
    CauseKind.EAN: gettext_noop(
        "Offers without a valid EAN are often dropped during import. Ask the merchant to add it."
    ),
    CauseKind.NO_PRICE: gettext_noop(
        "Offers without a valid price are often dropped. Ask the merchant for it."
    ),
    CauseKind.PICTURE: gettext_noop(
        "Offers without a picture are often dropped. Ask the merchant to add one."
    ),
    CauseKind.LANGUAGE: gettext_noop("Ask the merchant for the feed of the shop in this language."),
    CauseKind.TEMPLATE: gettext_noop(
        "These pages have a layout of their own. Ask whether the export covers this part of the "
        "shop, and check a few of their offers."
    ),
    CauseKind.FOLDER: gettext_noop("Ask whether the export covers this part of the website."),
    CauseKind.AMBIGUOUS: gettext_noop("Review these offers: the catalog may or may not list them."),
    CauseKind.OTHER: gettext_noop(
        "No pattern found. Ask the merchant why these offers are not exported."
    ),
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
