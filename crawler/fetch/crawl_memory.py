"""Crawl memory: a crawl learns from its responses, and learns it again after an interruption.

The page table tells which pages are done, but not what they have taught: which of two addresses is
the original, which rules are trusted, which links lead into a trap. So each step from which the
crawl learns is an event of its journal. A crawl that resumes takes the same steps again, in their
order, and then goes on as if it had never been interrupted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from catalog.models import Page, PageState
from catalog.storage.crawl_events import NumberedEvent
from catalog.storage.frontier import FetchOutcome, FrontierLink
from crawler.fetch.probe import MissingPage
from crawler.fetch.response_status import LOGIN, ResponseStatus, classify_missing
from crawler.filters.link_filter import CrawlPosition, LinkFilter
from crawler.frontier.journal import CrawlJournal, Event
from crawler.pages.page_digest import PageDigest
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.rule_verification import ReplacedLink

SOFT_404 = "soft 404"
FETCHED = ResponseStatus(PageState.FETCHED)
# Stands for the name of a stored body in the pages of events: only whether there is one counts.
_SOME_BODY = "stored"


@dataclass(frozen=True)
class Conclusion:
    """Conclusion from a response: the page's new state, its canonical address, and links.

    `to_try` are links that a rule had replaced and that are due now.
    """

    status: ResponseStatus = FETCHED
    canonical: str | None = None
    links: Sequence[FrontierLink] = ()
    to_try: Sequence[ReplacedLink] = ()
    event: NumberedEvent | None = None


@dataclass
class AdmittedBatches:
    """The pages that were admitted before the interruption: batches of (row id, attempt), in order."""

    batches: list[list[tuple[int, int]]] = field(default_factory=list)

    def group(self, leased: Sequence[Page]) -> tuple[list[list[Page]], list[Page]]:
        """Group leased pages by the batches in which they were admitted.

        Returns the batches, and the pages that were leased but not admitted yet.
        """
        pages = {(page.id or 0, page.attempts): page for page in leased}
        groups = []
        for batch in self.batches:
            group = [pages.pop(key) for key in batch if key in pages]
            if group:
                groups.append(group)
        return groups, list(pages.values())


class CrawlMemory:
    """Lets the link filter of one crawl learn from its responses, and keeps the journal of that.

    `bodies` maps each stored body to the URL of a page that has it. `missing_page` is how the shop
    presents missing pages.
    """

    def __init__(
        self, link_filter: LinkFilter, bodies: dict[str, str], journal: CrawlJournal
    ) -> None:
        self.missing_page = MissingPage()
        self.admitted = AdmittedBatches()
        self._link_filter = link_filter
        self._bodies = bodies
        self._journal = journal
        self.has_seeds = False
        self.has_responses = False

    def replay(self, event: Event) -> None:
        """Learn again from an event of the crawl's journal."""
        kind, *arguments = event
        match kind:
            case "seeds" | "sitemap":
                for urls, source in arguments:
                    self._link_filter.admit_seeds(urls, source)
                self.has_seeds = self.has_seeds or kind == "seeds"
            case "admit":
                self._replay_admission(*arguments)
            case _:
                self.has_responses = True
                self._replay_response(kind, *arguments)

    def admit_seeds(
        self, urls_by_source: Sequence[tuple[Sequence[str], str]], kind: str
    ) -> tuple[list[FrontierLink], NumberedEvent | None]:
        """Admit URLs that no page links, by their sources; returns the new links."""
        event = self._journal.make_event(kind, *urls_by_source)
        links: list[FrontierLink] = []
        for urls, source in urls_by_source:
            links += self._link_filter.admit_seeds(urls, source)
        return links, event

    def admit_pages(
        self, pages: Sequence[Page]
    ) -> tuple[dict[int, list[FetchOutcome]], NumberedEvent | None]:
        """Reconsider leased pages; return the outcomes of pages without a request, by row id."""
        event = self._journal.make_event("admit", [_page_values(page) for page in pages])
        return self._reconsider(pages), event

    def observe_page(self, page: Page, digest: PageDigest) -> Conclusion:
        """Learn from a page that was served and digested."""
        event = self._journal.make_event("page", _page_values(page), _digest_values(digest))
        return replace(self._learn_page(page, digest), event=event)

    def observe_unchanged(self, page: Page) -> Conclusion:
        """Learn that a page is as it was."""
        event = self._journal.make_event("unchanged", _page_values(page))
        return replace(self._learn_unchanged(page), event=event)

    def observe_redirect(self, page: Page, target: str) -> Conclusion:
        """Learn from a redirect."""
        event = self._journal.make_event("redirect", _page_values(page), target)
        return replace(self._learn_redirect(page, target), event=event)

    def observe_failure(self, page: Page, status: ResponseStatus) -> Conclusion:
        """Learn from a page that was not served."""
        if status.state == PageState.GONE:
            event = self._journal.make_event("gone", _page_values(page), status.reason)
            return replace(self._learn_failure(page, status), event=event)
        if status.state == PageState.PENDING or not self._link_filter.is_on_trial(page.url):
            return Conclusion(status)
        event = self._journal.make_event("unresolved", _page_values(page))
        return replace(self._unresolved(page, status), event=event)

    def _replay_response(self, kind: str, page_values: list[Any], *arguments: Any) -> None:
        page = _page(page_values)
        match kind:
            case "page":
                self._learn_page(page, _digest(*arguments))
            case "unchanged":
                self._learn_unchanged(page)
            case "redirect":
                self._learn_redirect(page, *arguments)
            case "gone":
                self._learn_failure(page, ResponseStatus(PageState.GONE, *arguments))
            case "unresolved":
                self._link_filter.record_unresolved(page.url)

    def _replay_admission(self, rows: list[list[Any]]) -> None:
        pages = [_page(values) for values in rows]
        settled = self._reconsider(pages)
        requested = [(page.id or 0, page.attempts) for page in pages if page.id not in settled]
        self.admitted.batches.append(requested)

    def _reconsider(self, pages: Sequence[Page]) -> dict[int, list[FetchOutcome]]:
        settled: dict[int, list[FetchOutcome]] = {}
        for page in pages:
            if outcomes := self._link_filter.reconsider(page):
                settled[page.id or 0] = outcomes
        return settled

    def _learn_page(self, page: Page, digest: PageDigest) -> Conclusion:
        if digest.is_missing and self._is_soft_404(page):
            return self._learn_soft_404(page)
        to_try = self._link_filter.record_existing(page.url)
        twin = self._bodies.get(digest.body)
        if twin is not None and twin != page.url:
            self._link_filter.record_duplicate(CrawlUrl.parse(page.url), twin, digest.title)
            return Conclusion(canonical=twin, to_try=to_try)
        admitted = self._link_filter.admit_links(_position(page), digest)
        self._bodies[digest.body] = admitted.canonical or page.url
        return Conclusion(canonical=admitted.canonical, links=admitted.links, to_try=to_try)

    def _learn_unchanged(self, page: Page) -> Conclusion:
        return Conclusion(to_try=self._link_filter.record_existing(page.url))

    def _learn_redirect(self, page: Page, url: str) -> Conclusion:
        target, links = self._link_filter.admit_redirect(_position(page), url)
        if target == "account":
            return self._unresolved(page, ResponseStatus(PageState.FAILED, LOGIN))
        if isinstance(target, str):
            return self._unresolved(page, ResponseStatus(PageState.REFUSED, target))
        if target.page_key == self.missing_page.redirect_key:
            return self._learn_soft_404(page)
        if target.text == page.url:
            return self._unresolved(page, ResponseStatus(PageState.FAILED, "redirect loop"))
        to_try = self._link_filter.record_redirect(page.url, target)
        status = ResponseStatus(PageState.REDIRECTED, "redirect")
        return Conclusion(status, target.text, links, to_try)

    def _unresolved(self, page: Page, status: ResponseStatus) -> Conclusion:
        """Conclude from a page that neither exists nor is missing: a trial of it has no verdict."""
        return Conclusion(status, to_try=self._link_filter.record_unresolved(page.url))

    def _learn_soft_404(self, page: Page) -> Conclusion:
        return self._learn_failure(page, classify_missing(SOFT_404, page.attempts, bool(page.body)))

    def _learn_failure(self, page: Page, status: ResponseStatus) -> Conclusion:
        """Learn from a page without content. If it is gone, the links that it replaced are due."""
        to_try: list[ReplacedLink] = []
        if status.state == PageState.GONE:
            is_dead_link = page.source == "link" and status.reason != SOFT_404
            to_try = self._link_filter.record_missing(page.url, is_dead_link)
        return Conclusion(status, to_try=to_try)

    def _is_soft_404(self, page: Page) -> bool:
        """Return True if a page that looks missing is missing.

        A shop whose root looks the same has no soft 404s.
        """
        if page.source == "root":
            self.missing_page = MissingPage()
        return self.missing_page.fingerprint is not None


