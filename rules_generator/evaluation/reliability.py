"""Reliability: are values with a confidence of 90 % right nine times in ten? (Niculescu-Mizil and Caruana 2005.)

Readings are sorted into bins by confidence; each bin compares the mean confidence with the share of right values.
Values without a known truth are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from catalog.models import Attribute

# Edges of the bins: most readings are nearly sure.
BIN_EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


@dataclass
class Bin:
    """Number of values in a range of confidence, the sum of their confidence, and the number of right ones."""

    values: int = 0
    confidence: float = 0.0
    right: int = 0

    def add(self, addend: "Bin") -> None:
        """Add another bin's counts."""
        self.values += addend.values
        self.confidence += addend.confidence
        self.right += addend.right


@dataclass
class Reliability:
    """Bins by attribute and lower edge."""

    bins: dict[tuple[Attribute, float], Bin] = field(default_factory=dict)

    def count(self, attribute: Attribute, confidence: float, is_right: bool) -> None:
        """Count one value."""
        lower = max(edge for edge in BIN_EDGES[:-1] if edge <= max(0.0, confidence))
        self.bins.setdefault((attribute, lower), Bin()).add(Bin(1, confidence, int(is_right)))

    def add(self, addend: "Reliability") -> None:
        """Add the counts of other values."""
        for place, counts in addend.bins.items():
            self.bins.setdefault(place, Bin()).add(counts)

    def rows(self, attributes: Iterable[Attribute] | None = None) -> list[dict[str, Any]]:
        """Return a row for each bin with values of these attributes, of all by default."""
        selected = set(attributes or Attribute)
        merged: dict[float, Bin] = {}
        for (attribute, lower), counts in self.bins.items():
            if attribute in selected:
                merged.setdefault(lower, Bin()).add(counts)
        upper = dict(pairwise(BIN_EDGES))
        return [
            {
                "from": lower,
                "to": upper[lower],
                "values": counts.values,
                "said": round(counts.confidence / counts.values, 4),
                "right": round(counts.right / counts.values, 4),
            }
            for lower, counts in sorted(merged.items())
        ]

    def figures(self) -> dict[str, Any]:
        """Return the rows of all attributes together, and of each."""
        attributes = sorted({attribute for attribute, _ in self.bins})
        by_attribute = {attribute.value: self.rows([attribute]) for attribute in attributes}
        return {"all": self.rows()} | by_attribute
