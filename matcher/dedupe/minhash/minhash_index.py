"""An inverted index of MinHash bands on disk: made once, opened again, added to, larger than memory if need be.

Every addition is a part of its own (`index_part`), opened as memory maps: a look-up reads the pages it needs and
nothing else. A part counts once its description has been written, which is the last thing that is, so an addition that
was killed leaves nothing behind. Records are known by their names: one that is there already is not put in again, and
is compared with what was there before it, so the same call again gives the same pairs. Many small parts become one.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from catalog.errors import Busy, UsageError
from matcher.dedupe.base.join import Floats, Indices, exactly
from matcher.dedupe.minhash.index_part import ABOUT, Batch, Part, describe, together, write
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import MOST_TEXTS, Shingling
from matcher.dedupe.minhash.signatures import bands

TOGETHER = 8
MOST_PARTS = 64
FEW = MOST_TEXTS
MOST = 20_000_000
LOCK = "lock"


class MinHashIndex:
    """The index in a folder; records are numbered in the order in which they were added."""

    def __init__(self, folder: Path, rung: MinHash) -> None:
        """Open the index, or make it where there is none. Raises UsageError where it was made for another rung."""
        self._folder, self.rung = folder, rung
        self._plan = bands(float(rung.threshold), rung.permutations, rung.recall)
        folder.mkdir(parents=True, exist_ok=True)
        about = {**asdict(rung), "threshold": str(rung.threshold)}
        path = folder / ABOUT
        if not path.exists():
            describe(path, about)
        elif json.loads(path.read_text()) != about:
            raise UsageError(f"{folder} is an index of other settings: {path.read_text()}")
        self._lock = FileLock(folder / LOCK, thread_local=False)
        self.met = self.compared = 0
        self._read()

    @classmethod
    def open(cls, folder: Path) -> "MinHashIndex":
        """The index that is in a folder, with the settings it was made for. Raises UsageError."""
        if not (folder / ABOUT).exists():
            raise UsageError(f"{folder} holds no index of MinHash bands")
        about = json.loads((folder / ABOUT).read_text())
        about |= {
            "threshold": exactly(about["threshold"]),
            "shingling": Shingling(**about["shingling"]),
        }
        return cls(folder, MinHash(**about))

    def __len__(self) -> int:
        return sum(part.count for part in self._parts)

    def __enter__(self) -> "MinHashIndex":
        """Keep others from adding. Raises Busy."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise Busy(
                f"{self._folder}: another call is adding to this index; start again when it has ended"
            ) from error
        self._read()
        self._tidy()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def add(self, names: Sequence[str], texts: Sequence[str]) -> Indices:
        """Put records in that are not there under their name and with their text; gives the number of each."""
        batch = Batch.of(names, texts, self.rung, self._plan)
        numbers = self._numbers(batch)
        new = np.flatnonzero(numbers < 0)
        if len(new):
            numbers[new] = len(self) + np.arange(len(new))
            write(self._next(), batch.only(new))
            self._parts.append(Part(self._next()))
            self._unite()
        return numbers

    def look_up(self, texts: Sequence[str]) -> tuple[Indices, Indices, Floats]:
        """Pairs of one of the texts and the number of a stored record, with their Jaccard similarity."""
        batch = Batch.of([""] * len(texts), texts, self.rung, self._plan)
        found, first = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))], 0
        self.met = 0
        for part in self._parts:
            met, compared, (a, b, similarity) = part.alike(batch, self.rung.threshold)
            found.append((a, b + first, similarity))
            first, self.met, self.compared = (
                first + part.count,
                self.met + met,
                self.compared + compared,
            )
        a, b, similarity = (np.concatenate(column) for column in zip(*found, strict=True))
        return a, b, similarity

    def names(self, numbers: Indices) -> list[str]:
        """The names of stored records."""
        firsts = np.cumsum([0, *(part.count for part in self._parts)])
        owners = np.searchsorted(firsts, numbers, side="right") - 1
        places = (numbers - firsts[owners]).tolist()
        return [
            self._parts[part].name(place)
            for part, place in zip(owners.tolist(), places, strict=True)
        ]

    def _numbers(self, batch: Batch) -> Indices:
        """The number of each record that is there already, else -1."""
        found, first = np.full(len(batch), -1, dtype=np.int64), 0
        for part in self._parts:
            places = part.places(batch.ids)
            found = np.where((found < 0) & (places >= 0), places + first, found)
            first += part.count
        return found

    def _read(self) -> None:
        """Open the parts in order; where some have been united, the whole."""
        folders = sorted(
            folder for folder in self._folder.glob("part-*") if (folder / ABOUT).exists()
        )
        spans = [_span(folder) for folder in folders]
        self._parts = [
            Part(folder)
            for folder, span in zip(folders, spans, strict=True)
            if not _within(span, spans)
        ]

    def _tidy(self) -> None:
        """Remove what a killed call has left: parts that are not whole, and those that have been united."""
        for folder in {*self._folder.glob("part-*")} - {part.folder for part in self._parts}:
            shutil.rmtree(folder)

    def _next(self) -> Path:
        number = _span(self._parts[-1].folder)[1] + 1 if self._parts else 0
        return self._folder / f"part-{number:06d}-{number:06d}"

    def _unite(self) -> None:
        """Make the last parts one where they are many and of like size, or where there are too many of any size."""
        while len(self._parts) >= TOGETHER:
            some = self._parts[-TOGETHER:]
            sizes = [max(FEW, part.count) for part in some]
            if sum(sizes) > MOST or (
                max(sizes) >= TOGETHER * min(sizes) and len(self._parts) < MOST_PARTS
            ):
                return
            folder = (
                self._folder
                / f"part-{_span(some[0].folder)[0]:06d}-{_span(some[-1].folder)[1]:06d}"
            )
            write(folder, together(some))
            self._parts[-TOGETHER:] = [Part(folder)]
            for part in some:
                shutil.rmtree(part.folder)


def _span(folder: Path) -> tuple[int, int]:
    """The first and the last addition that a part holds, by its name.

    >>> _span(Path("part-000008-000015"))
    (8, 15)
    """
    _, first, last = folder.name.split("-")
    return int(first), int(last)


def _within(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in spans)
