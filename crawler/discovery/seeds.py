"""Seeds of a crawl: root, known offers, and the state restored from the page table.

Known offers are visited under their cleaned link only. An opaque link would count as a click, and
is left out.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlmodel import col, or_, select

from catalog.models import KnownOffer, Page, PageState, SitemapSeen
from catalog.storage.bodies import BodyStore
from catalog.storage.frontier import SAME_AS_CANONICAL, FetchOutcome
from catalog.storage.store import Store
from crawler.fetch.response_status import GONE_STATUSES
from crawler.filters.link_filter import LinkFilter
from crawler.pages.offer_signals import count_offer_signals
from crawler.urls.rule_verification import ReplacedLink
from url_cleaner.cleaner import is_clean
from url_cleaner.urls.url import url_rank

PLAIN_PAGES = 20  # smallest pages among which the plainest is looked for
EARLIER_RULE = (
    "recalled",
)  # rule key of all replacements of earlier crawls: their rule is not stored


class EarlierReplacement(NamedTuple):
    """A link that a rule of an earlier crawl replaced, and whether the replacement was missing."""

    page_id: int | None
    url: str
    replacement: str
    is_missing: bool


def restore_pages(
    store: Store,
    shop_id: int,
    link_filter: LinkFilter,
    resumed_run: int | None = None,
    last_page_id: int | None = None,
) -> dict[str, str]:
    """Give the filter all pages of the table.

    Returns {body name: canonical URL} of the fetched ones. With the run that is resumed, only what
    the table held when that began counts.
    """
    is_gone = col(Page.state) == PageState.GONE
    fetched = select(Page.body, Page.canonical, Page.url).where(
        Page.shop_id == shop_id, Page.state == PageState.FETCHED
    )
    if resumed_run is not None:
        is_earlier = col(Page.run_id).is_distinct_from(resumed_run)
        is_gone &= is_earlier
        fetched = fetched.where(is_earlier)
    pages = select(Page.url, Page.source, Page.body, is_gone).where(Page.shop_id == shop_id)
    if last_page_id is not None:
        pages = pages.where(col(Page.id) <= last_page_id)
    with store.read() as session:
        rows = sorted(session.exec(pages), key=lambda row: url_rank(row[0]))
        for url, source, body, was_gone in rows:
            link_filter.remember_page(url, source, was_gone)
            if body:
                link_filter.remember_existing(url)
        by_url = sorted(session.exec(fetched), key=lambda row: url_rank(row[2]), reverse=True)
        # Of several pages with the same body, the first by rank stands for all.
        return {body: canonical or url for body, canonical, url in by_url if body}


def find_replacements(store: Store, shop_id: int) -> list[EarlierReplacement]:
    """Find the links that rules of an earlier crawl replaced, and whose replacement may be missing.

    A killed crawl may have found a canonical address missing without having tried the original link
    yet.
    """
    replaced = select(Page.id, Page.url, Page.canonical).where(
        Page.shop_id == shop_id, Page.reason == SAME_AS_CANONICAL
    )
    is_missing = or_(Page.state == PageState.GONE, col(Page.status).in_(GONE_STATUSES))
    missing = select(Page.url, Page.state).where(Page.shop_id == shop_id, is_missing)
    replacements: list[EarlierReplacement] = []
    with store.read() as session:
        states = dict(session.exec(missing).all())
        for page_id, url, canonical in session.exec(replaced.order_by(col(Page.id))):
            replacement = canonical or url
            # An existing page confirms its replacement; one that is pending again may be gone.
            if states.get(replacement, PageState.GONE) == PageState.GONE:
                was_missing = replacement in states
                replacements.append(EarlierReplacement(page_id, url, replacement, was_missing))
    return replacements


def restore_replacements(
    replacements: Iterable[EarlierReplacement], link_filter: LinkFilter
) -> list[FetchOutcome]:
    """Give the filter the links that rules of an earlier crawl replaced; returns those to try now."""
    to_try: list[ReplacedLink] = []
    for earlier in replacements:
        original = ReplacedLink(earlier.url, EARLIER_RULE, earlier.page_id)
        link_filter.remember_replacement(original, earlier.replacement)
        if earlier.is_missing:
            to_try += link_filter.record_missing(earlier.replacement)
    due = [original.as_due() for original in to_try]
    return [outcome for outcome in due if isinstance(outcome, FetchOutcome)]


def baseline_signals(store: Store, shop_id: int, bodies: BodyStore) -> Iterator[int]:
    """Yield the offer signals of the root and the smallest pages, to find the plainest page."""
    fetched = select(Page.body).where(Page.shop_id == shop_id, Page.state == PageState.FETCHED)
    with store.read() as session:
        roots = list(session.exec(fetched.where(Page.source == "root")))
        smallest = list(
            session.exec(fetched.order_by(col(Page.size), col(Page.id)).limit(PLAIN_PAGES))
        )
    for name in roots + smallest:
        if name:
            yield count_offer_signals(bodies.get(name))


def seed_urls(store: Store, shop_id: int, home: str) -> list[tuple[list[str], str]]:
    """Return the root and the links of the known offers, each with their source."""
    offers = select(KnownOffer.url).where(
        KnownOffer.shop_id == shop_id, col(KnownOffer.url).is_not(None)
    )
    with store.read() as session:
        urls = [url for url in session.exec(offers.order_by(col(KnownOffer.id))) if url]
    return [([home], "root"), ([url for url in urls if is_clean(url, home)], "known")]


def sitemaps_read(store: Store, run_id: int | None) -> set[str]:
    """Return the URLs of the sitemaps that this run has read already."""
    with store.read() as session:
        return set(session.exec(select(SitemapSeen.url).where(SitemapSeen.run_id == run_id)))
