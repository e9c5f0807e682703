"""`scout dedupe`: find near-duplicates in any file of records, or between two."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scout.commands.context import (
    EngineOption,
    JsonOption,
    MasterOption,
    get_invocation,
    open_engine,
)
from scout.terminal.output import print_json, print_lines, print_table


def add_to(app: typer.Typer) -> None:
    """Register the command with the application."""
    app.command("dedupe")(find_duplicates)


def find_duplicates(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV, TSV, JSON Lines, Parquet, or .txt with a record a line."
        ),
    ],
    right: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Find pairs between FILE and this one, not within FILE."),
    ] = None,
    key: Annotated[
        str,
        typer.Option(
            metavar="COLUMN,COLUMN", help="The columns to compare; lines of text need none."
        ),
    ] = "",
    method: Annotated[
        Literal["exact", "prefix-filter", "segments", "minhash", "simhash", "embeddings", "ladder"],
        typer.Option(
            help="The join method; ladder chains the cheapest first, then finer ones on the remaining records."
        ),
    ] = "ladder",
    similarity: Annotated[
        Literal["edit", "jaccard", "cosine"] | None,
        typer.Option(
            help="Of characters (edit) or of words; refused if the method does not support it."
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(metavar="T", help="The least similarity of a pair, above 0 and at most 1."),
    ] = 0.8,
    out: Annotated[Path | None, typer.Option(metavar="PAIRS.csv", help="Write the pairs.")] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="CLUSTERS.csv",
            help="Write the clusters: every two records of a cluster are a pair.",
        ),
    ] = None,
    merged: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the records, each cluster as one: CSV or JSON Lines."
        ),
    ] = None,
    age: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --merged: dates or numbers, the oldest record's value wins a draw.",
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
            help="With minhash: keep an index here; later calls compare with it and add to it.",
        ),
    ] = None,
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
            help="Words or characters of a shingle (else 1 word, 3 characters).",
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
            metavar="NAME_OR_FOLDER",
            help="With embeddings: a model of model2vec or sentence-transformers.",
        ),
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="With embeddings: neighbours of each record (else 10).",
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
        typer.Option(metavar="T", help="The least similarity of --candidates (else 0.4)."),
    ] = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find near-duplicates in a file of records, or between two files.

    With --store, --memory or --index the file may be larger than memory: a pair is a record and one
    seen before it. --engine spark has --method exact, segments, minhash, and ladder with
    --similarity edit or jaccard.
    """
    from catalog.errors import UsageError
    from scout.dedupe import output_files
    from scout.dedupe.dedupe_run import DedupeRequest, check_engine, run_dedupe
    from scout.dedupe.disk_run import DiskOption, NamedPair, run_on_disk
    from scout.dedupe.method_options import MethodOptions

    keys = tuple(name.strip() for name in key.split(",") if name.strip())
    options = MethodOptions(
        levels, shingles, shingle_size, permutations, recall, bits, parts, agree,
        model, neighbours, search, candidates, loose,
    )  # fmt: skip
    request = DedupeRequest(file, right, keys, method, similarity, threshold, options, age)
    if age and not merged:
        raise UsageError("--age: says whose value a merged record takes, and there is no --merged")
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
            _print_figures(figures, as_json)
        return
    invocation = get_invocation(context)
    with (
        open_engine(invocation, engine, master) as jobs,
        invocation.progress() as progress,
    ):
        run = run_dedupe(request, progress, jobs)
    if out is not None:
        output_files.write_pairs(run, out)
    if clusters is not None:
        output_files.write_clusters(run, clusters)
    if merged is not None:
        output_files.write_merged(run, merged)
    _print_figures(run.figures(), as_json)


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


def _print_figures(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    columns = ("records", "candidates", "comparisons", "pairs", "clusters", "seconds")
    print_table(columns, [[figures[name] for name in columns]])
    levels = figures["levels"]
    if levels:
        print_lines("")
        print_table(tuple(levels[0]), [tuple(level.values()) for level in levels])
    if figures["left_out"] or figures["bad"]:
        print_lines(
            "",
            f"{figures['left_out']} records without a key were left out, "
            f"{figures['bad']} could not be read",
        )
