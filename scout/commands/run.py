"""`scout run`: the whole way through for one shop, or for all of them side by side."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import Json, call
from scout.terminal.output import cell, say, say_json, short, table

if TYPE_CHECKING:
    from scout.commands.context import Call


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("run")(run)


def run(
    context: typer.Context,
    shop: Annotated[
        str | None,
        typer.Argument(metavar="SHOP", help="The shop's name, as given to 'scout shop add'."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Run all shops that the catalog knows, some at once (see 'at_once')."
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Begin anew: forget pages and what was read; rules set by hand stay."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the whole way: crawl to report.

    Goes on where a run that was stopped left off; begins a new one where all are done. With --all, each shop is run
    in a process of its own; with --json as well, one object a shop as it ends. The exit code is 1 when one failed.
    """
    here = call(context)
    if every:
        if shop is not None or fresh:
            raise typer.BadParameter(
                "--all runs every shop and goes on where each was: give neither SHOP nor --fresh"
            )
        _run_all(here, as_json)
    elif shop is None:
        raise typer.BadParameter("name a shop, or give --all")
    else:
        _run_one(here, shop, fresh, as_json)


def _run_one(here: "Call", name: str, fresh: bool, as_json: bool) -> None:
    from reports.model.report_model import gather
    from scout.pipeline import pipeline
    from scout.terminal.run_output import tell

    found = here.shop(name)
    with here.progress() as progress:
        done = pipeline.run_shop(here.settings, here.store, found, fresh=fresh, progress=progress)
    if as_json:
        say_json(asdict(done))
        return
    tell(done, gather(here.store, found, done.run))


def _run_all(here: "Call", as_json: bool) -> None:
    from catalog.errors import NoKnownOffers
    from scout.pipeline import run_all
    from scout.pipeline.run_pool import Fleet

    shops = run_all.due(here.store)
    if not shops:
        raise NoKnownOffers(
            "the catalog knows no shop's offers: 'scout catalog import SHOP SOURCE' brings some in"
        )
    fleet, found = Fleet(here.settings, here.store, here.flags()), []
    try:
        with here.progress() as progress:
            for outcome in run_all.run_all(here.settings, here.store, fleet, shops, progress):
                found.append(outcome)
                if as_json:
                    say_json(asdict(outcome))
    finally:
        fleet.stop()
    if not as_json:
        columns = ("shop", "run", "state", "missing", "seconds", "reason")
        rows = [
            (one.shop, one.run, one.state, one.missing, one.seconds, short(one.reason, 100))
            for one in found
        ]
        table(columns, rows)
        say(f"{cell(sum(one.reason is None for one in found))} of {len(found)} shops are done")
    if any(one.reason is not None for one in found):
        raise typer.Exit(1)
