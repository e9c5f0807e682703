"""`scout db`: care of the database: migrations, copies and checks."""

from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import Invocation, JsonOption, command_group, get_invocation
from scout.commands.doctor import check_installation
from scout.terminal.output import plural, print_json, print_lines, print_note, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlmodel import Session

    from catalog.runtime.progress import Progress
    from catalog.runtime.settings import Settings
    from catalog.storage.bulk.body_copy import BodyResult

database_commands = command_group("db", "The database: migrations, copies and checks.")
database_commands.command("doctor")(check_installation)


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(database_commands)


@database_commands.command("upgrade")
def upgrade_database(context: typer.Context) -> None:
    """Migrate the database to this version's schema.

    Runs of earlier versions get the stored findings that lists and figures are read from.
    """
    from catalog.storage.store import upgrade_schema

    invocation = get_invocation(context)
    before, after = upgrade_schema(invocation.settings)
    _backfill_findings(invocation)
    if before == after:
        print_lines(f"schema {after}: nothing to do")
    else:
        print_lines(f"schema {before or 'none'} -> {after}")


def _backfill_findings(invocation: Invocation) -> None:
    """Store the findings of the finished runs that have none; a killed upgrade goes on here."""
    from sqlmodel import select

    from catalog.models import Shop
    from reports.model.finding_storage import backfill_findings

    store = invocation.store
    with store.read() as session:
        shops = list(session.exec(select(Shop)))
    with invocation.progress() as progress:
        for shop in shops:
            backfill_findings(store, shop, progress=progress, rates=invocation.settings.rates)


@database_commands.command("copy")
def copy_database(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="URL of the database, or a file of SQLite's.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="URL or file of the empty database to fill.")
    ],
    bodies: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Also copy the page bodies, from the setting bodies_url to this folder or URL.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a whole store from one database to another, SQLite or PostgreSQL.

    The target has to be empty and is filled in one transaction: a copy that ends early leaves it
    empty. Rows written to the source meanwhile are not copied: stop 'scout serve' and workers
    first. Page bodies, reports and caches are files of the data folder and stay there; with
    --bodies, bodies are copied before the rows, and those that are there already are skipped. Leave
    passwords out of the URLs: PGPASSWORD or ~/.pgpass keeps them out of the list of processes.
    """
    from catalog.storage.bulk.store_copy import copy_store, database_url

    invocation = get_invocation(context)
    settings = invocation.settings
    body_counts: dict[BodyResult, int] = {}
    with invocation.progress() as progress:
        copy_files = _body_copier(settings, bodies, body_counts, progress) if bodies else None
        copied = copy_store(database_url(source), database_url(target), progress, copy_files)
    for table in copied.left_out:
        print_note(f"table {table} of {source} is not Scout's, and was not copied")
    if as_json:
        print_json(
            {"rows": copied.rows, "left_out": copied.left_out, "page_bodies": body_counts or None}
        )
        return
    print_table(("table", "rows"), [(name, rows) for name, rows in copied.rows.items() if rows])
    print_lines(f"{plural(sum(copied.rows.values()), 'row')} copied")
    if bodies:
        counts = ", ".join(f"{number} {result}" for result, number in body_counts.items())
        print_lines(f"page bodies: {counts}")
    else:
        print_lines(f"page bodies, reports and caches are files: they stay in {settings.data_dir}")


def _body_copier(
    settings: "Settings", place: str, counts: "dict[BodyResult, int]", progress: "Progress"
) -> "Callable[[Session], None]":
    """Return a function that copies the bodies of a session's pages and counts them in `counts`."""
    from catalog.storage.bodies import BodyStore
    from catalog.storage.bulk.body_copy import copy_bodies

    source, target = BodyStore(settings.bodies), BodyStore(place)

    def copy(session: "Session") -> None:
        counts.update(copy_bodies(session, source, target, progress))

    return copy
