"""`scout schedule`: the plans by which `scout serve` runs shops."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import JsonOption, ShopArgument, command_group, get_invocation
from scout.terminal.output import format_cell, print_json, print_lines, print_note, print_table

if TYPE_CHECKING:
    from catalog.models import Schedule, Shop

schedule_commands = command_group("schedule", "The timetable: add, list, remove, run.")
COLUMNS = ("shop", "cron", "next", "paused", "last_started_at")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(schedule_commands)


@schedule_commands.command("add")
def add_plan(
    context: typer.Context,
    shop: ShopArgument,
    cron: Annotated[
        str,
        typer.Option(
            metavar="EXPR", help="Five fields in local time, such as '30 5 * * 1-5', or @daily."
        ),
    ],
) -> None:
    """Run a shop at regular times; replaces its earlier schedule."""
    from scout.schedule import timetable

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    first = timetable.schedule_shop(invocation.store, stored_shop, cron)
    print_lines(
        f"shop {format_cell(stored_shop.name)} is scheduled ({cron}), first run at "
        f"{format_cell(first)}; 'scout serve' or 'scout schedule run' has to be running"
    )


@schedule_commands.command("run")
def run_timetable(
    context: typer.Context,
    workers: Annotated[
        bool | None,
        typer.Option(
            "--workers/--no-workers",
            help="Queue the runs for 'scout worker' (else SCOUT_USE_WORKERS).",
        ),
    ] = None,
) -> None:
    """Run the timetable without web pages, until Ctrl-C or SIGTERM.

    It also runs within 'scout serve'. Of several on one database one leads, and the others wait.
    """
    import signal
    import threading
    from functools import partial

    from scout.attention.assessment import refresh_attention
    from scout.delivery.dispatch import send_delivery
    from scout.maintenance.prune import daily_pruning
    from scout.schedule.timetable import Timetable

    invocation = get_invocation(context)
    settings, store = invocation.settings, invocation.store
    send = partial(send_delivery, settings, store)
    timetable = Timetable(
        settings,
        store,
        invocation.flags(),
        send,
        daily_pruning(settings, store),
        partial(refresh_attention, store),
        uses_workers=workers,
    )
    stop_requested = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop_requested.set())
    timetable.start()
    print_note("the timetable runs (Ctrl-C ends it)")
    stop_requested.wait()
    timetable.stop()


@schedule_commands.command("list")
def list_plans(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the scheduled shops. With --json, one object a line."""
    from scout.schedule import timetable

    shops = timetable.scheduled_shops(get_invocation(context).store)
    rows = [_plan_row(shop, schedule) for shop, schedule in shops]
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


@schedule_commands.command("remove")
def remove_plan(context: typer.Context, shop: ShopArgument) -> None:
    """Remove a shop from the schedule: it runs only when started by hand."""
    from scout.schedule import timetable

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    timetable.unschedule_shop(invocation.store, stored_shop)
    print_lines(f"shop {format_cell(stored_shop.name)} is no longer scheduled")


def _plan_row(shop: "Shop", schedule: "Schedule") -> dict[str, Any]:
    from catalog.models import utc_now
    from scout.schedule.cron import planned_times

    return {
        "shop": shop.name,
        "cron": schedule.cron,
        "next": next(iter(planned_times(schedule, utc_now(), 1)), None),
        "paused": schedule.is_paused,
        "last_started_at": schedule.last_started_at,
    }
