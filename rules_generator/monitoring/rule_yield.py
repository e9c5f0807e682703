"""Rule yield: of a sample of a shop's pages, how many are recognised as offers, and how many of
those give each value.

Known offers show whether values are right, but they are few, and may all be of one kind. The yield
on any pages shows nothing about right and wrong; yet where rules find much less than they once did,
something has changed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parser.compiled_rules import CompiledRules
from parser.page.document import Document
from parser.rules.model import RuleSet

# Pages or offers below which a share is not compared.
MIN_SAMPLE = 30
# Share that an attribute had to reach once for its fall to count.
USUAL_SHARE = 0.4
# Part of the former share below which an attribute has fallen.
FALLEN_SHARE = 0.5


@dataclass(frozen=True)
class RuleYield:
    """Pages sampled, pages recognised as offers, and per attribute the offers that have a value."""

    pages: int = 0
    offers: int = 0
    attributes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "RuleYield":
        """Read the yield stored when the rules were learnt; an empty one if there is none."""
        attributes = dict(stored.get("attributes", {}))
        return cls(stored.get("pages", 0), stored.get("offers", 0), attributes)

    def __add__(self, addend: "RuleYield") -> "RuleYield":
        """Add the yield on other pages."""
        attributes = dict(sorted((Counter(self.attributes) + Counter(addend.attributes)).items()))
        return RuleYield(self.pages + addend.pages, self.offers + addend.offers, attributes)


def measure_yields(documents: Iterable[Document], rule_sets: Sequence[RuleSet]) -> list[RuleYield]:
    """Measure the yield of each rule set; each page is freed before the next is opened."""
    plans = [CompiledRules(rules) for rules in rule_sets]
    pages = 0
    offers = Counter[int]()
    attributes = [Counter[str]() for _ in plans]
    for document in documents:
        pages += 1
        for index, plan in enumerate(plans):
            reading = plan.read(document)
            if reading.offer is not None:
                offers[index] += 1
                for name, vote in reading.readings.items():
                    attributes[index][name.value] += vote.value is not None
    yields = []
    for index, counts in enumerate(attributes):
        yields.append(RuleYield(pages, offers[index], dict(sorted((+counts).items()))))
    return yields


def comparable_yields(
    fresh: RuleYield, resting: RuleYield, before: RuleYield
) -> tuple[RuleYield, RuleYield]:
    """Return the yields to compare: on fresh pages, and the one expected there if all were as
    `before`.

    Resting pages are read as ever and would hide a fall; but fresh pages are not like all, for
    lists never rest. So the yield of the resting pages is subtracted from the former yield of the
    whole sample. Too few fresh pages are not told apart.

    >>> fresh, resting = RuleYield(60, 20, {"ean": 20}), RuleYield(40, 40, {"ean": 40})
    >>> before = RuleYield(50, 40, {"ean": 35})
    >>> comparable_yields(fresh, resting, before)[1]
    RuleYield(pages=60, offers=40, attributes={'ean': 30})
    >>> comparable_yields(RuleYield(), resting, before) == (resting, before)
    True
    """
    total = fresh + resting
    if fresh.pages < MIN_SAMPLE or not before.pages:
        return total, before
    scale = total.pages / before.pages
    offers = min(fresh.pages, max(0, round(before.offers * scale) - resting.offers))
    attributes = {}
    for name, count in before.attributes.items():
        expected = round(count * scale) - resting.attributes.get(name, 0)
        attributes[name] = min(offers, max(0, expected))
    return fresh, RuleYield(fresh.pages, offers, attributes)


def yield_drops(now: RuleYield, before: RuleYield) -> list[str]:
    """Describe each share that is less than half of its former one; rare values and small samples
    are passed over.

    >>> before = RuleYield(100, 50, {"ean": 40, "title": 50})
    >>> yield_drops(RuleYield(100, 60, {"ean": 3, "title": 60}), before)
    ['ean on 5% of offers (was 80%)']
    """
    drops = _drop("offers", "pages", (now.offers, now.pages), (before.offers, before.pages))
    for name, count in before.attributes.items():
        current = (now.attributes.get(name, 0), now.offers)
        drops += _drop(name, "offers", current, (count, before.offers))
    return drops


def _drop(name: str, population: str, now: tuple[int, int], before: tuple[int, int]) -> list[str]:
    if min(now[1], before[1]) < MIN_SAMPLE:
        return []
    share, former = now[0] / now[1], before[0] / before[1]
    if former < USUAL_SHARE or share >= FALLEN_SHARE * former:
        return []
    return [f"{name} on {share:.0%} of {population} (was {former:.0%})"]
