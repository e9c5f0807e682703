"""Arguments that `scout dedupe` and `scout dedupe label` share: the records, and their columns."""

from collections.abc import Mapping, Sequence
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
RenameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rename",
        metavar="COLUMN=NAME",
        help="Read this column as NAME, where a file has it: names the columns of two files alike; repeatable.",
    ),
]


def column_names(key: str) -> tuple[str, ...]:
    """Return the columns that --key names, each once: repeated, its values would count twice.

    >>> column_names("title, brand,title,")
    ('title', 'brand')
    """
    return tuple(dict.fromkeys(name.strip() for name in key.split(",") if name.strip()))


def new_names(renames: Sequence[str] | None) -> Mapping[str, str]:
    """Return the new names of columns by their names in a file. Raises UsageError.

    >>> new_names(["titel=title", "hersteller = brand"])
    {'titel': 'title', 'hersteller': 'brand'}
    """
    from catalog.errors import UsageError

    names = dict[str, str]()
    for text in renames or ():
        column, separator, name = (part.strip() for part in text.partition("="))
        if not (column and separator and name):
            raise UsageError(f"--rename {text}: write COLUMN=NAME, such as titel=title")
        names[column] = name
    return names
