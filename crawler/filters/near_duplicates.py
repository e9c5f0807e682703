"""Near-duplicate pages: generated pages that show the same and link only to more of their kind.

Their addresses look plain, so their titles are compared. A near-duplicate shows the title of the
page that linked to it first. After many of them in a row, the other links of such pages are
postponed until everything else is fetched. After some more, the links are refused. A page that
looks like an offer clears the title for good; another title restarts the count.
"""

from collections import Counter

from crawler.config import DEFAULT_CONFIG, CrawlConfig

MAX_TRACKED = 200_000  # bound: memory of a crawl over an endless shop
TRAP_REASON = "trap: pages alike"


class NearDuplicateFilter:
    """Counts, per title, the pages in a row that show the title of the page that links to them.

    >>> pages = NearDuplicateFilter()
    >>> for number in range(61):
    ...     pages.record_link(number, "Our story")
    >>> for number in range(60):
    ...     pages.record_page(number, "Our story", is_offer=False)
    >>> pages.should_wait(60), pages.is_trap(60)
    (True, False)
    """

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self._referrer_title: dict[int, str] = {}
        self._duplicates: Counter[str] = Counter()
        self._titles_with_offers: set[str] = set()

    def record_link(self, link: int, title: str) -> None:
        """Note the title of the page that links to an address first.

        `link` is the hash of the address.
        """
        if len(self._referrer_title) < MAX_TRACKED:
            self._referrer_title.setdefault(link, title)

    def record_page(self, page: int, title: str, *, is_offer: bool) -> None:
        """Note a fetched page's title; `is_offer` if it looks like an offer page."""
        referrer = self._referrer_title.pop(page, None)
        if referrer is None:
            return
        if is_offer and len(self._titles_with_offers) < MAX_TRACKED:
            self._titles_with_offers.add(referrer)
        if title == referrer and not is_offer:
            self._duplicates[referrer] += 1
        else:
            self._duplicates[referrer] = 0

    def should_wait(self, link: int) -> bool:
        """Return True if the pages that link there have led to near-duplicates for long."""
        return self._duplicates_behind(link) >= self._config.duplicates_to_postpone

    def is_trap(self, link: int) -> bool:
        """Return True if they have for so long that the link is refused."""
        return self._duplicates_behind(link) >= self._config.duplicates_to_refuse

    def _duplicates_behind(self, link: int) -> int:
        title = self._referrer_title.get(link)
        if title is None or title in self._titles_with_offers:
            return 0
        return self._duplicates[title]
