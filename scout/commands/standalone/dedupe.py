"""`scout dedupe`: find near-duplicates in any file of records, or between two."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from scout.commands.context import (
    EngineOption,
    JsonOption,
    MasterOption,
    check_writable,
    get_invocation,
    open_engine,
)
from scout.commands.standalone.dedupe_label import DedupeCommand
from scout.commands.standalone.dedupe_options import (
    IdOption,
    KeyOption,
    RecordsArgument,
    RenameOption,
    RightOption,
    column_names,
    new_names,
)
from scout.commands.standalone.dedupe_output import OutputPaths, print_figures, run_and_print

if TYPE_CHECKING:
    from scout.dedupe.taught.taught_run import TaughtRequest


class Method(StrEnum):
    """The choices of --method, which typer repeats only for an enumeration."""

    EXACT = "exact"
    PREFIX_FILTER = "prefix-filter"
    SEGMENTS = "segments"
    MINHASH = "minhash"
    SIMHASH = "simhash"
    EMBEDDINGS = "embeddings"
    LADDER = "ladder"
    NEIGHBOURS = "neighbours"


DEFAULT_THRESHOLD = 0.8  # similarity of a pair


def add_to(app: typer.Typer) -> None:
    """Register the command with the application."""
    app.command("dedupe", cls=DedupeCommand)(find_duplicates)


def find_duplicates(
    context: typer.Context,
    file: RecordsArgument,
    right: RightOption = None,
    key: KeyOption = "",
    rename: RenameOption = None,
    method: Annotated[
        list[Method] | None,
        typer.Option(
            help="The join method (else ladder, which chains the cheapest first, then finer ones on the remaining records). With --decide taught: where candidates come from, several allowed (else neighbours)."
        ),
    ] = None,
    similarity: Annotated[
        Literal["edit", "jaccard", "cosine"] | None,
        typer.Option(
            help="Of characters (edit) or of words; refused if the method does not support it."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="The least similarity of a pair, above 0 and at most 1 (else 0.8); with --decide taught its least probability (else learnt, or 0.5).",
        ),
    ] = None,
    decide: Annotated[
        Literal["similarity", "taught"],
        typer.Option(
            help="By similarity alone, or by a classifier taught with --labels, with a stored --model, or without either by the agreement of the columns."
        ),
    ] = "similarity",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELS.csv",
            help="With taught: labelled pairs, columns left, right, label (1 or 0).",
        ),
    ] = None,
    id_column: IdOption = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="With taught: name, text, long, html, address, category, identifier, number, year, date or ignore (else detected); repeatable.",
        ),
    ] = None,
    sections: Annotated[
        str,
        typer.Option(
            metavar="auto|all|HEADING,...",
            help="With taught: compare only these sections of long texts and pages: auto leaves out those about the advertiser, all keeps them.",
        ),
    ] = "",
    source: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="With taught: the source of a record; phrases of long texts that many records of a source repeat are left out.",
        ),
    ] = "",
    variants: Annotated[
        str | None,
        typer.Option(
            metavar="RULE,RULE",
            help="With taught: records that differ in volume, part, edition, year, size or model are no duplicates; or none (else volume, part and edition, the year if a column is called vintage, or learnt from labels).",
        ),
    ] = None,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEFT,RIGHT",
            help="With taught: the weight of each column for this pair, named by line or id; repeatable.",
        ),
    ] = None,
    charts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            callback=check_writable,
            help="With taught: write precision and recall by threshold, weights, cluster sizes and pairs as a page.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PAIRS.csv", callback=check_writable, help="Write the pairs."),
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="CLUSTERS.csv",
            callback=check_writable,
            help="Write the clusters: every two records of a cluster are a pair.",
        ),
    ] = None,
    merged: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=check_writable,
            help="Write the records, each cluster as one: CSV or JSON Lines.",
        ),
    ] = None,
    age: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --merged: dates or numbers, the oldest record's value wins a draw.",
        ),
    ] = None,
    prefer: Annotated[
        Literal["confirmed", "complete", "oldest"] | None,
        typer.Option(
            help="With --merged: the value that most records have, the longest, or the oldest record's (else confirmed)."
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With exact: keep fingerprints here (LMDB), and compare with those of earlier calls.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="With exact: sort fingerprints on disk in this much memory (DuckDB).",
        ),
    ] = "",
    index: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With minhash or taught: keep an index here; later calls compare with it and add to it.",
        ),
    ] = None,
    drop: Annotated[
        Path | None,
        typer.Option(
            metavar="IDS.csv",
            help="With --index of taught: remove these records from the index. A table with the column --id, or .txt with an id a line.",
        ),
    ] = None,
    replaces: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="With --index of taught: FILE is the whole table; records that it lacks are removed from the index.",
        ),
    ] = False,
    levels: Annotated[
        int | None,
        typer.Option(min=1, max=64, metavar="N", help="Levels of the prefix filter (else 10)."),
    ] = None,
    shingles: Annotated[
        Literal["words", "characters"] | None,
        typer.Option(help="What minhash compares (else words)."),
    ] = None,
    shingle_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            metavar="K",
            help="Words or characters of a shingle (else 1 word, 3 characters; 6 words of long texts with taught).",
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            min=8, max=1024, metavar="N", help="Length of a MinHash signature (else 128)."
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="The share of pairs at the threshold that minhash must find (else 0.95).",
        ),
    ] = None,
    bits: Annotated[
        int | None, typer.Option(metavar="32|64", help="Bits of a field's SimHash (else 64).")
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Parts of a SimHash (else 4)."),
    ] = None,
    agree: Annotated[
        int | None,
        typer.Option(min=1, metavar="M", help="Parts that must agree in every field (else 2)."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME_OR_FILE",
            help="With embeddings: a model of model2vec or sentence-transformers. With taught: a JSON file, written if there are --labels or no such file, else applied; a new --index begins by it.",
        ),
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="With embeddings or taught: neighbours of each record (else 10).",
        ),
    ] = None,
    search: Annotated[
        Literal["ivf", "hnsw"] | None,
        typer.Option(help="With embeddings: the index for more than 10,000 records (else ivf)."),
    ] = None,
    candidates: Annotated[
        Literal["segments", "minhash", "simhash"] | None,
        typer.Option(
            help="With embeddings: score the pairs of this method instead of searching neighbours."
        ),
    ] = None,
    loose: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="The least similarity of --candidates, or of taught's --method (else 0.4).",
        ),
    ] = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find near-duplicates in a file of records, or between two files.

    With --store, --memory or --index the file may be larger than memory: a pair is a record and one
    seen before it. 'scout dedupe label FILE' asks for the labels that teach most. --engine spark
    has --method exact, segments, minhash, and ladder with --similarity edit or jaccard; with
    --decide taught also neighbours.
    """
    from catalog.errors import UsageError
    from scout.dedupe import output_files
    from scout.dedupe.dedupe_run import DedupeRequest, check_engine, run_dedupe
    from scout.dedupe.disk_run import DiskOption, NamedPair, run_on_disk
    from scout.dedupe.method_options import MethodOption, MethodOptions

    keys, names = column_names(key), new_names(rename)
    outputs = OutputPaths(out, clusters, merged)
    _require_other("--merged", merged, {"--age": age, "--prefer": prefer})
    _refuse_overwriting(
        {"FILE": file, "--right": right, "--labels": labels, "--drop": drop},
        {"--out": out, "--clusters": clusters, "--merged": merged, "--charts": charts},
    )
    preference = prefer or "confirmed"
    if decide == "taught":
        _refuse_with_taught(
            {
                "--similarity": similarity,
                "--store": store,
                "--memory": memory or None,
                "--levels": levels,
                "--shingles": shingles,
                "--permutations": permutations,
                "--recall": recall,
                "--bits": bits,
                "--parts": parts,
                "--agree": agree,
                "--search": search,
                "--candidates": candidates,
            }
        )
        _require_other("--index", index, {"--drop": drop, "--replace": replaces})
        from scout.dedupe.taught.taught_run import TaughtRequest

        check_writable(Path(model) if model and index is None else None)
        taught = TaughtRequest(
            file=file,
            right=right,
            keys=keys,
            id_column=id_column,
            labels=labels,
            model=Path(model) if model else None,
            kinds=tuple(kind or ()),
            methods=tuple(name.value for name in method or ()),
            loose=loose,
            neighbours=neighbours,
            shingle_size=shingle_size,
            sections=sections,
            source_column=source,
            variants=variants,
            threshold=threshold,
            age=age,
            prefer=preference,
            index=index,
            drop=drop,
            replaces=replaces,
            new_names=names,
        )
        _run_taught(context, taught, outputs, tuple(explain or ()), charts, engine, master, as_json)
        return
    _require_taught(
        {
            "--labels": labels,
            "--id": id_column or None,
            "--kind": kind or None,
            "--sections": sections or None,
            "--source": source or None,
            "--variants": variants,
            "--explain": explain or None,
            "--charts": charts,
            "--drop": drop,
            "--replace": replaces or None,
        }
    )
    if method and len(method) > 1:
        raise UsageError("--method: several are for --decide taught; ladder chains methods")
    method_name = method[0].value if method else Method.LADDER.value
    if method_name == Method.NEIGHBOURS.value:
        raise UsageError("--method neighbours: finds candidates for --decide taught only")
    options = MethodOptions(
        levels=levels,
        shingles=shingles,
        shingle_size=shingle_size,
        permutations=permutations,
        recall=recall,
        bits=bits,
        parts=parts,
        agree=agree,
        model=model,
        neighbours=neighbours,
        search=search,
        candidates=candidates,
        loose=loose,
    )
    least_similarity = DEFAULT_THRESHOLD if threshold is None else threshold
    request = DedupeRequest(
        file=file,
        right=right,
        keys=keys,
        method=cast(MethodOption, method_name),
        similarity=similarity,
        threshold=least_similarity,
        options=options,
        age=age,
        prefer=preference,
        new_names=names,
    )
    disk_options: dict[DiskOption, Path | str] = {}
    if store:
        disk_options["--store"] = store
    if memory:
        disk_options["--memory"] = memory
    if index:
        disk_options["--index"] = index
    if engine == "spark":
        if disk_options:
            raise UsageError(f"--engine spark: not with {next(iter(disk_options))}")
        check_engine(request)
    if disk_options:
        _refuse_with_disk_options([*disk_options], clusters, merged)

        def write_pairs(pairs: Iterator[NamedPair]) -> int:
            return output_files.write_named_pairs(pairs, out)

        disk_option, value = disk_options.popitem()
        with get_invocation(context).progress() as progress:
            figures = run_on_disk(request, disk_option, value, write_pairs, progress)
            print_figures(figures, as_json)
        return
    invocation = get_invocation(context)
    with (
        open_engine(invocation, engine, master) as jobs,
        invocation.progress() as progress,
    ):
        run = run_dedupe(request, progress, jobs)
    outputs.write(run)
    print_figures(run.figures(), as_json)


