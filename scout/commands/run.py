"""`scout run`: all stages for one shop, or for all shops in parallel."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import Invocation, JsonOption, get_invocation
from scout.terminal.output import print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from scout.pipeline.batch_run import ShopOutcome

REASON_LENGTH = 100
"""Characters of a reason in the table."""


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("run")(run_stages)


def run_stages(
    context: typer.Context,
    shop: Annotated[
        str | None,
        typer.Argument(metavar="SHOP", help="The shop's name, as given to 'scout shop add'."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Run all shops with known offers, some in parallel (see 'at_once')."
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Start from scratch: delete pages and their offers; manual rules are kept.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Do everything again, also what would give the same as in the last run."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run all stages: crawl, learn, parse, match, report.

    Resumes a run that was stopped; begins a new one where all are done. Results that would be the
    same as in the last run are taken over from it, unless --full is given. With --all, each shop is
    run in a process of its own; with --json as well, one object a shop as it ends. The exit code is
    1 when one failed.
    """
    invocation = get_invocation(context)
    if every:
        if shop is not None or fresh:
            raise typer.BadParameter(
                "--all runs or resumes every shop: give neither SHOP nor --fresh"
            )
        _run_all_shops(invocation, full, as_json)
    elif shop is None:
        raise typer.BadParameter("name a shop, or give --all")
    else:
        _run_one_shop(invocation, shop, fresh=fresh, full=full, as_json=as_json)


def _run_one_shop(
    invocation: Invocation, name: str, *, fresh: bool, full: bool, as_json: bool
) -> None:
    from reports.model.report_model import build_report
    from scout.pipeline import shop_run
    from scout.terminal.run_output import print_run

    settings, store, shop = invocation.settings, invocation.store, invocation.shop(name)
    with invocation.progress() as progress:
        summary = shop_run.run_shop(
            settings, store, shop, fresh=fresh, full=full, progress=progress
        )
    if as_json:
        print_json(asdict(summary))
        return
    print_run(summary, build_report(store, shop, summary.run, rates=settings.rates))


def _run_all_shops(invocation: Invocation, full: bool, as_json: bool) -> None:
    from catalog.errors import NoKnownOffers
    from scout.pipeline import batch_run
    from scout.pipeline.run_pool import RunPool

    settings, store = invocation.settings, invocation.store
    shops = batch_run.due_shops(store)
    if not shops:
        raise NoKnownOffers(
            "no shop has imported offers: import some with 'scout catalog import SHOP SOURCE'"
        )
    pool = RunPool(settings, store, invocation.flags(), ["--full"] if full else [])
    outcomes: list[ShopOutcome] = []
    try:
        with invocation.progress() as progress:
            for outcome in batch_run.run_shops(settings, store, pool, shops, progress):
                outcomes.append(outcome)
                if as_json:
                    print_json(asdict(outcome))
    finally:
        pool.stop()
    if not as_json:
        _print_outcomes(outcomes)
    if any(outcome.reason is not None for outcome in outcomes):
        raise typer.Exit(1)


def _print_outcomes(outcomes: "list[ShopOutcome]") -> None:
    rows = []
    for outcome in outcomes:
        reason = shorten(outcome.reason, REASON_LENGTH)
        rows.append(
            (
                outcome.shop,
                outcome.run,
                outcome.state,
                outcome.missing,
                outcome.seconds,
                reason,
            )
        )
    print_table(("shop", "run", "state", "missing", "seconds", "reason"), rows)
    done = sum(outcome.reason is None for outcome in outcomes)
    print_lines(f"{done} of {len(outcomes)} shops are done")
