"""The figures of an evaluation as a chart: accuracy and precision by threshold, and per attribute for the last setting.

Drawn by hand as SVG, which needs no library and opens in every browser; a file named `.html` gets a page around it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

WIDTH = 900
HEIGHT = 720
COLOURS = ("#1f6f8b", "#d1495b", "#66a182", "#8d5a97", "#edae49")
STYLE = "font: 13px system-ui, sans-serif; background: white"
LEFT = 60
RIGHT = 700
TOP = 50
BOTTOM = 330
BARS_TOP = 420
BARS_BOTTOM = 640


def write_chart(figures: Mapping[str, Any], path: Path) -> None:
    """Write the chart; as a page where the file's name says so."""
    drawn = chart(figures)
    page = f'<!doctype html><meta charset="utf-8"><title>Extraction</title>\n{drawn}\n'
    path.write_text(
        page if path.suffix.lower() in (".html", ".htm") else drawn + "\n", encoding="utf-8"
    )


def chart(figures: Mapping[str, Any]) -> str:
    """The chart as SVG."""
    settings = figures["settings"]
    least = min(
        (
            one[name]
            for one in settings
            for name in ("accuracy", "precision")
            if one[name] is not None
        ),
        default=0,
    )
    floor = int(least * 20) / 20 if least < 1 else 0.95
    title = f"{figures['shops']} shops, view {figures['view']}, {figures['stale']:.0%} of prices and titles made wrong"
    parts = [_text(LEFT, 24, title, "16px")]
    parts += _frame(floor, sorted({one["threshold"] for one in settings}))
    parts += _lines(settings, floor)
    parts += _bars(settings[-1])
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" style="{STYLE}">\n{body}\n</svg>'


def _frame(floor: float, thresholds: Sequence[float]) -> Iterator[str]:
    for step in range(6):
        share = floor + (1 - floor) * step / 5
        y = _height(share, floor)
        yield f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 8, y + 4, f"{share:.3f}", anchor="end")
    for threshold in thresholds:
        yield _text(_across(threshold), BOTTOM + 20, f"{threshold:g}", anchor="middle")
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 42, "threshold F", anchor="middle")


def _lines(settings: Sequence[Mapping[str, Any]], floor: float) -> Iterator[str]:
    for number, train in enumerate(sorted({one["train"] for one in settings})):
        colour = COLOURS[number % len(COLOURS)]
        for row, (name, dash) in enumerate((("accuracy", ""), ("precision", "6 4"))):
            points = [
                (_across(one["threshold"]), _height(one[name], floor))
                for one in sorted(settings, key=lambda one: one["threshold"])
                if one["train"] == train and one[name] is not None
            ]
            y = TOP + 16 + 44 * number + 20 * row
            yield _line(points, colour, dash)
            yield _line([(RIGHT + 16, y - 4), (RIGHT + 46, y - 4)], colour, dash)
            yield _text(RIGHT + 54, y, f"{name}, {train} pages")


def _line(points: Iterable[tuple[float, float]], colour: str, dash: str) -> str:
    kept = list(points)
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in kept)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in kept)
    return f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>{dots}'


def _bars(setting: Mapping[str, Any]) -> Iterator[str]:
    """Accuracy and precision of each attribute that is known of any page."""
    yield _text(
        LEFT,
        BARS_TOP - 22,
        f"By attribute, {setting['train']} pages, threshold {setting['threshold']:g}",
    )
    known = [(name, one) for name, one in setting["attributes"].items() if one["truth"]]
    step = (WIDTH - LEFT - 20) / max(1, len(known))
    for number, (name, one) in enumerate(known):
        x = LEFT + step * number
        for place, figure in enumerate(("accuracy", "precision")):
            share = one[figure] or 0.0
            tall = share * (BARS_BOTTOM - BARS_TOP)
            left = x + place * step * 0.4
            yield (
                f'<rect x="{left:.1f}" y="{BARS_BOTTOM - tall:.1f}" width="{step * 0.36:.1f}" height="{tall:.1f}" '
                f'fill="{COLOURS[place]}"><title>{escape(name)}: {figure} {share:.4f}</title></rect>'
            )
            yield _text(
                left + step * 0.18, BARS_BOTTOM - tall - 4, f"{share:.2f}", "11px", "middle"
            )
        yield _text(x + step * 0.38, BARS_BOTTOM + 18, name, anchor="middle")
    for place, figure in enumerate(("accuracy", "precision")):
        yield f'<rect x="{LEFT + 130 * place}" y="{BARS_BOTTOM + 40}" width="14" height="14" fill="{COLOURS[place]}"/>'
        yield _text(LEFT + 130 * place + 20, BARS_BOTTOM + 52, figure)


def _across(threshold: float) -> float:
    return LEFT + 20 + (RIGHT - LEFT - 40) * threshold


def _height(share: float, floor: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * (share - floor) / (1 - floor)


def _text(x: float, y: float, text: str, size: str = "13px", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
