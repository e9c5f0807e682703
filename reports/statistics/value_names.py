"""Names of stored values for readers: availability, attributes, verdicts, review decisions.

The stored values are part of machine formats and stay the same in every language.
"""

from catalog.language.sentences import gettext_noop
from catalog.models import ReviewDecision, Verdict

AVAILABILITY_NAMES = {
    "in_stock": gettext_noop("in stock"),
    "out_of_stock": gettext_noop("out of stock"),
    "preorder": gettext_noop("preorder"),
}
VERDICT_NAMES = {
    Verdict.LISTED: gettext_noop("listed"),
    Verdict.MISSING: gettext_noop("missing"),
    Verdict.UNSURE: gettext_noop("unsure"),
}
DECISION_NAMES = {
    ReviewDecision.ACCEPT: gettext_noop("confirmed"),
    ReviewDecision.REJECT: gettext_noop("rejected"),
    ReviewDecision.IGNORE: gettext_noop("ignored"),
}
ATTRIBUTE_NAMES = {
    "title": gettext_noop("title"),
    "price": gettext_noop("price"),
    "currency": gettext_noop("currency"),
    "brand": gettext_noop("brand"),
    "category": gettext_noop("category"),
    "ean": gettext_noop("EAN"),
    "han": gettext_noop("manufacturer’s number"),
    "sku": gettext_noop("article number"),
    "availability": gettext_noop("availability"),
    "description": gettext_noop("description"),
    "images": gettext_noop("pictures"),
}
