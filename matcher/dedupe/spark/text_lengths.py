"""The segment join on Spark: each task joins the texts of one length with the shorter ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.runtime.spark.session import SparkJobs, Work
from matcher.dedupe.base.char_masks import CharBits
from matcher.dedupe.base.text_columns import TextColumn, code_points, run_offsets
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.segments import Segments, TextPairs, join_lengths
from matcher.dedupe.edit.text_blocks import CodedColumn
from matcher.packed_arrays import Arrays, pack_arrays, unpack_arrays


@dataclass(frozen=True, kw_only=True)
class SparkSegments(Segments):
    """The segment join with its lengths on Spark."""

    jobs: SparkJobs

    def run_joins(self, joins: Sequence[LengthJoin]) -> Iterator[TextPairs]:
        """Yield the similar pairs of each join by length."""
        results = self.jobs.map(_prepare, b"", _pack_joins(joins))
        for join, result in zip(joins, results, strict=True):
            arrays = unpack_arrays(result)
            yield TextPairs(
                arrays["longer"] + _first_longer(join),
                arrays["shorter"] + join.shorter_range()[0],
                arrays["distances"],
                *arrays["work"].tolist(),
            )


def _first_longer(join: LengthJoin) -> int:
    # In a self-join both sides are one column, and get the same numbers.
    if join.is_self_join:
        return join.shorter_range()[0]
    return join.longer_range()[0]


def _pack_joins(joins: Iterable[LengthJoin]) -> Iterator[bytes]:
    """Pack the texts that each join needs, and the characters that have a bit of their own."""
    for join in joins:
        arrays = _pack_texts("shorter", join.shorter, *join.shorter_range())
        if not join.is_self_join:
            arrays |= _pack_texts("longer", join.longer, *join.longer_range())
        numbers = [join.length, join.max_edits, join.is_self_join, join.only_shorter]
        yield pack_arrays(numbers=np.array(numbers), bit_tokens=join.longer.bits.tokens, **arrays)


def _pack_texts(name: str, column: CodedColumn, first: int, end: int) -> dict[str, NDArray[Any]]:
    text = "".join(column.column.texts[first:end]).encode("utf-8", "surrogatepass")
    return {
        f"{name}_text": np.frombuffer(text, np.uint8),
        f"{name}_lengths": column.column.lengths[first:end],
    }


def _prepare(_shared: bytes) -> Work:
    return _run


def _run(item: bytes) -> bytes:
    arrays = unpack_arrays(item)
    length, max_edits, is_self_join, only_shorter = arrays["numbers"].tolist()
    bits = CharBits(arrays["bit_tokens"])
    shorter = _unpack_texts("shorter", arrays, bits)
    longer = shorter if is_self_join else _unpack_texts("longer", arrays, bits)
    join = LengthJoin(longer, shorter, length, max_edits, bool(is_self_join), bool(only_shorter))
    pairs = join_lengths(join)
    return pack_arrays(
        longer=pairs.longer,
        shorter=pairs.shorter,
        distances=pairs.distances,
        work=np.array([pairs.candidates, pairs.comparisons]),
    )


def _unpack_texts(name: str, arrays: Arrays, bits: CharBits) -> CodedColumn:
    text = arrays[f"{name}_text"].tobytes().decode("utf-8", "surrogatepass")
    lengths = arrays[f"{name}_lengths"]
    offsets = run_offsets(lengths)
    texts = [text[start:end] for start, end in pairwise(offsets.tolist())]
    places = np.arange(len(texts) + 1)
    column = TextColumn(texts, lengths, places[:-1], places)
    return CodedColumn(column, code_points(texts), bits)
