"""Reliability: are values with a confidence of 90 % right nine times in ten? (Niculescu-Mizil and
Caruana 2005.)

Readings are sorted into bins by confidence; each bin compares the mean confidence with the share of
right values. Values without a known truth are left out.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from catalog.models import Attribute
from catalog.values import is_same_value
from parser.voting.confidence import ConfidenceFeatures, confidence_features
from parser.voting.winner import Reading

# Edges of the bins: most readings are nearly sure.
BIN_EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


class JudgedReading(NamedTuple):
    """A reading: its confidence, the features behind it, and whether it was right."""

    shop: str
    attribute: Attribute
    confidence: float
    features: ConfidenceFeatures
    is_right: bool
    # General rules have factors of their own, which are not fitted.
    is_learnt: bool = True


def judge_reading(shop: str, reading: Reading, is_right: bool) -> JudgedReading:
    """Make the record of a reading that found a value."""
    agreeing = []
    for vote in reading.votes:
        if vote.value and is_same_value(reading.attribute, vote.value, reading.value or ""):
            agreeing.append(vote.rule)
    return JudgedReading(
        shop,
        reading.attribute,
        reading.confidence,
        confidence_features(reading.share, agreeing),
        is_right,
        any(rule.is_learnt for rule in agreeing),
    )


def reliability_rows(readings: Iterable[JudgedReading]) -> list[dict[str, Any]]:
    """Return a row for each bin that has readings."""
    bins = defaultdict[int, list[JudgedReading]](list)
    for reading in readings:
        bins[bisect(BIN_EDGES[1:-1], reading.confidence)].append(reading)
    rows = []
    for index, members in sorted(bins.items()):
        rows.append(
            {
                "from": BIN_EDGES[index],
                "to": BIN_EDGES[index + 1],
                "values": len(members),
                "mean_confidence": round(fmean(reading.confidence for reading in members), 4),
                "right": round(fmean(reading.is_right for reading in members), 4),
            }
        )
    return rows


def reliability_figures(readings: Sequence[JudgedReading]) -> dict[str, Any]:
    """Return the rows of all attributes together, and of each."""
    by_attribute = defaultdict[str, list[JudgedReading]](list)
    for reading in readings:
        by_attribute[reading.attribute.value].append(reading)
    rows = {name: reliability_rows(members) for name, members in sorted(by_attribute.items())}
    return {"all": reliability_rows(readings)} | rows
