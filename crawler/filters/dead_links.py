"""Dead links: patterns of addresses that never lead to a page, such as hrefs meant for scripts.

A shop's buttons often carry `href="some-word"`; resolved, that is a page that does not exist, a
thousand times. Once the first links of a pattern are all missing, the others are postponed until
everything else is fetched. Once the next ones are missing too, the pattern is refused. One page
that exists clears its pattern for good. Postponed links are fetched in pseudo-random order: dead
links at the top of a page are no evidence against the live ones below.
"""

from collections import Counter

from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.urls.crawl_url import CrawlUrl

LAST_PRIORITY = -100  # of postponed links: below every other priority of the link filter
PRIORITY_SPREAD = 64  # priorities over which postponed links are spread
MAX_ENDING_LENGTH = 5  # characters; a longer text behind a dot is part of a name

LinkPattern = tuple[str, int, str, bool]


class DeadLinkFilter:
    """Counts the missing links of each pattern, and remembers the patterns that have a page."""

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self._missing: Counter[LinkPattern] = Counter()
        self._alive: set[LinkPattern] = set()

    def record_existing(self, address: CrawlUrl) -> None:
        """Note that a page exists: its pattern is alive."""
        self._alive.add(link_pattern(address))

    def record_missing(self, address: CrawlUrl) -> None:
        """Note that a link led to no page."""
        self._missing[link_pattern(address)] += 1

    def should_wait(self, address: CrawlUrl) -> bool:
        """Return True if the links of the pattern have all been missing so far."""
        return self._missing_links(address) >= self._config.dead_links_to_postpone

    def is_dead(self, address: CrawlUrl) -> bool:
        """Return True if so many links of the pattern were missing that no more are fetched."""
        return self._missing_links(address) >= self._config.dead_links_to_refuse

    def _missing_links(self, address: CrawlUrl) -> int:
        pattern = link_pattern(address)
        return 0 if pattern in self._alive else self._missing[pattern]


def link_pattern(address: CrawlUrl) -> LinkPattern:
    """Return the first segment, the depth, the file ending, and whether there is a query.

    >>> link_pattern(CrawlUrl.parse("https://a.de/c/x/y.html?z=1"))
    ('c', 3, 'html', True)
    """
    segments = address.segments
    ending = ""
    if segments:
        _, dot, text = segments[-1].rpartition(".")
        if dot and len(text) <= MAX_ENDING_LENGTH:
            ending = text.lower()
    first = segments[0] if len(segments) > 1 else ""
    return first, len(segments), ending, bool(address.sorted_query)
