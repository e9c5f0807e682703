"""An answered page into an item: what it says of itself, where it leads, and whether it is a page at all."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin

from scrapy.http import Response
from selectolax.lexbor import LexborHTMLParser

from catalog.bodies import name_of
from catalog.errors import HostilePage
from catalog.frontier import Link, Outcome
from catalog.markup import as_utf8, open_html
from catalog.models import Page, PageState, now
from crawler.answers import Answer, gone
from crawler.doubts import Original
from crawler.links import page_links
from crawler.missing import Print
from crawler.pipelines import Settled
from crawler.probe import Probed
from crawler.shapes import Address
from crawler.sieve import Place, Sieve

CLEAR = {"reason": None, "not_before": None}


class Reader:
    """Reads the answers of one crawl. `bodies` are the bodies known already, with the URL of a page that has them."""

    def __init__(self, sieve: Sieve, bodies: dict[str, str], follow: bool = True) -> None:
        self.missing = Probed()
        self._sieve, self._bodies, self._follow = sieve, bodies, follow

    def fetched(self, page: Page, response: Response) -> Settled:
        """A page that was served, or that has not changed."""
        columns: dict[str, Any] = {**CLEAR, "status": response.status, "fetched_at": now()}
        if response.status == 304:
            return _settled(page, PageState.FETCHED, columns)
        body, said = response.body, _header(response, "Content-Type")
        try:
            tree = open_html(as_utf8(body, said))
        except HostilePage:
            return _settled(page, PageState.REFUSED, {**columns, "reason": "hostile page"})
        if self.missing.shows and self._is_missing(page, Print.of(tree)):
            return self._lost(page, columns)
        name = name_of(body)
        twin = self._bodies.get(name)
        columns |= {
            "content_type": said,
            "size": len(body),
            "body": name,
            "etag": _header(response, "ETag"),
            "last_modified": _header(response, "Last-Modified"),
        }
        if name != page.body:
            columns |= {"rules_version": None, "kind": None, "read_reason": None}
        again = self._sieve.there(page.url)
        if twin not in (None, page.url):
            self._sieve.twin(Address(page.url), str(twin), _title(tree))
            return _settled(page, PageState.FETCHED, {**columns, "canonical": twin}, body=body, again=again)
        at = Place(Address(page.url), page.depth, page.chain)
        sifted = self._sieve.sift(at, page_links(tree, response.url), body, _title(tree))
        self._bodies[name] = sifted.canonical or page.url
        links = sifted.links if self._follow else ()
        return _settled(page, PageState.FETCHED, {**columns, "canonical": sifted.canonical}, links, body, again)

    def redirected(self, page: Page, response: Response) -> Settled:
        """A page that is elsewhere: its target becomes a page of its own, on this site only."""
        columns = {**CLEAR, "status": response.status, "fetched_at": now()}
        at = Place(Address(page.url), page.depth, page.chain)
        try:
            target = urljoin(response.url, _header(response, "Location") or "")
        except ValueError:
            target = ""
        found, links = self._sieve.redirect(at, target)
        if isinstance(found, str):
            return _settled(page, PageState.REFUSED, {**columns, "reason": found})
        if found.key == self.missing.leads_to:
            return self._lost(page, columns)
        if found.url == page.url:
            return _settled(page, PageState.FAILED, {**columns, "reason": "redirect loop"})
        return _settled(page, PageState.REDIRECTED, {**columns, "reason": "redirect", "canonical": found.url}, links)

    def refused(self, page: Page, response: Response, answer: Answer) -> Settled:
        """A page that was not served."""
        also = self._sieve.missing(page.url, page.source) if answer.state == PageState.GONE else []
        return _settled(page, answer.state, {**answer.columns(), "status": response.status}, again=also)

    def _lost(self, page: Page, columns: dict[str, Any]) -> Settled:
        """A page that says it is missing, in so many words."""
        answer = gone("soft 404", page.attempts, bool(page.body))
        return _settled(page, answer.state, {**columns, **answer.columns()})

    def _is_missing(self, page: Page, shown: Print) -> bool:
        """A shop whose root shows the same as a missing page says nothing by it: such pages are read after all."""
        if self.missing.shows is None or not shown.same(self.missing.shows):
            return False
        if page.source == "root":
            self.missing = Probed()
        return page.source != "root"


def _settled(
    page: Page,
    state: PageState,
    columns: dict[str, Any],
    links: Sequence[Link] = (),
    body: bytes | None = None,
    again: Sequence[Original] = (),
) -> Settled:
    """The item for a page; links to try after all are due with it."""
    due = [original.due() for original in again]
    fresh = [link for link in due if isinstance(link, Link)]
    rows = tuple(outcome for outcome in due if isinstance(outcome, Outcome))
    return Settled(Outcome(page.id or 0, state, columns, [*links, *fresh]), body, rows)


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return title.text().strip()[:200] if title else ""


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
