"""Equal records after normalising, by fingerprints of 16 bytes.

Normalising matters more than the hash. Ten million fingerprints take 160 MB; where they or the
texts exceed memory, `disk_fingerprints` keeps them on disk.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Ints, UInts
from matcher.dedupe.base.join import JoinResult, PairBatch, build_result
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import (
    TextColumn,
    expand_to_rows,
    pair_equal_rows,
    run_offsets,
)
from matcher.records.text import fold

# 128 bits: a collision among a billion records is practically impossible.
RECORD_FINGERPRINT_BYTES = 16
# Why two records are a pair.
EQUAL_REASON = "equal after normalising"
PROGRESS_INTERVAL = 50_000  # records between two progress reports
NO_LIMIT = 1 << 30  # characters; `fold` cuts texts, a fingerprint covers all of them


@dataclass(frozen=True)
class Exact:
    """The exact join: pairs that are equal after normalising, field by field."""

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        sides = [side for side in (left, right) if side is not None]
        group, group_count = self.group_equal(sides, progress)
        groups_of_side = np.split(group, [len(left)])
        columns = [_group_rows(groups, group_count) for groups in groups_of_side]
        if right is None:
            left_rows, right_rows = pair_equal_rows(columns[0])
        else:
            all_groups = np.arange(group_count)
            left_rows, right_rows, _ = expand_to_rows(all_groups, all_groups, *columns)
        count = len(left_rows)
        batch = PairBatch(left_rows, right_rows, np.ones(count), np.zeros(count, dtype=np.int64))
        return build_result([batch], [EQUAL_REASON], candidates=count)

    def group_equal(self, sides: Sequence[Records], progress: Progress) -> tuple[Ints, int]:
        """Return the group of each record, side after side, and the number of groups.

        Equal records have the same group.
        """
        prints = [_fingerprint_records(side, progress) for side in sides]
        distinct, group = np.unique(np.concatenate(prints), axis=0, return_inverse=True)
        # numpy 2.0 gives the inverse the shape (n, 1).
        return group.reshape(-1), len(distinct)


def fingerprint(fields: Iterable[str]) -> bytes:
    """Hash the normalised fields of a record to 16 bytes.

    >>> fingerprint(["Crème  Brûlée"]) == fingerprint(["creme brulee"])
    True
    >>> fingerprint(["a", "b"]) == fingerprint(["ab", ""])
    False
    """
    text = "\x1f".join(fold(field, NO_LIMIT) for field in fields)
    return blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=RECORD_FINGERPRINT_BYTES
    ).digest()


def _fingerprint_records(records: Records, progress: Progress) -> UInts:
    prints = np.empty((len(records), 2), dtype=np.uint64)
    for row, fields in enumerate(zip(*records.fields, strict=True)):
        prints[row] = np.frombuffer(fingerprint(fields), dtype=np.uint64)
        if row % PROGRESS_INTERVAL == 0:
            progress("fingerprints", row, len(records))
    return prints


def _group_rows(groups: Ints, group_count: int) -> TextColumn:
    """Group rows by fingerprint, as a text column whose texts are the fingerprints."""
    counts = np.bincount(groups, minlength=group_count)
    rows_by_group = np.argsort(groups, kind="stable")
    return TextColumn([], counts, rows_by_group, run_offsets(counts))
