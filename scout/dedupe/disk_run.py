"""Duplicates of sets beyond memory: fingerprints in a store or sorted on disk, and an index of MinHash bands.

Records are read one after the other and known by the file and line they stand at, in every call. A call that was killed
is simply made again: it finds the same, and nothing is put in twice.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from catalog.errors import UsageError
from catalog.runtime.progress import Progress
from matcher.dedupe.base.records import as_one, printed
from matcher.dedupe.exact.disk_dedup import seen, sorted_out
from matcher.dedupe.exact.exact import fingerprint
from matcher.dedupe.minhash.minhash_index import MinHashIndex
from matcher.dedupe.minhash.shingles import MOST_TEXTS
from scout.dedupe.dedupe_run import Asked
from scout.dedupe.methods import chosen, minhash

Pair = tuple[str, str, float, str]
Write = Callable[[Iterator[Pair]], int]
EQUAL = "equal after normalising"
METHOD = {"--store": "exact", "--memory": "exact", "--index": "minhash"}


def on_disk(
    asked: Asked, option: str, where: Path | str, write: Write, progress: Progress
) -> dict[str, Any]:
    """Carry out what --store, --memory or --index ask for; the figures. Raises UsageError."""
    if asked.method != METHOD[option] or asked.right:
        raise UsageError(f"{option}: with --method {METHOD[option]}, and without --right")
    chosen(asked.method, asked.similarity, asked.threshold, asked.tuning)
    begun = perf_counter()
    figures = (
        _indexed(asked, Path(where), write, progress)
        if option == "--index"
        else _equal(asked, option, where, write, progress)
    )
    figures |= {"left_out": 0, "bad": 0, "clusters": 0}
    return {**figures, "seconds": round(perf_counter() - begun, 3), "levels": []}


def _equal(
    asked: Asked, option: str, where: Path | str, write: Write, progress: Progress
) -> dict[str, Any]:
    """Equal records by fingerprints kept in a store, or sorted in so much memory."""
    count = 0

    def counted() -> Iterator[tuple[str, bytes]]:
        nonlocal count
        for name, key in printed(asked.file, asked.keys, progress):
            count += 1
            yield name, fingerprint(key)

    if option == "--memory" and not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", str(where)):
        raise UsageError(f"--memory {where}: a size such as 500MB or 2GB is wanted")
    repeats = (
        seen(counted(), Path(where)) if option == "--store" else sorted_out(counted(), str(where))
    )
    pairs = write((first, name, 1.0, EQUAL) for name, first in repeats)
    return {"records": count, "candidates": pairs, "comparisons": 0, "pairs": pairs}


def _indexed(asked: Asked, folder: Path, write: Write, progress: Progress) -> dict[str, Any]:
    """Records against an index and those before them, put in on the way."""
    figures = {"records": 0, "candidates": 0}

    def alike() -> Iterator[Pair]:
        left = printed(asked.file, asked.keys, progress)
        while batch := [*islice(left, MOST_TEXTS)]:
            names, texts = [name for name, _ in batch], [as_one(key) for _, key in batch]
            numbers = index.add(names, texts)
            asked_, stored, similarity = index.look_up(texts)
            earlier = stored < numbers[asked_]
            figures["records"] += len(batch)
            figures["candidates"] += index.met
            others = index.names(stored[earlier])
            mine = (names[row] for row in asked_[earlier].tolist())
            for one, other, value in zip(others, mine, similarity[earlier].tolist(), strict=True):
                if one != other:
                    yield one, other, value, f"{index.rung.shingling.unit} in common"

    with MinHashIndex(folder, minhash(asked.threshold, asked.tuning)) as index:
        pairs = write(alike())
        return {**figures, "comparisons": index.compared, "pairs": pairs, "stored": len(index)}
