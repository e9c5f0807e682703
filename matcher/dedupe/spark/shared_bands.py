"""The MinHash join on Spark: signatures per partition, and a shuffle on the keys of the bands.

Each task computes signatures and shingle sets of its texts. Texts meet where the key of a band is
equal; sizes and sketches go with the keys, and rule out most pairs on the spot. The shingle sets of
the others are brought together by a second shuffle, and compared exactly.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalog.runtime.progress import Progress
from catalog.runtime.spark.session import SparkJobs, import_spark_module, spark_errors
from matcher.array_types import Ints, UInts
from matcher.dedupe.base.pair_codes import match_keys, unpack_pairs
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import TextColumn
from matcher.dedupe.minhash.minhash import (
    MinHash,
    SimilarTexts,
    SketchedTexts,
    cut_keys,
    sketch_sets,
)
from matcher.dedupe.minhash.shingles import chunk_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Batches = Callable[[Iterable[Any]], Iterator[Any]]

# Texts of a file, and so of a task.
TEXTS_PER_FILE = 50_000
# Keys of bands that a task holds; bounds its memory to about 100 MB.
KEYS_PER_TASK = 1_000_000
_HASHED = "place long, keys binary, size int, sketch long, tokens binary"
_BANDS = "band int, key long, place long, size int, sketch long"


@dataclass(frozen=True, kw_only=True)
class SparkMinHash(MinHash):
    """The MinHash join with its signatures, bands and comparisons on Spark."""

    jobs: SparkJobs

    def find_pairs(self, columns: Sequence[TextColumn], progress: Progress) -> SimilarTexts:
        """Find the similar pairs of distinct texts of one column, or of two."""
        # Tasks get the settings of the join alone: a session cannot leave the driver.
        method = MinHash(
            **{setting.name: getattr(self, setting.name) for setting in fields(MinHash)}
        )
        text_count = sum(len(column.texts) for column in columns)
        left_count = len(columns[0].texts) if len(columns) > 1 else None
        bands = method.plan_bands().bands
        progress("texts hashed", 0, text_count)
        with spark_errors():
            hashed = self._hash_texts(columns, method)
            progress("texts hashed", text_count, text_count)
            keys = hashed.mapInArrow(_spread_bands(bands), _BANDS)
            parts = max(self.jobs.cores, text_count * bands // KEYS_PER_TASK)
            self.jobs.set_partitions(parts)
            meetings = keys.repartition(parts, "band", "key")
            pairs = meetings.mapInArrow(_match_bands(method, left_count), "left long, right long")
            candidates, pairs = self._count_candidates(pairs)
            similar, comparisons = self._verify(pairs, hashed, method)
        progress("pairs compared", comparisons, comparisons)
        right_offset = left_count or 0
        return SimilarTexts(
            similar["left"].to_numpy(),
            similar["right"].to_numpy() - right_offset,
            similar["shared"].to_numpy(),
            similar["both"].to_numpy(),
            candidates,
            comparisons,
        )

    def _hash_texts(self, columns: Sequence[TextColumn], method: MinHash) -> "DataFrame":
        """Write keys, sketches and shingle sets of all texts to the shared folder."""
        pyarrow = import_spark_module("pyarrow")
        encoded = [
            text.encode("utf-8", "surrogatepass") for column in columns for text in column.texts
        ]
        texts = self.jobs.write_rows(
            {
                "place": pyarrow.array(np.arange(len(encoded))),
                "text": pyarrow.array(encoded, pyarrow.large_binary()),
            },
            TEXTS_PER_FILE,
        )
        path = self.jobs.new_path()
        texts.mapInArrow(_hash_batches(method), _HASHED).write.parquet(path)
        return self.jobs.session.read.schema(_HASHED).parquet(path)

    def _count_candidates(self, pairs: "DataFrame") -> "tuple[int, DataFrame]":
        """Return the number of meetings, and the distinct pairs.

        The tasks report it as rows with a negative `left`.
        """
        path = self.jobs.new_path()
        pairs.dropDuplicates(["left", "right"]).write.parquet(path)
        stored = self.jobs.session.read.schema("left long, right long").parquet(path)
        counts = stored.where("left < 0").toArrow()
        return sum(counts["right"].to_pylist()), stored.where("left >= 0")

    def _verify(self, pairs: "DataFrame", hashed: "DataFrame", method: MinHash) -> tuple[Any, int]:
        """Return the similar pairs with their counts of shingles, and the number compared."""
        sides = []
        for side in ("left", "right"):
            columns = ("place", "size", "tokens")
            names = (side, f"{side}_size", f"{side}_tokens")
            sides.append(hashed.select(*columns).toDF(*names))
        joined = pairs.join(sides[0], "left").join(sides[1], "right")
        schema = "left long, right long, shared long, both long"
        return joined.mapInArrow(_compare_pairs(method), schema).toArrow(), pairs.count()


def _hash_batches(method: MinHash) -> "Batches":
    """Return the task that hashes texts."""
    plan = method.plan_bands()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            places = batch["place"].to_numpy()
            texts = [text.decode("utf-8", "surrogatepass") for text in batch["text"].to_pylist()]
            for chunk in chunk_texts(texts):
                band_keys, bags = method.hash_texts(texts[chunk], plan)
                cut = [cut_keys(keys) for keys in band_keys]
                yield _hashed_batch(places[chunk], np.stack(cut, axis=1), bags)

    return run


def _hashed_batch(places: Ints, keys: NDArray[np.uint32], bags: TokenBags) -> Any:
    import pyarrow

    # Shingles are numbers of 32 bits.
    tokens = np.split(bags.tokens.astype("<u4"), bags.offsets()[1:-1])
    return pyarrow.record_batch(
        {
            "place": pyarrow.array(places),
            "keys": pyarrow.array([row.tobytes() for row in keys.astype("<u4")], pyarrow.binary()),
            "size": pyarrow.array(bags.sizes.astype(np.int32)),
            "sketch": pyarrow.array(sketch_sets(bags).view(np.int64)),
            "tokens": pyarrow.array([part.tobytes() for part in tokens], pyarrow.binary()),
        }
    )


def _spread_bands(bands: int) -> "Batches":
    """Return the task that gives each band of a text a row of its own."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            keys = np.frombuffer(b"".join(batch["keys"].to_pylist()), "<u4").reshape(-1, bands)
            count = len(keys)
            yield pyarrow.record_batch(
                {
                    "band": pyarrow.array(np.tile(np.arange(bands, dtype=np.int32), count)),
                    "key": pyarrow.array(keys.reshape(-1).astype(np.int64)),
                    "place": pyarrow.array(np.repeat(batch["place"].to_numpy(), bands)),
                    "size": pyarrow.array(np.repeat(batch["size"].to_numpy(), bands)),
                    "sketch": pyarrow.array(np.repeat(batch["sketch"].to_numpy(), bands)),
                }
            )

    return run


