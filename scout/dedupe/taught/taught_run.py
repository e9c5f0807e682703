"""A run of `scout dedupe --decide taught`: tables, labels and model in, decided pairs out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from catalog.errors import UsageError
from catalog.runtime.progress import Progress
from catalog.runtime.spark.session import SparkJobs
from matcher.dedupe.base.join import JoinMethod
from matcher.dedupe.base.records import NewNames
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.cluster.merging import Preference
from matcher.dedupe.deduplication import RecordDuplicates, default_method
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.spark.methods import check_supported
from matcher.taught.candidates import DEFAULT_NEIGHBOURS
from matcher.taught.columns.pages import AUTO, TextOptions
from matcher.taught.deduplication import LIKENESS, Decision, TaughtOptions, decide
from matcher.taught.features.shingle_overlap import DEFAULT_SIZE
from matcher.taught.model.model_file import load_model, save_model
from matcher.taught.model.partners import Partners
from matcher.taught.variants.rules import parse_rules
from scout.dedupe.dedupe_run import DedupeRequest, DedupeRun
from scout.dedupe.method_options import DEFAULT_CANDIDATE_THRESHOLD
from scout.dedupe.taught.labels_file import NO_LABELS_FILE, LabelsFile, read_labels
from scout.dedupe.taught.tables import Table, load_tables

NEIGHBOURS_METHOD = "neighbours"
# Likeness of equal records, less an error of rounding.
MIN_LIKENESS = 0.999
# Methods that find candidates by a looser threshold, under their names on the command line.
CANDIDATE_METHODS = {
    "exact": "exact",
    "segments": "segments",
    "prefix-filter": "prefix-filter",
    "minhash": "minhash",
    "simhash": "simhash",
    "ladder": "chain",
}


# Texts that share a key of MinHash beyond which it finds no candidates: a word that all records have
# (`street`) makes groups whose pairs grow by squares, and candidates share rarer words as well.
MAX_GROUP = 1_000


@dataclass(frozen=True)
class TaughtRequest:
    """The options of a taught run, as given on the command line; None is a default."""

    file: Path
    right: Path | None = None
    keys: tuple[str, ...] = ()
    id_column: str = ""
    labels: Path | None = None
    model: Path | None = None
    kinds: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    loose: float | None = None
    neighbours: int | None = None
    shingle_size: int | None = None
    sections: str = ""
    source_column: str = ""
    variants: str | None = None
    threshold: float | None = None
    age: str | None = None
    prefer: Preference = "confirmed"
    index: Path | None = None
    drop: Path | None = None
    replaces: bool = False
    new_names: NewNames = field(default_factory=dict)

    def paths(self) -> list[Path]:
        """Return the files to compare."""
        return [path for path in (self.file, self.right) if path is not None]


@dataclass(frozen=True)
class TaughtRun(DedupeRun):
    """A decided run: the duplicates as of any run, and how they were decided."""

    tables: Sequence[Table] = ()
    decision: Decision = field(kw_only=True)
    labels: LabelsFile = NO_LABELS_FILE

    def ids(self, *rows: int) -> tuple[str, ...]:
        """Return the ids of some records; nothing where no column of ids is named."""
        if not self.has_ids:
            return ()
        left_names, left_size = self.tables[0].names, len(self.duplicates.left)
        return tuple(
            left_names[row] if row < left_size else self.tables[1].names[row - left_size]
            for row in rows
        )

    def equal_pairs_apart(self) -> list[tuple[str, str]]:
        """Return the names of candidates that are equal in all columns, and yet no duplicates.

        Where nearly all records are alike, agreement says nothing. Pairs that a rule or a label keeps
        apart are left out.
        """
        decision = self.decision
        is_apart = (decision.odds <= 0) & ~np.array(list(map(bool, decision.variant_of)), bool)
        is_apart[decision.label_rows] = False
        alike = decision.scored.table[:, decision.comparison.features.index(LIKENESS)]
        first, last = self.tables[0], self.tables[-1]
        equal = list[tuple[str, str]]()
        for row in np.flatnonzero(is_apart & (alike > MIN_LIKENESS)).tolist():
            left, right = decision.scored.pairs[row].tolist()
            columns = zip(first.records.fields, last.records.fields, strict=True)
            if all(ours[left] == theirs[right] for ours, theirs in columns):
                equal.append((first.names[left], last.names[right]))
        return equal

    def figures(self) -> dict[str, Any]:
        """Return the figures of `--json`, with those of the decision."""
        decision = self.decision
        equal_apart = self.equal_pairs_apart()
        matches = decision.odds > 0
        variants = sum(
            bool(rule) and is_match
            for rule, is_match in zip(decision.variant_of, matches.tolist(), strict=True)
        )
        figures = super().figures()
        figures["taught"] = {
            **decision.model.summary,
            "threshold": round(decision.model.threshold, 4),
            "kinds": dict(
                zip(decision.comparison.names, map(str, decision.comparison.kinds), strict=True)
            ),
            "partners": _name_partners(decision.scored.partners),
            "variant_pairs": variants,
            "equal_apart": len(equal_apart),
            "equal_apart_first": list(equal_apart[0]) if equal_apart else [],
            "unknown_labels": self.labels.unknown,
            "unreadable_labels": list(self.labels.reasons),
            "labels_with_itself": self.labels.with_itself,
            "relabelled": self.labels.relabelled,
            "contradictory_labels": [list(names) for names in self.labels.contradictory],
        }
        return figures


def _name_partners(partners: Partners) -> str:
    """Say how many partners a record has, as it was found out."""
    of_left, of_right = (
        "one partner at most" if has_one else "several partners"
        for has_one in (partners.left_has_one, partners.right_has_one)
    )
    return of_left if of_left == of_right else f"{of_left} (left), {of_right} (right)"


def run_taught(
    request: TaughtRequest, progress: Progress, jobs: SparkJobs | None = None
) -> TaughtRun:
    """Decide the duplicates of a file, or between two; store the model if it is to be stored.

    With `jobs` candidates are searched for and compared on Spark. Raises UsageError,
    UnreadableFeed, ScoutError.
    """
    options = build_options(request)
    stored = None
    # With labels a model is made; without, an existing one is applied.
    if request.model is not None and request.labels is None and request.model.exists():
        stored = load_model(request.model)
    keys = request.keys
    if stored is not None and not keys:
        # Further columns, and another order of them, do not matter to a model.
        keys = stored.names
    tables = load_tables(request.paths(), keys, request.id_column, progress, request.new_names)
    given = read_training_labels(request.labels, tables)
    begun = perf_counter()
    right = tables[1].records if len(tables) > 1 else None
    decision = decide(tables[0].records, right, given.labels, stored, options, progress, jobs)
    duplicates = RecordDuplicates(
        tables[0].records, right, decision.result, decision.groups, perf_counter() - begun
    )
    if request.model is not None and stored is None:
        save_model(decision.model, request.model)
    plain = DedupeRequest(
        request.file,
        request.right,
        tables[0].records.names,
        age=request.age,
        prefer=request.prefer,
        new_names=request.new_names,
    )
    has_ids = bool(request.id_column)
    return TaughtRun(plain, duplicates, tables, given, has_ids=has_ids, decision=decision)


def check_taught_engine(request: TaughtRequest) -> None:
    """Raise UsageError if a request does not run on Spark."""
    if request.index is not None:
        raise UsageError("--engine spark: not with --index")
    for method in build_options(request).methods:
        check_supported(method)


def build_options(request: TaughtRequest) -> TaughtOptions:
    """Translate the options of the command line. Raises UsageError."""
    if request.threshold is not None and not 0 < request.threshold < 1:
        raise UsageError(f"--threshold {request.threshold}: a probability above 0 and below 1")
    neighbours = request.neighbours or DEFAULT_NEIGHBOURS
    if request.methods and NEIGHBOURS_METHOD not in request.methods:
        neighbours = 0
    return TaughtOptions(
        kinds=_parse_kind_options(request.kinds),
        methods=_build_methods(request.methods, request.loose),
        neighbours=neighbours,
        shingle_size=request.shingle_size or DEFAULT_SIZE,
        text=TextOptions(request.sections or AUTO, request.source_column),
        variants=None if request.variants is None else parse_rules(request.variants),
        threshold=request.threshold,
    )


def _build_methods(names: Sequence[str], loose: float | None) -> list[JoinMethod]:
    methods = list[JoinMethod]()
    threshold = DEFAULT_CANDIDATE_THRESHOLD if loose is None else loose
    for name in names:
        if name == NEIGHBOURS_METHOD:
            continue
        if name not in CANDIDATE_METHODS:
            raise UsageError(
                f"--method {name}: does not find candidates for --decide taught; "
                f"{', '.join((NEIGHBOURS_METHOD, *CANDIDATE_METHODS))} do"
            )
        method = default_method(CANDIDATE_METHODS[name], threshold)  # type: ignore[arg-type]
        methods.append(_bound_groups(method))
    return methods


def _bound_groups(method: JoinMethod) -> JoinMethod:
    """Return the method without the pairs of large groups that share one key."""
    match method:
        case MinHash():
            return replace(method, max_group=MAX_GROUP)
        case Chain():
            return Chain([(name, _bound_groups(step)) for name, step in method.methods])
        case _:
            return method


def _parse_kind_options(kinds: Sequence[str]) -> Mapping[str, str]:
    parsed = dict[str, str]()
    for text in kinds:
        name, separator, kind = text.rpartition("=")
        if not separator:
            raise UsageError(f"--kind {text}: write COLUMN=KIND, such as price=number")
        parsed[name.strip()] = kind.strip()
    return parsed


def read_training_labels(path: Path | None, tables: Sequence[Table]) -> LabelsFile:
    """Read the labels to train on, none without a path. Raises UsageError if all are the same."""
    if path is None:
        return NO_LABELS_FILE
    labels_file = read_labels(path, tables)
    labels = labels_file.labels
    duplicates = int(np.sum(labels.are_duplicates))
    if not 0 < duplicates < len(labels):
        unread = f"; {labels_file.reasons[0]}" if labels_file.reasons else ""
        raise UsageError(
            f"{path}: {len(labels)} labels, {duplicates} of duplicates: a classifier needs some of "
            f"both; 'scout dedupe label' asks for them{unread}"
        )
    return labels_file
