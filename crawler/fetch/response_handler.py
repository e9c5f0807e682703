"""Response handler: turns a page's response into an item with its new state and links."""

from collections.abc import Sequence
from typing import Any

from scrapy.http import Response

from catalog.models import Page, PageState, utc_now
from catalog.storage.bodies import body_hash
from catalog.storage.frontier import FetchOutcome, FrontierLink
from crawler.fetch.probe import MissingPage
from crawler.fetch.response_status import (
    HOSTILE,
    LOGIN,
    ResponseStatus,
    classify_missing,
    redirect_target,
)
from crawler.filters.link_filter import CrawlPosition, LinkFilter
from crawler.frontier.revisit import next_visit
from crawler.pages.page_digest import PageDigest
from crawler.store.page_processor import header_value
from crawler.store.pipelines import PageItem
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.rule_verification import ReplacedLink

NOT_MODIFIED = 304
# Statuses of a page whose last visit gave its content.
CONTENT_STATUSES = (200, NOT_MODIFIED)
SOFT_404 = "soft 404"
SETTLED = {"reason": None, "not_before": None}


class ResponseHandler:
    """Handles the responses of one crawl.

    `bodies` maps each stored body to the URL of a page that has it.

    `missing_page` is how the shop presents missing pages; without `follow` no links are admitted.
    `digest_key` is stored with the pages that are digested (`crawler.urls.site`).
    """

    def __init__(
        self, link_filter: LinkFilter, bodies: dict[str, str], follow: bool = True
    ) -> None:
        self.missing_page = MissingPage()
        self.digest_key = ""
        self._link_filter = link_filter
        self._bodies = bodies
        self._follow = follow

    def handle_unchanged(self, page: Page, response: Response) -> PageItem:
        """Handle a 304, or a page that was sent again as it was: it keeps its body."""
        columns: dict[str, Any] = {**SETTLED, "status": response.status, "fetched_at": utc_now()}
        if response.status != NOT_MODIFIED:
            columns |= _validators(response)
        to_try = self._link_filter.record_existing(page.url)
        return _page_item(
            page, PageState.FETCHED, {**columns, **_unchanged_columns(page)}, to_try=to_try
        )

    def handle_page(self, page: Page, response: Response, digest: PageDigest) -> PageItem:
        """Handle a page that was served, digested and stored."""
        columns: dict[str, Any] = {**SETTLED, "status": response.status, "fetched_at": utc_now()}
        if digest.is_hostile:
            return _page_item(page, PageState.REFUSED, {**columns, "reason": HOSTILE})
        if digest.is_missing and self._is_soft_404(page):
            return self._missing(page, columns)
        columns |= _body_columns(page, response, digest) | {"digest_key": self.digest_key}
        to_try = self._link_filter.record_existing(page.url)
        twin = self._bodies.get(digest.body)
        if twin is not None and twin != page.url:
            self._link_filter.record_duplicate(CrawlUrl.parse(page.url), twin, digest.title)
            columns["canonical"] = twin
            return _page_item(page, PageState.FETCHED, columns, to_try=to_try)
        admitted = self._link_filter.admit_links(_position(page), digest)
        self._bodies[digest.body] = admitted.canonical or page.url
        columns["canonical"] = admitted.canonical
        links = admitted.links if self._follow else ()
        return _page_item(page, PageState.FETCHED, columns, links, to_try)

    def handle_redirect(self, page: Page, response: Response) -> PageItem:
        """Handle a redirect: a target on this site becomes a page of its own."""
        columns: dict[str, Any] = {**SETTLED, "status": response.status, "fetched_at": utc_now()}
        target, links = self._link_filter.admit_redirect(_position(page), redirect_target(response))
        if target == "account":
            return _page_item(page, PageState.FAILED, {**columns, "reason": LOGIN})
        if isinstance(target, str):
            return _page_item(page, PageState.REFUSED, {**columns, "reason": target})
        if target.page_key == self.missing_page.redirect_key:
            return self._missing(page, columns)
        if target.text == page.url:
            return _page_item(page, PageState.FAILED, {**columns, "reason": "redirect loop"})
        to_try = self._link_filter.record_redirect(page.url, target)
        columns |= {"reason": "redirect", "canonical": target.text}
        return _page_item(page, PageState.REDIRECTED, columns, links, to_try)

    def handle_failure(self, page: Page, response: Response, status: ResponseStatus) -> PageItem:
        """Handle a page that was not served."""
        return self._not_served(page, status, {"status": response.status})

    def _missing(self, page: Page, columns: dict[str, Any]) -> PageItem:
        return self._not_served(
            page, classify_missing(SOFT_404, page.attempts, bool(page.body)), columns
        )

    def _not_served(self, page: Page, status: ResponseStatus, columns: dict[str, Any]) -> PageItem:
        """Build the item of a page without content.

        If it is gone, the links that it replaced are due.
        """
        to_try: list[ReplacedLink] = []
        if status.state == PageState.GONE:
            is_dead_link = page.source == "link" and status.reason != SOFT_404
            to_try = self._link_filter.record_missing(page.url, is_dead_link)
        return _page_item(page, status.state, {**columns, **status.columns()}, to_try=to_try)

    def _is_soft_404(self, page: Page) -> bool:
        """Return True if a page that looks missing is missing.

        A shop whose root looks the same has no soft 404s.
        """
        if page.source == "root":
            self.missing_page = MissingPage()
        return self.missing_page.fingerprint is not None


def _page_item(
    page: Page,
    state: PageState,
    columns: dict[str, Any],
    links: Sequence[FrontierLink] = (),
    to_try: Sequence[ReplacedLink] = (),
) -> PageItem:
    """Build the item of a page; replaced links to try become due with it, as links or as rows."""
    due = [original.as_due() for original in to_try]
    new_links = [link for link in due if isinstance(link, FrontierLink)]
    rows = tuple(outcome for outcome in due if isinstance(outcome, FetchOutcome))
    return PageItem(FetchOutcome(page.id or 0, state, columns, [*links, *new_links]), rows)


def _position(page: Page) -> CrawlPosition:
    return CrawlPosition(CrawlUrl.parse(page.url), page.depth, page.chain)


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
