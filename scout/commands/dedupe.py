"""`scout dedupe`: near-duplicates in any file of records, or between two."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scout.commands.call import Json, call
from scout.output import say, say_json, table


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("dedupe")(dedupe)


def dedupe(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON Lines, Parquet, or .txt with a record a line.")
    ],
    right: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Find pairs between FILE and this one, not within FILE.")
    ] = None,
    key: Annotated[
        str, typer.Option(metavar="COLUMN,COLUMN", help="The columns to compare; lines of text need none.")
    ] = "",
    method: Annotated[
        Literal["exact", "prefix-filter", "segments", "minhash", "simhash", "ladder"],
        typer.Option(help="Which rung; ladder is the cheap ones first, then the finer ones on what they left."),
    ] = "ladder",
    similarity: Annotated[
        Literal["edit", "jaccard", "cosine"] | None,
        typer.Option(help="Of characters (edit) or of words; what a method has none of is refused."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="T", help="The least similarity of a pair, above 0 and at most 1.")
    ] = 0.8,
    levels: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="Levels of the prefix filter (else 10).")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="PAIRS.csv", help="Write the pairs.")] = None,
    clusters: Annotated[
        Path | None, typer.Option(metavar="CLUSTERS.csv", help="Write the clusters: every two of a cluster are a pair.")
    ] = None,
    merged: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the records, each cluster as one: CSV or JSON Lines.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="With exact: keep fingerprints here, and know what earlier calls have seen (LMDB)."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="With exact: sort fingerprints on disk in this much memory (DuckDB).")
    ] = "",
    as_json: Json = False,
) -> None:
    """Find near-duplicates in a file of records, or between two files.

    With --store or --memory, a pair is a record that repeats one seen before, and the first of its kind.
    """
    from scout.dedupe import Asked, find, on_disk
    from scout.dedupe_files import write_clusters, write_merged, write_pairs, write_repeats

    keys = tuple(name.strip() for name in key.split(",") if name.strip())
    asked = Asked(file, right, keys, method, similarity, threshold, levels)
    if store or memory:
        with call(context).progress() as progress:
            _tell(on_disk(asked, store, memory, lambda repeats: write_repeats(repeats, out), progress), as_json)
        return
    with call(context).progress() as progress:
        found = find(asked, progress)
    for path, write in ((out, write_pairs), (clusters, write_clusters), (merged, write_merged)):
        if path is not None:
            write(found, path)
    _tell(found.figures(), as_json)


def _tell(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(figures)
        return
    steps = figures.pop("levels")
    table(
        ("records", "candidates", "comparisons", "pairs", "clusters", "seconds"),
        [[figures[name] for name in ("records", "candidates", "comparisons", "pairs", "clusters", "seconds")]],
    )
    if steps:
        say("")
        table(tuple(steps[0]), [tuple(step.values()) for step in steps])
    if figures["left_out"] or figures["bad"]:
        say("", f"{figures['left_out']} records without a key were left out, {figures['bad']} could not be read")
