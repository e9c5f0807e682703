"""The figures of an evaluation as a chart: accuracy and precision by threshold, and per attribute
for the last setting.

Written as SVG, which needs no library and opens in every browser; a file named `.html` gets a page
around it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

# Sizes in SVG units.
WIDTH = 900
HEIGHT = 720
LEFT = 60
RIGHT = 700
TOP = 50
BOTTOM = 330
BARS_TOP = 420
BARS_BOTTOM = 640
GRID_LINES = 5
COLOURS = ("#1f6f8b", "#d1495b", "#66a182", "#8d5a97", "#edae49")
STYLE = "font: 13px system-ui, sans-serif; background: white"
FIGURES = ("accuracy", "precision")


def write_chart(figures: Mapping[str, Any], path: Path) -> None:
    """Write the chart; as a page if the file's name says so."""
    svg = render_chart(figures)
    page = f'<!doctype html><meta charset="utf-8"><title>Extraction</title>\n{svg}\n'
    is_page = path.suffix.lower() in (".html", ".htm")
    path.write_text(page if is_page else svg + "\n", encoding="utf-8")


def render_chart(figures: Mapping[str, Any]) -> str:
    """Return the chart as SVG."""
    settings = figures["settings"]
    shares = [setting[name] for setting in settings for name in FIGURES]
    lowest = min((share for share in shares if share is not None), default=0)
    # The axis starts below the lowest share, rounded to a twentieth.
    floor = int(lowest * 20) / 20 if lowest < 1 else 0.95
    title = (
        f"{figures['shops']} shops, view {figures['view']}, "
        f"{figures['stale']:.0%} of prices and titles made wrong"
    )
    parts = [_text(LEFT, 24, title, "16px")]
    parts += _frame(floor, sorted({setting["threshold"] for setting in settings}))
    parts += _lines(settings, floor)
    parts += _bars(settings[-1])
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" style="{STYLE}">'
        f"\n{body}\n</svg>"
    )


def _frame(floor: float, thresholds: Sequence[float]) -> Iterator[str]:
    for step in range(GRID_LINES + 1):
        share = floor + (1 - floor) * step / GRID_LINES
        y = _height(share, floor)
        yield f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 8, y + 4, f"{share:.3f}", anchor="end")
    for threshold in thresholds:
        yield _text(_across(threshold), BOTTOM + 20, f"{threshold:g}", anchor="middle")
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 42, "threshold F", anchor="middle")


def _lines(settings: Sequence[Mapping[str, Any]], floor: float) -> Iterator[str]:
    by_threshold = sorted(settings, key=lambda setting: setting["threshold"])
    for number, train in enumerate(sorted({setting["train"] for setting in settings})):
        colour = COLOURS[number % len(COLOURS)]
        for row, (name, dash) in enumerate((("accuracy", ""), ("precision", "6 4"))):
            points = []
            for setting in by_threshold:
                if setting["train"] == train and setting[name] is not None:
                    points.append((_across(setting["threshold"]), _height(setting[name], floor)))
            y = TOP + 16 + 44 * number + 20 * row
            yield _line(points, colour, dash)
            yield _line([(RIGHT + 16, y - 4), (RIGHT + 46, y - 4)], colour, dash)
            yield _text(RIGHT + 54, y, f"{name}, {train} pages")


def _line(points: Iterable[tuple[float, float]], colour: str, dash: str) -> str:
    corners, dots = [], []
    for x, y in points:
        corners.append(f"{x:.1f},{y:.1f}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
    return (
        f'<polyline points="{" ".join(corners)}" fill="none" stroke="{colour}" stroke-width="2" '
        f'stroke-dasharray="{dash}"/>{"".join(dots)}'
    )


def _bars(setting: Mapping[str, Any]) -> Iterator[str]:
    """Draw accuracy and precision of each attribute that is known for any page."""
    title = f"By attribute, {setting['train']} pages, threshold {setting['threshold']:g}"
    yield _text(LEFT, BARS_TOP - 22, title)
    labelled = [(name, row) for name, row in setting["attributes"].items() if row["truth"]]
    step = (WIDTH - LEFT - 20) / max(1, len(labelled))
    for number, (name, row) in enumerate(labelled):
        x = LEFT + step * number
        for index, figure in enumerate(FIGURES):
            yield from _bar(
                f"{name}: {figure}", row[figure] or 0.0, x + index * step * 0.4, step, index
            )
        yield _text(x + step * 0.38, BARS_BOTTOM + 18, name, anchor="middle")
    for index, figure in enumerate(FIGURES):
        x = LEFT + 130 * index
        yield (
            f'<rect x="{x}" y="{BARS_BOTTOM + 40}" width="14" height="14" fill="{COLOURS[index]}"/>'
        )
        yield _text(x + 20, BARS_BOTTOM + 52, figure)


def _bar(title: str, share: float, x: float, step: float, index: int) -> Iterator[str]:
    height = share * (BARS_BOTTOM - BARS_TOP)
    yield (
        f'<rect x="{x:.1f}" y="{BARS_BOTTOM - height:.1f}" width="{step * 0.36:.1f}" '
        f'height="{height:.1f}" fill="{COLOURS[index]}">'
        f"<title>{escape(title)} {share:.4f}</title></rect>"
    )
    yield _text(x + step * 0.18, BARS_BOTTOM - height - 4, f"{share:.2f}", "11px", "middle")


def _across(threshold: float) -> float:
    return LEFT + 20 + (RIGHT - LEFT - 40) * threshold


def _height(share: float, floor: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * (share - floor) / (1 - floor)


def _text(x: float, y: float, text: str, size: str = "13px", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(text)}</text>"
    )
