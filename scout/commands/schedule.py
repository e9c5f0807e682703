"""`scout schedule`: which shops `scout serve` runs, and when."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import Json, ShopName, call, group
from scout.terminal.output import cell, say, say_json, table

if TYPE_CHECKING:
    from catalog.models import Schedule, Shop

timetable = group("schedule", "The timetable of 'scout serve'.")


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(timetable)


@timetable.command("add")
def add(
    context: typer.Context,
    shop: ShopName,
    cron: Annotated[
        str, typer.Option(metavar="EXPR", help="Five fields, local time, such as '30 5 * * 1-5'.")
    ],
) -> None:
    """Run a shop by the clock, in place of its earlier times."""
    from scout.pipeline import pipeline
    from scout.schedule import timetable

    here = call(context)
    found = here.shop(shop)
    first = timetable.add(here.store, pipeline.shop_key(found), cron)
    say(
        f"shop {cell(found.name)} runs at {cron}, first on {cell(first)}, while 'scout serve' is up"
    )


@timetable.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the scheduled shops. With --json, one object a line."""
    from scout.schedule import timetable

    rows = [_row(shop, row) for shop, row in timetable.entries(call(context).store)]
    if as_json:
        for row in rows:
            say_json(row)
        return
    columns = ("shop", "cron", "next", "last_started_at")
    table(columns, [[row[column] for column in columns] for row in rows])


@timetable.command("remove")
def remove(context: typer.Context, shop: ShopName) -> None:
    """Run a shop by hand only."""
    from scout.schedule import timetable

    here = call(context)
    found = here.shop(shop)
    timetable.remove(here.store, found)
    say(f"shop {cell(found.name)} is no longer scheduled")


def _row(shop: "Shop", row: "Schedule") -> dict[str, Any]:
    from catalog.models import now
    from scout.schedule import cron

    return {
        "shop": shop.name,
        "cron": row.cron,
        "next": cron.next_time(row.cron, now().astimezone()),
        "last_started_at": row.last_started_at,
    }
