"""Coverage: of a sample of a shop's pages, how many are taken for offers, and how many of those give each attribute.

Known offers say whether what is read is right, but they are few, and may all be of one kind. What rules find on any
pages says nothing about right and wrong; yet where they find much less than they once did, something has changed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parser.compiled_rules import Plan
from parser.page.document import Document
from parser.rules.model import RuleSet

FEWEST = 30
USUAL = 0.4
HALF = 0.5


@dataclass(frozen=True)
class Coverage:
    """Of so many pages, those taken for offers, and per attribute those of the offers that have a value."""

    pages: int = 0
    offers: int = 0
    attributes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Coverage":
        """What was noted when the rules were learnt; nothing at all where nothing was."""
        return cls(
            stored.get("pages", 0), stored.get("offers", 0), dict(stored.get("attributes", {}))
        )

    def __add__(self, other: "Coverage") -> "Coverage":
        """What is found on these pages and on others."""
        both = dict(sorted((Counter(self.attributes) + Counter(other.attributes)).items()))
        return Coverage(self.pages + other.pages, self.offers + other.offers, both)


def covered(documents: Iterable[Document], rule_sets: Sequence[RuleSet]) -> list[Coverage]:
    """What each of the rule sets finds on the pages; each page is gone before the next is opened."""
    plans = [Plan(rules) for rules in rule_sets]
    pages, found = 0, [Counter[str]() for _ in plans]
    for document in documents:
        pages += 1
        for plan, count in zip(plans, found, strict=True):
            page = plan.read(document)
            if page.offer is not None:
                count[""] += 1
                count.update(
                    name.value
                    for name, reading in page.readings.items()
                    if reading.value is not None
                )
    return [Coverage(pages, count.pop("", 0), dict(sorted(count.items()))) for count in found]


def judged(fresh: Coverage, rested: Coverage, then: Coverage) -> tuple[Coverage, Coverage]:
    """What is to be compared of a sample: what is found on its fresh pages, and what would be as it was `then`.

    Pages that rest are read as ever and would hide a fall; but fresh pages are not like all, for lists never rest. So
    what the others still give is taken off what the whole sample once gave. Too few fresh pages are not told apart.

    >>> now, rested, then = Coverage(60, 20, {"ean": 20}), Coverage(40, 40, {"ean": 40}), Coverage(50, 40, {"ean": 35})
    >>> judged(now, rested, then)[1]
    Coverage(pages=60, offers=40, attributes={'ean': 30})
    >>> judged(Coverage(), rested, then) == (rested, then)
    True
    """
    whole = fresh + rested
    if fresh.pages < FEWEST or not then.pages:
        return whole, then
    size = whole.pages / then.pages
    offers = min(fresh.pages, max(0, round(then.offers * size) - rested.offers))
    left = {
        name: round(count * size) - rested.attributes.get(name, 0)
        for name, count in then.attributes.items()
    }
    return fresh, Coverage(
        fresh.pages, offers, {name: min(offers, max(0, count)) for name, count in left.items()}
    )


def fallen(now: Coverage, then: Coverage) -> list[str]:
    """What is found on less than half as many pages as once; what once was rare, or seen on few pages, is passed over.

    >>> fallen(Coverage(100, 60, {"ean": 3, "title": 60}), Coverage(100, 50, {"ean": 40, "title": 50}))
    ['ean on 5% of offers (was 80%)']
    """
    said = _fallen("offers", "pages", (now.offers, now.pages), (then.offers, then.pages))
    for name, count in then.attributes.items():
        said += _fallen(
            name, "offers", (now.attributes.get(name, 0), now.offers), (count, then.offers)
        )
    return said


def _fallen(what: str, whole: str, now: tuple[int, int], then: tuple[int, int]) -> list[str]:
    if min(now[1], then[1]) < FEWEST:
        return []
    share, once = now[0] / now[1], then[0] / then[1]
    return (
        [f"{what} on {share:.0%} of {whole} (was {once:.0%})"]
        if once >= USUAL and share < HALF * once
        else []
    )
