"""Second tries: what if a learnt rule sent the crawl to a page that is not there?

The link as it stood in the page is then asked for after all. Where it is missing too, the link was broken and the rule
is not to blame; where it is there, the rule has led astray, and from then on every link that it sends into the void is
tried. A rule that does so too often is given up. Only so many tries are open at a time.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from catalog.models import PageState
from catalog.storage.frontier import Link, Outcome
from crawler.urls.canonical_rules import Way

TRIES = 5
ASTRAY = 3
SHARE = 0.25
AGAIN = "again"
SOON = 80


@dataclass(frozen=True)
class Original:
    """A link that was not requested because a rule named another: its row, where it had become one."""

    url: str
    way: Way
    page_id: int | None = None

    def due(self) -> Outcome | Link:
        """The link as a page that is due at once: as the row that it is, or as a new one."""
        if self.page_id is None:
            return Link(self.url, AGAIN, SOON)
        columns = {"reason": None, "canonical": None, "source": AGAIN, "priority": SOON}
        return Outcome(self.page_id, PageState.PENDING, columns)


class Doubts:
    """The links that rules replaced, and the verdicts on the rules."""

    def __init__(self) -> None:
        self.guilty: set[Way] = set()
        self._instead: dict[str, Original] = {}
        self._tried: dict[str, Original] = {}
        self._good: Counter[Way] = Counter()
        self._astray: Counter[Way] = Counter()
        self._innocent: Counter[Way] = Counter()
        self._open: Counter[Way] = Counter()
        self._held: defaultdict[Way, list[Original]] = defaultdict(list)

    def replaced(self, original: Original, by: str) -> None:
        """A rule has put the address `by` in the place of a link."""
        self._instead.setdefault(by, original)

    def trusts(self, way: Way) -> bool:
        """Whether a rule has been tried and never found wrong: what it says is missing need not be asked for twice."""
        return self._innocent[way] >= TRIES and not self._astray[way]

    def stands_for(self, url: str, original: str) -> bool:
        """Whether the address `url` was asked for in the place of that link."""
        return url in self._instead and self._instead[url].url == original

    def recant(self, url: str) -> Original | None:
        """The link that a rule, given up since, replaced by the address `url`."""
        original = self._instead.get(url)
        if original is None or original.way not in self.guilty:
            return None
        return self._instead.pop(url)

    def there(self, url: str) -> list[Original]:
        """A page was there; gives the links to try after all."""
        if good := self._instead.pop(url, None):
            self._good[good.way] += 1
        tried = self._tried.pop(url, None)
        if tried is None:
            return []
        way = tried.way
        self._astray[way] += 1
        self._open[way] -= 1
        if self._astray[way] >= ASTRAY and self._astray[way] > SHARE * self._good[way]:
            self.guilty.add(way)
        return [self._try(original) for original in self._held.pop(way, [])]

    def missing(self, url: str) -> list[Original]:
        """A page was not there; gives the links to try after all."""
        if tried := self._tried.pop(url, None):
            self._innocent[tried.way] += 1
            self._open[tried.way] -= 1
        original = self._instead.pop(url, None)
        if original is None:
            return []
        way = original.way
        if self._astray[way] or self._open[way] + self._innocent[way] < TRIES:
            return [self._try(original)]
        if self._innocent[way] < TRIES:
            self._held[way].append(original)
        return []

    def _try(self, original: Original) -> Original:
        self._tried[original.url] = original
        self._open[original.way] += 1
        return original
