"""A run of `scout dedupe` in memory: the request, and the duplicates found in one or two files."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.runtime.progress import Progress
from matcher.dedupe.base.records import NewNames, Records, load_records
from matcher.dedupe.base.similarity_measures import SimilarityName
from matcher.dedupe.cluster.merging import Preference
from matcher.dedupe.deduplication import RecordDuplicates, find_duplicates
from scout.dedupe.method_options import MethodOption, MethodOptions, build_method

if TYPE_CHECKING:
    from catalog.runtime.spark.session import SparkJobs


@dataclass(frozen=True)
class DedupeRequest:
    """The files and columns to compare, the join method, and its options."""

    file: Path
    right: Path | None = None
    keys: tuple[str, ...] = ()
    method: MethodOption = "ladder"
    similarity: SimilarityName | None = None
    threshold: float = 0.8
    options: MethodOptions = field(default_factory=MethodOptions)
    age: str | None = None
    prefer: Preference = "confirmed"
    new_names: NewNames = field(default_factory=dict)

    def files(self) -> list[Path]:
        """Return the files to compare."""
        return [path for path in (self.file, self.right) if path is not None]


@dataclass(frozen=True)
class DedupeRun:
    """A request with the duplicates found; `has_ids` if a column of ids is named.

    Rows of the right file are numbered after those of the left one.
    """

    request: DedupeRequest
    duplicates: RecordDuplicates
    has_ids: bool = field(default=False, kw_only=True)

    def figures(self) -> dict[str, Any]:
        """Return the figures as `scout dedupe --json` prints them."""
        sides = [side for side in (self.duplicates.left, self.duplicates.right) if side is not None]
        levels = list[dict[str, Any]]()
        for level in self.duplicates.pairs.levels:
            figures = asdict(level)
            # Only the levels of a chain have a method.
            if not level.method:
                del figures["method"]
            levels.append(figures)
        return {
            "records": sum(map(len, sides)),
            "left_out": sum(side.left_out for side in sides),
            "bad": sum(side.bad for side in sides),
            "reasons": [reason for side in sides for reason in side.reasons],
            "notes": [note for side in sides for note in side.notes],
            "candidates": self.duplicates.pairs.candidates,
            "comparisons": self.duplicates.pairs.comparisons,
            "pairs": len(self.duplicates.pairs),
            "clusters": len(self.duplicates.clusters),
            "seconds": round(self.duplicates.seconds, 3),
            "levels": levels,
        }

    def place(self, row: int) -> tuple[Path, int]:
        """Return the file and line of a record."""
        records, side_row = self._locate(row)
        path = self.request.file
        if records is self.duplicates.right:
            assert self.request.right is not None
            path = self.request.right
        return path, records.lines[side_row]

    def ids(self, *rows: int) -> tuple[str, ...]:
        """Return the ids of some records; nothing where no column of ids is named."""
        return ()

    def text(self, row: int) -> str:
        """Return the keys of a record as one text."""
        records, side_row = self._locate(row)
        return records.texts[side_row]

    def _locate(self, row: int) -> tuple[Records, int]:
        """Return the side that has a row, and its number on that side."""
        left_size = len(self.duplicates.left)
        if row < left_size:
            return self.duplicates.left, row
        assert self.duplicates.right is not None
        return self.duplicates.right, row - left_size


def run_dedupe(
    request: DedupeRequest, progress: Progress, jobs: "SparkJobs | None" = None
) -> DedupeRun:
    """Find the duplicates in a file, or between two; on Spark with `jobs`.

    Raises UsageError, UnreadableFeed, WorkerError.
    """
    method = build_method(request.method, request.similarity, request.threshold, request.options)
    if jobs is not None:
        from matcher.dedupe.spark.methods import distribute

        method = distribute(method, jobs)
    left = load_records(request.file, request.keys, progress, request.new_names)
    right = None
    if request.right is not None:
        right = load_records(request.right, request.keys, progress, request.new_names)
    return DedupeRun(request, find_duplicates(left, right, method, progress))


def check_engine(request: DedupeRequest) -> None:
    """Raise UsageError if the method of a request does not run on Spark."""
    from matcher.dedupe.spark.methods import check_supported

    check_supported(
        build_method(request.method, request.similarity, request.threshold, request.options)
    )
