"""`scout run`: the whole way through for one shop."""

from dataclasses import asdict
from typing import Annotated

import typer

from scout.commands.call import Json, ShopName, call
from scout.output import say_json


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("run")(run)


def run(
    context: typer.Context,
    shop: ShopName,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew: forget pages and what was read; rules set by hand stay.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the whole way: crawl to report.

    Goes on where a run that was stopped left off; begins a new one where all are done.
    """
    from reports.story import gather
    from scout import pipeline
    from scout.tell import tell

    here = call(context)
    found = here.shop(shop)
    with here.progress() as progress:
        done = pipeline.run_shop(here.settings, here.store, found, fresh=fresh, progress=progress)
    if as_json:
        say_json(asdict(done))
        return
    tell(done, gather(here.store, found, done.run))
