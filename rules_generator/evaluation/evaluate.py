"""How well rules read shops they were learnt from: the thesis's Table 4 (Hübscher 2018, 4.3) on any labelled shops.

For each number of training pages and each threshold: accuracy, the share of known values read rightly (recall), and
precision, the share of read values that are right; over all attributes, and per attribute. What a page lacks but is
read all the same is counted apart (`extra`), as values without a truth are left out of both. What is missed may stand
nowhere on its page, so that nobody could read it: that is counted where it is asked for (`nowhere`).
"""

import json
import random
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from catalog.errors import HostilePage
from catalog.html import decode
from catalog.models import Attribute
from catalog.runtime.processes import worker_pool
from catalog.runtime.progress import Progress, silent
from catalog.values import Hint, fields, normalise, same
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.read import completed
from parser.rules.model import Rule, RuleSet, Template
from parser.templates.template_match import Likeness, marks_of, ranked
from parser.voting.early_stopping import settled
from parser.voting.votes import Vote, vote
from parser.voting.winner import Reading
from rules_generator.evaluation.ablated_pages import View, seen_as
from rules_generator.evaluation.corpus import LabelledPage, LabelledShop, open_shop, shop_paths
from rules_generator.evaluation.nearest import lost
from rules_generator.evaluation.reliability import Reliability
from rules_generator.induction.induce import study
from rules_generator.induction.self_training import as_general, teach_cold
from rules_generator.selection.search import THRESHOLD
from rules_generator.training.examples import Example
from rules_generator.training.page_cache import TOO_SLOW
from rules_generator.training.training_example import Taught

SCORED = (
    Attribute.TITLE, Attribute.PRICE, Attribute.BRAND, Attribute.SKU, Attribute.HAN, Attribute.EAN, Attribute.CATEGORY,
    Attribute.IMAGE, Attribute.DESCRIPTION,
)  # fmt: skip
TRAIN = 50

Refused = dict[str, str]


@dataclass
class Count:
    """Values known, found and right, and values found where none is known of so many pages."""

    truth: int = 0
    found: int = 0
    right: int = 0
    extra: int = 0
    absent: int = 0

    def add(self, other: "Count") -> None:
        """Add another count to this one."""
        for name in ("truth", "found", "right", "extra", "absent"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def figures(self) -> dict[str, float | int | None]:
        """Accuracy and precision with the counts that they come from; None where there is nothing to count."""
        accuracy = round(self.right / self.truth, 4) if self.truth else None
        precision = round(self.right / self.found, 4) if self.found else None
        return {"accuracy": accuracy, "precision": precision, **vars(self)}


@dataclass(frozen=True)
class Setting:
    """One column and row of the table."""

    train: int = TRAIN
    threshold: float = THRESHOLD


@dataclass(frozen=True)
class Plan:
    """What to evaluate: all settings, in a view, with a share of the teachers' prices and titles made wrong.

    With `misses`, what the last setting misses is looked for on its pages, which takes longer than reading them.
    """

    settings: tuple[Setting, ...]
    view: View = "full"
    stale: float = 0.0
    misses: bool = False


@dataclass
class ShopResult:
    """Counts per setting and attribute, what the last setting read, and pages that nobody can read, with the reason.

    `nowhere` counts the values that the last setting missed and that their pages do not show.
    """

    name: str
    counts: dict[Setting, dict[Attribute, Count]] = field(default_factory=dict)
    reliability: dict[Setting, Reliability] = field(default_factory=dict)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    unread: list[dict[str, str]] = field(default_factory=list)
    nowhere: Counter[Attribute] = field(default_factory=Counter)


def evaluate_extraction(
    data: Path,
    plan: Plan,
    *,
    predictions: Path | None = None,
    workers: int = 2,
    progress: Progress = silent,
) -> dict[str, Any]:
    """All figures for the shops in `data`; `predictions` takes a line a test page for the last setting.

    A page that is made to be slow is named as `unread`; of one to be tested, no value counts as read. `nowhere` has,
    where the plan asks for misses, the number of those per attribute that their pages do not show.
    Raises FeedError where the data is not in the layout.
    """
    paths = shop_paths(data)
    totals = {setting: {attribute: Count() for attribute in SCORED} for setting in plan.settings}
    reliable = {setting: Reliability() for setting in plan.settings}
    lines: list[dict[str, Any]] = []
    unread: list[dict[str, str]] = []
    nowhere = Counter[Attribute]()
    for done, result in enumerate(_results(paths, plan, workers), start=1):
        for setting, counts in result.counts.items():
            for attribute, count in counts.items():
                totals[setting][attribute].add(count)
            reliable[setting].add(result.reliability[setting])
        lines += result.predictions
        unread += result.unread
        nowhere += result.nowhere
        progress("shops evaluated", done, len(paths))
    if predictions is not None:
        predictions.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        )
    asked = (
        {"nowhere": {attribute.value: nowhere[attribute] for attribute in SCORED}}
        if plan.misses
        else {}
    )
    return {
        "shops": len(paths),
        "view": plan.view,
        "stale": plan.stale,
        "unread": unread,
        **asked,
        "settings": [
            _row(*item) | {"reliability": reliable[item[0]].figures()} for item in totals.items()
        ],
    }


