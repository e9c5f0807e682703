"""Where a crawl begins: what the page table knows, the shop's root, the links of known offers, its sitemaps.

Known offers are visited under their cleaned link only; an opaque link would be a click, and is left alone.
"""

from collections.abc import Iterator

from sqlmodel import col, or_, select

from catalog.models import KnownOffer, Page, PageState, SitemapSeen
from catalog.storage.bodies import Bodies
from catalog.storage.frontier import SAME_PAGE, Link, Outcome
from catalog.storage.store import Store
from crawler.fetch.response_status import GONE
from crawler.filters.link_filter import Sieve
from crawler.pages.offer_signals import offer_marks
from crawler.urls.rule_verification import Original
from url_cleaner.clean import is_clean

SMALLEST = 20
RECALLED = ("recalled",)


def recall(store: Store, shop_id: int, sieve: Sieve) -> dict[str, str]:
    """Tell the sieve all pages of the table; gives the bodies of fetched pages, each with its canonical URL."""
    pages = select(Page.url, Page.source, Page.state, Page.body).where(Page.shop_id == shop_id)
    fetched = select(Page.body, Page.canonical, Page.url).where(
        Page.shop_id == shop_id, Page.state == PageState.FETCHED
    )
    with store.read() as session:
        for url, source, state, body in session.exec(pages):
            sieve.remember(url, source, state == PageState.GONE)
            if body:
                sieve.was_there(url)
        return {body: canonical or url for body, canonical, url in session.exec(fetched) if body}


def in_doubt(store: Store, shop_id: int, sieve: Sieve) -> list[Outcome]:
    """Tell the sieve the links that rules of an earlier crawl replaced; gives those to try after all.

    A killed crawl may have found a canonical address missing, and not yet have tried the link that it was to stand for.
    """
    replaced = select(Page.id, Page.url, Page.canonical).where(
        Page.shop_id == shop_id, Page.reason == SAME_PAGE
    )
    lost = or_(Page.state == PageState.GONE, col(Page.status).in_(GONE))
    missing = select(Page.url, Page.state).where(Page.shop_id == shop_id, lost)
    again: list[Original] = []
    with store.read() as session:
        states = dict(session.exec(missing).all())
        for page_id, url, canonical in session.exec(replaced.order_by(col(Page.id))):
            by = canonical or url
            if states.get(by, PageState.GONE) == PageState.GONE:
                sieve.replaced(Original(url, RECALLED, page_id), by)
            if states.get(by) == PageState.GONE:
                again += sieve.missing(by)
    return [due for original in again if isinstance(due := original.due(), Outcome)]


def plain_marks(store: Store, shop_id: int, bodies: Bodies) -> Iterator[int]:
    """The marks of the root and of the smallest pages: among them is the plainest page that was fetched before."""
    fetched = select(Page.body).where(Page.shop_id == shop_id, Page.state == PageState.FETCHED)
    with store.read() as session:
        roots = list(session.exec(fetched.where(Page.source == "root")))
        names = roots + list(session.exec(fetched.order_by(col(Page.size)).limit(SMALLEST)))
    for name in names:
        if name:
            yield offer_marks(bodies.get(name))


def first_links(store: Store, shop_id: int, sieve: Sieve) -> list[Link]:
    """The root and the known offers, as far as they are not in the table."""
    with store.read() as session:
        wanted = select(KnownOffer.url).where(
            KnownOffer.shop_id == shop_id, col(KnownOffer.url).is_not(None)
        )
        known = [url for url in session.exec(wanted.order_by(col(KnownOffer.id))) if url]
    clean = [url for url in known if is_clean(url, sieve.site.home)]
    return [*sieve.seed([sieve.site.home], "root"), *sieve.seed(clean, "known")]


def sitemaps_read(store: Store, run_id: int | None) -> set[str]:
    """The sitemaps that this run has read before it was killed."""
    with store.read() as session:
        return set(session.exec(select(SitemapSeen.url).where(SitemapSeen.run_id == run_id)))
