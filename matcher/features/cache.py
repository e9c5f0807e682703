"""What one matching leaves for the next: the likeness of pairs that were compared, and the judge that was taught.

A shop changes little between two runs. What a pair shows by itself depends on its two records only, and what the judge
has learnt only on what it was taught from; so both are kept under a digest of that, and only new and changed offers are
compared anew. All that depends on others - rarity, rivals, who gets whom - is worked out afresh, so that the outcome is
that of matching everything at once, whatever came first. The file holds plain arrays and text, no pickle; one that
cannot be read, or of which a sample does not come out again, counts for nothing.
"""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs
from matcher.model.tree_export import Taught, taught_from
from matcher.records.record import Record

Floats = NDArray[np.float32]
Keys = NDArray[np.uint64]
FORMAT = 2
SAMPLE = 64
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Memory:
    """Rows of numbers by pair, and a judge by what it was taught from. `fresh` counts what had to be worked out."""

    def __init__(self, path: Path, names: Sequence[str], width: int) -> None:
        """`names` are the numbers kept of a pair, `width` is the number of features that a judge is asked with."""
        self.path, self.names, self.width = path, list(names), width
        self.fresh = self.known = 0
        self._keys, self._rows = np.empty(0, np.uint64), np.empty((0, len(names)), np.float32)
        self._used: list[tuple[Keys, Floats]] = []
        self._judge: tuple[str, Taught] | None = None
        if path.exists():
            self._read(path)

    def rows(self, keys: Keys, of: Callable[[NDArray[np.int64]], Floats]) -> Floats:
        """The numbers of these pairs; `of` works out those of the places that it is given."""
        place = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        there = self._keys[place] == keys if len(self._keys) else np.zeros(len(keys), bool)
        if not self._holds(np.flatnonzero(there), place, of):
            there[:] = False
        found = np.empty((len(keys), len(self.names)), np.float32)
        found[there] = self._rows[place[there]]
        lacking = np.flatnonzero(~there)
        if len(lacking):
            found[lacking] = of(lacking)
        self.fresh, self.known = self.fresh + len(lacking), self.known + int(there.sum())
        self._used.append((keys, found))
        return found

    def judge(self, fingerprint: str, teach: Callable[[], Any]) -> Any:
        """The judge that was taught from just this, or a new one."""
        if self._judge is None or self._judge[0] != fingerprint:
            judge = teach()
            self._judge = (fingerprint, judge) if isinstance(judge, Taught) else None
            return judge
        return self._judge[1]

    def keep(self) -> None:
        """Write what was used since the memory was opened, in place of what was kept before."""
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in self._used)])
        rows = np.concatenate(
            [np.empty((0, len(self.names)), np.float32), *(rows for _, rows in self._used)]
        )
        keys, first = np.unique(keys, return_index=True)
        said: dict[str, Any] = {"format": FORMAT, "names": self.names, "width": self.width}
        arrays: dict[str, NDArray[Any]] = {"keys": keys, "rows": rows[first]}
        if self._judge is not None:
            said |= {"taught": self._judge[0], "story": dict(self._judge[1].story)}
            arrays |= self._judge[1].arrays()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, said=np.frombuffer(json.dumps(said).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
        part.replace(self.path)

    def _read(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as file:
                said = json.loads(file["said"].tobytes())
                keys, rows = file["keys"], file["rows"]
                if said["format"] != FORMAT or said["names"] != self.names:
                    return
                if (
                    keys.dtype != np.uint64
                    or rows.dtype != np.float32
                    or rows.shape != (len(keys), len(self.names))
                ):
                    return
                self._keys, self._rows = keys, rows
                if "taught" in said:
                    self._judge = (said["taught"], taught_from(file, said["width"], said["story"]))
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            self._keys, self._rows, self._judge = self._keys[:0], self._rows[:0], None

    def _holds(
        self,
        places: NDArray[np.int64],
        rows: NDArray[np.int64],
        of: Callable[[NDArray[np.int64]], Floats],
    ) -> bool:
        """Whether a sample of what is kept comes out again."""
        sample = places[:: max(1, len(places) // SAMPLE)]
        return not len(sample) or np.array_equal(
            of(sample), self._rows[rows[sample]], equal_nan=True
        )


def digests(items: Sequence[Record]) -> Keys:
    """A number for each record that changes with anything the record says."""
    return np.fromiter((_digest(item) for item in items), np.uint64, len(items))


def pair_keys(shop: Keys, known: Keys, pairs: Pairs) -> Keys:
    """A number for each pair of records."""
    mixed = shop[pairs[:, 0]] * _MIX
    keys: Keys = (mixed ^ (mixed >> np.uint64(29))) + known[pairs[:, 1]]
    return keys


def fingerprint(*parts: bytes) -> str:
    """A digest of all that a judge is taught from."""
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def _digest(item: Record) -> int:
    said: Mapping[str, Any] = {
        name: value for name, value in vars(item).items() if name in Record.__dataclass_fields__
    }
    return int.from_bytes(
        blake2b(repr(sorted(said.items())).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    )
