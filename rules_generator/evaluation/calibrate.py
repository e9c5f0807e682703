"""Fit the weights of `parser.voting.confidence` anew: `python -m rules_generator.evaluation.calibrate DATA`.

Rules are learnt from few and from many pages of labelled shops, in all views, with and without stale offers, and read
the pages left for testing. The weights are printed with their reliability on shops left out of the fit.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from catalog.runtime.processes import worker_pool
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.calibration import (
    CalibrationRow,
    calibration_row,
    fit_weights,
    held_out_reliability,
)
from rules_generator.evaluation.corpus import LabelledShop, open_shop, shop_paths
from rules_generator.evaluation.shop_pages import make_stale, open_test_shop
from rules_generator.evaluation.value_counts import SCORED, is_right
from rules_generator.induction.inducer import learn_model

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
WEIGHTS = ("base", "support", "agreeing", "agreed", "dissent")


def calibration_rows(shop: LabelledShop) -> Iterator[CalibrationRow]:
    """Yield a row for each reading of a labelled value, in all settings."""
    for view in dict.fromkeys(view for view, _, _ in SETTINGS):
        opened = open_test_shop(shop, view)
        for setting_view, train, stale_share in SETTINGS:
            if setting_view != view:
                continue
            examples = make_stale(opened.training[:train], stale_share)
            rules = learn_model(examples).rules()
            for page, reader in opened.testing:
                readings = reader.readings(rules) if reader else {}
                for attribute, reading in readings.items():
                    if reading.value is None or attribute not in SCORED:
                        continue
                    right = is_right(attribute, reading.value, page)
                    if right is not None:
                        yield calibration_row(shop.name, reading, right)


def _rows_of_path(path: Path) -> list[CalibrationRow]:
    return list(calibration_rows(open_shop(path)))


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """Fit on the labelled shops of a folder. Returns weights and held-out reliability."""
    rows: list[CalibrationRow] = []
    with worker_pool(2) as pool:
        for shop_rows in pool.map(_rows_of_path, shop_paths(Path(arguments[0]))):
            rows += shop_rows
    weights = fit_weights(rows).round(2).tolist()
    held_out = held_out_reliability(rows)
    return {
        "readings": len(rows),
        **dict(zip(WEIGHTS, weights, strict=True)),
        "held out": held_out.rows() if held_out else None,
    }


if __name__ == "__main__":
    for name, value in main(sys.argv[1:]).items():
        sys.stdout.write(f"{name}: {value}\n")
