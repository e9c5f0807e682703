"""Filters and pages of findings in the query of a request, the same for pages and API."""

from dataclasses import fields

from starlette.requests import Request

from catalog.digits import is_ascii_number
from catalog.errors import UsageError
from catalog.models import Shop, Verdict
from catalog.storage.findings import FindingFilter
from catalog.storage.store import Store
from scout.offer_filters import FilterTexts, parse_filters

ALL = "all"
IGNORED = "ignored"
VERDICT_CHOICES = (*(str(verdict) for verdict in Verdict), IGNORED, ALL)
"""Values of `?verdict=`; `ignored` and `all` are no verdicts."""

FILTER_NAMES = tuple(field.name for field in fields(FilterTexts))

_MAX_DIGITS = 7  # digits of a number in a query: a bound against hostile input
_MAX_ID_DIGITS = 18  # digits of an id: below 2**63


def parse_finding_filter(request: Request, store: Store, shop: Shop) -> FindingFilter:
    """Return the filter in the query, by default the missing offers. Raises UsageError."""
    name = request.query_params.get("verdict", str(Verdict.MISSING))
    return make_finding_filter(store, shop, name, filter_texts(request))


def make_finding_filter(
    store: Store, shop: Shop, verdict: str, texts: FilterTexts
) -> FindingFilter:
    """Return the filter of a verdict (or `ignored`, `all`) and further texts. Raises UsageError."""
    if verdict not in VERDICT_CHOICES:
        choices = ", ".join(VERDICT_CHOICES)
        raise UsageError(f"verdict {verdict[:40]!r} is none of {choices}")
    verdicts = {Verdict(verdict)} if verdict in set(Verdict) else set()
    return parse_filters(
        store,
        shop,
        texts,
        verdicts=verdicts,
        includes_ignored=verdict == ALL,
        only_ignored=verdict == IGNORED,
    )


def filter_texts(request: Request) -> FilterTexts:
    """Return the filters of the query as they are."""
    query = request.query_params
    return FilterTexts(**{name: query.get(name) for name in FILTER_NAMES})


def parse_number(request: Request, name: str, default: int) -> int:
    """Return a non-negative number of the query. Raises UsageError."""
    text = request.query_params.get(name, str(default))
    if not is_ascii_number(text, _MAX_DIGITS):
        raise UsageError(f"{name} must be a whole number from 0 to {10**_MAX_DIGITS - 1}")
    return int(text)


def parse_row_id(name: str, text: str) -> int | None:
    """Return an id of a query; None where it is empty. Raises UsageError."""
    if not text:
        return None
    if not is_ascii_number(text, _MAX_ID_DIGITS):
        raise UsageError(f"{name} must be an id")
    return int(text)
