"""`scout demo`: the bundled shop, served and run, to see what Scout does without a shop of one's own."""

import webbrowser
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import Json, call
from scout.terminal.output import note, say, say_json

if TYPE_CHECKING:
    from scout.demo.demo_run import Demonstration


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("demo")(demo)


def demo(
    context: typer.Context,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on with the data of the demo before.")
    ] = False,
    redesigned: Annotated[
        bool,
        typer.Option(
            "--redesigned", help="The same shop in other markup; with --keep, as after a redesign."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve the demo shop and run the whole job on it.

    The shop runs on loopback as long as the command; its data is kept in a folder of its own. What Scout says is
    missing is held against the truth. Run it once as it is and once with --keep --redesigned to see how a redesign
    between two crawls is noticed.
    """
    from catalog.storage.store import Store
    from scout.demo import demo_run
    from scout.demo.assortment.demo_shop import Demo

    here = call(context)
    settings = demo_run.settings_for(here.settings, keep)
    store, shop = Store.open(settings), Demo.make(redesigned=redesigned)
    with demo_run.served(shop, store) as served, here.progress() as progress:
        note(f"the demo shop is served on {served.url}")
        done = demo_run.demonstrate(settings, store, shop, served, progress)
    if as_json:
        say_json(_as_json(done))
    else:
        _tell(done)
    path = demo_run.report_of(done)
    if open_ and path is not None:
        webbrowser.open(path.as_uri())


def _tell(done: "Demonstration") -> None:
    from scout.terminal.run_output import tell

    tell(done.run, done.story)
    score = done.score
    say(
        "",
        f"Of {done.lacking} offers that the catalog truly lacks, {len(score['found'])} were found, and",
    )
    say(
        f"{len(score['wrong'])} named wrongly: precision {score['precision']:.3f}, recall {score['recall']:.3f}."
    )
    seen = f"{_none(done.tracked)} with a tracking parameter, {_none(done.clicks)} to a redirector"
    say(f"The shop's log: {done.requests} requests, {seen}.")


def _none(number: int) -> str:
    return str(number) if number else "none"


def _as_json(done: "Demonstration") -> dict[str, Any]:
    score = done.score
    return asdict(done.run) | {
        "precision": score["precision"],
        "recall": score["recall"],
        "found": len(score["found"]),
        "wrong": score["wrong"],
        "lost": score["lost"],
        "requests": done.requests,
        "tracked": done.tracked,
        "clicks": done.clicks,
    }
