"""`scout db prune`, `backup` and `restore`: maintenance of the store, in the group `scout db`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scout.commands.context import MAX_ROWS, JsonOption, get_invocation
from scout.commands.db import database_commands
from scout.terminal.output import plural, print_json, print_lines, print_table

MAX_DAYS = 36_500
"""Days of a century: no data is meant to stay longer."""

MEGABYTE = 1_000_000
"""Bytes in the unit of the tables."""


def add_to(_app: typer.Typer) -> None:
    """Add this module's commands to the group `scout db` (`scout.commands.db`)."""
    database_commands.command("prune")(prune)
    database_commands.command("backup")(back_up)
    database_commands.command("restore")(restore)


def prune(
    context: typer.Context,
    days: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_DAYS,
            metavar="N",
            help="Remove runs and logs older than this (else 'keep_days'); 0 for no limit.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_ROWS,
            metavar="N",
            help="Keep this many runs of each shop (else 'keep_runs'); 0 for no limit.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Remove nothing; count what would be removed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove old runs with their findings, logs and reports, and page bodies that no page has.

    The last two finished runs of a shop always stay, and all that a stored finding refers to.
    """
    from scout.maintenance.prune import prune_store
    from scout.maintenance.run_retention import Retention

    invocation = get_invocation(context)
    settings = invocation.settings
    retention = Retention(
        settings.keep_days if days is None else days,
        settings.keep_runs if runs is None else runs,
    )
    with invocation.progress() as progress:
        results = prune_store(
            settings, invocation.store, retention, is_trial=dry_run, progress=progress
        )
    if as_json:
        print_json({"dry_run": dry_run, "pruned": [asdict(result) for result in results]})
        return
    rows = [
        (result.kind, result.removed, f"{result.bytes / MEGABYTE:.1f}" if result.bytes else "")
        for result in results
    ]
    print_table(("would be removed" if dry_run else "removed", "number", "MB"), rows)


def back_up(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder for the backup.")],
    without_bodies: Annotated[
        bool,
        typer.Option(
            "--without-bodies", help="Leave out page bodies, which a crawl fetches again."
        ),
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            min=1,
            metavar="N",
            help="Then remove the backups beside it, all but the newest N with it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the database and the page bodies into a folder, while Scout runs.

    SQLite is copied by itself, PostgreSQL by pg_dump, which has to be installed. Bodies on another
    machine are not copied.
    """
    from scout.maintenance.backup import back_up_store, remove_older_backups

    invocation = get_invocation(context)
    with invocation.progress() as progress:
        backup = back_up_store(
            invocation.settings, invocation.store, folder, not without_bodies, progress
        )
    removed = remove_older_backups(folder, keep) if keep else []
    if as_json:
        print_json(asdict(backup) | {"removed": [str(path) for path in removed]})
        return
    print_lines(
        f"{folder}: schema {backup.schema}, shops: {backup.shops}, page bodies: {backup.bodies}, "
        f"database: {backup.database_bytes / MEGABYTE:.1f} MB"
    )
    if backup.note:
        print_lines(backup.note)
    if removed:
        print_lines(f"{plural(len(removed), 'older backup')} removed")


def restore(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a backup.")],
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into an empty database and data folder.

    Which ones, the settings say. A backup of an older Scout is migrated by 'scout db upgrade'.
    """
    from scout.maintenance.restore import restore_store

    invocation = get_invocation(context)
    with invocation.progress() as progress:
        backup = restore_store(invocation.settings, folder, progress)
    if as_json:
        print_json(asdict(backup))
        return
    print_lines(
        f"restored: schema {backup.schema}, shops: {backup.shops}, page bodies: {backup.bodies}"
    )