def _position(page: Page) -> CrawlPosition:
    return CrawlPosition(CrawlUrl.parse(page.url), page.depth, page.chain)


def _page_values(page: Page) -> list[Any]:
    """Return the values of a page on which conclusions depend."""
    has_body = bool(page.body)
    return [
        page.id,
        page.url,
        page.source,
        page.priority,
        page.depth,
        page.chain,
        page.attempts,
        has_body,
    ]


def _page(values: list[Any]) -> Page:
    page_id, url, source, priority, depth, chain, attempts, has_body = values
    return Page(
        id=page_id,
        shop_id=0,
        url=url,
        source=source,
        priority=priority,
        depth=depth,
        chain=chain,
        attempts=attempts,
        body=_SOME_BODY if has_body else None,
    )


def _digest_values(digest: PageDigest) -> list[Any]:
    """Return the values of a digest on which conclusions depend."""
    return [
        digest.body,
        digest.title,
        digest.offer_signals,
        digest.canonical,
        digest.is_missing,
        digest.refused,
        digest.alternates,
        digest.links,
    ]


def _digest(values: list[Any]) -> PageDigest:
    body, title, offer_signals, canonical, is_missing, refused, alternates, links = values
    return PageDigest(
        body=body,
        title=title,
        offer_signals=offer_signals,
        canonical=canonical,
        is_missing=is_missing,
        refused=tuple((href, reason) for href, reason in refused),
        alternates=tuple(alternates),
        links=tuple(links),
    )
