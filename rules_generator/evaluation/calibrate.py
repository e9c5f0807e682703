"""Make the weights of `parser.voting.confidence` anew: `python -m rules_generator.evaluation.calibrate DATA`.

Rules are learnt from few and from many pages of labelled shops, in all views, with and without stale offers, and read
the pages left for testing. A logistic regression says how sure each value should have been. What it is worth is
measured on shops that it has not seen: each shop in turn is left out.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from catalog.runtime.processes import worker_pool
from catalog.values import same
from parser.voting.confidence import features
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.corpus import LabelledShop, open_shop, shop_paths
from rules_generator.evaluation.evaluate import SCORED, Reader, is_right, opened, stale, taught
from rules_generator.evaluation.reliability import Reliability
from rules_generator.induction.induce import study

SETTINGS: Sequence[tuple[View, int, float]] = (
    ("full", 2, 0.0), ("full", 4, 0.0), ("full", 6, 0.3), ("full", 10, 0.0), ("full", 20, 0.3), ("full", 50, 0.0),
    ("nosd", 3, 0.0), ("nosd", 10, 0.0), ("nosd", 20, 0.3),
    ("html", 2, 0.0), ("html", 3, 0.0), ("html", 4, 0.0), ("html", 6, 0.3), ("html", 10, 0.0), ("html", 20, 0.3),
)  # fmt: skip

Row = tuple[str, str, tuple[float, ...], bool]
Floats = NDArray[np.float64]


def readings(shop: LabelledShop) -> Iterator[Row]:
    """What each reading of known truth is made of, and whether it was right."""
    for view in dict.fromkeys(view for view, _, _ in SETTINGS):
        training = [one for page in shop.training for one in taught(page, view)]
        testing = [
            (page, Reader(document)) for page in shop.testing for document in opened(page, view)
        ]
        for train, share in [(train, share) for other, train, share in SETTINGS if other == view]:
            rules = study(stale(training[:train], share)).rules()
            for page, reader in testing:
                for attribute, one in reader.readings(rules).items():
                    right = is_right(attribute, one.value, page) if one.value is not None else None
                    if right is not None and attribute in SCORED and one.value is not None:
                        agree = [
                            v.rule
                            for v in one.votes
                            if v.value and same(attribute, v.value, one.value)
                        ]
                        yield shop.name, attribute.value, features(one.share, agree), right


def fit(rows: Sequence[Row]) -> tuple[Floats, Reliability]:
    """The weights, the constant first, and how reliable they are on shops left out."""
    made = np.array([row[2] for row in rows])
    right = np.array([row[3] for row in rows])
    shops = np.array([row[0] for row in rows])
    said = np.zeros(len(rows))
    for shop in np.unique(shops):
        out = shops == shop
        said[out] = (
            LogisticRegression(max_iter=1000)
            .fit(made[~out], right[~out])
            .predict_proba(made[out])[:, 1]
        )
    found = Reliability()
    for row, sure in zip(rows, said.tolist(), strict=True):
        found.count(next(one for one in SCORED if one.value == row[1]), sure, row[3])
    whole = LogisticRegression(max_iter=1000).fit(made, right)
    return np.concatenate([whole.intercept_, whole.coef_[0]]), found


def _of_path(path: Path) -> list[Row]:
    return list(readings(open_shop(path)))


def main(words: Sequence[str]) -> dict[str, Any]:
    """Fit on the labelled shops of a folder, and tell."""
    with worker_pool(2) as pool:
        rows = [row for found in pool.map(_of_path, shop_paths(Path(words[0]))) for row in found]
    weights, found = fit(rows)
    names = ("base", "support", "agreeing", "agreed", "dissent")
    return {
        "readings": len(rows),
        **dict(zip(names, weights.round(2).tolist(), strict=True)),
        "held out": found.rows(),
    }


if __name__ == "__main__":
    for name, value in main(sys.argv[1:]).items():
        sys.stdout.write(f"{name}: {value}\n")
