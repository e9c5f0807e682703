"""Count read values against labelled ones: right, wrong or missed, or read where none is known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from catalog.models import Attribute
from catalog.values import Hint, is_same_as_any, normalise
from rules_generator.evaluation.labelled_shop import LabelledPage

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


class ValueCounts(Counter[Outcome]):
    """Number of values by outcome."""

    @property
    def truth(self) -> int:
        """Values known."""
        return self["right"] + self["wrong"] + self["missed"]

    @property
    def found(self) -> int:
        """Values read where one is known."""
        return self["right"] + self["wrong"]

    def figures(self) -> dict[str, float | int | None]:
        """Return accuracy and precision with their counts; None where nothing is counted."""
        return {
            "accuracy": round(self["right"] / self.truth, 4) if self.truth else None,
            "precision": round(self["right"] / self.found, 4) if self.found else None,
            "truth": self.truth,
            "found": self.found,
            "right": self["right"],
            "extra": self["extra"],
            "absent": self["extra"] + self["empty"],
        }


def no_counts() -> dict[Attribute, ValueCounts]:
    """Return empty counts of each scored attribute."""
    return {attribute: ValueCounts() for attribute in SCORED}


def count_values(readings: Iterable[tuple[LabelledPage, Values]]) -> dict[Attribute, ValueCounts]:
    """Count the values read from labelled pages per attribute."""
    counts = no_counts()
    for page, values in readings:
        for attribute, count in counts.items():
            count[outcome_of(attribute, values.get(attribute), page)] += 1
    return counts


def outcome_of(attribute: Attribute, value: str | None, page: LabelledPage) -> Outcome:
    """Compare a value with the label of its page."""
    if page.attributes.get(attribute.value) is None:
        return "empty" if value is None else "extra"
    if value is None:
        return "missed"
    accepted = accepted_values(attribute, page)
    return "right" if is_same_as_any(attribute, value, accepted) else "wrong"


def accepted_values(attribute: Attribute, page: LabelledPage) -> Iterator[str]:
    """Yield the canonical values that are right on a page, the label first."""
    hint = Hint(page.currency, base_url=page.url)
    labels = (page.attributes[attribute.value], *page.alternatives.get(attribute.value, []))
    for label in labels:
        text = str(label[0] if isinstance(label, list) and label else label)
        canonical = normalise(attribute, text, hint)
        yield text if canonical is None else canonical
