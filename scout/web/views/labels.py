"""Names that the pages show for verdicts, decisions, changes, attributes, formats and states."""

from collections.abc import Callable, Mapping

from catalog.language.languages import Language
from catalog.language.sentences import gettext_noop
from reports.statistics import value_names

VERDICT_NAMES = {
    "missing": gettext_noop("Missing"),
    "unsure": gettext_noop("Unsure"),
    "listed": gettext_noop("Listed"),
    "ignored": gettext_noop("Ignored"),
    "all": gettext_noop("All"),
}
CHANGE_NAMES = {
    "new": gettext_noop("New"),
    "still": gettext_noop("Still missing"),
    "reappeared": gettext_noop("Reappeared"),
    "resolved": gettext_noop("Resolved"),
    "unsure": gettext_noop("Now unsure"),
    "gone": gettext_noop("No longer seen"),
}
ATTRIBUTE_NAMES = {
    **value_names.ATTRIBUTE_NAMES,
    "image": gettext_noop("picture"),
    "url": gettext_noop("URL"),
    # Fields of a feed.
    "id": gettext_noop("key of the catalog"),
    "ref": gettext_noop("key of the catalog"),
    "link": gettext_noop("link"),
    "sale_price": gettext_noop("reduced price"),
    "sale_period": gettext_noop("period of the reduced price"),
    "product": gettext_noop("group of offers of one product"),
}
FORMAT_NAMES = {
    "csv": gettext_noop("Table (CSV)"),
    "xlsx": gettext_noop("Workbook (XLSX)"),
    "feed-xml": gettext_noop("Missing offers as a Google Merchant feed (XML)"),
    "feed-csv": gettext_noop("Missing offers in the catalog's columns (CSV)"),
    "feed-jsonl": gettext_noop("Missing offers as JSON Lines"),
}
STATE_NAMES = {
    "missing": gettext_noop("missing"),
    "unsure": gettext_noop("unsure"),
    "listed": gettext_noop("listed"),
    "running": gettext_noop("running"),
    "done": gettext_noop("finished"),
    "failed": gettext_noop("failed"),
    "abandoned": gettext_noop("abandoned"),
    "never run": gettext_noop("never run"),
}
PAGE_STATE_NAMES = {
    "pending": gettext_noop("pages waiting"),
    "leased": gettext_noop("pages being fetched"),
    "fetched": gettext_noop("pages fetched"),
    "redirected": gettext_noop("pages redirected"),
    "gone": gettext_noop("pages gone"),
    "refused": gettext_noop("pages skipped"),
    "failed": gettext_noop("pages failed"),
}
STAGE_NAMES = {
    "crawl": gettext_noop("crawling"),
    "learn": gettext_noop("learning"),
    "parse": gettext_noop("reading offers"),
    "match": gettext_noop("matching"),
    "report": gettext_noop("reporting"),
    "done": gettext_noop("finished"),
}

_NAMES: Mapping[str, Mapping[str, str]] = {
    "verdict_name": VERDICT_NAMES,
    "decision_name": {str(key): name for key, name in value_names.DECISION_NAMES.items()},
    "change_name": CHANGE_NAMES,
    "attribute_name": ATTRIBUTE_NAMES,
    "format_name": FORMAT_NAMES,
    "state_name": STATE_NAMES,
    "page_state_name": PAGE_STATE_NAMES,
    "stage_name": STAGE_NAMES,
}


def label_functions(language: Language) -> dict[str, Callable[[object], str]]:
    """Return the functions of templates that name a value in a language, such as `verdict_name`."""
    return {function: _named(names, language) for function, names in _NAMES.items()}


def _named(names: Mapping[str, str], language: Language) -> Callable[[object], str]:
    def name(value: object) -> str:
        text = str(value)
        return language.gettext(names.get(text, text))

    return name
