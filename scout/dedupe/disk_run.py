"""A run of `scout dedupe` larger than memory: stored or sorted fingerprints, or a MinHash index.

Records are read one by one and recognised by file and line in every call. A call that was killed is
simply repeated: it finds the same pairs, and stores no record twice.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from catalog.errors import UsageError
from catalog.runtime.progress import Progress
from matcher.dedupe.base.packed_texts import join_key
from matcher.dedupe.base.records import SkippedRows, stream_keys
from matcher.dedupe.exact.disk_fingerprints import find_sorted_repeats, find_stored_repeats
from matcher.dedupe.exact.exact_join import EQUAL_REASON, fingerprint
from matcher.dedupe.minhash.minhash_index import MinHashIndex
from matcher.dedupe.minhash.shingles import MAX_CHUNK_TEXTS
from scout.dedupe.dedupe_run import DedupeRequest
from scout.dedupe.method_options import build_method, build_minhash

DiskOption = Literal["--store", "--memory", "--index"]
METHOD_OF_DISK_OPTION = {"--store": "exact", "--memory": "exact", "--index": "minhash"}
# A size as DuckDB reads it.
_MEMORY_SIZE = re.compile(r"\d+(\.\d+)? ?[KMGT]i?B", re.IGNORECASE)


@dataclass(frozen=True)
class NamedPair:
    """Two similar records by name ("file:line"): the one stored first, and the later one.

    `ids` are those of both records, if a column of ids is named.
    """

    first: str
    later: str
    similarity: float
    reason: str
    ids: tuple[str, ...] = ()


NamedKey = tuple[str, tuple[str, ...]]  # a record's name and key columns
WritePairs = Callable[[Iterator[NamedPair]], int]  # writes pairs, and returns their number


def run_on_disk(
    request: DedupeRequest,
    option: DiskOption,
    value: Path | str,
    write_pairs: WritePairs,
    progress: Progress,
) -> dict[str, Any]:
    """Find duplicates by --store, --memory or --index. Returns the figures. Raises UsageError."""
    method = METHOD_OF_DISK_OPTION[option]
    if request.method != method or request.right:
        raise UsageError(f"{option} needs --method {method} and cannot be combined with --right")
    # Built only to refuse options that do not fit.
    build_method(request.method, request.similarity, request.threshold, request.options)
    begun = perf_counter()
    skipped = SkippedRows()
    records = stream_keys(request.file, request.keys, progress, skipped, request.new_names)
    if option == "--index":
        figures = _look_up_and_add(request, records, Path(value), write_pairs)
    else:
        figures = _find_equal_records(records, option, value, write_pairs)
    seconds = round(perf_counter() - begun, 3)
    return {**figures, **asdict(skipped), "clusters": 0, "seconds": seconds, "levels": []}


def _find_equal_records(
    records: Iterator[NamedKey], option: DiskOption, value: Path | str, write_pairs: WritePairs
) -> dict[str, Any]:
    """Find equal records by fingerprints stored in a folder, or sorted in little memory."""
    count = 0

    def named_fingerprints() -> Iterator[tuple[str, bytes]]:
        nonlocal count
        for name, key in records:
            count += 1
            yield name, fingerprint(key)

    if option == "--store":
        repeats = find_stored_repeats(named_fingerprints(), Path(value))
    else:
        if not _MEMORY_SIZE.fullmatch(str(value)):
            raise UsageError(f"--memory {value}: a size such as 500MB or 2GB is wanted")
        repeats = find_sorted_repeats(named_fingerprints(), str(value))
    pairs = write_pairs(NamedPair(first, later, 1.0, EQUAL_REASON) for later, first in repeats)
    return {"records": count, "candidates": pairs, "comparisons": 0, "pairs": pairs}


def _look_up_and_add(
    request: DedupeRequest, records: Iterator[NamedKey], folder: Path, write_pairs: WritePairs
) -> dict[str, Any]:
    """Compare each record with the index and the records before it, and add it to the index."""
    count = 0

    def similar_pairs() -> Iterator[NamedPair]:
        nonlocal count
        while batch := [*islice(records, MAX_CHUNK_TEXTS)]:
            yield from _compare_batch(index, batch)
            count += len(batch)

    with MinHashIndex(folder, build_minhash(request.threshold, request.options)) as index:
        pairs = write_pairs(similar_pairs())
        return {
            "records": count,
            "candidates": index.candidates,
            "comparisons": index.comparisons,
            "pairs": pairs,
            "stored": len(index),
        }


def _compare_batch(index: MinHashIndex, batch: list[NamedKey]) -> Iterator[NamedPair]:
    """Add a batch of records, and yield their pairs with records that were stored before them."""
    names = [name for name, _ in batch]
    texts = [join_key(key) for _, key in batch]
    numbers = index.add(names, texts)
    rows, stored, similarity = index.look_up(texts)
    # Each pair is reported once, at the later record; so a repeated call finds the same pairs.
    is_earlier = stored < numbers[rows]
    first_names = index.names(stored[is_earlier])
    reason = f"{index.method.shingling.unit} in common"
    for first, row, score in zip(
        first_names, rows[is_earlier].tolist(), similarity[is_earlier].tolist(), strict=True
    ):
        if first != names[row]:
            yield NamedPair(first, names[row], score, reason)