def _run_taught(
    context: typer.Context,
    request: "TaughtRequest",
    outputs: OutputPaths,
    explained: tuple[str, ...],
    charts: Path | None,
    engine: str,
    master: str | None,
    as_json: bool,
) -> None:
    """Run on an engine. Raises UsageError if the request does not run there."""
    from scout.dedupe.taught.taught_run import check_taught_engine

    if engine == "spark":
        check_taught_engine(request)
    with open_engine(get_invocation(context), engine, master) as jobs:
        run_and_print(context, request, outputs, explained, charts, as_json, jobs)


def _refuse_with_disk_options(
    disk_options: Sequence[str], clusters: Path | None, merged: Path | None
) -> None:
    """Raise UsageError for options that need all records in memory, or for two disk options."""
    from catalog.errors import UsageError

    if len(disk_options) > 1:
        raise UsageError(f"{disk_options[0]} and {disk_options[1]}: only one of them at a time")
    if clusters or merged:
        raise UsageError(
            f"--clusters and --merged: need all records at once, which {disk_options[0]} does not hold"
        )


def _refuse_with_taught(options: Mapping[str, object]) -> None:
    """Raise UsageError for options that --decide taught does not have."""
    from catalog.errors import UsageError

    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name}: is not for --decide taught")


def _refuse_overwriting(
    inputs: Mapping[str, Path | None], written: Mapping[str, Path | None]
) -> None:
    """Raise UsageError if a file that is written is also read, or written twice."""
    from catalog.errors import UsageError

    option_of = {path.resolve(): option for option, path in inputs.items() if path is not None}
    for option, path in written.items():
        if path is None:
            continue
        other = option_of.setdefault(path.resolve(), option)
        if other != option:
            raise UsageError(f"{option} {path}: is the file of {other}, too; name another one")


def _require_other(name: str, value: object, options: Mapping[str, object]) -> None:
    """Raise UsageError for options that do nothing without another one."""
    from catalog.errors import UsageError

    for option, given in options.items():
        if given and not value:
            raise UsageError(f"{option}: is for {name}, which is not given")


def _require_taught(options: Mapping[str, object]) -> None:
    """Raise UsageError for options that only --decide taught has."""
    from catalog.errors import UsageError

    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name}: is for --decide taught")
