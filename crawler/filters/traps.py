"""Traps told by what their pages bring: chains of barren hops, families of barren pages, lists filtered without end.

A page bears fruit when it looks more like an offer's than the shop's plainest page, or links to something of another
kind that no page linked before. A calendar does neither, however many months it has; a list of a thousand pages does
both on every page. What is refused here is never a plain name, only an address that differs from others in digits or in
its query.
"""

from collections import Counter, defaultdict

from crawler.urls.url_rules import is_facet
from crawler.urls.url_shape import PAGE_KEY, Address

LONGEST_CHAIN = 12
BARREN_PAGES = 40
BARREN_FILTERS = 20
MOST_FILTERS = 200
SAME_SHAPE = 10
SHARE_OF_VIEWS = 0.5


class Traps:
    """What the pages of one crawl have brought so far, per family of addresses and per list."""

    def __init__(self) -> None:
        self._pages = self._barren_views = 0
        self._plainest: int | None = None
        self._vouched: set[str] = set()
        self._barren: Counter[str] = Counter()
        self._shapes: Counter[str] = Counter()
        self._barren_filters: Counter[str] = Counter()
        self._filters: Counter[str] = Counter()
        self._lone_keys: defaultdict[str, set[str]] = defaultdict(set)

    def looks_like_offer(self, marks: int) -> bool:
        """Whether a page has more marks of an offer than the plainest page so far, whose header may show a price."""
        if self._plainest is None or marks < self._plainest:
            self._plainest = marks
            self._barren.clear()
        return marks > self._plainest

    def vouch(self, offer: Address) -> None:
        """A known offer's address: its family is no trap, however much its pages are alike."""
        self._vouched.add(offer.stem)

    def saw(self, link: Address) -> None:
        """Note which keys stand alone in a list's links: such keys are independent of each other."""
        if link.query and len(names := _names(link)) == 1:
            self._lone_keys[link.parts.path].update(names)

    def fetched(self, page: Address, fruitful: bool, fresh: bool) -> None:
        """Note what a page was: `fruitful` as said above, `fresh` when it linked to something new."""
        self._pages += 1
        if self.filters(page):
            path = page.parts.path
            self._barren_filters[path] = 0 if fresh else self._barren_filters[path] + 1
            if self.filters_once(page):
                self._barren_views = 0 if fresh else self._barren_views + 1
        elif page.varies:
            self._shapes[page.shape] += 1
            self._barren[page.stem] = 0 if fruitful else self._barren[page.stem] + 1

    def refuses(self, link: Address, chain: int) -> str | None:
        """Why a new link leads into a trap; None where it does not, as far as is known."""
        if reason := self.closed(link):
            return reason
        if chain > LONGEST_CHAIN and link.stem not in self._vouched:
            return f"trap: endless {link.stem[:60]}"
        if self.filters(link):
            self._filters[link.parts.path] += 1
            if self._filters[link.parts.path] > MOST_FILTERS:
                return _filtered(link)
        return None

    def closed(self, link: Address) -> str | None:
        """Why no more of a family or of a list's views is visited: it has brought nothing for too long."""
        if self.filters_once(link):
            enough = max(BARREN_PAGES, self._pages * SHARE_OF_VIEWS)
            return _filtered(link) if self._barren_views >= enough else None
        if (
            link.stem not in self._vouched
            and self._barren[link.stem] >= BARREN_PAGES
            and self._shapes[link.shape] >= SAME_SHAPE
        ):
            return f"trap: endless {link.stem[:60]}"
        if self._barren_filters[link.parts.path] >= BARREN_FILTERS and self.filters(link):
            return _filtered(link)
        return None

    def filters(self, link: Address) -> bool:
        """Whether an address sorts or filters a list: by a known key, or by several that also stand alone."""
        names = _names(link)
        if any(is_facet(name) for name in names):
            return True
        return len(names & self._lone_keys[link.parts.path]) > 1

    def filters_once(self, link: Address) -> bool:
        """Whether an address shows a list by one filter only. There are only so many of those, and an offer may stand
        behind one alone: they are given up for the whole shop, once many have brought nothing, and not list by list.
        """
        names = _names(link)
        return len(names) == len(link.query) == 1 and any(is_facet(name) for name in names)


def chain(page: Address, hops: int, fruitful: bool, link: Address) -> int:
    """The barren hops up to a link: none unless it is of its page's own shape and the page bore no fruit.

    >>> may, june = Address("https://a.de/cal/2026/05"), Address("https://a.de/cal/2026/06")
    >>> chain(may, 3, False, june), chain(may, 3, True, june), chain(may, 3, False, Address("https://a.de/about"))
    (4, 0, 0)
    """
    return hops + 1 if not fruitful and link.varies and link.shape == page.shape else 0


def _names(link: Address) -> set[str]:
    return {name for name, _ in link.query if not PAGE_KEY.match(name)}


def _filtered(link: Address) -> str:
    return f"trap: list filtered endlessly {link.parts.path[:60]}"
