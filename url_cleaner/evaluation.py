"""Accuracy of URL cleaning on a labelled file: JSON Lines with `dirty`, `clean` and `category`."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from url_cleaner.cleaner import clean_url
from url_cleaner.errors import BadUrl


@dataclass(frozen=True)
class Accuracy:
    """Number of URLs, and of those cleaned exactly as expected."""

    total: int
    right: int

    @property
    def share(self) -> float:
        """Share that is right, 0 to 1; 0 of no URLs."""
        return self.right / self.total if self.total else 0.0


@dataclass(frozen=True)
class Miss:
    """A URL that was not cleaned as expected; `got` is None where it was opaque or malformed."""

    line: int
    category: str
    dirty: str
    expected: str
    got: str | None


@dataclass(frozen=True)
class Evaluation:
    """Accuracy per category, and every URL that was not cleaned as expected."""

    categories: dict[str, Accuracy]
    misses: tuple[Miss, ...]

    @property
    def overall(self) -> Accuracy:
        """Accuracy over all categories."""
        accuracies = self.categories.values()
        return Accuracy(
            total=sum(accuracy.total for accuracy in accuracies),
            right=sum(accuracy.right for accuracy in accuracies),
        )


@dataclass(frozen=True)
class _Example:
    line: int
    dirty: str
    expected: str
    category: str


def evaluate_urls(path: Path | str) -> Evaluation:
    """Clean every URL of a JSON Lines file, without a known shop, and compare exactly.

    Raises ValueError, which names the line, where the file is not in this format.
    """
    totals: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    misses: list[Miss] = []
    for example in _read_examples(Path(path)):
        totals[example.category] += 1
        got = _cleaned_text(example.dirty)
        if got != example.expected:
            wrong[example.category] += 1
            misses.append(
                Miss(example.line, example.category, example.dirty, example.expected, got)
            )
    categories: dict[str, Accuracy] = {}
    for category, total in sorted(totals.items()):
        categories[category] = Accuracy(total, total - wrong[category])
    return Evaluation(categories, tuple(misses))


def _cleaned_text(dirty: str) -> str | None:
    try:
        return clean_url(dirty).url
    except BadUrl:
        return None


def _read_examples(path: Path) -> Iterator[_Example]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _parse_example(number, line, path)


def _parse_example(number: int, line: str, path: Path) -> _Example:
    try:
        row = json.loads(line)
        category = str(row.get("category", "all"))
        return _Example(number, str(row["dirty"]), str(row["clean"]), category)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}, line {number}: not an object with 'dirty', 'clean' and 'category'"
        ) from error
