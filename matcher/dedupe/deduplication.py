"""Find duplicates in a table: a join method finds the pairs, clustering groups them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, get_args

from catalog.errors import UsageError
from catalog.runtime.progress import Progress, no_progress
from matcher.dedupe.base.join import JoinMethod, JoinResult, parse_threshold
from matcher.dedupe.base.letter_pairs import drop_letter_pairs
from matcher.dedupe.base.records import Records, records_from_rows
from matcher.dedupe.base.similarity_measures import SimilarityName
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.cluster.clustering import cluster_pairs
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact_join import Exact
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from matcher.dedupe.simhash.simhash import SimHash

_TEXT = "text"  # the column of a list of texts
MethodName = Literal["exact", "segments", "prefix-filter", "minhash", "simhash", "chain"]

DEFAULT_THRESHOLD = 0.8  # similarity of a pair
CHAIN_STEPS: dict[SimilarityName, tuple[MethodName, ...]] = {
    "edit": ("exact", "segments", "minhash"),
    "jaccard": ("exact", "minhash"),
    "cosine": ("exact", "prefix-filter"),
}


@dataclass(frozen=True)
class DuplicatePair:
    """Two similar rows of a table by position, with their similarity and the reason."""

    left: int
    right: int
    similarity: float
    reason: str


@dataclass(frozen=True)
class TableDuplicates:
    """The duplicates in a table: similar pairs, and clusters in which every two rows are a pair."""

    pairs: list[DuplicatePair]
    clusters: list[list[int]]


@dataclass(frozen=True)
class RecordDuplicates:
    """The duplicates among records of one or two sides.

    `seconds` is the time of the join by the clock, without that of the clusters.
    """

    left: Records
    right: Records | None
    pairs: JoinResult
    clusters: list[list[int]]
    seconds: float


def deduplicate(
    rows: Iterable[Mapping[str, Any]] | Iterable[str],
    key: str | Sequence[str] = (),
    method: MethodName | JoinMethod = "chain",
    threshold: float = DEFAULT_THRESHOLD,
    progress: Progress = no_progress,
) -> TableDuplicates:
    """Find the duplicates in a table by its key columns, or in a list of texts.

    `method` is a name, or a join method with options of its own, to which `threshold` does not
    apply. Rows whose keys are all empty are no duplicates of anything. Raises UsageError.

    >>> rows = [{"title": "Red mug"}, {"title": "red mug"}, {"title": "Desk lamp"}]
    >>> found = deduplicate(rows, key="title", method="exact")
    >>> found.pairs
    [DuplicatePair(left=0, right=1, similarity=1.0, reason='equal after normalising')]
    >>> found.clusters
    [[0, 1]]
    """
    if isinstance(method, str):
        method = default_method(method, threshold)
    records = _table_records(rows, key)
    duplicates = find_duplicates(records, None, method, progress)
    # Rows without keys were left out, so the records' positions lead back to the table.
    positions = records.lines
    pairs = list[DuplicatePair]()
    for left, right, similarity, reason in zip(
        duplicates.pairs.left.tolist(),
        duplicates.pairs.right.tolist(),
        duplicates.pairs.similarity.tolist(),
        duplicates.pairs.reason.tolist(),
        strict=True,
    ):
        reason_text = duplicates.pairs.reasons[reason]
        pairs.append(DuplicatePair(positions[left], positions[right], similarity, reason_text))
    clusters = [[positions[row] for row in members] for members in duplicates.clusters]
    return TableDuplicates(pairs, clusters)


def find_duplicates(
    left: Records, right: Records | None, method: JoinMethod, progress: Progress = no_progress
) -> RecordDuplicates:
    """Join records and cluster the pairs; rows of the right side are numbered after the left ones.

    Texts that differ only in marks that make another letter (as those of o and ö) are no pair, by
    any method.
    """
    start = perf_counter()
    pairs = drop_letter_pairs(method(left, right, progress), left, right)
    seconds = perf_counter() - start
    left_size = None
    if right is not None:
        left_size = len(left)
    return RecordDuplicates(left, right, pairs, cluster_pairs(pairs, left_size), seconds)


def default_method(
    name: MethodName, threshold: float, similarity: SimilarityName = "edit"
) -> JoinMethod:
    """Build a join method with its default options. Raises UsageError.

    `similarity` applies to the prefix filter and to chains only.
    """
    match name:
        case "exact":
            return Exact()
        case "segments":
            return Segments(parse_threshold(threshold))
        case "prefix-filter":
            return PrefixFilter(parse_threshold(threshold), similarity)
        case "minhash":
            return MinHash(parse_threshold(threshold))
        case "simhash":
            return SimHash(parse_threshold(threshold))
        case "chain":
            steps = CHAIN_STEPS[similarity]
            return Chain([(step, default_method(step, threshold, similarity)) for step in steps])
    raise UsageError(f"no method is called {name!r}: choose from {', '.join(get_args(MethodName))}")


def _table_records(
    rows: Iterable[Mapping[str, Any]] | Iterable[str], key: str | Sequence[str]
) -> Records:
    keys = key
    if isinstance(key, str):
        keys = (key,)
    if keys:
        return records_from_rows(_require_columns(rows), keys)
    return records_from_rows(_rows_of_texts(rows), [_TEXT])


def _require_columns(rows: Iterable[Mapping[str, Any] | str]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        if isinstance(row, str):
            raise UsageError("the rows are texts without columns: leave out key")
        yield row


def _rows_of_texts(texts: Iterable[Mapping[str, Any] | str]) -> Iterator[Mapping[str, str]]:
    for text in texts:
        if not isinstance(text, str):
            raise UsageError("the rows have columns: name those to compare by key")
        yield {_TEXT: text}