def _row(setting: Setting, counts: dict[Attribute, Count]) -> dict[str, Any]:
    whole = Count()
    for count in counts.values():
        whole.add(count)
    by_attribute = {attribute.value: count.figures() for attribute, count in counts.items()}
    return {
        "train": setting.train,
        "threshold": setting.threshold,
        **whole.figures(),
        "attributes": by_attribute,
    }


def _results(paths: Sequence[Path], plan: Plan, workers: int) -> Iterator[ShopResult]:
    if workers <= 1 or len(paths) == 1:
        yield from (evaluate_shop(open_shop(path), plan) for path in paths)
        return
    with worker_pool(workers) as pool:
        yield from pool.map(_evaluate_path, paths, [plan] * len(paths))


def _evaluate_path(path: Path, plan: Plan) -> ShopResult:
    return evaluate_shop(open_shop(path), plan)


def evaluate_shop(shop: LabelledShop, plan: Plan) -> ShopResult:
    """Learn and test on one shop, in each setting."""
    result = ShopResult(shop.name)
    refused: Refused = {}
    training = [one for page in shop.training for one in taught(page, plan.view, refused)]
    testing = [(page, next(opened(page, plan.view, refused), None)) for page in shop.testing]
    readers = [None if document is None else Reader(document) for _, document in testing]
    sizes = {setting.train for setting in plan.settings}
    cold = teach_cold((one.example.page, one.document) for one in training if 0 in sizes)
    lessons = {
        size: study(stale(training[:size], plan.stale) if size else cold.taught) for size in sizes
    }
    names = {page.url: page.name for page in shop.training}
    refused |= {
        names[url]: why
        for lesson in lessons.values()
        for url, why in lesson.set_aside
        if why == TOO_SLOW
    }
    result.unread = [
        {"site": shop.name, "page": name, "reason": reason} for name, reason in refused.items()
    ]
    for setting in plan.settings:
        rules = lessons[setting.train].rules(setting.threshold)
        rules = rules if setting.train else as_general(rules, cold.trust)
        read = [
            (page, reader.readings(rules) if reader else {})
            for (page, _), reader in zip(testing, readers, strict=True)
        ]
        said = [
            (page, {name.value: one.value for name, one in found.items()}) for page, found in read
        ]
        result.counts[setting] = _counts(said)
        result.reliability[setting] = _reliability(read)
        result.predictions = [
            {"site": shop.name, "page": page.name, "values": values} for page, values in said
        ]
    if plan.misses:
        result.nowhere = _nowhere(
            (document, *one) for (_, document), one in zip(testing, said, strict=True)
        )
    return result


@dataclass
class Reader:
    """A page to be read by many rule sets: what a selector with its cuts finds is looked up once."""

    document: Document
    _votes: dict[Rule, Vote] = field(default_factory=dict)
    _marks: frozenset[str] | None = None

    def readings(self, rules: RuleSet) -> dict[Attribute, Reading]:
        """What the rules of the likest template read, as `parser.read` reads it."""
        if not rules.templates:
            return {}
        return completed(self._ranked(rules), self._by)

    def _ranked(self, rules: RuleSet) -> list[Likeness]:
        if len(rules.templates) > 1 and self._marks is None:
            self._marks = marks_of(self.document)
        return ranked(self._marks or frozenset(), rules.templates)

    def _by(self, template: Template, names: Container[Attribute]) -> dict[Attribute, Reading]:
        return settled([rule for rule in template.rules if rule.attribute in names], self._vote)

    def _vote(self, rule: Rule) -> Vote:
        bare = rule.model_copy(update={"score": 1.0, "support": 0, "agreed": 1.0})
        if bare not in self._votes:
            self._votes[bare] = vote(self.document, bare)
        return self._votes[bare]._replace(rule=rule)


