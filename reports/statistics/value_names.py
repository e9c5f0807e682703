"""Names of stored values for readers: availability, attributes, verdicts, review decisions.

The stored values are part of machine formats and stay the same in every language.
"""

from catalog.language.sentences import gettext_noop
from catalog.models import ReviewDecision, RunState, Verdict
from catalog.values.availability import IN_STOCK, OUT_OF_STOCK, PREORDER
from matcher.features.table import FeatureKind

AVAILABILITY_NAMES = {
    IN_STOCK: gettext_noop("in stock"),
    OUT_OF_STOCK: gettext_noop("out of stock"),
    PREORDER: gettext_noop("preorder"),
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
RUN_STATE_NAMES = {
    RunState.RUNNING: gettext_noop("running"),
    RunState.DONE: gettext_noop("done"),
    RunState.FAILED: gettext_noop("failed"),
    RunState.ABANDONED: gettext_noop("aborted"),
}
EVIDENCE_NAMES = {
    FeatureKind.TITLE: gettext_noop("title"),
    FeatureKind.RARE_WORDS: gettext_noop("rare words"),
    FeatureKind.MODEL_NUMBERS: gettext_noop("model numbers"),
    FeatureKind.QUANTITIES: gettext_noop("quantities"),
    FeatureKind.VARIANT: gettext_noop("variant"),
    FeatureKind.PRICE: gettext_noop("price"),
    FeatureKind.BRAND: gettext_noop("brand"),
    FeatureKind.IDENTIFIERS: gettext_noop("identifiers"),
    FeatureKind.IMAGE: gettext_noop("picture"),
    FeatureKind.DESCRIPTION: gettext_noop("description"),
    FeatureKind.RIVALS: gettext_noop("other candidates"),
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
