"""Postings: what the blocks of an index give back is what was put in."""

from collections import defaultdict

import numpy as np
import pytest

from matcher.known_index import postings
from matcher.known_index.postings import (
    PostingSpool,
    add_postings,
    blocks_of_keys,
    read_block,
    sort_postings,
)


def test_blocks_have_all_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key has its documents, a too frequent one the first of them, an unknown one none."""
    monkeypatch.setattr(postings, "MAX_POSTINGS", 200)
    monkeypatch.setattr(postings, "BLOCK_POSTINGS", 16)
    generator = np.random.default_rng(1)
    known = generator.integers(0, 1 << 48, 300, dtype=np.uint64)
    keys = np.concatenate((known[generator.integers(0, 300, 4_000)], np.repeat(known[:1], 500)))
    documents = np.arange(len(keys))
    spool = PostingSpool()
    spool.add(keys[:1_000], documents[:1_000])
    spool.add(keys[1_000:], documents[1_000:])
    blocks = list(spool.blocks())
    directory = np.array([first_key for first_key, _ in blocks], np.uint64)
    assert directory.tolist() == sorted(directory.tolist())
    expected: dict[int, list[int]] = defaultdict(list)
    for key, document in zip(keys.tolist(), documents.tolist(), strict=True):
        expected[key].append(document)
    frequent = int(known[0])
    expected[frequent] = expected[frequent][: postings.KEPT_OF_FREQUENT]
    asked = np.unique(np.concatenate((known, np.array([0, 5, (1 << 48) - 1], np.uint64))))
    found: dict[int, list[int]] = {}
    for number, block_keys in blocks_of_keys(directory, asked).items():
        for key, numbers in read_block(blocks[number][1], block_keys).items():
            found[key] = numbers.tolist()
    assert found == expected


def test_updates_are_added() -> None:
    """Documents of updates follow those of the blocks."""
    keys, documents = sort_postings(np.array([9, 4, 9], np.uint64), np.array([7, 8, 6]))
    found = {9: np.array([1], np.uint32)}
    add_postings(found, np.array([4, 5, 9], np.uint64), keys, documents)
    assert {key: numbers.tolist() for key, numbers in found.items()} == {4: [8], 9: [1, 6, 7]}
    assert blocks_of_keys(np.empty(0, np.uint64), keys) == {}
