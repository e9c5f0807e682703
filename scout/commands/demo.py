"""`scout demo`: serve and run the bundled shop, to see Scout at work without any other shop."""

import webbrowser
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import JsonOption, get_invocation
from scout.terminal.output import print_json, print_lines, print_note

if TYPE_CHECKING:
    from catalog.runtime.settings import Settings
    from catalog.storage.store import Store
    from scout.demo.demo_run import DemoResult


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("demo")(run_demo_shop)


def run_demo_shop(
    context: typer.Context,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Continue with the data of the previous demo.")
    ] = False,
    redesigned: Annotated[
        bool,
        typer.Option(
            "--redesigned", help="The same shop in other markup; with --keep, as after a redesign."
        ),
    ] = False,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Then show the result in the control room, until Ctrl-C ends it."
        ),
    ] = False,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="P", help="The port of the control room."),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Serve the demo shop and run all stages on it.

    The shop is served on loopback while the command runs; its data is stored in a folder of its
    own. The missing offers found are compared with the truth. Run it once as it is and once with
    --keep --redesigned to see how a redesign between two crawls is detected.
    """
    from catalog.storage.store import Store
    from scout.demo import demo_run
    from scout.demo.assortment.demo_shop import DemoShop

    invocation = get_invocation(context)
    settings = demo_run.demo_settings(invocation.settings, keep)
    store, shop = Store.open(settings), DemoShop.make(redesigned=redesigned)
    with demo_run.serve_demo(shop, store) as served:
        print_note(f"the demo shop is served on {served.url}")
        with invocation.progress() as progress:
            result = demo_run.run_demo(settings, store, shop, served, progress)
        if as_json:
            print_json(_as_json(result))
        else:
            _print_result(result)
        if serve:
            _serve_control_room(settings, store, port, open_)
            return
    path = demo_run.report_path(result)
    if open_ and path is not None:
        webbrowser.open(path.as_uri())


def _serve_control_room(settings: "Settings", store: "Store", port: int, opens: bool) -> None:
    from scout.web.server import serve_application

    serve_application(
        settings,
        store,
        ["--data-dir", str(settings.data_dir)],
        port=port,
        on_start=_open_browser if opens else None,
    )


def _open_browser(address: str) -> None:
    webbrowser.open(address)


def _print_result(result: "DemoResult") -> None:
    from scout.terminal.run_output import print_run

    print_run(result.run, result.report)
    score = result.score
    tracked, clicks = result.tracked or "none", result.clicks or "none"
    print_lines(
        "",
        f"Of {result.lacking} offers that the catalog truly lacks, "
        f"{len(score['correct'])} were found, and",
        f"{len(score['wrong'])} named wrongly: "
        f"precision {score['precision']:.3f}, recall {score['recall']:.3f}.",
        f"The shop's log: {result.requests} requests, "
        f"{tracked} with a tracking parameter, {clicks} to a redirector.",
    )


def _as_json(result: "DemoResult") -> dict[str, Any]:
    score = result.score
    return asdict(result.run) | {
        "precision": score["precision"],
        "recall": score["recall"],
        "found": len(score["correct"]),
        "wrong": score["wrong"],
        "lost": score["missed"],
        "requests": result.requests,
        "tracked": result.tracked,
        "clicks": result.clicks,
    }
