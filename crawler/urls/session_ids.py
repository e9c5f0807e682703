"""Session ids that are a path segment: each visit of a page shows its links under new addresses.

`;jsessionid=` and `(S(...))` are recognised by their syntax (`crawler.urls.crawl_url`). A bare
`/3f0c9a.../p/7` may as well hold a category's id. But ids of categories occur side by side on one
page. A session id is the only one of its page, and changes on the next. The requested address stays
as linked; only the key for comparing addresses changes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.urls.crawl_url import CrawlUrl


class SessionIdDetector:
    """Learns the positions of session ids in a shop's paths; `positions` are zero-based."""

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self._votes: Counter[int] = Counter()
        self._refuted: set[int] = set()
        self._last_token: dict[int, str] = {}
        self.positions: frozenset[int] = frozenset()

    def observe(self, page: CrawlUrl, links: Iterable[CrawlUrl]) -> None:
        """Learn from the links of one page.

        Links with the page's own id are no evidence: relative links repeat it.
        """
        tokens_at: defaultdict[int, list[str]] = defaultdict(list)
        for link in links:
            for position in link.token_positions:
                if link.segments[position] not in page.segments:
                    tokens_at[position].append(link.segments[position])
        for position, tokens in tokens_at.items():
            self._vote(position, tokens)
        voted = {n for n, votes in self._votes.items() if votes >= self._config.session_pages}
        self.positions = frozenset(voted - self._refuted)

    def refute(self, offer: CrawlUrl) -> None:
        """Exclude the positions of ids in a known offer's address: they identify a page."""
        self._refuted.update(offer.token_positions)

    def has_session_id(self, address: CrawlUrl) -> bool:
        """Return True if an address has an id at a session position."""
        return bool(self.positions) and not self.positions.isdisjoint(address.token_positions)

    def key(self, address: CrawlUrl) -> str:
        """Return the key of an address, without its session id if it has one."""
        if self.has_session_id(address):
            return key_without_tokens(address)
        return address.page_key

    def _vote(self, position: int, tokens: list[str]) -> None:
        if len(set(tokens)) > 1:
            self._refuted.add(position)
            return
        has_changed = self._last_token.get(position) != tokens[0]
        if len(tokens) >= self._config.session_links and has_changed:
            self._votes[position] += 1
            self._last_token[position] = tokens[0]


def key_without_tokens(address: CrawlUrl) -> str:
    """Return the key of an address without the segments that may be session ids.

    >>> first = CrawlUrl.parse("https://a.de/0123456789abcdef/p/7")
    >>> second = CrawlUrl.parse("https://a.de/fedcba9876543210/p/7")
    >>> key_without_tokens(first) == key_without_tokens(second)
    True
    """
    positions = address.token_positions
    if not positions:
        return address.page_key
    segments = [text for index, text in enumerate(address.segments) if index not in positions]
    return f"{address.netloc}//{'/'.join(segments)}?{address.sorted_query}"
