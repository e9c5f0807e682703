"""Reliability: are values that are said to be 90 % sure right nine times in ten?

Readings are sorted into bins by what was said of them; in each, what was said on average stands beside the share that
was right. Values of which the truth is not known are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from catalog.models import Attribute

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


@dataclass
class Bin:
    """Values of so much confidence: how many, the sum of what was said of them, how many were right."""

    values: int = 0
    said: float = 0.0
    right: int = 0

    def add(self, other: "Bin") -> None:
        """Add another bin's counts to this one."""
        self.values += other.values
        self.said += other.said
        self.right += other.right


@dataclass
class Reliability:
    """Bins by confidence for each attribute."""

    bins: dict[tuple[Attribute, float], Bin] = field(default_factory=dict)

    def count(self, attribute: Attribute, sure: float, right: bool) -> None:
        """Count one value."""
        low = max(edge for edge in BINS[:-1] if edge <= max(0.0, sure))
        self.bins.setdefault((attribute, low), Bin()).add(Bin(1, sure, int(right)))

    def add(self, other: "Reliability") -> None:
        """Add another's counts to these."""
        for place, one in other.bins.items():
            self.bins.setdefault(place, Bin()).add(one)

    def rows(self, attributes: Iterable[Attribute] | None = None) -> list[dict[str, Any]]:
        """A row for each bin that holds values of these attributes, of all by default."""
        wanted, whole = set(attributes or Attribute), dict[float, Bin]()
        for (attribute, low), one in self.bins.items():
            if attribute in wanted:
                whole.setdefault(low, Bin()).add(one)
        highs = dict(pairwise(BINS))
        return [
            {"from": low, "to": highs[low], "values": one.values, "said": round(one.said / one.values, 4),
             "right": round(one.right / one.values, 4)}
            for low, one in sorted(whole.items())
        ]  # fmt: skip

    def figures(self) -> dict[str, Any]:
        """The rows of all attributes together, and of each."""
        known = sorted({attribute for attribute, _ in self.bins})
        return {"all": self.rows()} | {
            attribute.value: self.rows([attribute]) for attribute in known
        }
