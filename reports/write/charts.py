"""Charts: the few shapes that the report draws, as coordinates for the SVG of its templates.

Stacked bars and columns in two colours need no chart library, and a page that must open without a network and under a
strict content policy could load none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.statistics.statistics import Tally
from reports.statistics.trend import Point


@dataclass(frozen=True)
class Piece:
    """A rectangle of a stacked bar; in percent of the drawing."""

    kind: str
    start: float
    size: float


def stacked(missing: int, unsure: int, listed: int, most: int) -> list[Piece]:
    """The pieces of a bar that is full at `most` offers: missing, unsure, listed, those of no size left out.

    >>> stacked(1, 0, 3, 8)
    [Piece(kind='missing', start=0.0, size=12.5), Piece(kind='listed', start=12.5, size=37.5)]
    """
    pieces, start = [], 0.0
    for kind, number in (("missing", missing), ("unsure", unsure), ("listed", listed)):
        size = round(100 * number / most, 3) if most else 0.0
        if size:
            pieces.append(Piece(kind, round(start, 3), size))
        start += size
    return pieces


def bar(tally: Tally, most: int) -> list[Piece]:
    """The bar of a group, on a scale that ends at `most` offers."""
    return stacked(tally.missing, tally.unsure, tally.listed, most)


def columns(history: Sequence[Point]) -> list[tuple[Point, list[Piece]]]:
    """A column per run, all on one scale."""
    most = max((one.missing + one.unsure + one.listed for one in history), default=0)
    return [(one, stacked(one.missing, one.unsure, one.listed, most)) for one in history]
