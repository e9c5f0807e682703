"""Crawler traps: chains and families of barren pages, and endlessly filtered lists.

A page is fruitful if it has more offer signals than the shop's plainest page. It also is if it
links to a page of another kind that no page linked before. A calendar is barren, however many
months it has; a list of a thousand pages is fruitful on each. Plain names are never refused here,
only addresses that differ from others in digits or in their query.
"""

from collections import Counter, defaultdict

from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.urls.crawl_url import PAGE_KEY, CrawlUrl
from crawler.urls.url_rules import is_facet

MAX_SHOWN = 60  # characters of a path in a reason: reasons are counted and shown in reports


class TrapFilter:
    """Yield of the pages of one crawl, per family of addresses and per list."""

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self._pages = 0
        self._barren_single_filters = 0
        self._plainest: int | None = None
        self._exempt: set[str] = set()
        self._barren_pages: Counter[str] = Counter()
        self._shapes: Counter[str] = Counter()
        self._barren_views: Counter[str] = Counter()
        self._views: Counter[str] = Counter()
        self._single_keys: defaultdict[str, set[str]] = defaultdict(set)

    def looks_like_offer(self, signals: int) -> bool:
        """Return True if a page has more offer signals than the plainest page so far.

        A header may show a price on every page."""
        if self._plainest is None or signals < self._plainest:
            self._plainest = signals
            # Pages before may have been called fruitful or barren by the wrong bound.
            self._barren_pages.clear()
        return signals > self._plainest

    def exempt(self, offer: CrawlUrl) -> None:
        """Exempt the family of a known offer: it is no trap, however similar its pages are."""
        self._exempt.add(offer.family)

    def observe_link(self, link: CrawlUrl) -> None:
        """Note the keys that occur alone in links of a list: they are independent of each other."""
        if link.sorted_query and len(names := _filter_keys(link)) == 1:
            self._single_keys[link.path].update(names)

    def observe_page(self, page: CrawlUrl, is_fruitful: bool, has_new_links: bool) -> None:
        """Count a fetched page for its family or its list."""
        self._pages += 1
        if self.is_filtered_list(page):
            path = page.path
            self._barren_views[path] = 0 if has_new_links else self._barren_views[path] + 1
            if self.is_single_filter(page):
                barren = self._barren_single_filters + 1
                self._barren_single_filters = 0 if has_new_links else barren
        elif page.is_variable:
            self._shapes[page.shape] += 1
            self._barren_pages[page.family] = (
                0 if is_fruitful else self._barren_pages[page.family] + 1
            )

    def refusal_reason(self, link: CrawlUrl, barren_hops: int) -> str | None:
        """Return the reason why a new link leads into a trap; None if nothing says so."""
        if reason := self.closed_reason(link):
            return reason
        if barren_hops > self._config.max_barren_chain and link.family not in self._exempt:
            return _endless(link)
        if self.is_filtered_list(link):
            self._views[link.path] += 1
            if self._views[link.path] > self._config.max_list_views:
                return _endlessly_filtered(link)
        return None

    def closed_reason(self, link: CrawlUrl) -> str | None:
        """Return the reason why a family or a list's views are no longer visited."""
        if self.is_single_filter(link):
            share = self._pages * self._config.single_filter_share
            limit = max(self._config.max_barren_pages, share)
            return _endlessly_filtered(link) if self._barren_single_filters >= limit else None
        if (
            link.family not in self._exempt
            and self._barren_pages[link.family] >= self._config.max_barren_pages
            and self._shapes[link.shape] >= self._config.min_same_shape
        ):
            return _endless(link)
        is_barren = self._barren_views[link.path] >= self._config.max_barren_views
        if is_barren and self.is_filtered_list(link):
            return _endlessly_filtered(link)
        return None

    def is_filtered_list(self, link: CrawlUrl) -> bool:
        """Return True if an address sorts or filters a list.

        It has a known key, or several keys that also occur alone.
        """
        names = _filter_keys(link)
        if any(is_facet(name) for name in names):
            return True
        return len(names & self._single_keys[link.path]) > 1

    def is_single_filter(self, link: CrawlUrl) -> bool:
        """Return True if an address shows a list by one filter only.

        These are finite, and an offer may be reachable by one alone. So they are given up for the
        whole shop once many were barren, not list by list.
        """
        names = _filter_keys(link)
        return len(names) == len(link.sorted_query) == 1 and any(is_facet(name) for name in names)


def count_barren_hops(page: CrawlUrl, hops: int, is_fruitful: bool, link: CrawlUrl) -> int:
    """Count the barren hops up to a link: 0 unless it has its page's shape and the page was barren.

    >>> may, june = CrawlUrl.parse("https://a.de/cal/2026/05"), CrawlUrl.parse("https://a.de/cal/2026/06")
    >>> count_barren_hops(may, 3, False, june), count_barren_hops(may, 3, True, june)
    (4, 0)
    >>> count_barren_hops(may, 3, False, CrawlUrl.parse("https://a.de/about"))
    0
    """
    if is_fruitful or not link.is_variable or link.shape != page.shape:
        return 0
    return hops + 1


def _filter_keys(link: CrawlUrl) -> set[str]:
    return {name for name, _ in link.sorted_query if not PAGE_KEY.match(name)}


def _endless(link: CrawlUrl) -> str:
    return f"trap: endless {link.family[:MAX_SHOWN]}"


def _endlessly_filtered(link: CrawlUrl) -> str:
    return f"trap: list filtered endlessly {link.path[:MAX_SHOWN]}"
