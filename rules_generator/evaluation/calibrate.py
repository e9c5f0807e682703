"""Fit the weights of `parser.voting.confidence` anew: `python -m
rules_generator.evaluation.calibrate DATA`.

Rules are learnt from few and from many pages of labelled shops, in all views, with and without
stale offers, and read the pages left for testing. The weights are printed with their reliability on
shops left out of the fit.
"""

import sys
from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from catalog.runtime.worker_pool import worker_pool
from parser.voting.confidence import ConfidenceWeights
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.calibration import fit_weights, predict_held_out
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.evaluate import EvaluationPlan, Setting, evaluate_shop
from rules_generator.evaluation.reliability import JudgedReading, reliability_rows
from rules_generator.evaluation.shop_pages import open_test_shop

# View, examples, share of stale examples.
SETTINGS: Sequence[tuple[View, int, float]] = (
    ("full", 2, 0.0),
    ("full", 4, 0.0),
    ("full", 6, 0.3),
    ("full", 10, 0.0),
    ("full", 20, 0.3),
    ("full", 50, 0.0),
    ("nosd", 3, 0.0),
    ("nosd", 10, 0.0),
    ("nosd", 20, 0.3),
    ("html", 2, 0.0),
    ("html", 3, 0.0),
    ("html", 4, 0.0),
    ("html", 6, 0.3),
    ("html", 10, 0.0),
    ("html", 20, 0.3),
)


def judge_shop(path: Path) -> list[JudgedReading]:
    """Return the readings of labelled values of a shop, in all settings."""
    judged = []
    shop = open_shop(path)
    # All settings of a view share its open pages.
    for view, settings in groupby(SETTINGS, key=itemgetter(0)):
        opened = open_test_shop(shop, view)
        for _, train, stale_share in settings:
            plan = EvaluationPlan((Setting(train),), view, stale_share)
            for result in evaluate_shop(opened, plan).settings.values():
                judged += result.judged
    return judged


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """Fit on the labelled shops of a folder. Returns weights and held-out reliability."""
    judged: list[JudgedReading] = []
    with worker_pool(2) as pool:
        for of_shop in pool.map(judge_shop, shop_paths(Path(arguments[0]))):
            judged += of_shop
    names = [weight.name for weight in fields(ConfidenceWeights)]
    held_out = predict_held_out(judged)
    return {
        "readings": len(judged),
        **dict(zip(names, fit_weights(judged).round(2).tolist(), strict=True)),
        "held out": reliability_rows(held_out) if held_out else None,
    }


if __name__ == "__main__":
    for name, value in main(sys.argv[1:]).items():
        sys.stdout.write(f"{name}: {value}\n")