def _match_bands(method: MinHash, left_count: int | None) -> "Batches":
    """Return the task that pairs the texts of equal keys; texts from `left_count` on are right."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        columns = _concatenate(batches, ("band", "key", "place", "size", "sketch"))
        by_place = np.argsort(columns["place"], kind="stable")
        band, key, place, size, sketch = (column[by_place] for column in columns.values())
        groups = _number_keys(band, key)
        sketches = sketch.view(np.uint64)
        sizes = size.astype(np.int64)
        # In the order of places, left texts come first.
        split = 0 if left_count is None else int(np.searchsorted(place, left_count))
        matches = match_keys(groups, max_group=method.max_group)
        if left_count is not None:
            matches = match_keys(groups[:split], groups[split:], method.max_group)
        candidates = 0
        for codes in matches:
            candidates += len(codes)
            left, right = unpack_pairs(codes)
            right = right + split
            possible = method.may_be_similar(
                SketchedTexts(sizes[left], sketches[left]),
                SketchedTexts(sizes[right], sketches[right]),
            )
            # A pair that meets in many bands is reported once by this task.
            found = np.unique(place[left[possible]] << 32 | place[right[possible]])
            yield _pair_batch(*unpack_pairs(found))
        context = TaskContext.get()
        assert context is not None
        yield _pair_batch(np.array([-1 - context.partitionId()]), np.array([candidates]))

    return run


def _pair_batch(left: Ints, right: Ints) -> Any:
    import pyarrow

    return pyarrow.record_batch({"left": pyarrow.array(left), "right": pyarrow.array(right)})


def _compare_pairs(method: MinHash) -> "Batches":
    """Return the task that computes the similarity of pairs from their shingle sets."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            rows = np.arange(batch.num_rows)
            bags = []
            for side in ("left", "right"):
                tokens = np.frombuffer(b"".join(batch[f"{side}_tokens"].to_pylist()), "<u4")
                sizes = batch[f"{side}_size"].to_numpy().astype(np.int64)
                bags.append(TokenBags(tokens.astype(np.int64), sizes))
            shared, union, is_similar = method.verify(bags[0], bags[1], rows, rows)
            yield pyarrow.record_batch(
                {
                    "left": pyarrow.array(batch["left"].to_numpy()[is_similar]),
                    "right": pyarrow.array(batch["right"].to_numpy()[is_similar]),
                    "shared": pyarrow.array(shared[is_similar]),
                    "both": pyarrow.array(union[is_similar]),
                }
            )

    return run


def _number_keys(bands: NDArray[np.int32], keys: Ints) -> UInts:
    """Number the different keys of all bands from 0."""
    order = np.lexsort((keys, bands))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(keys[order]) != 0) | (np.diff(bands[order]) != 0)
    numbers = np.empty(len(order), dtype=np.uint64)
    numbers[order] = np.cumsum(is_new)
    return numbers


def _concatenate(batches: Iterable[Any], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns of all batches."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    for batch in batches:
        for name in names:
            parts[name].append(batch[name].to_numpy())
    columns = dict[str, NDArray[Any]]()
    for name, arrays in parts.items():
        dtype = np.int32 if name in ("band", "size") else np.int64
        columns[name] = np.concatenate([np.empty(0, dtype), *arrays])
    return columns
