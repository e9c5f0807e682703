"""A stored, taught index: new records are decided together with those of earlier calls.

The folder holds the records that were compared so far, the model, and the options that make sense
for all calls. Every call decides all records by that model (without labels: by their agreement), in
the order of their names. So the groups depend on the records only, not on the order in which they
came, if labels come with the last of them. A record replaces the stored one of its name; records
that are gone are dropped. A call that was killed is repeated: the records are stored last, in one
step, when all files of the call are written.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from catalog.errors import UsageError
from catalog.runtime.complete_file import complete_file
from catalog.runtime.file_locks import lock_file
from catalog.runtime.progress import Progress
from matcher.dedupe.base.records import join_keys
from matcher.dedupe.deduplication import RecordDuplicates
from matcher.taught.deduplication import decide
from matcher.taught.model.model_file import load_model, save_model, to_json
from matcher.taught.model.taught_model import TaughtModel
from scout.dedupe.dedupe_run import DedupeRequest
from scout.dedupe.disk_run import NamedPair
from scout.dedupe.taught.tables import Table, load_tables, read_ids
from scout.dedupe.taught.taught_run import (
    TaughtRequest,
    TaughtRun,
    build_options,
    read_training_labels,
)

MODEL_FILE = "model.json"
RECORDS_FILE = "records.jsonl"
OPTIONS_FILE = "options.json"
LOCK_FILE = "lock"
# In the summary of a model: the file that the index began by.
BEGUN_BY = "begun_by"


@dataclass(frozen=True)
class StoredRecord:
    """A record of the index: its name in labels, its file and line, and its compared values."""

    name: str
    file: str
    line: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class StoredOptions:
    """Options that a later call takes from an earlier one, unless it is given others."""

    id_column: str = ""
    kinds: tuple[str, ...] = ()
    variants: str | None = None
    sections: str = ""
    source_column: str = ""
    shingle_size: int | None = None


@dataclass
class IndexChanges:
    """How many records of a call are new, changed or as before, and how many were dropped.

    `unknown` counts the ids to drop that the index does not have.
    """

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    dropped: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class IndexRun(TaughtRun):
    """A decided run over an index; `new_rows` are the records that this call added or changed."""

    stored: Sequence[StoredRecord] = ()
    new_rows: frozenset[int] = frozenset()
    changes: IndexChanges = field(default_factory=IndexChanges)

    def place(self, row: int) -> tuple[Path, int]:
        """Return the file and line of a record."""
        return Path(self.stored[row].file), self.stored[row].line

    def figures(self) -> dict[str, Any]:
        """Return the figures of `--json`, with the changes of the index."""
        return {**super().figures(), "index": asdict(self.changes)}

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
                names = self._name(first), self._name(later)
                yield NamedPair(*names, similarity, pairs.reasons[reason], self.ids(first, later))

    def _name(self, row: int) -> str:
        record = self.stored[row]
        return f"{record.file}:{record.line}"


def run_on_index(
    request: TaughtRequest, progress: Progress, write: Callable[[IndexRun], None]
) -> IndexRun:
    """Decide the records of a file together with the stored ones, and store them.

    `write` writes the files of the run, before the records are stored. Raises UsageError,
    UnreadableFeed, ScoutError, Busy.
    """
    assert request.index is not None
    if request.right is not None:
        raise UsageError("--index: is for one file, not with --right")
    with _locked(request.index) as folder:
        stored = _read_records(folder)
        options = _unite_options(_read_options(folder), request)
        request = replace(request, **asdict(options))
        has_ids = bool(request.id_column)
        _check_names(request, stored)
        model = _find_model(request, folder)
        new = _load_new(request, model, progress)
        gone = frozenset[str]()
        if request.drop is not None:
            gone = frozenset(read_ids(request.drop, request.id_column, request.new_names))
        united, new_rows, changes = _unite(stored, new, has_ids, gone, request.replaces)
        table = _as_table(new, united)
        given = read_training_labels(request.labels, [table])
        begun = perf_counter()
        # With labels, and without any classifier, all is learnt anew from all records: it must not
        # depend on which came first.
        taught = None
        if model is not None and _is_final(model) and not len(given.labels):
            taught = model
        decision = decide(
            table.records, None, given.labels, taught, build_options(request), progress
        )
        duplicates = RecordDuplicates(
            table.records, None, decision.result, decision.groups, perf_counter() - begun
        )
        run = IndexRun(
            DedupeRequest(request.file, None, table.records.names),
            duplicates,
            [table],
            given,
            united,
            frozenset(new_rows),
            changes,
            has_ids=has_ids,
            decision=decision,
        )
        write(run)
        # A taught model stays until there are other labels.
        save_model(taught or decision.model, folder / MODEL_FILE)
        _write_options(folder, options)
        _write_records(folder, united)
    return run


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Keep other processes from adding to the index. Raises Busy, StoreError."""
    busy = f"{folder}: another call is adding to this index; start again when it has ended"
    lock = lock_file(folder / LOCK_FILE, busy)
    try:
        yield folder
    finally:
        lock.release()


