"""A part of the index of MinHash bands: some records in a folder, as arrays that are opened as memory maps.

Of each band the sorted keys and whose they are; the shingles of each record, so that what meets in a band is verified
exactly; the records' names; and numbers made of name and text, by which a record that is there already is known again.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.dedupe.base.join import Floats, Indices, Words
from matcher.dedupe.base.measures import Bags
from matcher.dedupe.base.overlap import as_sets, shared
from matcher.dedupe.base.text_columns import chunks, offsets, spread
from matcher.dedupe.minhash.minhash import MinHash, once_each
from matcher.dedupe.minhash.shingles import parts
from matcher.dedupe.minhash.signatures import Plan, band_keys, signatures

ABOUT = "about.json"
MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Batch:
    """Records on their way into the index, or asked for: band by band their keys, and what else is kept of them."""

    names: list[bytes]
    ids: Words
    keys: Iterable[Words]
    bands: int
    bags: Bags

    @classmethod
    def of(cls, names: Sequence[str], texts: Sequence[str], rung: MinHash, plan: Plan) -> "Batch":
        """Hash some records."""
        keys, tokens, sizes = (
            [np.empty((plan[0], 0), dtype=np.uint64)],
            list[Indices](),
            list[Indices](),
        )
        for part in parts(texts):
            hashes, counts = rung.shingling.sets(texts[part])
            keys.append(np.stack(band_keys(signatures(hashes, counts, rung.permutations), plan)))
            held = as_sets(hashes, counts)
            tokens.append(held.tokens)
            sizes.append(held.sizes)
        none = [np.empty(0, dtype=np.int64)]
        called = [_bytes(name) for name in names]
        ids = [_id(name, text) for name, text in zip(called, texts, strict=True)]
        bags = Bags(np.concatenate(none + tokens), np.concatenate(none + sizes))
        return cls(
            called, np.array(ids, dtype=np.uint64), [*np.concatenate(keys, axis=1)], plan[0], bags
        )

    def __len__(self) -> int:
        return len(self.names)

    def only(self, rows: Indices) -> "Batch":
        """Some of the records."""
        sizes = self.bags.sizes[rows]
        bags = Bags(self.bags.tokens[spread(self.bags.starts()[:-1][rows], sizes)], sizes)
        names = [self.names[row] for row in rows.tolist()]
        return Batch(names, self.ids[rows], [band[rows] for band in self.keys], self.bands, bags)


class Part:
    """Records of a folder. Its name says which additions it holds: from `first` to `last`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = int(json.loads((folder / ABOUT).read_text())["count"])
        (
            self.keys,
            self.order,
            self.ids,
            self.id_order,
            self.tokens,
            self.sizes,
            self._names,
            self._ends,
        ) = (
            np.load(folder / f"{name}.npy", mmap_mode="r")
            if self.count
            else np.empty(0, dtype=np.uint64)
            for name in (
                "keys",
                "order",
                "ids",
                "id_order",
                "tokens",
                "sizes",
                "names",
                "name_ends",
            )
        )
        self._starts = offsets(self.sizes.astype(np.int64))

    def name(self, place: int) -> str:
        """The name of a record."""
        start = int(self._ends[place - 1]) if place else 0
        return bytes(self._names[start : int(self._ends[place])]).decode("utf-8", "surrogatepass")

    def places(self, ids: Words) -> Indices:
        """The place of each record that is here, else -1."""
        at = np.minimum(np.searchsorted(self.ids, ids), self.count - 1)
        return np.where(self.ids[at] == ids, self.id_order[at].astype(np.int64), -1)

    def alike(
        self, asked: Batch, threshold: Fraction
    ) -> tuple[int, int, tuple[Indices, Indices, Floats]]:
        """How many met, how many were compared, and those pairs of an asked record and one of here that are alike."""
        met, codes = once_each(self._meeting(asked.keys))
        a, b = codes >> 32, codes & 0xFFFFFFFF
        held, of = np.unique(b, return_inverse=True)
        sizes = self.sizes[held].astype(np.int64)
        bags = Bags(self.tokens[spread(self._starts[:-1][held], sizes)].astype(np.int64), sizes)
        common = shared(asked.bags, bags, a, of)
        whole = asked.bags.sizes[a] + sizes[of] - common
        kept = common * threshold.denominator >= whole * threshold.numerator
        return met, len(a), (a[kept], b[kept], common[kept] / whole[kept])

    def rows(self) -> Iterator[Words]:
        """The keys band by band, in the order of the records."""
        for keys, order in zip(self.keys, self.order, strict=True):
            found = np.empty(self.count, dtype=np.uint64)
            found[order] = keys
            yield found

    def own_ids(self) -> Words:
        """The records' numbers made of name and text, in the order of the records."""
        found = np.empty(self.count, dtype=np.uint64)
        found[self.id_order] = self.ids
        return found

    def _meeting(self, asked: Iterable[Words]) -> Iterator[Indices]:
        """Pairs of an asked record and one of here as `asked << 32 | here`, band by band."""
        for keys, order, wanted in zip(self.keys, self.order, asked, strict=True):
            rows = np.argsort(wanted)
            first = np.searchsorted(keys, wanted[rows], side="left")
            count = np.searchsorted(keys, wanted[rows], side="right") - first
            for part in chunks(count, MOST_AT_ONCE):
                yield np.repeat(rows[part], count[part]) << 32 | order[
                    spread(first[part], count[part])
                ].astype(np.int64)


def together(some: Sequence[Part]) -> Batch:
    """The records of some parts; their keys are read band by band."""
    names = [_bytes(part.name(place)) for part in some for place in range(part.count)]
    bags = Bags(
        *(
            np.concatenate([getattr(part, name) for part in some]).astype(np.int64)
            for name in ("tokens", "sizes")
        )
    )
    keys = (np.concatenate(bands) for bands in zip(*(part.rows() for part in some), strict=True))
    return Batch(
        names, np.concatenate([part.own_ids() for part in some]), keys, len(some[0].keys), bags
    )


def write(folder: Path, batch: Batch) -> None:
    """Write a part; its description comes last, and whole."""
    folder.mkdir(exist_ok=True)
    shape = (batch.bands, len(batch))
    keys = np.lib.format.open_memmap(folder / "keys.npy", mode="w+", dtype=np.uint64, shape=shape)
    orders = np.lib.format.open_memmap(
        folder / "order.npy", mode="w+", dtype=np.uint32, shape=shape
    )
    for number, band in enumerate(batch.keys):
        order = np.argsort(band, kind="stable")
        keys[number], orders[number] = band[order], order
    keys.flush()
    orders.flush()
    by_id = np.argsort(batch.ids)
    columns: dict[str, NDArray[Any]] = {
        "ids": batch.ids[by_id],
        "id_order": by_id.astype(np.uint32),
    }
    columns |= {
        "tokens": batch.bags.tokens.astype(np.uint32),
        "sizes": batch.bags.sizes.astype(np.uint32),
    }
    columns["names"] = np.frombuffer(b"".join(batch.names), dtype=np.uint8)
    columns["name_ends"] = np.cumsum([len(name) for name in batch.names])
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    describe(folder / ABOUT, {"count": len(batch)})


def describe(path: Path, about: dict[str, object]) -> None:
    """Write a description so that it is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(about), encoding="utf-8")
    part.replace(path)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _id(name: bytes, text: str) -> int:
    return int.from_bytes(blake2b(name + b"\x1f" + _bytes(text), digest_size=8).digest())
