"""Comparison features on Spark: each item has some pairs with all that their features depend on.

Margins over rivals need all pairs, and are computed by `compute_features` afterwards.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np

from catalog.runtime.spark.session import SparkJobs, Work
from matcher.array_types import Ints, Pairs
from matcher.blocking.vectors import SideVectors, VectorSpace
from matcher.features.pair_features import CHUNK, Columns, cacheable_columns, corpus_columns
from matcher.features.variant_words import VariantWords
from matcher.packed_arrays import (
    Arrays,
    matrix_arrays,
    pack_arrays,
    unpack_arrays,
    unpack_matrix,
)
from matcher.records.record import Record, record_fields
from matcher.records.url_keys import LinkKeys


def compare_distributed(
    jobs: SparkJobs,
    sides: tuple[Sequence[Record], Sequence[Record]],
    space: VectorSpace,
    pairs: Pairs,
    variant_words: VariantWords,
) -> Iterator[Columns]:
    """Yield the features of each chunk of pairs (shop row, catalog row), without rivals."""
    shared = json.dumps(sorted(variant_words.words)).encode()

    def items() -> Iterator[bytes]:
        for start in range(0, len(pairs), CHUNK):
            yield _pack_pairs(sides, space, pairs[start : start + CHUNK])

    for result in jobs.map(_prepare_comparison, shared, items()):
        yield dict(unpack_arrays(result))


def _pack_pairs(
    sides: tuple[Sequence[Record], Sequence[Record]], space: VectorSpace, pairs: Pairs
) -> bytes:
    shop, shop_places = np.unique(pairs[:, 0], return_inverse=True)
    catalog, catalog_places = np.unique(pairs[:, 1], return_inverse=True)
    return pack_arrays(
        pairs=np.column_stack((shop_places, catalog_places)),
        max_weight=np.array([space.max_weight]),
        **_side_arrays("shop", sides[0], space.shop, shop),
        **_side_arrays("catalog", sides[1], space.catalog, catalog),
    )


def _side_arrays(name: str, records: Sequence[Record], vectors: SideVectors, rows: Ints) -> Arrays:
    """Return the records and vectors of some rows as arrays."""
    encoded = json.dumps([encode_record(records[row]) for row in rows.tolist()]).encode()
    arrays = {f"{name}_records": np.frombuffer(encoded, np.uint8)}
    for matrix in SideVectors.__dataclass_fields__:
        arrays |= matrix_arrays(f"{name}_{matrix}", getattr(vectors, matrix)[rows])
    return arrays


def _prepare_comparison(shared: bytes) -> Work:
    variant_words = VariantWords(frozenset(json.loads(shared)))

    def run(item: bytes) -> bytes:
        arrays = unpack_arrays(item)
        pairs = arrays["pairs"]
        shop, shop_vectors = _unpack_side("shop", arrays)
        catalog, catalog_vectors = _unpack_side("catalog", arrays)
        left = [shop[row] for row in pairs[:, 0].tolist()]
        right = [catalog[row] for row in pairs[:, 1].tolist()]
        space = VectorSpace(shop_vectors, catalog_vectors, float(arrays["max_weight"][0]))
        columns = cacheable_columns(left, right)
        return pack_arrays(**columns, **corpus_columns(space, variant_words, pairs, left, right))

    return run


def _unpack_side(name: str, arrays: Arrays) -> tuple[list[Record], SideVectors]:
    encoded = json.loads(arrays[f"{name}_records"].tobytes())
    matrices = []
    for matrix in SideVectors.__dataclass_fields__:
        matrices.append(unpack_matrix(f"{name}_{matrix}", arrays))
    return [decode_record(values) for values in encoded], SideVectors(*matrices)


def encode_record(record: Record) -> dict[str, object]:
    """Return the fields of a record as JSON values."""
    values = record_fields(record)
    values["link"] = _link_values(record.link)
    values["alternate_links"] = [_link_values(link) for link in record.alternate_links]
    return values


def decode_record(values: dict[str, object]) -> Record:
    """Return the record of `encode_record`.

    >>> record = Record("mug", price=9.5, images=("a.jpg",), link=LinkKeys("a", "b", "c", True))
    >>> decode_record(json.loads(json.dumps(encode_record(record)))) == record
    True
    """
    fields = dict(values)
    fields["images"] = tuple(fields["images"])  # type: ignore[arg-type]
    fields["link"] = LinkKeys(*fields["link"])  # type: ignore[misc]
    links = fields["alternate_links"]
    fields["alternate_links"] = tuple(LinkKeys(*link) for link in links)  # type: ignore[attr-defined]
    return Record(**fields)  # type: ignore[arg-type]


def _link_values(link: LinkKeys) -> list[object]:
    return [getattr(link, name) for name in LinkKeys.__dataclass_fields__]
