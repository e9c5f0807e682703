"""Count read values against labelled ones: known, found, right, and found where none is known."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from catalog.models import Attribute
from catalog.values import Hint, is_same_value, normalise
from rules_generator.evaluation.corpus import LabelledPage

SCORED = (
    Attribute.TITLE,
    Attribute.PRICE,
    Attribute.BRAND,
    Attribute.SKU,
    Attribute.HAN,
    Attribute.EAN,
    Attribute.CATEGORY,
    Attribute.IMAGE,
    Attribute.DESCRIPTION,
)

Values = Mapping[Attribute, str | None]
# Right or wrong against a known value, missed, or extra where none is known, correctly empty.
Outcome = Literal["right", "wrong", "missed", "extra", "empty"]


@dataclass
class ValueCounts:
    """Values known, found and right; values found (`extra`) on `absent` pages where none is known."""

    truth: int = 0
    found: int = 0
    right: int = 0
    extra: int = 0
    absent: int = 0

    def add(self, addend: "ValueCounts") -> None:
        """Add other counts."""
        for counter in fields(self):
            total = getattr(self, counter.name) + getattr(addend, counter.name)
            setattr(self, counter.name, total)

    def count(self, outcome: Outcome) -> None:
        """Count one value."""
        is_known = outcome in ("right", "wrong", "missed")
        self.truth += is_known
        self.absent += not is_known
        self.found += outcome in ("right", "wrong")
        self.right += outcome == "right"
        self.extra += outcome == "extra"

    @property
    def wrong(self) -> int:
        """Values found that are not the known ones."""
        return self.found - self.right

    def figures(self) -> dict[str, float | int | None]:
        """Return accuracy and precision with the counts they come from; None where nothing is counted."""
        accuracy = round(self.right / self.truth, 4) if self.truth else None
        precision = round(self.right / self.found, 4) if self.found else None
        return {"accuracy": accuracy, "precision": precision, **vars(self)}


def count_values(readings: Iterable[tuple[LabelledPage, Values]]) -> dict[Attribute, ValueCounts]:
    """Count the values read from labelled pages per attribute."""
    counts = {attribute: ValueCounts() for attribute in SCORED}
    for page, values in readings:
        for attribute, count in counts.items():
            count.count(outcome_of(attribute, values.get(attribute), page))
    return counts


def outcome_of(attribute: Attribute, value: str | None, page: LabelledPage) -> Outcome:
    """Compare a value with the label of its page."""
    if page.attributes.get(attribute.value) is None:
        return "empty" if value is None else "extra"
    if value is None:
        return "missed"
    return "right" if is_right(attribute, value, page) else "wrong"


def is_right(attribute: Attribute, value: str, page: LabelledPage) -> bool | None:
    """Return True if a value equals the label or an alternative; None where there is no label."""
    if page.attributes.get(attribute.value) is None:
        return None
    return any(is_same_value(attribute, value, text) for text in accepted_values(attribute, page))


def accepted_values(attribute: Attribute, page: LabelledPage) -> Iterator[str]:
    """Yield the canonical values that are right on a page: the label first, which is mostly the one read."""
    hint = Hint(page.currency, base_url=page.url)
    labels = (page.attributes[attribute.value], *page.alternatives.get(attribute.value, []))
    for label in labels:
        text = str(label[0] if isinstance(label, list) and label else label)
        canonical = normalise(attribute, text, hint)
        yield text if canonical is None else canonical
