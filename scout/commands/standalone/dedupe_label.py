"""`scout dedupe label`: answer the pairs that teach most, by a key each."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from scout.commands.context import JsonOption, get_invocation
from scout.commands.standalone.dedupe_options import (
    IdOption,
    KeyOption,
    RecordsArgument,
    RenameOption,
    RightOption,
    column_names,
    new_names,
)
from scout.commands.standalone.dedupe_output import print_unreadable
from scout.terminal.output import format_cell, print_json, print_lines, print_note, shorten

if TYPE_CHECKING:
    from matcher.dedupe.base.records import Records
    from scout.dedupe.taught.label_session import LabelSession
    from scout.dedupe.taught.taught_run import TaughtRequest

LABEL = "label"
MAX_VALUE = 200  # characters of a value on the terminal
ANSWER_OF_KEY = {"y": "1", "n": "0", "u": "unsure"}
KEY_OF_ANSWER = {answer: key for key, answer in ANSWER_OF_KEY.items()}
KEYS_HELP = "y same, n different, u unsure, b back, q quit"


def ask_for_labels(
    context: typer.Context,
    file: RecordsArgument,
    right: RightOption = None,
    key: KeyOption = "",
    rename: RenameOption = None,
    id_column: IdOption = "",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELS.csv",
            help="Answers are added here (else FILE.labels.csv); earlier ones are read.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=KIND", help="The kind of a column, as of 'scout dedupe'."),
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, max=100_000, metavar="N", help="Stop after this many answers.")
    ] = 100_000,
    as_json: JsonOption = False,
) -> None:
    """Show pairs of records and keep the answers: y same, n different, u unsure, b back, q quit.

    The pairs about which the model is least sure come first; it learns from every tenth answer on.
    Each answer is on the disk before the next question: a killed session resumes where it was.
    """
    from scout.dedupe.taught.label_session import LabelSession
    from scout.dedupe.taught.taught_run import TaughtRequest

    request = TaughtRequest(
        file,
        right,
        column_names(key),
        id_column=id_column,
        kinds=tuple(kind or ()),
        new_names=new_names(rename),
    )
    path = labels or file.parent / f"{file.name}.labels.csv"
    with get_invocation(context).progress() as progress:
        session = LabelSession.open(request, path, progress)
    for table in session.tables:
        _print_skipped(table.records)
    _ask(session, count)
    figures = session.figures()
    if as_json:
        print_json(figures)
        return
    print_lines(
        f"{figures['labels']} labels in {path}, {figures['duplicates']} of duplicates; apply them by:",
        f"  scout dedupe {shlex.join(_arguments(request, path))}",
    )


def _arguments(request: "TaughtRequest", labels: Path) -> list[str]:
    """Return the arguments of `scout dedupe` that apply labels to the table they were given for."""
    arguments = [str(request.file)]
    if request.right is not None:
        arguments += ["--right", str(request.right)]
    if request.keys:
        arguments += ["--key", ",".join(request.keys)]
    for column, name in request.new_names.items():
        arguments += ["--rename", f"{column}={name}"]
    if request.id_column:
        # Labels name records by their ids; without this option by their lines.
        arguments += ["--id", request.id_column]
    for kind in request.kinds:
        arguments += ["--kind", kind]
    return [*arguments, "--decide", "taught", "--labels", str(labels)]


def _ask(session: "LabelSession", count: int) -> None:
    """Ask pair after pair until `count` answers, q, or the end of the input."""
    print_lines(KEYS_HELP)
    asked = 0
    row = session.next_row()
    while row is not None and asked < count:
        _show(session, row)
        key = _read_key()
        if key == "q":
            return
        if key == "b":
            previous = session.last_row()
            if previous is None:
                print_lines("no earlier answer")
            else:
                row = previous
        elif key in ANSWER_OF_KEY:
            session.answer(row, ANSWER_OF_KEY[key])
            asked += 1
            row = session.next_row()
    if row is None:
        print_lines("all candidate pairs are answered")


def _show(session: "LabelSession", row: int) -> None:
    """Print the two records of a pair column by column; equal values once, empty ones never."""
    probability = session.probability(row)
    answer = session.answers.get(row)
    if answer is None:
        title = f"pair {len(session.answers) + 1}"
    else:
        title = f"answered {KEY_OF_ANSWER[answer]}, answer again"
    print_lines("", f"{title}, probability {probability:.2f}")
    for name, left, right in session.columns(row):
        if not left.strip() and not right.strip():
            continue
        print_lines(f"{'=' if left == right else ' '} {format_cell(name)}")
        print_lines(f"    {shorten(left, MAX_VALUE)}")
        if left != right:
            print_lines(f"    {shorten(right, MAX_VALUE)}")


def _read_key() -> str:
    """Return the next key in lower case, "q" at the end of the input."""
    if not sys.stdin.isatty():
        # A script answers by lines.
        line = sys.stdin.readline()
        return line.strip()[:1].lower() if line else "q"
    sys.stdout.write("? ")
    sys.stdout.flush()
    try:
        key = typer.getchar().lower()
    except (EOFError, KeyboardInterrupt):
        key = "q"
    print_lines(key if key.isprintable() else "")
    return key


def _print_skipped(records: "Records") -> None:
    """Print what was changed or skipped in reading a table."""
    for note in records.notes:
        print_note(note)
    print_unreadable(records.reasons, records.bad)


class DedupeCommand(TyperCommand):
    """`scout dedupe FILE`, and `scout dedupe label FILE`: the first argument decides.

    A file called "label" is named by ./label.
    """

    @property
    def commands(self) -> dict[str, Any]:
        """The sub-command by name, for the manual."""
        sub_app = typer.Typer(add_completion=False, rich_markup_mode=None)
        sub_app.command(LABEL)(ask_for_labels)
        return {LABEL: typer.main.get_command(sub_app)}

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Make the context of the command that the arguments name."""
        if _names_label(args):
            command = self.commands[LABEL]
            return command.make_context(f"{info_name} {LABEL}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _names_label(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] == LABEL