def _find_model(request: TaughtRequest, folder: Path) -> TaughtModel | None:
    """Return the model of the index, or the one that a new index begins by. Raises UsageError."""
    path = folder / MODEL_FILE
    stored = load_model(path) if path.exists() else None
    if request.model is None:
        return stored
    if request.labels is not None:
        raise UsageError("--model: with --index and --labels the index learns a model of its own")
    if not request.model.exists():
        raise UsageError(
            f"--model {request.model}: no such file; an index begins by a stored model, or without "
            "--model learns its own"
        )
    given = load_model(request.model)
    # A model without records is left over from a first call that was killed.
    if stored is None or not (folder / RECORDS_FILE).exists():
        return replace(given, summary={**given.summary, BEGUN_BY: request.model.name})
    if _plain(given) != _plain(stored):
        raise UsageError(
            f"--index {request.index}: has another model than {request.model}; leave out --model to "
            "go on with it, teach it by --labels, or begin another index"
        )
    return stored


def _plain(model: TaughtModel) -> dict[str, Any]:
    """Return the values of a model without the file that an index began by."""
    values = to_json(model)
    values["summary"] = {name: value for name, value in model.summary.items() if name != BEGUN_BY}
    return values


def _is_final(model: TaughtModel) -> bool:
    """Return True if a model decides all later records as it is."""
    return model.classifier is not None or BEGUN_BY in model.summary


def _load_new(request: TaughtRequest, model: TaughtModel | None, progress: Progress) -> Table:
    """Load the records of the file; an index that knows its columns takes a file without any.

    Raises UsageError if they have other columns than the index, UnreadableFeed.
    """
    keys = request.keys
    if model is not None and not keys:
        keys = model.names
    [new] = load_tables(
        [request.file],
        keys,
        request.id_column,
        progress,
        request.new_names,
        may_be_empty=model is not None,
    )
    if model is not None and model.names != new.records.names:
        owner = "holds" if request.model is None else f"begins by {request.model}, which has"
        raise UsageError(
            f"--index {request.index}: {owner} the columns {', '.join(model.names)}: "
            "name these by --key"
        )
    if request.replaces and not len(new.records):
        raise UsageError(f"--replace: {request.file} holds no record, the index would be empty")
    return new


def _check_names(request: TaughtRequest, stored: Sequence[StoredRecord]) -> None:
    """Raise UsageError if records are named in another way than those of the index."""
    if request.drop is not None and not request.id_column:
        raise UsageError("--drop: names records by their ids; give their column by --id")
    if not stored:
        return
    have_ids = any(record.name != _line_name(record.file, record.line) for record in stored)
    if have_ids and not request.id_column:
        raise UsageError(
            f"--index {request.index}: its records have ids; give their column by --id"
        )
    if request.id_column and not have_ids:
        raise UsageError(
            f"--index {request.index}: its records are named by file and line; leave out --id, or "
            "begin another index"
        )


def _line_name(source: str, line: int | str) -> str:
    """Return the name of a record without an id; lines of two files have the same numbers."""
    return f"{source}:{line}"


def _unite(
    stored: Sequence[StoredRecord],
    new: Table,
    has_ids: bool,
    gone: frozenset[str],
    replaces: bool,
) -> tuple[list[StoredRecord], list[int], IndexChanges]:
    """Return all records in the order of their names, the rows of new and changed ones, and counts.

    Records of the names `gone` are dropped, and with `replaces` those that the table lacks.
    """
    before = {record.name: record for record in stored}
    source = str(new.path.resolve())
    added = dict[str, StoredRecord]()
    columns = zip(*new.records.fields, strict=True)
    for name, line, values in zip(new.names, new.records.lines, columns, strict=True):
        own_name = name if has_ids else _line_name(source, name)
        added[own_name] = StoredRecord(own_name, source, line, values)
    after = added if replaces else before | added
    after = {name: record for name, record in after.items() if name not in gone}
    changes = IndexChanges(
        dropped=len(before.keys() - after.keys()),
        unknown=len(gone - before.keys() - added.keys()),
    )
    is_new = set[str]()
    for name in added.keys() & after.keys():
        if name not in before:
            changes.new += 1
        elif before[name].values != added[name].values:
            changes.changed += 1
        else:
            changes.unchanged += 1
            continue
        is_new.add(name)
    united = sorted(after.values(), key=lambda record: record.name)
    return united, [row for row, record in enumerate(united) if record.name in is_new], changes


def _as_table(new: Table, stored: Sequence[StoredRecord]) -> Table:
    """Return the records of the index as a table, with what was skipped of the new ones."""
    columns = new.records.names
    fields = tuple([record.values[number] for record in stored] for number in range(len(columns)))
    records = replace(
        new.records,
        fields=fields,
        texts=join_keys(fields),
        lines=[record.line for record in stored],
    )
    return Table(new.path, records, [record.name for record in stored])


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


def _read_options(folder: Path) -> StoredOptions:
    """Read the stored options. Raises UsageError if the file is broken."""
    path = folder / OPTIONS_FILE
    if not path.exists():
        return StoredOptions()
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return StoredOptions(**{**values, "kinds": tuple(map(str, values.get("kinds", ())))})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: no options of an index: {error}") from error


def _write_options(folder: Path, options: StoredOptions) -> None:
    with complete_file(folder / OPTIONS_FILE) as file:
        file.write(json.dumps(asdict(options)))


def _unite_options(stored: StoredOptions, request: TaughtRequest) -> StoredOptions:
    """Return the options of a call: those given, else those of earlier calls."""
    return StoredOptions(
        request.id_column or stored.id_column,
        # Of two kinds of a column the later one holds.
        (*(kind for kind in stored.kinds if kind not in request.kinds), *request.kinds),
        stored.variants if request.variants is None else request.variants,
        request.sections or stored.sections,
        request.source_column or stored.source_column,
        stored.shingle_size if request.shingle_size is None else request.shingle_size,
    )
