"""The page: curves over the threshold, weights of the columns, group sizes, and pairs to look at."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment

from catalog.runtime.complete_file import complete_file
from scout.dedupe.taught.charts.curves import ThresholdPoint, measure_thresholds, polyline
from scout.dedupe.taught.explanations import column_weights, explain_rows
from scout.dedupe.taught.taught_run import TaughtRun

# Pairs of each list that the page shows; more make it slow to open.
MAX_PAIRS = 40
# Width and height of the curves, in the units of the SVG.
CHART_WIDTH = 600
CHART_HEIGHT = 240
# Log-odds that fill the bar of a weight.
FULL_WEIGHT = 8.0
# Bars of group sizes; larger groups share the last one.
MAX_SIZE = 12
TEMPLATE = "charts.html"


@dataclass(frozen=True)
class PairList:
    """Pairs of one kind, each with its waterfall."""

    title: str
    note: str
    pairs: list[dict[str, Any]]
    total: int


def write_charts(run: TaughtRun, path: Path) -> None:
    """Write the page; it takes its name when complete. Raises ScoutError."""
    page = render_charts(run)
    with complete_file(path) as file:
        file.write(page)


def render_charts(run: TaughtRun) -> str:
    """Render the page of a run."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["bar"] = _bar_width
    template = environment.from_string(
        files("scout.dedupe.taught.charts").joinpath(TEMPLATE).read_text(encoding="utf-8")
    )
    points, basis = _threshold_points(run)
    threshold = run.decision.model.threshold
    return template.render(
        name=run.request.file.name,
        tokens=files("reports").joinpath("static", "tokens.css").read_text(encoding="utf-8"),
        figures=run.figures(),
        basis=basis,
        threshold=threshold,
        at_threshold=min(points, key=lambda point: abs(point.threshold - threshold)),
        curves=_curves(points),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
        weights=column_weights(run),
        sizes=_group_sizes(run.decision.groups),
        lists=_pair_lists(run),
    )


def _threshold_points(run: TaughtRun) -> tuple[list[ThresholdPoint], str]:
    """Return precision and recall by threshold, and a sentence on what they rest on."""
    decision = run.decision
    if len(decision.held_out):
        points = measure_thresholds(
            decision.held_out.astype(np.float64), decision.labels.are_duplicates
        )
        return points, (
            f"Measured on {len(decision.labels)} labelled pairs, each scored by a model that did "
            "not see its label."
        )
    probability = 1 / (1 + np.exp(-decision.scores))
    return measure_thresholds(probability, probability), (
        "Estimated from the probabilities of the candidates, because there are too few labels to "
        "measure. 'scout dedupe label' asks for the pairs that teach most."
    )


def _curves(points: Sequence[ThresholdPoint]) -> list[tuple[str, str]]:
    """Return (name, polyline) of each curve."""
    series = {
        "precision": [point.precision for point in points],
        "recall": [point.recall for point in points],
        "F1": [point.f1 for point in points],
    }
    return [(name, polyline(values, CHART_WIDTH, CHART_HEIGHT)) for name, values in series.items()]


def _group_sizes(groups: Iterable[Sequence[int]]) -> list[tuple[str, int, float]]:
    """Return (size, number of groups, share of the most frequent size)."""
    counts = Counter(min(MAX_SIZE, len(members)) for members in groups)
    highest = max(counts.values(), default=1)
    rows = list[tuple[str, int, float]]()
    for size in range(2, max(counts, default=1) + 1):
        name = f"{size} or more" if size == MAX_SIZE else str(size)
        rows.append((name, counts[size], counts[size] / highest))
    return rows


def _pair_lists(run: TaughtRun) -> list[PairList]:
    decision = run.decision
    threshold_odds = float(np.log(decision.model.threshold / (1 - decision.model.threshold)))
    margin = decision.scores - threshold_odds
    is_variant = np.array([bool(rule) for rule in decision.variant_of], bool)
    by_doubt = np.argsort(np.abs(margin), kind="stable")
    by_margin = np.argsort(-margin, kind="stable")
    lists = (
        (
            "Doubtful pairs",
            "Nearest to the threshold, on either side.",
            by_doubt[~is_variant[by_doubt]],
        ),
        (
            "Pairs",
            "The most probable ones.",
            by_margin[(margin > 0)[by_margin] & ~is_variant[by_margin]],
        ),
        (
            "Variants",
            "As similar as duplicates, but kept apart by a rule.",
            by_margin[(margin > 0)[by_margin] & is_variant[by_margin]],
        ),
    )
    shown = list[PairList]()
    for title, note, rows in lists:
        pairs = explain_rows(run, rows[:MAX_PAIRS].tolist())
        shown.append(PairList(title, note, pairs, len(rows)))
    return [pair_list for pair_list in shown if pair_list.pairs]


def _bar_width(weight: float) -> float:
    """Return the length of a weight's bar in percent of half the bar's width."""
    return round(min(1.0, abs(weight) / FULL_WEIGHT) * 50, 2)
