"""Texts of the script of the HTML report, in the reader's language."""

from catalog.language.languages import Language
from reports.statistics.value_names import (
    ATTRIBUTE_NAMES,
    AVAILABILITY_NAMES,
    DECISION_NAMES,
    EVIDENCE_NAMES,
)


def script_messages(language: Language) -> dict[str, str]:
    """Return the texts by the names that the script has for them."""
    gettext = language.gettext
    messages = {
        "all": gettext("all"),
        "not_stated": gettext("not stated"),
        "out_of_stock": gettext("out of stock"),
        "first_seen": gettext("first seen"),
        "last_seen": gettext("last seen"),
        "nothing_similar": gettext("nothing similar"),
        "untitled": gettext("untitled"),
        "probability": gettext("probability of being the same offer:"),
        "change_new": gettext("new"),
        "change_reappeared": gettext("missing again"),
        "several": gettext("one of several offers on its page"),
        "shown": gettext("{shown} of {all} offers"),
        "none": gettext("No offer matches these filters."),
        "loading": gettext("Loading all offers …"),
        "old_browser": gettext(
            "This browser is too old for filters: it shows the first rows only."
        ),
        "more": gettext("Show {number} more"),
        "details": gettext("Details"),
        "attribute": gettext("Attribute"),
        "on_page": gettext("On the page"),
        "in_catalog": gettext("In the catalog (nearest)"),
        "reading": gettext("Read with"),
        "confidence": gettext("confidence {share}, rules: {votes}"),
        "raw": gettext("text on the page"),
        "rule": gettext("rule"),
        "values": gettext("Values that were compared"),
        "evidence": gettext("For and against being the same offer"),
        "evidence_hint": gettext(
            "Each bar begins where the one above ends. Bars with + move to the right and speak for "
            "the same offer; bars with − speak against it."
        ),
        "candidates": gettext("Nearest offers of the catalog"),
        "no_candidates": gettext("The catalog has no similar offer."),
        "page": gettext("Page"),
        "fetched": gettext("fetched"),
        "snapshot": gettext("snapshot"),
        "open": gettext("Open in the shop"),
        "also_at": gettext("also at"),
        "decision": gettext("Review decision"),
        "no_decision": gettext("none yet"),
        "no_details": gettext(
            "This report has details of the most valuable offers only. “scout offers --json” has "
            "those of all."
        ),
    }
    for decision, name in DECISION_NAMES.items():
        messages[f"word_{decision.value}"] = gettext(name)
    for attribute, name in ATTRIBUTE_NAMES.items():
        messages[f"attribute_{attribute}"] = gettext(name)
    for availability, name in AVAILABILITY_NAMES.items():
        messages[f"availability_{availability}"] = gettext(name)
    for kind, name in EVIDENCE_NAMES.items():
        messages[f"kind_{kind.value}"] = gettext(name)
    return messages
