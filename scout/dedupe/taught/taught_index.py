"""A stored, taught index: new records are decided together with those of earlier calls.

The folder holds the records that were compared so far and the model. Every call decides all records
by that model (without labels: by their agreement), in the order of their names. So the groups do not
depend on the order in which the records came, if labels come with the last of them. A call that was
killed is repeated: the records are stored last, in one step.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from catalog.errors import UsageError
from catalog.runtime.complete_file import complete_file
from catalog.runtime.file_locks import lock_file
from catalog.runtime.progress import Progress
from matcher.dedupe.base.records import Records, join_keys
from matcher.dedupe.deduplication import RecordDuplicates
from matcher.taught.deduplication import decide
from matcher.taught.model.model_file import load_model, save_model
from scout.dedupe.dedupe_run import DedupeRequest
from scout.dedupe.disk_run import NamedPair
from scout.dedupe.taught.tables import Table, load_tables
from scout.dedupe.taught.taught_run import (
    TaughtRequest,
    TaughtRun,
    build_options,
    read_training_labels,
)

MODEL_FILE = "model.json"
RECORDS_FILE = "records.jsonl"
LOCK_FILE = "lock"


@dataclass(frozen=True)
class StoredRecord:
    """A record of the index: its name in labels, its file and line, and its compared values."""

    name: str
    file: str
    line: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class IndexRun(TaughtRun):
    """A decided run over an index; `new_rows` are the records that this call added or changed."""

    stored: Sequence[StoredRecord] = ()
    new_rows: frozenset[int] = frozenset()

    def place(self, row: int) -> tuple[Path, int]:
        """Return the file and line of a record."""
        return Path(self.stored[row].file), self.stored[row].line

    def new_pairs(self) -> Iterator[NamedPair]:
        """Yield the pairs of which a record is new, by name."""
        pairs = self.duplicates.pairs
        for left, right, similarity, reason in zip(
            pairs.left.tolist(),
            pairs.right.tolist(),
            pairs.similarity.tolist(),
            pairs.reason.tolist(),
            strict=True,
        ):
            if left in self.new_rows or right in self.new_rows:
                first, later = sorted((left, right), key=lambda row: row in self.new_rows)
                yield NamedPair(
                    self._name(first), self._name(later), similarity, pairs.reasons[reason]
                )

    def _name(self, row: int) -> str:
        record = self.stored[row]
        return f"{record.file}:{record.line}"


def run_on_index(request: TaughtRequest, progress: Progress) -> IndexRun:
    """Decide the records of a file together with the stored ones, and store them.

    Raises UsageError, UnreadableFeed, ScoutError, Busy.
    """
    assert request.index is not None
    if request.right is not None or request.model is not None:
        raise UsageError("--index: is for one file, and holds a model of its own")
    with _locked(request.index) as folder:
        model_path = folder / MODEL_FILE
        model = load_model(model_path) if model_path.exists() else None
        keys = request.keys
        if model is not None and not keys:
            keys = model.names
        [new] = load_tables([request.file], keys, request.id_column, progress)
        if model is not None and model.names != new.records.names:
            raise UsageError(
                f"--index {request.index}: holds the columns {', '.join(model.names)}: "
                "name these by --key"
            )
        stored, new_rows = _unite(_read_records(folder), new, bool(request.id_column))
        table = _as_table(request.file, new.records.names, stored)
        given = read_training_labels(request.labels, [table])
        begun = perf_counter()
        # With labels, and without any classifier, all is learnt anew from all records: it must not
        # depend on which came first.
        taught = None
        if model is not None and model.classifier is not None and not len(given.labels):
            taught = model
        decision = decide(
            table.records, None, given.labels, taught, build_options(request), progress
        )
        duplicates = RecordDuplicates(
            table.records, None, decision.result, decision.groups, perf_counter() - begun
        )
        # A taught model stays until there are other labels.
        if taught is None:
            save_model(decision.model, model_path)
        _write_records(folder, stored)
    plain = DedupeRequest(request.file, None, table.records.names)
    return IndexRun(
        plain,
        duplicates,
        [table],
        given,
        stored,
        frozenset(new_rows),
        has_ids=bool(request.id_column),
        decision=decision,
    )


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Keep other processes from adding to the index. Raises Busy, StoreError."""
    busy = f"{folder}: another call is adding to this index; start again when it has ended"
    lock = lock_file(folder / LOCK_FILE, busy)
    try:
        yield folder
    finally:
        lock.release()


def _unite(
    stored: list[StoredRecord], new: Table, has_ids: bool
) -> tuple[list[StoredRecord], list[int]]:
    """Return all records in the order of their names, and the rows of new and changed ones."""
    records = {record.name: record for record in stored}
    source = str(new.path.resolve())
    changed = set[str]()
    columns = zip(*new.records.fields, strict=True)
    for name, line, values in zip(new.names, new.records.lines, columns, strict=True):
        # Lines of two files have the same numbers: the name of a line includes its file.
        record = StoredRecord(name if has_ids else f"{source}:{name}", source, line, values)
        if records.get(record.name) != record:
            changed.add(record.name)
        records[record.name] = record
    united = sorted(records.values(), key=lambda record: record.name)
    return united, [row for row, record in enumerate(united) if record.name in changed]


def _as_table(path: Path, columns: tuple[str, ...], stored: Sequence[StoredRecord]) -> Table:
    fields = tuple([record.values[number] for record in stored] for number in range(len(columns)))
    records = Records(fields, join_keys(fields), [record.line for record in stored], columns)
    return Table(path, records, [record.name for record in stored])


def _read_records(folder: Path) -> list[StoredRecord]:
    """Read the stored records. Raises UsageError if the file is broken."""
    path = folder / RECORDS_FILE
    if not path.exists():
        return []
    records = list[StoredRecord]()
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                name, source, number, *values = json.loads(line)
                records.append(StoredRecord(name, source, number, tuple(values)))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: no records of an index: {error}") from error
    return records


def _write_records(folder: Path, records: Sequence[StoredRecord]) -> None:
    with complete_file(folder / RECORDS_FILE) as file:
        for record in records:
            line = [record.name, record.file, record.line, *record.values]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
