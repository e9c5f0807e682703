"""Response handler: turns a page's response into an item with its new state and links."""

from collections.abc import Sequence
from typing import Any

from scrapy.http import Response

from catalog.models import Page, PageState, utc_now
from catalog.storage.bodies import body_hash
from catalog.storage.frontier import FetchOutcome, FrontierLink
from crawler.fetch.crawl_memory import SOFT_404, Conclusion, CrawlMemory
from crawler.fetch.response_status import HOSTILE, ResponseStatus, redirect_target
from crawler.frontier.revisit import next_visit
from crawler.pages.page_digest import PageDigest
from crawler.store.page_processor import header_value
from crawler.store.pipelines import PageItem

NOT_MODIFIED = 304
# Statuses of a page whose last visit gave its content.
CONTENT_STATUSES = (200, NOT_MODIFIED)
SETTLED = {"reason": None, "not_before": None}


class ResponseHandler:
    """Handles the responses of one crawl.

    Without `follow` no links are admitted. `digest_key` is stored with the pages that are digested
    (`crawler.urls.site`).
    """

    def __init__(self, memory: CrawlMemory, follow: bool = True) -> None:
        self.digest_key = ""
        self._memory = memory
        self._follow = follow

    def handle_unchanged(self, page: Page, response: Response) -> PageItem:
        """Handle a 304, or a page that was sent again as it was: it keeps its body."""
        columns = _settled_columns(response)
        if response.status != NOT_MODIFIED:
            columns |= _validators(response)
        conclusion = self._memory.observe_unchanged(page)
        return _page_item(page, conclusion, columns | _unchanged_columns(page))

    def handle_page(self, page: Page, response: Response, digest: PageDigest) -> PageItem:
        """Handle a page that was served, digested and stored."""
        columns = _settled_columns(response)
        if digest.is_hostile:
            refused = self._memory.observe_failure(page, ResponseStatus(PageState.REFUSED))
            return _page_item(page, refused, columns | {"reason": HOSTILE})
        conclusion = self._memory.observe_page(page, digest)
        if conclusion.status.state != PageState.FETCHED:
            return _page_item(page, conclusion, columns | conclusion.status.columns())
        columns |= _body_columns(page, response, digest) | {"digest_key": self.digest_key}
        columns["canonical"] = conclusion.canonical
        links = conclusion.links if self._follow else ()
        return _page_item(page, conclusion, columns, links)

    def handle_redirect(self, page: Page, response: Response) -> PageItem:
        """Handle a redirect: a target on this site becomes a page of its own."""
        columns = _settled_columns(response)
        conclusion = self._memory.observe_redirect(page, redirect_target(response))
        status = conclusion.status
        if status.reason == SOFT_404:
            columns |= status.columns()
        else:
            columns["reason"] = status.reason
        if status.state == PageState.REDIRECTED:
            columns["canonical"] = conclusion.canonical
        return _page_item(page, conclusion, columns, conclusion.links)

    def handle_failure(
        self, page: Page, status: ResponseStatus, response: Response | None = None
    ) -> PageItem:
        """Handle a page that was not served; without a response where the request failed."""
        columns = status.columns()
        if response is not None:
            columns["status"] = response.status
        return _page_item(page, self._memory.observe_failure(page, status), columns)


def _settled_columns(response: Response) -> dict[str, Any]:
    """Return the columns of a page that has been answered."""
    return {**SETTLED, "status": response.status, "fetched_at": utc_now()}


def _page_item(
    page: Page,
    conclusion: Conclusion,
    columns: dict[str, Any],
    links: Sequence[FrontierLink] = (),
) -> PageItem:
    """Build the item of a page; replaced links to try become due with it, as links or as rows."""
    due = [original.as_due() for original in conclusion.to_try]
    new_links = [link for link in due if isinstance(link, FrontierLink)]
    rows = tuple(outcome for outcome in due if isinstance(outcome, FetchOutcome))
    state = conclusion.status.state
    outcome = FetchOutcome(page.id or 0, state, columns, [*links, *new_links], conclusion.event)
    return PageItem(outcome, rows)


def _body_columns(page: Page, response: Response, digest: PageDigest) -> dict[str, Any]:
    columns = {
        "content_type": header_value(response, "Content-Type"),
        "size": digest.size,
        "body": digest.body,
        **_validators(response),
        "language": digest.language or None,
        "alternates": digest.versions or None,
    }
    if digest.body == page.body:
        return columns | _unchanged_columns(page)
    # A new body was not read by any rules yet.
    return columns | {
        "rules_version": None,
        "kind": None,
        "read_reason": None,
        "changed_at": utc_now(),
        "unchanged": 0,
    }


def is_same_page(page: Page, response: Response) -> bool:
    """Return True if a response repeats the content that was digested at the last visit.

    Links and languages in headers are not stored, so such a page is digested again.
    """
    if response.status not in CONTENT_STATUSES or page.status not in CONTENT_STATUSES:
        return False
    if header_value(response, "Link") or header_value(response, "Content-Language"):
        return False
    if header_value(response, "Content-Type") != page.content_type:
        return False
    return page.body is not None and body_hash(response.body) == page.body


def _validators(response: Response) -> dict[str, str | None]:
    """Return the headers by which a shop tells whether a page has changed."""
    return {
        "etag": header_value(response, "ETag"),
        "last_modified": header_value(response, "Last-Modified"),
    }


def _unchanged_columns(page: Page) -> dict[str, Any]:
    return {"unchanged": page.unchanged + 1, "not_before": next_visit(page, utc_now())}
