"""Arguments that `scout dedupe` and `scout dedupe label` share: the records, and their columns."""

from pathlib import Path
from typing import Annotated

import typer

RecordsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="CSV, TSV, JSON Lines, Parquet, or .txt with a record a line."
    ),
]
RightOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Find pairs between FILE and this one, not within FILE."),
]
KeyOption = Annotated[
    str,
    typer.Option(
        metavar="COLUMN,COLUMN", help="The columns to compare (else all); lines of text need none."
    ),
]
IdOption = Annotated[
    str,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Names records in labels, explanations and written files; else lines do.",
    ),
]


def column_names(key: str) -> tuple[str, ...]:
    """Return the columns that --key names, each once: repeated, its values would count twice.

    >>> column_names("title, brand,title,")
    ('title', 'brand')
    """
    return tuple(dict.fromkeys(name.strip() for name in key.split(",") if name.strip()))
