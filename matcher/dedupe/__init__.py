"""Find near-duplicates in any set of records: join methods of growing cost, and clustering.

>>> from matcher.dedupe import deduplicate
>>> rows = [{"title": "Red mug 300 ml"}, {"title": "Red mug 300ml"}, {"title": "Desk lamp"}]
>>> deduplicate(rows, key="title", threshold=0.8).clusters
[[0, 1]]

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from matcher.dedupe.base.join import JoinMethod as JoinMethod
    from matcher.dedupe.base.join import JoinResult as JoinResult
    from matcher.dedupe.base.join import Level as Level
    from matcher.dedupe.base.join import parse_threshold as parse_threshold
    from matcher.dedupe.base.records import Records as Records
    from matcher.dedupe.base.records import load_records as load_records
    from matcher.dedupe.base.records import records_from_fields as records_from_fields
    from matcher.dedupe.base.records import records_from_rows as records_from_rows
    from matcher.dedupe.base.records import records_from_texts as records_from_texts
    from matcher.dedupe.cluster.chain import Chain as Chain
    from matcher.dedupe.cluster.clustering import cluster_pairs as cluster_pairs
    from matcher.dedupe.cluster.merging import MergedRow as MergedRow
    from matcher.dedupe.cluster.merging import merge_rows as merge_rows
    from matcher.dedupe.deduplication import DuplicatePair as DuplicatePair
    from matcher.dedupe.deduplication import TableDuplicates as TableDuplicates
    from matcher.dedupe.deduplication import deduplicate as deduplicate
    from matcher.dedupe.deduplication import find_duplicates as find_duplicates
    from matcher.dedupe.edit.segments import Segments as Segments
    from matcher.dedupe.embedding.embeddings import Embeddings as Embeddings
    from matcher.dedupe.embedding.encoders import load_encoder as load_encoder
    from matcher.dedupe.embedding.neighbour_search import NeighbourSearch as NeighbourSearch
    from matcher.dedupe.exact.exact_join import Exact as Exact
    from matcher.dedupe.minhash.minhash import MinHash as MinHash
    from matcher.dedupe.minhash.minhash_index import MinHashIndex as MinHashIndex
    from matcher.dedupe.minhash.shingles import Shingling as Shingling
    from matcher.dedupe.prefix.prefix_filter import PrefixFilter as PrefixFilter
    from matcher.dedupe.simhash.simhash import SimHash as SimHash
    from matcher.dedupe.simhash.simhash_tables import HashParts as HashParts
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "base.join": ["JoinMethod", "JoinResult", "Level", "parse_threshold"],
            "base.records": [
                "Records",
                "load_records",
                "records_from_fields",
                "records_from_rows",
                "records_from_texts",
            ],
            "cluster.chain": ["Chain"],
            "cluster.clustering": ["cluster_pairs"],
            "cluster.merging": ["MergedRow", "merge_rows"],
            "deduplication": [
                "DuplicatePair",
                "TableDuplicates",
                "deduplicate",
                "find_duplicates",
            ],
            "edit.segments": ["Segments"],
            "embedding.embeddings": ["Embeddings"],
            "embedding.encoders": ["load_encoder"],
            "embedding.neighbour_search": ["NeighbourSearch"],
            "exact.exact_join": ["Exact"],
            "minhash.minhash": ["MinHash"],
            "minhash.minhash_index": ["MinHashIndex"],
            "minhash.shingles": ["Shingling"],
            "prefix.prefix_filter": ["PrefixFilter"],
            "simhash.simhash": ["SimHash"],
            "simhash.simhash_tables": ["HashParts"],
        },
    )
