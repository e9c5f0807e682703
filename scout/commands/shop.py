"""`scout shop`: add, set, list, show and remove the merchants' websites."""

import sys
from typing import Annotated, Any

import typer

from scout.commands.context import (
    MAX_ROWS,
    JsonOption,
    ShopArgument,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_table

shop_commands = command_group("shop", "Shops: add, set, list, show, remove.")

MAX_CRAWL_MINUTES = 365 * 24 * 60
"""Minutes of a year: no crawl is meant to last longer."""

MAX_DELAY_SECONDS = 3600
"""Seconds of an hour: with a longer delay a crawl of a thousand pages takes more than a month."""

LIST_COLUMNS = ("name", "url", "known", "pages", "last_run", "state", "missing")

MaxPagesOption = Annotated[
    int | None, typer.Option(min=1, max=MAX_ROWS, metavar="N", help="Pages to fetch at most.")
]
MaxBytesOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Bytes to load at most, such as 500MB; 0 for no limit."),
]
MaxMinutesOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=MAX_CRAWL_MINUTES, metavar="M", help="Minutes to crawl at most; 0 for no limit."
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window", metavar="HOURS", help="Hours in which to crawl: 22:00-06:00, or always."
    ),
]
DelayOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=MAX_DELAY_SECONDS, metavar="S", help="Seconds between two requests at least."
    ),
]
CrawlersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=32,  # registration.MAX_CRAWLERS, which takes long to import
        metavar="N",
        help="Crawl processes that share the shop's pages and its limits.",
    ),
]
SitemapsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sitemap", metavar="URL", help="A sitemap robots.txt does not name; may be repeated."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(shop_commands)


@shop_commands.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your choice.")],
    url: Annotated[
        str, typer.Option(metavar="URL", help="The shop's root, such as https://shop.example/.")
    ],
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private", help="Let the crawler reach private and loopback addresses."
        ),
    ] = False,
    max_pages: MaxPagesOption = 20_000,
    max_bytes: MaxBytesOption = None,
    max_minutes: MaxMinutesOption = None,
    window: WindowOption = None,
    delay: DelayOption = 0.0,
    sitemap: SitemapsOption = None,
    crawlers: CrawlersOption = None,
    javascript: Annotated[
        bool,
        typer.Option(
            "--javascript",
            help="Fetch pages with an installed Chromium, for shops that need scripts.",
        ),
    ] = False,
) -> None:
    """Add a shop with the limits of its crawls.

    A crawl that reaches a limit resumes with the next run.
    """
    from catalog.models import Shop
    from scout.shops import registration

    invocation = get_invocation(context)
    shop = Shop(
        name=registration.check_name(name),
        url=registration.normalize_root(url, allow_private),
        allow_private=allow_private,
        javascript=javascript,
        **registration.crawl_limits(
            max_pages, max_bytes, max_minutes, window, delay, sitemap, crawlers
        ),
    )
    registration.add_shop(invocation.store, shop)
    print_lines(f"shop {format_cell(shop.name)} added: {shop.url}")


@shop_commands.command("set")
def set_limits(
    context: typer.Context,
    shop: ShopArgument,
    max_pages: MaxPagesOption = None,
    max_bytes: MaxBytesOption = None,
    max_minutes: MaxMinutesOption = None,
    window: WindowOption = None,
    delay: DelayOption = None,
    sitemap: SitemapsOption = None,
    crawlers: CrawlersOption = None,
    javascript: Annotated[
        bool | None,
        typer.Option("--javascript/--no-javascript", help="Whether a browser fetches pages."),
    ] = None,
) -> None:
    """Change the limits of a shop's crawls, from the next crawl on.

    Options not given stay unchanged.
    """
    from scout.shops import registration

    invocation = get_invocation(context)
    columns = registration.crawl_limits(
        max_pages, max_bytes, max_minutes, window, delay, sitemap, crawlers
    )
    if javascript is not None:
        columns["javascript"] = javascript
    registration.update_shop(invocation.store, invocation.shop(shop), columns)
    print_lines(f"limits of shop {format_cell(shop)} changed")


@shop_commands.command("list")
def list_shops(context: typer.Context, as_json: JsonOption = False) -> None:
    """List all shops with their newest runs."""
    from scout.overview import describe_shops

    rows = describe_shops(get_invocation(context).store)
    if as_json:
        for row in rows:
            print_json(row)
        return
    cells = [[*(row[column] for column in LIST_COLUMNS), _remark(row)] for row in rows]
    print_table((*LIST_COLUMNS, "remark"), cells)


@shop_commands.command("show")
def show(context: typer.Context, shop: ShopArgument, as_json: JsonOption = False) -> None:
    """Show a shop: its crawl limits, its stored offers and pages, its newest run and crawl."""
    from scout.overview import describe_last_crawl, describe_set_aside, describe_shop

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    row = describe_shop(store, stored_shop) | {
        "allow_private": stored_shop.allow_private,
        "max_pages": stored_shop.max_pages,
        "max_bytes": stored_shop.max_bytes,
        "max_minutes": stored_shop.max_minutes,
        "window": stored_shop.window,
        "delay": stored_shop.delay,
        "javascript": stored_shop.javascript,
        "crawlers": stored_shop.crawlers,
        "sitemaps": stored_shop.sitemaps,
        "set_aside": describe_set_aside(store, stored_shop),
        "last_crawl": describe_last_crawl(store, stored_shop),
        "added": stored_shop.created_at,
    }
    if as_json:
        print_json(row)
        return
    print_table(("setting", "value"), [(name, _flatten(value)) for name, value in row.items()])


@shop_commands.command("remove")
def remove(
    context: typer.Context,
    shop: ShopArgument,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation, even on a terminal.")
    ] = False,
) -> None:
    """Remove a shop with its pages, offers, rules, runs, review decisions, and all its files."""
    from scout.maintenance.shop_removal import remove_shop

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    if sys.stdin.isatty() and not yes:
        typer.confirm(
            f"Remove shop {stored_shop.name!r} and all its stored data?", abort=True, err=True
        )
    remove_shop(invocation.settings, invocation.store, stored_shop)
    print_lines(f"shop {format_cell(stored_shop.name)} removed")


def _remark(row: dict[str, Any]) -> str:
    """Return the limits of a shop's figures: a newer run, a reason, or an empty catalog."""
    remarks = []
    if row["state"] == "running" and row["finished_run"] is not None:
        remarks.append(
            f"run {row['run']} is under way; missing offers are those of run {row['finished_run']}"
        )
    if row["reason"]:
        remarks.append(row["reason"])
    if row["without_import"]:
        remarks.append("no offers imported: every offer counts as missing")
    return "; ".join(remarks)


def _flatten(value: object) -> object:
    """Format a mapping or list for one cell of a table."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {inner}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value
