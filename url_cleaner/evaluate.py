"""How many links of a file come out right: a line is an object with `dirty`, `clean` and `category`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from url_cleaner.clean import clean
from url_cleaner.errors import BadUrl


@dataclass(frozen=True)
class Figures:
    """Of so many links, so many came out exactly as expected."""

    total: int
    right: int

    @property
    def share(self) -> float:
        """The share that is right, 0 to 1."""
        return self.right / self.total if self.total else 0.0


@dataclass(frozen=True)
class Miss:
    """A link that did not come out as expected."""

    line: int
    category: str
    dirty: str
    expected: str
    got: str | None


@dataclass(frozen=True)
class Evaluation:
    """Figures per category, and every link that is wrong."""

    categories: dict[str, Figures]
    misses: tuple[Miss, ...]

    @property
    def overall(self) -> Figures:
        """The figures of all categories together."""
        return Figures(
            sum(f.total for f in self.categories.values()),
            sum(f.right for f in self.categories.values()),
        )


def evaluate_urls(path: Path | str) -> Evaluation:
    """Cleans every link of a JSON Lines file, without a known shop, and compares text for text.

    ValueError names the line where the file is not of that form.
    """
    totals: dict[str, int] = {}
    misses: list[Miss] = []
    for line, dirty, expected, category in _cases(Path(path)):
        totals[category] = totals.get(category, 0) + 1
        if (got := _cleaned(dirty)) != expected:
            misses.append(Miss(line, category, dirty, expected, got))
    wrong = [miss.category for miss in misses]
    return Evaluation(
        {c: Figures(n, n - wrong.count(c)) for c, n in sorted(totals.items())}, tuple(misses)
    )


def _cleaned(dirty: str) -> str | None:
    try:
        return clean(dirty).url
    except BadUrl:
        return None


def _cases(path: Path) -> Iterator[tuple[int, str, str, str]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, *_case(line, f"{path}, line {number}")


def _case(line: str, where: str) -> tuple[str, str, str]:
    try:
        row = json.loads(line)
        return str(row["dirty"]), str(row["clean"]), str(row.get("category", "all"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: not an object with 'dirty', 'clean' and 'category'") from error
