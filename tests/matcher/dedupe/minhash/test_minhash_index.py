"""The MinHash index on disk finds the pairs of the join in memory, over calls and after a kill."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from catalog.errors import Busy, UsageError
from matcher.dedupe.base.records import records_from_texts
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.minhash_index import MinHashIndex
from tests.matcher.dedupe.brute_force import pairs_of
from tests.matcher.dedupe.minhash.test_minhash import VARIED_TEXTS


def _names(count: int, first: int = 0) -> list[str]:
    return [f"a:{number}" for number in range(first, first + count)]


def test_look_up(tmp_path: Path) -> None:
    """An index that was opened again and added to finds the pairs of the join in memory."""
    method, texts = MinHash(Fraction(3, 5), recall=0.9999), [*VARIED_TEXTS, "!", "?"]
    MinHashIndex(tmp_path / "index", method).add(_names(10), texts[:10])
    index = MinHashIndex.open(tmp_path / "index")
    numbers = index.add(_names(len(texts) - 10, 10), texts[10:])
    assert numbers.tolist() == [*range(10, len(texts))]
    queries = [*VARIED_TEXTS[:6], "!"]
    rows, stored, similarity = MinHashIndex.open(tmp_path / "index").look_up(queries)
    pairs = zip(rows.tolist(), stored.tolist(), strict=True)
    expected = pairs_of(method(records_from_texts(queries), records_from_texts(texts)))
    assert dict(zip(pairs, similarity, strict=True)) == expected
    assert index.names(np.array([3, 12])) == ["a:3", "a:12"]


def test_work_is_counted_over_all_look_ups(tmp_path: Path) -> None:
    """Candidates and comparisons are running totals."""
    index = MinHashIndex(tmp_path / "index", MinHash(Fraction(3, 5)))
    index.add(_names(len(VARIED_TEXTS)), VARIED_TEXTS)
    index.look_up(VARIED_TEXTS)
    work = index.candidates, index.comparisons
    assert min(work) > 0
    index.look_up(VARIED_TEXTS)
    assert (index.candidates, index.comparisons) == (2 * work[0], 2 * work[1])


def test_settings(tmp_path: Path) -> None:
    """An index opened with other settings, or a folder without one, is refused."""
    MinHashIndex(tmp_path / "index", MinHash(Fraction(3, 5)))
    with pytest.raises(UsageError, match="other settings"):
        MinHashIndex(tmp_path / "index", MinHash(Fraction(1, 2)))
    with pytest.raises(UsageError, match="holds no index"):
        MinHashIndex.open(tmp_path / "none")


def test_stored_records(tmp_path: Path) -> None:
    """A record with the same name and text is not stored again; with another text it is new."""
    index = MinHashIndex(tmp_path, MinHash(Fraction(3, 5)))
    assert index.add(["a:1", "a:2"], ["red mug", "lamp"]).tolist() == [0, 1]
    assert index.add(["a:2", "a:3", "a:1"], ["lamp", "vase", "red cup"]).tolist() == [1, 2, 3]


def test_united_parts(tmp_path: Path) -> None:
    """Many small parts are united, pairs stay the same, and leftovers of a killed call are removed."""
    method = MinHash(Fraction(3, 5), recall=0.9999)
    index = MinHashIndex(tmp_path, method)
    for number, text in enumerate(VARIED_TEXTS):
        index.add([f"a:{number}"], [text])
    (tmp_path / "part-000099-000099").mkdir()
    with MinHashIndex.open(tmp_path) as reopened:
        assert len([*tmp_path.glob("part-*")]) < len(VARIED_TEXTS) // 2
        found = reopened.look_up(VARIED_TEXTS)
        with pytest.raises(Busy, match="another call is adding"), MinHashIndex.open(tmp_path):
            pass
    assert reopened.names(np.arange(len(VARIED_TEXTS))) == _names(len(VARIED_TEXTS))
    single_part = MinHashIndex(tmp_path / "single", method)
    single_part.add(_names(len(VARIED_TEXTS)), VARIED_TEXTS)
    expected = single_part.look_up(VARIED_TEXTS)
    assert sorted(zip(*found, strict=True)) == sorted(zip(*expected, strict=True))


def test_killed_addition(tmp_path: Path) -> None:
    """An addition that did not finish does not count, and is made again."""
    index = MinHashIndex(tmp_path, MinHash(Fraction(3, 5)))
    index.add(["a:1"], ["red mug"])
    index.add(["a:2"], ["blue lamp"])
    (tmp_path / "part-000001-000001" / "about.json").unlink()
    reopened = MinHashIndex.open(tmp_path)
    assert len(reopened) == 1
    assert reopened.add(["a:3"], ["green vase"]).tolist() == [1]
    assert reopened.look_up(["green vase", "blue lamp"])[1].tolist() == [1]
