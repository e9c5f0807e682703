"""Accuracy of rules on the shops they were learnt from: the thesis's Table 4 (Hübscher 2018, 4.3)
on labelled shops.

For each number of training pages and each threshold: accuracy, the share of known values read
rightly (recall), and precision, the share of read values that are right; over all attributes, and
per attribute. Values read where none is known are counted apart (`extra`). Missed values may stand
nowhere on their page: they are counted on request (`nowhere`). Confidence is judged twice: with the
constants in use, and with each shop left out of their fit.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from catalog.models import Attribute
from catalog.runtime.limits.process_end import set_aside_reason
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.supervised_workers import map_chunks
from parser.rules.model import RuleSet
from parser.voting.winner import Reading
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.calibration import predict_held_out
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.labelled_shop import LabelledPage
from rules_generator.evaluation.nearest import lost
from rules_generator.evaluation.reliability import (
    JudgedReading,
    judge_reading,
    reliability_figures,
)
from rules_generator.evaluation.shop_pages import OpenShop, make_stale, open_test_shop
from rules_generator.evaluation.value_counts import (
    SCORED,
    Outcome,
    ValueCounts,
    accepted_values,
    no_counts,
    outcome_of,
)
from rules_generator.induction.inducer import LearntModel, learn_model
from rules_generator.induction.self_training import SelfTraining, as_general_rules, self_train
from rules_generator.training.page_cache import TOO_SLOW

# Training pages by default: all that a shop is split into.
TRAIN = 50
# Offer pages and those recognised as such; other pages and those refused.
PAGE_COUNTS = ("offers", "recognised", "others", "refused")

TestReading = tuple[LabelledPage, dict[Attribute, Reading]]


@dataclass(frozen=True)
class Setting:
    """One column and row of the table; with `train` 0, pages are self-trained."""

    train: int = TRAIN
    threshold: float = DEFAULT_CONFIG.score_threshold


@dataclass(frozen=True)
class EvaluationPlan:
    """Settings to evaluate, in a view, with a share of the examples' prices and titles made wrong.

    With `misses`, values missed in the last setting are located on their pages, which takes longer
    than reading them.
    """

    settings: tuple[Setting, ...]
    view: View = "full"
    stale: float = 0.0
    misses: bool = False
    config: LearnerConfig = DEFAULT_CONFIG


@dataclass
class SettingResult:
    """Counts of values in one setting, of pages by `PAGE_COUNTS`, and judged readings."""

    counts: dict[Attribute, ValueCounts] = field(default_factory=no_counts)
    pages: Counter[str] = field(default_factory=Counter)
    judged: list[JudgedReading] = field(default_factory=list)

    def add(self, addend: "SettingResult") -> None:
        """Add the result of another shop."""
        for attribute, count in addend.counts.items():
            self.counts[attribute].update(count)
        self.pages.update(addend.pages)
        self.judged += addend.judged

    def figures(self, setting: Setting) -> dict[str, Any]:
        """Return the figures of all attributes together, and of each."""
        total = ValueCounts()
        for count in self.counts.values():
            total.update(count)
        held_out = predict_held_out([reading for reading in self.judged if reading.is_learnt])
        return {
            "train": setting.train,
            "threshold": setting.threshold,
            **total.figures(),
            "attributes": {name.value: count.figures() for name, count in self.counts.items()},
            "pages": {name: self.pages[name] for name in PAGE_COUNTS},
            "reliability": reliability_figures(self.judged),
            "held_out_reliability": reliability_figures(held_out) if held_out else None,
        }


@dataclass
class ShopResult:
    """Results per setting, predictions of the last setting, unreadable pages with the reason.

    `nowhere` counts the values missed in the last setting that their pages do not show.
    """

    name: str
    settings: dict[Setting, SettingResult] = field(default_factory=dict)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    unread: list[dict[str, str]] = field(default_factory=list)
    nowhere: Counter[Attribute] = field(default_factory=Counter)


def evaluate_extraction(
    data: Path,
    plan: EvaluationPlan,
    *,
    predictions: Path | None = None,
    workers: int = 2,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Evaluate all shops in `data`; `predictions` gets a line a test page for the last setting.

    A page that is made to be slow is listed as `unread`; on a test page, no value counts as read.
    Raises FeedError where the data is not in the layout.
    """
    paths = shop_paths(data)
    totals = {setting: SettingResult() for setting in plan.settings}
    lines: list[dict[str, Any]] = []
    unread: list[dict[str, str]] = []
    nowhere = Counter[Attribute]()
    for done, result in enumerate(_results(paths, plan, workers), start=1):
        for setting, setting_result in result.settings.items():
            totals[setting].add(setting_result)
        lines += result.predictions
        unread += result.unread
        nowhere += result.nowhere
        progress("shops evaluated", done, len(paths))
    if predictions is not None:
        json_lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
        predictions.write_text("".join(json_lines), encoding="utf-8")
    figures: dict[str, Any] = {
        "shops": len(paths),
        "view": plan.view,
        "stale": plan.stale,
        "unread": unread,
    }
    if plan.misses:
        figures["nowhere"] = {attribute.value: nowhere[attribute] for attribute in SCORED}
    figures["settings"] = [total.figures(setting) for setting, total in totals.items()]
    return figures


