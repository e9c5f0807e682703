"""The joins that claim to be exact find the pairs of brute force: no pair less, no pair more."""

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.made_words import made_word
from matcher.dedupe.base.join import JoinMethod, JoinResult
from matcher.dedupe.base.records import records_from_texts
from matcher.dedupe.base.similarity_measures import Measure, SimilarityName
from matcher.dedupe.edit import segment_choice, segment_index
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from tests.matcher.dedupe.brute_force import brute_force_pairs, pairs_of

SHORT_TEXTS = st.text(alphabet="ab 😀é", max_size=12)
PHRASES = st.lists(
    st.sampled_from(["red", "mug", "Mug", "lamp", "😀", "!", "xl", "42"]), max_size=7
).map(" ".join)
ANY_TEXTS = st.text(max_size=8)
COLUMNS = st.lists(SHORT_TEXTS | ANY_TEXTS | PHRASES, max_size=14)
THRESHOLDS = st.sampled_from([Fraction(n, 20) for n in (1, 6, 10, 13, 14, 16, 17, 18, 19, 20)])
HARD_TEXTS = [
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


def check_join(
    method: JoinMethod,
    left: list[str],
    right: list[str] | None,
    similarity: str,
    threshold: Fraction,
) -> JoinResult:
    """Compare a join with brute force, pair by pair."""
    right_records = None if right is None else records_from_texts(right)
    result = method(records_from_texts(left), right_records)
    expected = brute_force_pairs(left, right, similarity, threshold)
    assert pairs_of(result) == pytest.approx(expected)
    assert [*zip(result.left, result.right, strict=True)] == sorted(expected)
    assert all(0 <= reason < len(result.reasons) for reason in result.reason)
    return result


@settings(max_examples=100, deadline=None)
@given(
    left=COLUMNS,
    right=st.none() | COLUMNS,
    threshold=THRESHOLDS,
    spare=st.none() | st.integers(0, 4),
    with_neighbours=st.booleans(),
    in_grids=st.booleans(),
)
@example(
    left=HARD_TEXTS,
    right=None,
    threshold=Fraction(4, 5),
    spare=1,
    with_neighbours=True,
    in_grids=True,
)
@example(
    left=HARD_TEXTS,
    right=HARD_TEXTS[::-1],
    threshold=Fraction(4, 5),
    spare=2,
    with_neighbours=False,
    in_grids=False,
)
def test_segments(
    left: list[str],
    right: list[str] | None,
    threshold: Fraction,
    spare: int | None,
    with_neighbours: bool,
    in_grids: bool,
) -> None:
    """The segment join is exact, on one side and on two, by segments and by masks alone."""
    with pytest.MonkeyPatch.context() as patch:
        if spare is None:
            # Masks are chosen where they cost nothing.
            patch.setattr(segment_choice, "SECONDS_PER_MASK_PAIR", -1e6)
        else:
            force_segments(patch, (0, spare), with_neighbours)
        patch.setattr(segment_index, "MIN_GRID_PAIRS", 1 if in_grids else 1e9)
        check_join(Segments(threshold, workers=1), left, right, "edit", threshold)


def force_segments(
    patch: pytest.MonkeyPatch, spares: tuple[int, ...], with_neighbours: bool
) -> None:
    """Have texts compared by segments, of which some numbers are ignored, however few they are."""
    patch.setattr(segment_choice, "SECONDS_PER_MASK_PAIR", 1e6)
    patch.setattr(segment_choice, "SPARE_SEGMENTS", spares)
    patch.setattr(segment_choice, "MIN_SEGMENT_LENGTH", 1)
    patch.setattr(segment_choice, "MIN_GAINS", ((with_neighbours, 0),))


@pytest.mark.parametrize("with_neighbours", [False, True])
@pytest.mark.parametrize("spare", [0, 1, 3, 9])
def test_shared_pieces(spare: int, with_neighbours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that share long pieces are joined exactly, however many segments they ignore."""
    force_segments(monkeypatch, (spare,), with_neighbours)
    monkeypatch.setattr(segment_index, "MIN_GRID_PAIRS", 60)
    generator = random.Random(spare)
    texts = list[str]()
    for number in range(90):
        group = number // 3
        text = f"{made_word(group * 7919)} {made_word(group)} street {group}, Nupaba"
        for _ in range(generator.randrange(6)):
            place = generator.randrange(len(text))
            text = text[:place] + generator.choice(["", "x", "é😀"]) + text[place + 1 :]
        texts.append(text)
    for threshold in (Fraction(4, 5), Fraction(9, 10)):
        result = check_join(Segments(threshold), texts, None, "edit", threshold)
        check_join(Segments(threshold), texts[:50], texts[40:], "edit", threshold)
    assert len(result) > 10


@settings(max_examples=70, deadline=None)
@given(
    left=COLUMNS,
    right=st.none() | COLUMNS,
    threshold=THRESHOLDS,
    similarity=st.sampled_from(["edit", "jaccard", "cosine"]),
    levels=st.integers(1, 4),
)
@example(left=HARD_TEXTS, right=None, threshold=Fraction(4, 5), similarity="edit", levels=2)
@example(
    left=HARD_TEXTS, right=HARD_TEXTS[::-1], threshold=Fraction(1, 2), similarity="cosine", levels=3
)
def test_prefix_filter(
    left: list[str],
    right: list[str] | None,
    threshold: Fraction,
    similarity: SimilarityName,
    levels: int,
) -> None:
    """The prefix filter is exact for every similarity; no level passes more pairs than the last."""
    method = PrefixFilter(threshold, similarity, levels, workers=1)
    result = check_join(method, left, right, similarity, threshold)
    assert all(first.candidates >= second.candidates for first, second in pairwise(result.levels))
    assert result.comparisons == result.levels[-1].comparisons


@pytest.mark.parametrize(
    "build_method", [Segments, lambda threshold: PrefixFilter(threshold, "edit", 3)]
)
def test_long_texts(build_method: Callable[[Fraction], JoinMethod]) -> None:
    """Texts of 10,000 characters are joined with short and empty ones, on one side and on two."""
    texts = [
        "ab😀c" * 2500,
        "ab😀c" * 2400 + "x" * 400,
        "zz" + "ab😀c" * 2000,
        "q" * 10_000,
        "short",
        "shorts",
        "",
        "😀",
    ]
    result = check_join(build_method(Fraction(4, 5)), texts, None, "edit", Fraction(4, 5))
    assert len(result) >= 3
    check_join(build_method(Fraction(4, 5)), texts, texts[::-2], "edit", Fraction(4, 5))


@pytest.mark.parametrize("similarity", ["jaccard", "cosine"])
def test_many_words(similarity: SimilarityName) -> None:
    """Texts of thousands of words are joined with empty, one-character and non-BMP ones."""
    words = [f"w{n}" for n in range(2000)]
    long_texts = [
        " ".join(words),
        " ".join(words[:1800]),
        " ".join(words[::-1]),
        "x" * 10_000,
        "x" * 10_000,
        "𝔞 " * 5_000,
    ]
    texts = [*long_texts, "", "𝔞", "a", "😀", "a!", "?"]
    threshold = Fraction(4, 5)
    check_join(PrefixFilter(threshold, similarity, 3), texts, None, similarity, threshold)
    check_join(PrefixFilter(threshold, similarity, 2), texts, texts[::-2], similarity, threshold)


@pytest.mark.parametrize("similarity", ["edit", "jaccard", "cosine"])
def test_several_groups(similarity: SimilarityName) -> None:
    """Sets large enough for several groups, blocks and shared bit rows are joined exactly too."""
    count = 500 if similarity == "edit" else 300
    texts = [
        f"lamp {n % 7} {'red' if n % 3 else 'blue'} {n * n % 611} {chr(0x4E00 + n % 300)}"
        for n in range(count)
    ]
    threshold = Fraction(17, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matcher.dedupe.prefix.bit_filter.MAX_BIT_ROWS", 32)
        patch.setattr("matcher.dedupe.prefix.bit_filter.MAX_GROUP_SIZE", 128)
        patch.setattr("matcher.dedupe.prefix.bit_filter.BLOCK_BYTES", 1 << 8)
        patch.setattr("matcher.dedupe.prefix.bit_filter.MAX_BATCH_TOKENS", 1 << 7)
        method = PrefixFilter(threshold, similarity, 3)
        check_join(method, texts, None, similarity, threshold)
        method = PrefixFilter(threshold, similarity, 2)
        check_join(method, texts[:300], texts[200:], similarity, threshold)


def test_chunks_of_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """If candidates are taken in many small chunks, none is lost between them."""
    for name, value in {
        "segment_candidates.CHARACTERS_PER_INDEX": 900,
        "segment_candidates.PARTNERS_PER_GRID": 9,
        "segment_candidates.PAIRS_PER_GRID": 30,
        "segment_choice.CHARACTERS_PER_BLOCK": 500,
        "segment_choice.SECONDS_PER_MASK_PAIR": 1e6,
        "segment_index.PAIRS_PER_CHUNK": 50,
        "segment_index.PAIRS_PER_GRID": 30,
        "segments.MAX_PENDING": 7,
    }.items():
        monkeypatch.setattr(f"matcher.dedupe.edit.{name}", value)
    texts = [f"{n % 50:04d} main street {n % 9}" for n in range(300)]
    check_join(Segments(Fraction(9, 10)), texts, None, "edit", Fraction(9, 10))


@given(
    left_size=st.integers(0, 40),
    right_size=st.integers(0, 40),
    threshold=THRESHOLDS,
    name=st.sampled_from(["jaccard", "cosine"]),
)
def test_min_overlap(
    left_size: int, right_size: int, threshold: Fraction, name: SimilarityName
) -> None:
    """The required overlap never falls with the sizes, and is bounded by that with any text."""
    measure = Measure(name, threshold)
    overlap = measure.min_overlap(left_size, right_size)
    assert measure.min_overlap(left_size + 1, right_size) >= overlap or left_size == 0
    assert overlap >= measure.min_overlap_any(left_size) or overlap > min(left_size, right_size)
