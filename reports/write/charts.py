"""Stacked bars of the report as coordinates for the SVG of its templates.

A few bars need no chart library, and a page that opens without a network and under a strict content
security policy could not load one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.statistics.completeness import VerdictCounts
from reports.statistics.trend import HistoryPoint


@dataclass(frozen=True)
class BarSegment:
    """Rectangle of a stacked bar, in percent of the bar's full width."""

    kind: str
    start: float
    width: float


@dataclass(frozen=True)
class HistoryBar:
    """Bar of one run in the shop's history."""

    point: HistoryPoint
    segments: list[BarSegment]


def stack_segments(missing: int, unsure: int, listed: int, full: int) -> list[BarSegment]:
    """Stack missing, unsure and listed offers into a bar that is full at `full` offers.

    Empty segments are left out.

    >>> missing, listed = stack_segments(1, 0, 3, 8)
    >>> missing
    BarSegment(kind='missing', start=0.0, width=12.5)
    >>> listed
    BarSegment(kind='listed', start=12.5, width=37.5)
    """
    segments: list[BarSegment] = []
    if not full:
        return segments
    start = 0.0
    for kind, number in (("missing", missing), ("unsure", unsure), ("listed", listed)):
        width = round(100 * number / full, 3)
        if width:
            segments.append(BarSegment(kind, round(start, 3), width))
        start += width
    return segments


def group_bar(counts: VerdictCounts, full: int) -> list[BarSegment]:
    """Return the bar of a group on a scale that ends at `full` offers."""
    return stack_segments(counts.missing, counts.unsure, counts.listed, full)


def history_bars(history: Sequence[HistoryPoint]) -> list[HistoryBar]:
    """Return a bar per run, all on one scale."""
    full = max((point.missing + point.unsure + point.listed for point in history), default=0)
    bars = []
    for point in history:
        segments = stack_segments(point.missing, point.unsure, point.listed, full)
        bars.append(HistoryBar(point, segments))
    return bars
