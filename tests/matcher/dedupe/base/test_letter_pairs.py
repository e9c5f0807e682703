"""Pairs that differ only in marks that make another letter are no duplicates, with any method."""

import pytest

from matcher.dedupe.base.join import parse_threshold
from matcher.dedupe.base.records import records_from_texts
from matcher.dedupe.deduplication import MethodName, deduplicate, find_duplicates
from matcher.dedupe.prefix.prefix_filter import PrefixFilter

METHODS: tuple[MethodName, ...] = (
    "exact", "segments", "prefix-filter", "minhash", "simhash", "chain",
)  # fmt: skip
OTHER_WORDS = [
    ("Japanese", "バトの置物 大", "ハトの置物 大"),
    ("Russian", "Столик мой белый", "Столик мои белый"),
    ("Hindi", "पीला कप बड़ा", "पीली कप बड़ा"),
    ("Thai", "ไม้แขวนเสื้อ", "ไมแขวนเสื้อ"),
    ("Tamil", "பால் பாத்திரம்", "பால பாத்திரம்"),
]
SAME_WORDS = [
    ("Latin", "Crème brûlée", "Creme brulee"),
    ("Russian", "Чёрный стол", "Черный стол"),
    ("Arabic", "كِتَاب جديد", "كتاب جديد"),
    ("Japanese width", "ﾊﾞｽ 玩具", "バス 玩具"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("first", "second"), [c[1:] for c in OTHER_WORDS], ids=[c[0] for c in OTHER_WORDS]
)
def test_other_words(first: str, second: str, method: MethodName) -> None:
    """Two texts in which a mark makes another word are no pair and no cluster."""
    duplicates = deduplicate([first, second], method=method)
    assert duplicates.pairs == []
    assert duplicates.clusters == []


@pytest.mark.parametrize(
    ("first", "second"), [c[1:] for c in SAME_WORDS], ids=[c[0] for c in SAME_WORDS]
)
def test_spellings_of_one_word(first: str, second: str) -> None:
    """Two texts that differ in optional marks are equal after normalising."""
    assert len(deduplicate([first, second], method="exact").pairs) == 1


def test_typing_errors_are_still_pairs() -> None:
    """A wrong letter is a typing error in any script."""
    assert len(deduplicate(["Столик белый", "Столик бемый"]).pairs) == 1
    assert len(deduplicate(["Desk lamp white", "Desk lanp white"]).pairs) == 1


def test_a_dropped_pair_does_not_settle_its_records() -> None:
    """Of three records, two differ by a letter; the third is still found as a duplicate of one."""
    texts = ["Столик белый мой", "Столик белый мои", "Столик белый моии"]
    assert deduplicate(texts).clusters == [[1, 2]]


def test_two_sides() -> None:
    """Between two sides, too, only pairs that differ by another letter are dropped."""
    left = records_from_texts(["バトの置物", "mug"])
    right = records_from_texts(["mugs", "ハトの置物", "バトの置物"])
    found = find_duplicates(left, right, PrefixFilter(parse_threshold(0.7)))
    pairs = zip(found.pairs.left.tolist(), found.pairs.right.tolist(), strict=True)
    assert list(pairs) == [(0, 2), (1, 0)]
