"""The list of findings that a query selects: the last finished run, filters, order and page."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request

from catalog.errors import UsageError
from catalog.models import RunCounts, Shop
from catalog.storage.findings import FindingFilter, count_matching
from catalog.storage.store import Store
from reports.model.findings import list_findings
from reports.statistics.findings_reader import Finding
from scout.offer_filters import FilterTexts
from scout.overview import read_finished_counts
from scout.pipeline import run_records
from scout.web.query_filters import filter_texts, make_finding_filter, parse_number

PAGE_SIZE = 50
"""Findings on one page of the list."""

MAX_PAGE = 1_000_000
"""Number of a page at most: a bound against hostile input."""

DEFAULT_VERDICT = "missing"
DEFAULT_SORT = "value"


@dataclass(frozen=True)
class FindingsQuery:
    """A selection of the findings of a shop's last finished run; `run_id` None: no run finished."""

    shop: Shop
    run_id: int | None
    verdict: str
    texts: FilterTexts
    finding_filter: FindingFilter
    sort: str
    number: int

    def parameters(self) -> dict[str, str]:
        """Return the selection as parameters of a query, without the page."""
        return {"verdict": self.verdict, "sort": self.sort, **self.texts.given()}

    def selection(self) -> str:
        """Describe the selection as the log of review decisions names it."""
        given = [f"{name} {text}" for name, text in self.texts.given().items()]
        return ", ".join([self.verdict, *given])

    def require_run(self) -> int:
        """Return the id of the run. Raises UsageError where none has finished."""
        if self.run_id is None:
            raise UsageError(f"no run of shop {self.shop.name!r} has finished yet")
        return self.run_id


def read_query(request: Request, store: Store, shop: Shop) -> FindingsQuery:
    """Return the selection that the query of a request names. Raises UsageError."""
    query = request.query_params
    return make_query(
        store,
        shop,
        query.get("verdict") or DEFAULT_VERDICT,
        query.get("sort") or DEFAULT_SORT,
        filter_texts(request),
        parse_number(request, "page", 1),
    )


def make_query(
    store: Store, shop: Shop, verdict: str, sort: str, texts: FilterTexts, number: int = 1
) -> FindingsQuery:
    """Return the selection of these filters. Raises UsageError."""
    finished = run_records.shop_runs(store, shop).finished
    run_id = None if finished is None else run_records.run_key(finished)
    finding_filter = make_finding_filter(store, shop, verdict, texts)
    return FindingsQuery(shop, run_id, verdict, texts, finding_filter, sort, max(1, number))


@dataclass(frozen=True)
class FindingsPage:
    """One page of a selection: its findings, the number of all, and the counts of the run."""

    findings: list[Finding]
    total: int
    last: int
    counts: RunCounts


def read_page(store: Store, query: FindingsQuery) -> FindingsPage | None:
    """Read a page of the findings; None where no run has finished. Raises UsageError."""
    shop = query.shop
    finished = run_records.shop_runs(store, shop).finished
    counts = read_finished_counts(store, shop, finished)
    if query.run_id is None or counts is None:
        return None
    with store.read() as session:
        total = count_matching(session, query.run_id, query.finding_filter)
    last = max(1, -(-total // PAGE_SIZE))
    number = min(query.number, last)
    findings = list_findings(
        store,
        shop,
        query.run_id,
        where=query.finding_filter,
        sort=query.sort,
        limit=PAGE_SIZE,
        offset=(number - 1) * PAGE_SIZE,
    )
    return FindingsPage(findings, total, last, counts)


def verdict_counts(counts: RunCounts) -> Mapping[str, int]:
    """Return the findings of a run by the values of `?verdict=`."""
    return {
        "missing": counts.missing,
        "unsure": counts.unsure,
        "listed": counts.listed,
        "ignored": counts.ignored,
        "all": counts.seen + counts.ignored,
    }
