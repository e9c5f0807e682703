"""Second tries: what if a learnt rule sent the crawl to a page that is not there?

The link as it stood in the page is then asked for after all. Where it is there, the rule has led astray and is given
up; where it is missing too, the link was broken and the rule is not to blame. Only so many tries are open at a time.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from crawler.canonicals import Way

TRIES = 5


@dataclass(frozen=True)
class Original:
    """A link that was not requested because a rule named another: its row, where it had become one."""

    url: str
    way: Way
    page_id: int | None = None


class Doubts:
    """The links that rules replaced, and the verdicts on the rules."""

    def __init__(self) -> None:
        self.guilty: set[Way] = set()
        self._instead: dict[str, Original] = {}
        self._tried: dict[str, Original] = {}
        self._innocent: Counter[Way] = Counter()
        self._open: Counter[Way] = Counter()
        self._held: defaultdict[Way, list[Original]] = defaultdict(list)

    def trusts(self, way: Way) -> bool:
        """Whether a rule has been tried and never found wrong: what it says is missing need not be asked for twice."""
        return self._innocent[way] >= TRIES and way not in self.guilty

    def replaced(self, original: Original, by: str) -> None:
        """A rule has put the address `by` in the place of a link."""
        self._instead.setdefault(by, original)

    def there(self, url: str) -> list[Original]:
        """A page was there; gives the links to try after all."""
        tried = self._tried.pop(url, None)
        if tried is None:
            return []
        self.guilty.add(tried.way)
        return [self._try(original) for original in self._held.pop(tried.way, [])]

    def missing(self, url: str) -> list[Original]:
        """A page was not there; gives the links to try after all."""
        if tried := self._tried.pop(url, None):
            self._innocent[tried.way] += 1
            self._open[tried.way] -= 1
        original = self._instead.pop(url, None)
        if original is None:
            return []
        way = original.way
        if way in self.guilty or self._open[way] + self._innocent[way] < TRIES:
            return [self._try(original)]
        if self._innocent[way] < TRIES:
            self._held[way].append(original)
        return []

    def _try(self, original: Original) -> Original:
        self._tried[original.url] = original
        self._open[original.way] += 1
        return original
