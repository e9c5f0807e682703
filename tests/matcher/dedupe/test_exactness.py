"""The joins that claim to be exact find what brute force finds: no pair less, no pair more."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from matcher.dedupe.base.join import Joined, Rung
from matcher.dedupe.base.measures import Measure, Similarity
from matcher.dedupe.base.records import of_texts
from matcher.dedupe.edit import segment_candidates, segments
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from tests.matcher.dedupe.brute import brute, pairs_of

SHORT = st.text(alphabet="ab 😀é", max_size=12)
PHRASES = st.lists(
    st.sampled_from(["red", "mug", "Mug", "lamp", "😀", "!", "xl", "42"]), max_size=7
).map(" ".join)
ANY = st.text(max_size=8)
COLUMN = st.lists(SHORT | ANY | PHRASES, max_size=14)
THRESHOLDS = st.sampled_from([Fraction(n, 20) for n in (1, 6, 10, 13, 14, 16, 17, 18, 19, 20)])
HARD = [
    "",
    "",
    "a",
    "a",
    "b",
    "ab",
    "ba",
    "😀",
    "😀é",
    "!!",
    "?",
    "aaaaaaaaaa",
    "aaaaaaaabb",
    "bbaaaaaaaa",
]


def _check(
    rung: Rung, left: list[str], right: list[str] | None, similarity: str, threshold: Fraction
) -> Joined:
    found = rung(of_texts(left), None if right is None else of_texts(right))
    expected = brute(left, right, similarity, threshold)
    assert pairs_of(found) == pytest.approx(expected)
    assert [*zip(found.left, found.right, strict=True)] == sorted(expected)
    assert all(0 <= why < len(found.reasons) for why in found.why)
    return found


@settings(max_examples=70, deadline=None)
@given(left=COLUMN, right=st.none() | COLUMN, threshold=THRESHOLDS, by_segments=st.booleans())
@example(left=HARD, right=None, threshold=Fraction(4, 5), by_segments=True)
@example(left=HARD, right=HARD[::-1], threshold=Fraction(4, 5), by_segments=True)
def test_segments(
    left: list[str], right: list[str] | None, threshold: Fraction, by_segments: bool
) -> None:
    """Segments are exact, on one side and on two, whether texts meet by segments or all with all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_candidates, "COMPARE", 1.0 if by_segments else 0.0)
        _check(Segments(threshold, workers=1), left, right, "edit", threshold)


@settings(max_examples=70, deadline=None)
@given(
    left=COLUMN,
    right=st.none() | COLUMN,
    threshold=THRESHOLDS,
    similarity=st.sampled_from(["edit", "jaccard", "cosine"]),
    levels=st.integers(1, 4),
)
@example(left=HARD, right=None, threshold=Fraction(4, 5), similarity="edit", levels=2)
@example(left=HARD, right=HARD[::-1], threshold=Fraction(1, 2), similarity="cosine", levels=3)
def test_prefix_filter(
    left: list[str],
    right: list[str] | None,
    threshold: Fraction,
    similarity: Similarity,
    levels: int,
) -> None:
    """The prefix filter is exact for every similarity; each level leaves no more pairs than the one before."""
    found = _check(
        PrefixFilter(threshold, similarity, levels, 1), left, right, similarity, threshold
    )
    assert all(before.candidates >= after.candidates for before, after in pairwise(found.levels))
    assert found.comparisons == found.levels[-1].comparisons


@pytest.mark.parametrize("rung", [Segments, lambda threshold: PrefixFilter(threshold, "edit", 3)])
def test_long(rung: Callable[[Fraction], Rung]) -> None:
    """Texts of 10,000 characters stand beside short and empty ones, on one side and on two."""
    long = [
        "ab😀c" * 2500,
        "ab😀c" * 2400 + "x" * 400,
        "zz" + "ab😀c" * 2000,
        "q" * 10_000,
        "short",
        "shorts",
        "",
        "😀",
    ]
    found = _check(rung(Fraction(4, 5)), long, None, "edit", Fraction(4, 5))
    assert len(found) >= 3
    _check(rung(Fraction(4, 5)), long, long[::-2], "edit", Fraction(4, 5))


@pytest.mark.parametrize("similarity", ["jaccard", "cosine"])
def test_long_words(similarity: Similarity) -> None:
    """Texts of thousands of words stand beside empty ones, ones of one character and ones beyond the first plane."""
    many = [f"w{n}" for n in range(2000)]
    long = [
        " ".join(many),
        " ".join(many[:1800]),
        " ".join(many[::-1]),
        "x" * 10_000,
        "x" * 10_000,
        "𝔞 " * 5_000,
    ]
    texts = [*long, "", "𝔞", "a", "😀", "a!", "?"]
    _check(PrefixFilter(Fraction(4, 5), similarity, 3), texts, None, similarity, Fraction(4, 5))
    _check(
        PrefixFilter(Fraction(4, 5), similarity, 2), texts, texts[::-2], similarity, Fraction(4, 5)
    )


@pytest.mark.parametrize("similarity", ["edit", "jaccard", "cosine"])
def test_many(similarity: Similarity) -> None:
    """Sets large enough for several groups, blocks and shared bit rows are joined exactly too."""
    count = 500 if similarity == "edit" else 300
    texts = [
        f"lamp {n % 7} {'red' if n % 3 else 'blue'} {n * n % 611} {chr(0x4E00 + n % 300)}"
        for n in range(count)
    ]
    threshold = Fraction(17, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matcher.dedupe.prefix.bit_filter.MOST_ROWS", 32)
        patch.setattr("matcher.dedupe.prefix.bit_filter.MOST_TOGETHER", 128)
        patch.setattr("matcher.dedupe.prefix.bit_filter.BLOCK_BYTES", 1 << 8)
        patch.setattr("matcher.dedupe.prefix.bit_filter.MOST_LINES", 1 << 7)
        _check(PrefixFilter(threshold, similarity, 3), texts, None, similarity, threshold)
        _check(
            PrefixFilter(threshold, similarity, 2), texts[:300], texts[200:], similarity, threshold
        )


def test_chunks_of_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where candidates are taken in many small parts, none is lost between them."""
    monkeypatch.setattr(segment_candidates, "MOST_AT_ONCE", 50)
    monkeypatch.setattr(segments, "MOST_AT_ONCE", 7)
    texts = [f"{n % 50:04d} main street {n % 9}" for n in range(300)]
    _check(Segments(Fraction(9, 10)), texts, None, "edit", Fraction(9, 10))


@given(a=st.integers(0, 40), b=st.integers(0, 40), threshold=THRESHOLDS)
def test_least(a: int, b: int, threshold: Fraction) -> None:
    """The least number of shared tokens is the least that reaches the threshold, and never falls with the sizes."""
    for name in ("jaccard", "cosine"):
        measure = Measure(name, threshold)
        least = measure.least(a, b)
        assert measure.least(a + 1, b) >= least or a == 0
        assert least >= measure.least_of_any(a) or least > min(a, b)
