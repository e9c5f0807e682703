"""Small charts as SVG: points and bars are computed here, templates only draw them."""

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.storage.trends import TrendPoint

SPARKLINE_WIDTH = 100
SPARKLINE_HEIGHT = 24
# Pixels that stay free above and below a line, so that its ends are not cut off.
_MARGIN = 2


def sparkline(points: Sequence[TrendPoint]) -> str:
    """Return the points of a line of the missing offers; empty for fewer than two runs.

    >>> run = lambda missing: TrendPoint(1, None, 0, missing, 0)
    >>> sparkline([run(0), run(10)])
    '0,22.0 100,2.0'
    """
    if len(points) < 2:
        return ""
    numbers = [point.missing for point in points]
    low, high = min(numbers), max(numbers)
    span = max(1, high - low)
    height = SPARKLINE_HEIGHT - 2 * _MARGIN
    step = SPARKLINE_WIDTH / (len(numbers) - 1)
    places = []
    for index, number in enumerate(numbers):
        y = SPARKLINE_HEIGHT - _MARGIN - (number - low) / span * height
        places.append(f"{index * step:g},{y:.1f}")
    return " ".join(places)


@dataclass(frozen=True)
class TrendBar:
    """A run's bar of a chart that is 100 high: missing below, unsure and listed above it."""

    point: TrendPoint
    x: float
    width: float
    missing: float
    unsure: float
    listed: float


def trend_bars(points: Sequence[TrendPoint], width: float = 600) -> list[TrendBar]:
    """Return the bars of a trend, each as high as the offers of its run."""
    most = max((point.listed + point.missing + point.unsure for point in points), default=0)
    if not most:
        return []
    step = min(48.0, width / len(points))
    bars = []
    for index, point in enumerate(points):
        bars.append(
            TrendBar(
                point,
                round(index * step, 1),
                round(step * 0.75, 1),
                round(100 * point.missing / most, 2),
                round(100 * point.unsure / most, 2),
                round(100 * point.listed / most, 2),
            )
        )
    return bars