def _results(paths: Sequence[Path], plan: EvaluationPlan, workers: int) -> Iterator[ShopResult]:
    if workers <= 1 or len(paths) == 1:
        for path in paths:
            yield evaluate_path(path, plan)
        return
    chunks = [[path] for path in paths]
    for results in map_chunks(_prepare_evaluation, (plan,), chunks, workers, _set_aside):
        yield from results


def _prepare_evaluation(plan: EvaluationPlan) -> Callable[[Path], ShopResult]:
    return partial(evaluate_path, plan=plan)


def _set_aside(path: Path, reason: str) -> ShopResult:
    """Return the result of a shop that ended the processes which evaluated it."""
    name = path.name.removesuffix(".tar.xz")
    return ShopResult(name, unread=[{"site": name, "page": "", "reason": set_aside_reason(reason)}])


def evaluate_path(path: Path, plan: EvaluationPlan) -> ShopResult:
    """Learn and test on the labelled shop in a file or folder, in each setting."""
    return evaluate_shop(open_test_shop(open_shop(path), plan.view), plan)


def evaluate_shop(shop: OpenShop, plan: EvaluationPlan) -> ShopResult:
    """Learn and test on an open shop, in each setting."""
    result = ShopResult(shop.name)
    sizes = {setting.train for setting in plan.settings}
    cold = SelfTraining()
    if 0 in sizes:
        pages = ((example.page, example.document) for example in shop.training)
        cold = self_train(pages)
    models = {}
    for size in sizes:
        examples = make_stale(shop.training[:size], plan.stale) if size else cold.examples
        models[size] = learn_model(examples, shop.background, plan.config)
    result.unread = _unread(shop, models.values())
    readings: list[TestReading] = []
    for setting in plan.settings:
        rules = models[setting.train].rules(setting.threshold)
        if not setting.train:
            rules = as_general_rules(rules, cold.trust)
        readings = []
        for page, reader in shop.testing:
            readings.append((page, reader.readings(rules) if reader else {}))
        result.settings[setting] = _setting_result(shop, readings, rules)
    for page, page_readings in readings:
        values = {name.value: reading.value for name, reading in page_readings.items()}
        result.predictions.append({"site": shop.name, "page": page.name, "values": values})
    if plan.misses:
        result.nowhere = _not_shown(shop, readings)
    return result


def _unread(shop: OpenShop, models: Iterable[LearntModel]) -> list[dict[str, str]]:
    """List the pages that could not be opened, or were too slow to learn from."""
    names = {example.address: example.page.body for example in shop.training}
    refused = dict(shop.refused)
    for model in models:
        for url, reason in model.set_aside:
            if reason == TOO_SLOW:
                refused[names[url]] = reason
    return [{"site": shop.name, "page": name, "reason": reason} for name, reason in refused.items()]


def _setting_result(
    shop: OpenShop, readings: Sequence[TestReading], rules: RuleSet
) -> SettingResult:
    result = SettingResult(pages=_count_pages(shop, rules))
    for page, page_readings in readings:
        for attribute in SCORED:
            reading = page_readings.get(attribute)
            outcome = _outcome(attribute, page_readings, page)
            result.counts[attribute][outcome] += 1
            if reading and outcome in ("right", "wrong"):
                result.judged.append(judge_reading(shop.name, reading, outcome == "right"))
    return result


def _outcome(
    attribute: Attribute, readings: Mapping[Attribute, Reading], page: LabelledPage
) -> Outcome:
    reading = readings.get(attribute)
    return outcome_of(attribute, reading.value if reading else None, page)


def _count_pages(shop: OpenShop, rules: RuleSet) -> Counter[str]:
    offers = [reader for _, reader in shop.testing if reader is not None]
    offers += shop.unlabelled_offers
    recognised = sum(reader.is_offer_page(rules) for reader in offers)
    accepted = sum(reader.is_offer_page(rules) for reader in shop.other_pages)
    other_count = len(shop.other_pages)
    counts = (len(offers), recognised, other_count, other_count - accepted)
    return Counter(dict(zip(PAGE_COUNTS, counts, strict=True)))


def _not_shown(shop: OpenShop, readings: Sequence[TestReading]) -> Counter[Attribute]:
    """Count the missed values that the learner could not locate anywhere on their pages."""
    counts = Counter[Attribute]()
    for (page, reader), (_, page_readings) in zip(shop.testing, readings, strict=True):
        missed = {}
        for attribute in SCORED:
            if _outcome(attribute, page_readings, page) in ("missed", "wrong"):
                missed[attribute] = [*accepted_values(attribute, page)]
        if reader is not None and missed:
            counts.update(lost(reader.document, missed))
    return counts
