"""An inverted index of MinHash bands on disk: made once, opened again, added to, larger than memory if need be.

Every addition is a part of its own: for each band the sorted keys and whose they are, and the signatures. Parts are
opened as memory maps, so a look-up reads the pages it needs and nothing else. A part counts once its description has
been written, which is the last thing that is, so an addition that was killed leaves nothing behind.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from catalog.errors import UsageError
from matcher.ladder.minhash import MinHash, once_each
from matcher.ladder.rung import Floats, Indices, Words, exactly
from matcher.ladder.shingles import Shingling
from matcher.ladder.signatures import Plan, Signatures, band_keys, bands, signatures
from matcher.ladder.strings import chunks, spread

MOST_AT_ONCE, CHUNK = 4_000_000, 50_000
ABOUT = "about.json"


class MinHashIndex:
    """The index in a folder; texts are numbered in the order in which they were added."""

    def __init__(self, folder: Path, rung: MinHash) -> None:
        """Open the index, or make it where there is none. Raises UsageError where it was made for another rung."""
        self._folder, self._rung = folder, rung
        self._plan: Plan = bands(float(rung.threshold), rung.permutations, rung.recall)
        folder.mkdir(parents=True, exist_ok=True)
        about = {**asdict(rung), "threshold": str(rung.threshold)}
        path = folder / ABOUT
        if not path.exists():
            path.write_text(json.dumps(about))
        elif json.loads(path.read_text()) != about:
            raise UsageError(f"{folder} is an index of other settings: {path.read_text()}")
        self._parts = [_Part(part) for part in sorted(folder.glob("part-*")) if (part / ABOUT).exists()]

    @classmethod
    def open(cls, folder: Path) -> "MinHashIndex":
        """The index that is in a folder, with the settings it was made for. Raises UsageError."""
        if not (folder / ABOUT).exists():
            raise UsageError(f"{folder} holds no index of MinHash bands")
        about = json.loads((folder / ABOUT).read_text())
        about |= {"threshold": exactly(about["threshold"]), "shingling": Shingling(**about["shingling"])}
        return cls(folder, MinHash(**about))

    def __len__(self) -> int:
        return sum(part.count for part in self._parts)

    def add(self, texts: Sequence[str]) -> range:
        """Put texts in; gives their numbers."""
        first = len(self)
        for start in range(0, len(texts), CHUNK):
            folder = self._folder / f"part-{len(self._parts):06d}"
            _write(folder, *self._hashed(texts[start : start + CHUNK]))
            self._parts.append(_Part(folder))
        return range(first, len(self))

    def look_up(self, texts: Sequence[str]) -> tuple[Indices, Indices, Floats]:
        """Candidates: which of the texts, the number of the stored one, and how alike the signatures say they are."""
        keys, asked = self._hashed(texts)
        found, first = [], 0
        for part in self._parts:
            _, codes = once_each(part.meeting(keys))
            a, b = codes >> 32, codes & 0xFFFFFFFF
            alike = np.empty(len(a), dtype=np.float64)
            for some in chunks(np.full(len(a), asked.shape[0]), MOST_AT_ONCE):
                alike[some] = (asked[:, a[some]] == part.signatures[:, b[some]]).mean(axis=0)
            found.append((a, b + first, alike))
            first += part.count
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        a, b, alike = (np.concatenate(column) for column in zip(*found, strict=True))
        return a, b, alike

    def _hashed(self, texts: Sequence[str]) -> tuple[list[Words], Signatures]:
        signature = signatures(*self._rung.shingling(texts), self._rung.permutations)
        return band_keys(signature, self._plan), signature


class _Part:
    """The texts of one addition, as memory maps."""

    def __init__(self, folder: Path) -> None:
        self.count = int(json.loads((folder / ABOUT).read_text())["count"])
        self.signatures: Signatures = np.load(folder / "signatures.npy", mmap_mode="r")
        self._keys = np.load(folder / "keys.npy", mmap_mode="r")
        self._order = np.load(folder / "order.npy", mmap_mode="r")

    def meeting(self, asked: list[Words]) -> Iterator[Indices]:
        """Pairs of an asked text and a stored one as `asked << 32 | stored`, band by band."""
        for keys, order, wanted in zip(self._keys, self._order, asked, strict=True):
            first = np.searchsorted(keys, wanted, side="left")
            count = np.searchsorted(keys, wanted, side="right") - first
            for part in chunks(count, MOST_AT_ONCE):
                stored = order[spread(first[part], count[part])]
                rows = np.arange(len(wanted))[part]
                yield np.repeat(rows, count[part]) << 32 | stored.astype(np.int64)


def _write(folder: Path, keys: list[Words], signature: Signatures) -> None:
    folder.mkdir(exist_ok=True)
    orders = [np.argsort(one, kind="stable") for one in keys]
    np.save(folder / "keys.npy", np.stack([one[order] for one, order in zip(keys, orders, strict=True)]))
    np.save(folder / "order.npy", np.stack(orders).astype(np.uint32))
    np.save(folder / "signatures.npy", signature)
    (folder / ABOUT).write_text(json.dumps({"count": signature.shape[1]}))
