"""Session ids that are a segment of the path: every visit of a page shows its links under new addresses.

`;jsessionid=` and `(S(...))` are known by their looks (`crawler.urls.url_shape`). A bare `/3f0c9a.../p/7` may as well be an id
of a category, but those stand beside each other on a page; a session's id is the only one of its page, and on the next
page it is another. The address that is requested stays as it is: only what makes two addresses the same page changes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from crawler.urls.url_shape import Address

PAGES = 3
LINKS = 3


class Sessions:
    """What the pages of one crawl tell of ids in the first segments of paths."""

    def __init__(self) -> None:
        self._votes: Counter[int] = Counter()
        self._refuted: set[int] = set()
        self._last: dict[int, str] = {}
        self.held: frozenset[int] = frozenset()

    def observe(self, page: Address, links: Iterable[Address]) -> None:
        """Learn from the links of one page; relative ones, which repeat the page's own id, say nothing."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for link in links:
            for place in link.ids:
                if link.segments[place] not in page.segments:
                    found[place].append(link.segments[place])
        for place, tokens in found.items():
            if len(set(tokens)) > 1:
                self._refuted.add(place)
            elif len(tokens) >= LINKS and self._last.get(place) != tokens[0]:
                self._votes[place] += 1
                self._last[place] = tokens[0]
        self.held = (
            frozenset(place for place, votes in self._votes.items() if votes >= PAGES)
            - self._refuted
        )

    def refute(self, offer: Address) -> None:
        """A known offer's address: what stands in it is no session's."""
        self._refuted.update(offer.ids)

    def holds(self, address: Address) -> bool:
        """Whether an address has a session's id in it."""
        return bool(self.held) and not self.held.isdisjoint(address.ids)

    def key(self, address: Address) -> str:
        """What makes two addresses the same page, session ids aside."""
        return bare_key(address) if self.holds(address) else address.key


def bare_key(address: Address) -> str:
    """The key of an address without what may be a session's id.

    >>> bare_key(Address("https://a.de/0123456789abcdef/p/7")) == bare_key(Address("https://a.de/fedcba9876543210/p/7"))
    True
    """
    places = address.ids
    kept = [segment for place, segment in enumerate(address.segments) if place not in places]
    return f"{address.parts.netloc}//{'/'.join(kept)}?{address.query}" if places else address.key