def opened(page: LabelledPage, view: View, refused: Refused | None = None) -> Iterator[Document]:
    """The page in that view; none where it is made to be slow, which `refused` then says of it."""
    try:
        yield Document(seen_as(decode(page.html), view), page.url)
    except HostilePage as error:
        if refused is not None:
            refused[page.name] = str(error)


def taught(page: LabelledPage, view: View, refused: Refused | None = None) -> Iterator[Taught]:
    """The page as a teacher, in that view."""
    values = {
        Attribute(name): _texts(value)
        for name, value in page.attributes.items()
        if name in set(Attribute)
    }
    values.pop(Attribute.CURRENCY, None)
    offer = fields(values, Hint(base_url=page.url), url=page.url, currency=page.currency)
    for document in opened(page, view, refused):
        yield Taught(Example.of(CrawledPage(0, page.url, None, page.name), offer), document)


def _texts(value: Any) -> list[str]:
    """The texts of a labelled value: one, several, or none."""
    return [str(one) for one in (value if isinstance(value, list) else [value]) if one is not None]


def stale(taught: list[Taught], share: float) -> list[Taught]:
    """The same examples, that share of them with a wrong price and a wrong title."""
    chosen = random.Random(0).sample(range(len(taught)), round(share * len(taught)))  # noqa: S311 - not for secrecy
    made = list(taught)
    for place in chosen:
        one, other = taught[place], taught[(place + 1) % len(taught)]
        known = dict(one.example.known)
        if Attribute.PRICE in known:
            known[Attribute.PRICE] = [
                str((Decimal(known[Attribute.PRICE][0]) * Decimal("1.1")).quantize(Decimal("0.01")))
            ]
        if Attribute.TITLE in other.example.known:
            known[Attribute.TITLE] = other.example.known[Attribute.TITLE]
        made[place] = Taught(replace(one.example, known=known), one.document)
    return made


def _counts(read: Iterable[tuple[LabelledPage, dict[str, str | None]]]) -> dict[Attribute, Count]:
    counts = {attribute: Count() for attribute in SCORED}
    for page, values in read:
        for attribute, count in counts.items():
            _tally(count, attribute, values.get(attribute.value), page)
    return counts


def _tally(count: Count, attribute: Attribute, value: str | None, page: LabelledPage) -> None:
    known = page.attributes.get(attribute.value)
    if known is None:
        count.absent += 1
        count.extra += value is not None
        return
    count.truth += 1
    count.found += value is not None
    count.right += value is not None and is_right(attribute, value, page) is True


def _nowhere(
    read: Iterable[tuple[Document | None, LabelledPage, dict[str, str | None]]],
) -> Counter[Attribute]:
    """How many of the values that were missed stand nowhere on their pages, where the learner would look for them."""
    found = Counter[Attribute]()
    for document, page, values in read:
        missed = {
            name: [*_accepted(name, page)]
            for name in SCORED
            if _is_missed(name, values.get(name.value), page)
        }
        if document is not None and missed:
            found.update(lost(document, missed))
    return found


def _is_missed(attribute: Attribute, value: str | None, page: LabelledPage) -> bool:
    return page.attributes.get(attribute.value) is not None and not (
        value and is_right(attribute, value, page)
    )


def is_right(attribute: Attribute, value: str, page: LabelledPage) -> bool | None:
    """Whether a value is what a page says; None where that is not known."""
    if page.attributes.get(attribute.value) is None:
        return None
    return any(same(attribute, value, one) for one in _accepted(attribute, page))


def _reliability(read: Iterable[tuple[LabelledPage, dict[Attribute, Reading]]]) -> Reliability:
    found = Reliability()
    for page, readings in read:
        for attribute, one in readings.items():
            right = (
                is_right(attribute, one.value, page)
                if attribute in SCORED and one.value is not None
                else None
            )
            if right is not None:
                found.count(attribute, one.weight, right)
    return found


def _accepted(attribute: Attribute, page: LabelledPage) -> Iterator[str]:
    """What is right of a page, in canonical form: the known value first, which is mostly the one that was read."""
    hint = Hint(page.currency, base_url=page.url)
    for one in (page.attributes[attribute.value], *page.alternatives.get(attribute.value, [])):
        text = str(one[0] if isinstance(one, list) and one else one)
        found = normalise(attribute, text, hint)
        yield text if found is None else found
