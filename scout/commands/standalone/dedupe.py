"""`scout dedupe`: near-duplicates in any file of records, or between two."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scout.commands.context import Json, call
from scout.terminal.output import say, say_json, table


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("dedupe")(dedupe)


def dedupe(
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
            help="Which rung; ladder is the cheap ones first, then the finer ones on what they left."
        ),
    ] = "ladder",
    similarity: Annotated[
        Literal["edit", "jaccard", "cosine"] | None,
        typer.Option(
            help="Of characters (edit) or of words; what a method has none of is refused."
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
            metavar="CLUSTERS.csv", help="Write the clusters: every two of a cluster are a pair."
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
            help="With exact: keep fingerprints here, and know what earlier calls have seen (LMDB).",
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
            help="So many of them in a row are one (else 1 word, 3 characters).",
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
        typer.Option(min=1, metavar="N", help="Parts that a SimHash is cut into (else 4)."),
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
        typer.Option(
            help="With embeddings: how neighbours are looked for beyond 10,000 records (else ivf)."
        ),
    ] = None,
    candidates: Annotated[
        Literal["segments", "minhash", "simhash"] | None,
        typer.Option(
            help="With embeddings: judge the pairs of this method instead of looking for neighbours."
        ),
    ] = None,
    loose: Annotated[
        float | None,
        typer.Option(metavar="T", help="The least similarity of --candidates (else 0.4)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find near-duplicates in a file of records, or between two files.

    With --store, --memory or --index the file may be larger than memory: a pair is a record and one seen before it.
    """
    from catalog.errors import UsageError
    from scout.dedupe.dedupe_run import Asked, find
    from scout.dedupe.disk_run import on_disk
    from scout.dedupe.files import write_clusters, write_merged, write_named, write_pairs
    from scout.dedupe.methods import Tuning

    keys = tuple(name.strip() for name in key.split(",") if name.strip())
    tuning = Tuning(
        levels, shingles, shingle_size, permutations, recall, bits, parts, agree,
        model, neighbours, search, candidates, loose,
    )  # fmt: skip
    asked = Asked(file, right, keys, method, similarity, threshold, tuning, age)
    beyond = [
        (name, where)
        for name, where in (("--store", store), ("--memory", memory), ("--index", index))
        if where
    ]
    if age and not merged:
        raise UsageError("--age: says whose value a merged record takes, and there is no --merged")
    if beyond:
        _refuse(beyond, clusters, merged)
        with call(context).progress() as progress:
            _tell(
                on_disk(asked, *beyond[0], lambda pairs: write_named(pairs, out), progress), as_json
            )
        return
    with call(context).progress() as progress:
        found = find(asked, progress)
    for path, write in ((out, write_pairs), (clusters, write_clusters), (merged, write_merged)):
        if path is not None:
            write(found, path)
    _tell(found.figures(), as_json)


def _refuse(beyond: list[tuple[str, Any]], clusters: Path | None, merged: Path | None) -> None:
    """Raise UsageError where options ask for what sets beyond memory do not have."""
    from catalog.errors import UsageError

    if len(beyond) > 1:
        raise UsageError(f"{beyond[0][0]} and {beyond[1][0]}: only one of them at a time")
    if clusters or merged:
        raise UsageError(
            f"--clusters and --merged: need all records at once, which {beyond[0][0]} does not hold"
        )


def _tell(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(figures)
        return
    steps = figures.pop("levels")
    table(
        ("records", "candidates", "comparisons", "pairs", "clusters", "seconds"),
        [
            [
                figures[name]
                for name in ("records", "candidates", "comparisons", "pairs", "clusters", "seconds")
            ]
        ],
    )
    if steps:
        say("")
        table(tuple(steps[0]), [tuple(step.values()) for step in steps])
    if figures["left_out"] or figures["bad"]:
        say(
            "",
            f"{figures['left_out']} records without a key were left out, {figures['bad']} could not be read",
        )
