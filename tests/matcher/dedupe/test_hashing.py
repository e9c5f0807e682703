"""The rungs that hash: shingles, MinHash and SimHash find what is alike, and report nothing that is not."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.errors import Busy, UsageError
from matcher.dedupe.base.measures import words
from matcher.dedupe.base.records import of_fields, of_texts
from matcher.dedupe.minhash.minhash import MinHash, meeting
from matcher.dedupe.minhash.minhash_index import MinHashIndex
from matcher.dedupe.minhash.shingles import Shingling
from matcher.dedupe.minhash.signatures import signatures
from matcher.dedupe.simhash.bit_majority import majority
from matcher.dedupe.simhash.simhash import SimHash, hashed
from matcher.dedupe.simhash.simhash_tables import Parts, Tables
from tests.matcher.dedupe.brute import brute, pairs_of

TEXTS = st.lists(st.text(alphabet="ab C_é!1 ", max_size=14), max_size=8)
VARIED = [
    f"{a} {b} {c} {d}"
    for a in ("red", "blue")
    for b in ("mug", "lamp")
    for c in "1234"
    for d in ("xl", "s")
]


def _sets(texts: Sequence[str], unit: str, size: int) -> list[set[tuple[str, ...]]]:
    split = [[*text.casefold()] if unit == "characters" else _all_words(text) for text in texts]
    return [
        {tuple(items[i : i + size]) for i in range(max(1, len(items) - size + 1))}
        if items
        else set()
        for items in split
    ]


def _all_words(text: str) -> list[str]:
    marked = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text.casefold())
    return marked.split()


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, unit=st.sampled_from(["words", "characters"]), size=st.integers(1, 3))
def test_shingles(texts: list[str], unit: str, size: int) -> None:
    """Texts share a hash exactly where they share a shingle."""
    hashes, counts = Shingling(unit, size)(texts)  # type: ignore[arg-type]
    found = (
        [set(part.tolist()) for part in np.split(hashes, np.cumsum(counts)[:-1])] if texts else []
    )
    expected = _sets(texts, unit, size)
    assert [[len(a & b) for b in found] for a in found] == [
        [len(a & b) for b in expected] for a in expected
    ]


def test_signatures() -> None:
    """The share of equal entries of two signatures is near the sets' Jaccard similarity."""
    texts = [" ".join(str(n) for n in range(start, start + 40)) for start in (0, 4, 10, 20, 40)]
    found = signatures(*Shingling()(texts), 512)
    sets = [set(words(text)) for text in texts]
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            assert (
                abs((found[:, i] == found[:, j]).mean() - len(one & other) / len(one | other))
                < 0.08
            )


@pytest.mark.parametrize("right", [None, VARIED[::2]])
def test_minhash(right: list[str] | None) -> None:
    """MinHash reports no pair that is not alike enough, and with all recall asked for finds them all."""
    rung = MinHash(Fraction(3, 5), recall=0.9999)
    found = pairs_of(rung(of_texts(VARIED), None if right is None else of_texts(right)))
    assert found == pytest.approx(brute(VARIED, right, "jaccard", Fraction(3, 5)))


SOME_WORDS = st.lists(
    st.sampled_from([f"w{n}" for n in range(90)] + ["𝔞", "é"]), min_size=1, max_size=90
)


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(SOME_WORDS.map(" ".join), max_size=12),
    pair=SOME_WORDS,
    threshold=st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(1)]),
)
def test_minhash_with_certain_bands(texts: list[str], pair: list[str], threshold: Fraction) -> None:
    """Where bands miss nothing, no pair is lost on the way: the sketches rule out only what cannot be alike."""
    several = [*texts, " ".join(pair), " ".join(pair[1:] or pair), " ".join([*pair, "more"])]
    found = pairs_of(MinHash(threshold, recall=1 - 1e-12)(of_texts(several)))
    assert found == pytest.approx(brute(several, None, "jaccard", threshold))


def test_minhash_of_nothing() -> None:
    """Texts without a word are alike only where they are equal."""
    assert pairs_of(MinHash(Fraction(1, 2))(of_texts(["!", "", "?", "!", "a"]))) == {(0, 3): 1.0}
    assert len(MinHash(Fraction(1, 2))(of_texts([]))) == 0


@given(left=st.lists(st.integers(0, 5)), right=st.none() | st.lists(st.integers(0, 5)))
def test_meeting(left: list[int], right: list[int] | None) -> None:
    """Every two places with equal keys meet once."""
    keys = np.array(left, dtype=np.uint64)
    found = [
        code
        for part in meeting(keys, None if right is None else np.array(right, dtype=np.uint64))
        for code in part
    ]
    other = left if right is None else right
    expected = {
        (a, b)
        for a, x in enumerate(left)
        for b, y in enumerate(other)
        if x == y and (right is not None or a < b)
    }
    assert sorted((int(code) >> 32, int(code) & 0xFFFFFFFF) for code in found) == sorted(expected)


