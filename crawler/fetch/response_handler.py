"""An answered page into an item: what it says of itself, where it leads, and whether it is a page at all."""

from collections.abc import Sequence
from typing import Any

from scrapy.http import Response

from catalog.models import Page, PageState, now
from catalog.storage.frontier import Link, Outcome
from crawler.fetch.probe import Probed
from crawler.fetch.response_status import LOGIN, Answer, gone, location
from crawler.filters.link_filter import Place, Sieve
from crawler.frontier.revisit import rests_until
from crawler.pages.page_digest import Digest
from crawler.store.pipelines import Settled
from crawler.urls.rule_verification import Original
from crawler.urls.url_shape import Address

SOFT = "soft 404"
CLEAR = {"reason": None, "not_before": None}


class Reader:
    """Reads the answers of one crawl. `bodies` are the bodies known already, with the URL of a page that has them."""

    def __init__(self, sieve: Sieve, bodies: dict[str, str], follow: bool = True) -> None:
        self.missing = Probed()
        self._sieve, self._bodies, self._follow = sieve, bodies, follow

    @property
    def knows(self) -> bool:
        """Whether an earlier crawl has fetched pages."""
        return bool(self._bodies)

    def unchanged(self, page: Page, response: Response) -> Settled:
        """A page that has not changed since it was fetched."""
        seen = {**CLEAR, "status": response.status, "fetched_at": now()}
        return _settled(
            page, PageState.FETCHED, {**seen, **_the_same(page)}, again=self._sieve.there(page.url)
        )

    def fetched(self, page: Page, response: Response, found: Digest) -> Settled:
        """A page that was served, digested and stored."""
        columns: dict[str, Any] = {**CLEAR, "status": response.status, "fetched_at": now()}
        if found.hostile:
            return _settled(page, PageState.REFUSED, {**columns, "reason": "hostile page"})
        if found.missing and self._is_missing(page):
            return self._lost(page, columns)
        columns |= {
            "content_type": _header(response, "Content-Type"),
            "size": found.size,
            "body": found.body,
            "etag": _header(response, "ETag"),
            "last_modified": _header(response, "Last-Modified"),
        }
        if found.body == page.body:
            columns |= _the_same(page)
        else:
            columns |= {
                "rules_version": None,
                "kind": None,
                "read_reason": None,
                "changed_at": now(),
                "unchanged": 0,
            }
        again = self._sieve.there(page.url)
        twin = self._bodies.get(found.body)
        if twin not in (None, page.url):
            self._sieve.twin(Address(page.url), str(twin), found.title)
            return _settled(page, PageState.FETCHED, {**columns, "canonical": twin}, again=again)
        sifted = self._sieve.sift(Place(Address(page.url), page.depth, page.chain), found)
        self._bodies[found.body] = sifted.canonical or page.url
        links = sifted.links if self._follow else ()
        return _settled(
            page, PageState.FETCHED, {**columns, "canonical": sifted.canonical}, links, again
        )

    def redirected(self, page: Page, response: Response) -> Settled:
        """A page that is elsewhere: its target becomes a page of its own, on this site only."""
        columns = {**CLEAR, "status": response.status, "fetched_at": now()}
        at = Place(Address(page.url), page.depth, page.chain)
        found, links = self._sieve.redirect(at, location(response))
        if found == "account":
            return _settled(page, PageState.FAILED, {**columns, "reason": LOGIN})
        if isinstance(found, str):
            return _settled(page, PageState.REFUSED, {**columns, "reason": found})
        if found.key == self.missing.leads_to:
            return self._lost(page, columns)
        if found.url == page.url:
            return _settled(page, PageState.FAILED, {**columns, "reason": "redirect loop"})
        moved = {**columns, "reason": "redirect", "canonical": found.url}
        return _settled(
            page, PageState.REDIRECTED, moved, links, self._sieve.sent_away(page.url, found)
        )

    def refused(self, page: Page, response: Response, answer: Answer) -> Settled:
        """A page that was not served."""
        return self._told(page, answer, {"status": response.status})

    def _lost(self, page: Page, columns: dict[str, Any]) -> Settled:
        """A page that says it is missing, in so many words."""
        return self._told(page, gone(SOFT, page.attempts, bool(page.body)), columns)

    def _told(self, page: Page, answer: Answer, columns: dict[str, Any]) -> Settled:
        """A page that is not to be had; where it is gone, the links that it was to stand for are due."""
        dead = page.source == "link" and answer.reason != SOFT
        also = self._sieve.missing(page.url, dead) if answer.state == PageState.GONE else []
        return _settled(page, answer.state, {**columns, **answer.columns()}, again=also)

    def _is_missing(self, page: Page) -> bool:
        """A shop whose root shows the same as a missing page says nothing by it: such pages are read after all."""
        if page.source == "root":
            self.missing = Probed()
        return self.missing.shows is not None


def _settled(
    page: Page,
    state: PageState,
    columns: dict[str, Any],
    links: Sequence[Link] = (),
    again: Sequence[Original] = (),
) -> Settled:
    """The item for a page; links to try after all are due with it."""
    due = [original.due() for original in again]
    fresh = [link for link in due if isinstance(link, Link)]
    rows = tuple(outcome for outcome in due if isinstance(outcome, Outcome))
    return Settled(Outcome(page.id or 0, state, columns, [*links, *fresh]), rows)


def _the_same(page: Page) -> dict[str, Any]:
    """Columns of a page that is found unchanged."""
    return {"unchanged": page.unchanged + 1, "not_before": rests_until(page, now())}


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
