"""Equal records: normalised, then told by fingerprints of 16 bytes.

Normalising matters more than the hash. Ten million fingerprints are 160 MB; where that, or the texts, are too many,
`seen` keeps them on disk, and `external` sorts them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Indices, Joined, Words, joined
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import Distinct, equal_rows, offsets, rows_of
from matcher.records.text import fold

SIZE = 16
STEP = 50_000
NO_LIMIT = 1 << 30


@dataclass(frozen=True)
class Exact:
    """The rung: pairs that are equal after normalising, field by field."""

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        sides = [_fingerprints(side, progress) for side in (left, right) if side is not None]
        once, group = np.unique(np.concatenate(sides), axis=0, return_inverse=True)
        columns = [
            _grouped(part, len(once)) for part in np.split(group.reshape(-1), [len(sides[0])])
        ]
        every = np.arange(len(once))
        a, b = equal_rows(columns[0]) if right is None else rows_of(every, every, *columns)[:2]
        part = (a, b, np.ones(len(a)), np.zeros(len(a), dtype=np.int64))
        return joined([part], ["equal after normalising"], candidates=len(a), comparisons=0)


def fingerprint(fields: Iterable[str]) -> bytes:
    """Sixteen bytes that records have in common when they are equal after normalising.

    >>> fingerprint(["Crème  Brûlée"]) == fingerprint(["creme brulee"])
    True
    >>> fingerprint(["a", "b"]) == fingerprint(["ab", ""])
    False
    """
    text = "\x1f".join(fold(field, NO_LIMIT) for field in fields)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def _fingerprints(records: Records, progress: Progress) -> Words:
    found = np.empty((len(records), 2), dtype=np.uint64)
    for row, fields in enumerate(zip(*records.fields, strict=True)):
        found[row] = np.frombuffer(fingerprint(fields), dtype=np.uint64)
        if row % STEP == 0:
            progress("fingerprints", row, len(records))
    return found


def _grouped(groups: Indices, count: int) -> Distinct:
    """Rows by their group, as if a group were a text."""
    counts = np.bincount(groups, minlength=count)
    return Distinct([], counts, np.argsort(groups, kind="stable"), offsets(counts))