@pytest.mark.parametrize("bits", [32, 64])
def test_simhash(bits: int) -> None:
    """Records whose fields have the same words in another order are found; others are not."""
    titles = [
        "syntax and semantics of things",
        "semantics and syntax of things",
        "gardens of the north",
        "",
    ]
    authors = ["Ivanova A", "A Ivanova", "Petrov", ""]
    found = SimHash(Fraction(1, 2), Parts(bits))(of_fields(titles, authors))
    assert [*pairs_of(found)] == [(0, 1)]
    assert hashed(titles, bits)[0] == hashed(titles, bits)[1]
    two = SimHash(Fraction(1, 2), Parts(bits))(
        of_fields(titles, authors), of_fields(titles[1:2], authors[1:2])
    )
    assert [*pairs_of(two)] == [(0, 0), (1, 0)]


@given(
    texts=st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), max_size=6),
    most=st.sampled_from([2, 64]),
)
def test_majority(texts: list[list[int]], most: int) -> None:
    """A bit is set where more than half of a text's words have it, whether counters are sliced or not."""
    words = np.array([word for text in texts for word in text], dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matcher.dedupe.simhash.bit_majority.MOST_SLICED", most)
        found = majority(words, np.array([len(text) for text in texts], dtype=np.int64)).tolist()
    assert found == [
        sum(1 << bit for bit in range(64) if 2 * sum(word >> bit & 1 for word in text) > len(text))
        for text in texts
    ]


@given(
    st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=20),
    st.lists(st.integers(0, 31), max_size=4),
)
def test_tables(stored: list[int], flipped: list[int]) -> None:
    """The tables bring together exactly the hashes that agree on two of four parts."""
    parts, hashes = Parts(32), np.array(stored, dtype=np.uint32)
    asked = hashes.copy()
    for bit in flipped:
        asked[0] ^= np.uint32(1 << bit)
    found = {
        (int(c) >> 32, int(c) & 0xFFFFFFFF)
        for part in Tables(hashes, parts).meeting(asked)
        for c in part
    }
    agreeing = {
        (a, b)
        for a in range(len(asked))
        for b in range(len(hashes))
        if asked[a] and parts.agree(asked[a : a + 1], hashes[b : b + 1])[0]
    }
    assert found == agreeing


def _names(count: int, first: int = 0) -> list[str]:
    return [f"a:{number}" for number in range(first, first + count)]


def test_index(tmp_path: Path) -> None:
    """An index that was saved, opened again and added to finds what the rung finds in memory."""
    rung, texts = MinHash(Fraction(3, 5), recall=0.9999), [*VARIED, "!", "?"]
    MinHashIndex(tmp_path / "index", rung).add(_names(10), texts[:10])
    index = MinHashIndex.open(tmp_path / "index")
    assert index.add(_names(len(texts) - 10, 10), texts[10:]).tolist() == [*range(10, len(texts))]
    asked, stored, alike = MinHashIndex.open(tmp_path / "index").look_up([*VARIED[:6], "!"])
    wanted = pairs_of(rung(of_texts([*VARIED[:6], "!"]), of_texts(texts)))
    assert {
        (a, b): value for a, b, value in zip(asked.tolist(), stored.tolist(), alike, strict=True)
    } == wanted
    assert index.names(np.array([3, 12])) == ["a:3", "a:12"]
    with pytest.raises(UsageError, match="other settings"):
        MinHashIndex(tmp_path / "index", MinHash(Fraction(1, 2)))
    with pytest.raises(UsageError, match="holds no index"):
        MinHashIndex.open(tmp_path / "none")


def test_index_again(tmp_path: Path) -> None:
    """A record that is there under its name and text is not put in again; with another text it is another record."""
    index = MinHashIndex(tmp_path, MinHash(Fraction(3, 5)))
    assert index.add(["a:1", "a:2"], ["red mug", "lamp"]).tolist() == [0, 1]
    assert index.add(["a:2", "a:3", "a:1"], ["lamp", "vase", "red cup"]).tolist() == [1, 2, 3]


def test_index_united(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small parts become one, and what is found stays the same; leftovers of a killed call are swept away."""
    index = MinHashIndex(tmp_path, MinHash(Fraction(3, 5), recall=0.9999))
    for number, text in enumerate(VARIED):
        index.add([f"a:{number}"], [text])
    (tmp_path / "part-000099-000099").mkdir()
    with MinHashIndex.open(tmp_path) as again:
        assert len([*tmp_path.glob("part-*")]) < len(VARIED) // 2
        found = again.look_up(VARIED)
        with pytest.raises(Busy, match="another call is adding"), MinHashIndex.open(tmp_path):
            pass
    assert again.names(np.arange(len(VARIED))) == [f"a:{number}" for number in range(len(VARIED))]
    one = MinHashIndex(tmp_path / "one", MinHash(Fraction(3, 5), recall=0.9999))
    one.add(_names(len(VARIED)), VARIED)
    assert sorted(zip(*found, strict=True)) == sorted(zip(*one.look_up(VARIED), strict=True))


def test_index_killed(tmp_path: Path) -> None:
    """An addition that did not come to its end does not count, and is made again."""
    index = MinHashIndex(tmp_path, MinHash(Fraction(3, 5)))
    index.add(["a:1"], ["red mug"])
    index.add(["a:2"], ["blue lamp"])
    (tmp_path / "part-000001-000001" / "about.json").unlink()
    again = MinHashIndex.open(tmp_path)
    assert len(again) == 1
    assert again.add(["a:3"], ["green vase"]).tolist() == [1]
    assert again.look_up(["green vase", "blue lamp"])[1].tolist() == [1]
