"""A persistent index of MinHash bands on disk: added to over calls, larger than memory if need be.

Every addition is a part of its own (`index_part`), opened as memory maps: a look-up reads only the
pages it needs. A part counts once its description is written, which happens last, so an addition
that was killed leaves nothing. Records are recognised by name and text: a stored one is not stored
again. It is compared with the records before it, so repeating a call gives the same pairs. Many
small parts are united into a large one, as in a log-structured merge tree (O'Neil et al., 1996).
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from catalog.errors import Busy, UsageError
from matcher.array_types import Doubles, Ints
from matcher.dedupe.base.join import parse_threshold
from matcher.dedupe.minhash.index_part import (
    DESCRIPTION_FILE,
    Batch,
    Part,
    unite_parts,
    write_description,
    write_part,
)
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import MAX_CHUNK_TEXTS, Shingling

PARTS_PER_UNION = 8  # parts united at once; also the largest ratio of their sizes
MAX_PARTS = 64  # parts; beyond it even those of unlike size are united
MIN_PART_SIZE = MAX_CHUNK_TEXTS  # records; smaller parts count as this large
MAX_PART_SIZE = 20_000_000  # records; cap on a union
LOCK_FILE = "lock"


class MinHashIndex:
    """The index in a folder; records are numbered in the order in which they were added.

    As a context manager it keeps other processes from adding. `candidates` and
    `comparisons` count those of all look-ups so far.
    """

    def __init__(self, folder: Path, method: MinHash) -> None:
        """Open or create the index. Raises UsageError if it was made with other settings."""
        self._folder = folder
        self.method = method
        self._plan = method.plan_bands()
        folder.mkdir(parents=True, exist_ok=True)
        settings = {**asdict(method), "threshold": str(method.threshold)}
        # Groups grow with the additions: what is paired must not depend on their order.
        del settings["max_group"]
        path = folder / DESCRIPTION_FILE
        if not path.exists():
            write_description(path, settings)
        elif json.loads(path.read_text()) != settings:
            raise UsageError(f"{folder} is an index of other settings: {path.read_text()}")
        self._lock = FileLock(folder / LOCK_FILE, thread_local=False)
        self.candidates = 0
        self.comparisons = 0
        self._parts = self._open_parts()

    @classmethod
    def open(cls, folder: Path) -> "MinHashIndex":
        """Open an existing index with the settings it was made with. Raises UsageError."""
        path = folder / DESCRIPTION_FILE
        if not path.exists():
            raise UsageError(f"{folder} holds no index of MinHash bands")
        settings = json.loads(path.read_text())
        settings["threshold"] = parse_threshold(settings["threshold"])
        settings["shingling"] = Shingling(**settings["shingling"])
        return cls(folder, MinHash(**settings))

    def __len__(self) -> int:
        return sum(part.count for part in self._parts)

    def __enter__(self) -> "MinHashIndex":
        """Lock the index for adding. Raises Busy."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise Busy(
                f"{self._folder}: another call is adding to this index; "
                "start again when it has ended"
            ) from error
        self._parts = self._open_parts()
        self._remove_leftovers()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def add(self, names: Sequence[str], texts: Sequence[str]) -> Ints:
        """Store the records that are new by name and text. Returns the number of each record."""
        batch = Batch.from_texts(names, texts, self.method, self._plan)
        numbers = self._find_numbers(batch)
        new = np.flatnonzero(numbers < 0)
        if len(new):
            numbers[new] = len(self) + np.arange(len(new))
            folder = self._next_folder()
            write_part(folder, batch.select(new))
            self._parts.append(Part(folder))
            self._unite_parts()
        return numbers

    def look_up(self, texts: Sequence[str]) -> tuple[Ints, Ints, Doubles]:
        """Return pairs of a text and a stored record's number, with Jaccard similarities."""
        queries = Batch.from_texts([""] * len(texts), texts, self.method, self._plan)
        rows, numbers = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        similarity = [np.empty(0)]
        first_number = 0
        for part in self._parts:
            matches = part.find_similar(queries, self.method.threshold)
            rows.append(matches.queries)
            numbers.append(matches.places + first_number)
            similarity.append(matches.similarity)
            first_number += part.count
            self.candidates += matches.candidates
            self.comparisons += matches.comparisons
        return np.concatenate(rows), np.concatenate(numbers), np.concatenate(similarity)

    def names(self, numbers: Ints) -> list[str]:
        """Return the names of stored records."""
        first_numbers = np.cumsum([0, *(part.count for part in self._parts)])
        owners = np.searchsorted(first_numbers, numbers, side="right") - 1
        places = numbers - first_numbers[owners]
        names = list[str]()
        for owner, place in zip(owners.tolist(), places.tolist(), strict=True):
            names.append(self._parts[owner].name(place))
        return names

    def _find_numbers(self, batch: Batch) -> Ints:
        """Return the number of each stored record, -1 for new ones."""
        numbers = np.full(len(batch), -1, dtype=np.int64)
        first_number = 0
        for part in self._parts:
            places = part.find_places(batch.ids)
            is_first_hit = (numbers < 0) & (places >= 0)
            numbers = np.where(is_first_hit, places + first_number, numbers)
            first_number += part.count
        return numbers

    def _open_parts(self) -> list[Part]:
        """Open the complete parts in order; a union takes precedence over the parts it replaces."""
        complete = list[Path]()
        for folder in sorted(self._folder.glob("part-*")):
            if (folder / DESCRIPTION_FILE).exists():
                complete.append(folder)
        spans = [_parse_span(folder) for folder in complete]
        parts = list[Part]()
        for folder, span in zip(complete, spans, strict=True):
            if not _is_replaced(span, spans):
                parts.append(Part(folder))
        return parts

    def _remove_leftovers(self) -> None:
        """Remove the leftovers of a killed call: incomplete parts, and parts already united."""
        current = {part.folder for part in self._parts}
        for folder in [*self._folder.glob("part-*")]:
            if folder not in current:
                shutil.rmtree(folder)

    def _part_folder(self, span: "_Span") -> Path:
        return self._folder / f"part-{span.first:06d}-{span.last:06d}"

    def _next_folder(self) -> Path:
        number = 0
        if self._parts:
            number = _parse_span(self._parts[-1].folder).last + 1
        return self._part_folder(_Span(number, number))

    def _unite_parts(self) -> None:
        """Unite the last parts while they are many and of like size, or far too many."""
        while len(self._parts) >= PARTS_PER_UNION:
            latest = self._parts[-PARTS_PER_UNION:]
            sizes = [max(MIN_PART_SIZE, part.count) for part in latest]
            if sum(sizes) > MAX_PART_SIZE:
                return
            is_like_size = max(sizes) < PARTS_PER_UNION * min(sizes)
            if not is_like_size and len(self._parts) < MAX_PARTS:
                return
            first, last = _parse_span(latest[0].folder).first, _parse_span(latest[-1].folder).last
            folder = self._part_folder(_Span(first, last))
            write_part(folder, unite_parts(latest))
            self._parts[-PARTS_PER_UNION:] = [Part(folder)]
            for part in latest:
                shutil.rmtree(part.folder)


class _Span(NamedTuple):
    """The first and the last addition that a part holds."""

    first: int
    last: int


def _parse_span(folder: Path) -> _Span:
    """Read the additions that a part holds from the name of its folder.

    >>> _parse_span(Path("part-000008-000015"))
    _Span(first=8, last=15)
    """
    _, first, last = folder.name.split("-")
    return _Span(int(first), int(last))


def _is_replaced(span: _Span, spans: Sequence[_Span]) -> bool:
    """Return True if another part holds all additions of this one."""
    return any(
        union != span and union.first <= span.first and span.last <= union.last for union in spans
    )
