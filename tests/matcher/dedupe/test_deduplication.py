"""The public function: duplicates of a table by position, with any join method."""

import subprocess
import sys
from typing import Any

import pytest

import matcher.dedupe
from catalog.errors import UsageError
from matcher.dedupe import Exact, Segments, deduplicate, parse_threshold
from matcher.dedupe.deduplication import DuplicatePair, MethodName

ROWS: list[dict[str, Any]] = [
    {"id": 1, "title": "Red mug 300 ml", "brand": "Lumo"},
    {"id": 2, "title": None, "brand": ""},
    {"id": 3, "title": "Red mug 300ml", "brand": "Lumo"},
    {"id": 4, "title": "RED MUG 300 ml", "brand": "Lumo"},
    {"id": 5, "title": "Desk lamp"},
]


def test_positions() -> None:
    """Pairs and clusters hold positions in the table, and rows without keys are in none."""
    found = deduplicate(ROWS, key=["title", "brand"])
    assert found.pairs[0] == DuplicatePair(
        0, 2, pytest.approx(18 / 19), "segments: edit distance 1"
    )
    assert found.pairs[1] == DuplicatePair(0, 3, 1.0, "exact: equal after normalising")
    assert found.clusters == [[0, 2, 3]]


@pytest.mark.parametrize("method", ["exact", "segments", "prefix-filter", "minhash", "chain"])
def test_methods(method: MethodName) -> None:
    """Every method finds equal texts, given by name and as a list of texts."""
    found = deduplicate(["red mug", "desk lamp", "red mug"], method=method)
    assert [(pair.left, pair.right, pair.similarity) for pair in found.pairs] == [(0, 2, 1.0)]
    assert found.clusters == [[0, 2]]


def test_empty_texts() -> None:
    """Texts without any word are no duplicates of each other."""
    found = deduplicate(["", "red mug", " ", "red mug", ""])
    assert [(pair.left, pair.right) for pair in found.pairs] == [(1, 3)]
    assert found.clusters == [[1, 3]]


def test_own_method() -> None:
    """A join method with options of its own may be given instead of a name."""
    assert deduplicate(ROWS, "title", Exact()).clusters == [[0, 3]]
    segments = Segments(parse_threshold("0.5"), workers=1)
    assert deduplicate(["mugs", "mug", "lamp"], method=segments).clusters == [[0, 1]]


def test_refused() -> None:
    """Rows with columns need a key; unknown methods and thresholds outside (0, 1] are refused."""
    with pytest.raises(UsageError, match="name those to compare by key"):
        deduplicate(ROWS)
    with pytest.raises(UsageError, match="texts without columns"):
        deduplicate(["red mug", "red mug"], key="title")
    with pytest.raises(UsageError, match=r"no method is called 'nearest'.*chain"):
        deduplicate(ROWS, "title", method="nearest")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="threshold 2"):
        deduplicate(ROWS, "title", threshold=2)


@pytest.mark.parametrize("name", matcher.dedupe.__all__)
def test_public_names(name: str) -> None:
    """Every public name can be imported from the package, and has a docstring."""
    assert getattr(matcher.dedupe, name).__doc__


def test_lazy_import() -> None:
    """Importing the package alone loads none of its modules."""
    code = "import sys, matcher.dedupe; print([m for m in sys.modules if m.startswith('matcher.dedupe.')])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
