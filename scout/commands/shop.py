"""`scout shop`: the merchants' websites that Scout knows."""

import sys
from typing import Annotated

import typer

from scout.commands.context import MOST_ROWS, Json, ShopName, call, group
from scout.terminal.output import cell, say, say_json, table

shops = group("shop", "Shops: add, set, list, show, remove.")

YEAR = 365 * 24 * 60
HOUR = 3600
MaxPages = Annotated[
    int | None, typer.Option(min=1, max=MOST_ROWS, metavar="N", help="Pages to fetch at most.")
]
MaxBytes = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Bytes to load at most, such as 500MB; 0 for any."),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(min=0, max=YEAR, metavar="M", help="Minutes to crawl at most; 0 for any."),
]
Hours = Annotated[
    str | None,
    typer.Option("--window", metavar="HOURS", help="When it may be asked: 22:00-06:00, or always."),
]
Delay = Annotated[
    float | None,
    typer.Option(min=0, max=HOUR, metavar="S", help="Seconds between two requests at least."),
]
Sitemaps = Annotated[
    list[str] | None,
    typer.Option(
        "--sitemap", metavar="URL", help="A sitemap robots.txt does not name; may be repeated."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(shops)


@shops.command("add")
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
    max_pages: MaxPages = 20_000,
    max_bytes: MaxBytes = None,
    max_minutes: MaxMinutes = None,
    window: Hours = None,
    delay: Delay = 0.0,
    sitemap: Sitemaps = None,
    javascript: Annotated[
        bool,
        typer.Option(
            "--javascript",
            help="Have an installed Chromium fetch pages, for shops that need scripts.",
        ),
    ] = False,
) -> None:
    """Add a shop, and say how it may be crawled. A crawl that is out of its budget goes on with the next run."""
    from catalog.models import Shop
    from scout.shops import registration as known

    here = call(context)
    made = Shop(
        name=known.checked_name(name),
        url=known.checked_root(url, allow_private),
        allow_private=allow_private,
        javascript=javascript,
        **known.limits(max_pages, max_bytes, max_minutes, window, delay, sitemap),
    )
    known.add(here.store, made)
    say(f"shop {cell(made.name)} added: {made.url}")


@shops.command("set")
def set_(
    context: typer.Context,
    shop: ShopName,
    max_pages: MaxPages = None,
    max_bytes: MaxBytes = None,
    max_minutes: MaxMinutes = None,
    window: Hours = None,
    delay: Delay = None,
    sitemap: Sitemaps = None,
    javascript: Annotated[
        bool | None,
        typer.Option("--javascript/--no-javascript", help="Whether a browser fetches pages."),
    ] = None,
) -> None:
    """Change how a shop is crawled, from the next crawl on; what is not given stays."""
    from scout.shops import registration as known

    here = call(context)
    given = known.limits(max_pages, max_bytes, max_minutes, window, delay, sitemap)
    known.change(
        here.store,
        here.shop(shop),
        given | ({} if javascript is None else {"javascript": javascript}),
    )
    say(f"shop {cell(shop)} is changed")


@shops.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List all shops, with their last run."""
    from scout.overview import overview

    rows = overview(call(context).store)
    if as_json:
        for row in rows:
            say_json(row)
        return
    columns = ("name", "url", "known", "pages", "last_run", "state", "missing")
    table(columns, [[row[column] for column in columns] for row in rows])


@shops.command("show")
def show(context: typer.Context, shop: ShopName, as_json: Json = False) -> None:
    """Show a shop: how it is crawled, what is known, its last run, and what its last crawl came to."""
    from scout.overview import last_crawl
    from scout.overview import row as row_of

    here = call(context)
    found = here.shop(shop)
    row = row_of(here.store, found) | {
        "allow_private": found.allow_private,
        "max_pages": found.max_pages,
        "max_bytes": found.max_bytes,
        "max_minutes": found.max_minutes,
        "window": found.window,
        "delay": found.delay,
        "javascript": found.javascript,
        "sitemaps": found.sitemaps,
        "last_crawl": last_crawl(here.store, found),
        "added": found.created_at,
    }
    if as_json:
        say_json(row)
        return
    table(("what", "value"), [(name, _flat(value)) for name, value in row.items()])


@shops.command("remove")
def remove(
    context: typer.Context,
    shop: ShopName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, even on a terminal.")] = False,
) -> None:
    """Remove a shop with its pages, offers, rules, runs and words."""
    from scout.pipeline import pipeline
    from scout.shops import purge

    here = call(context)
    found = here.shop(shop)
    if sys.stdin.isatty() and not yes:
        typer.confirm(
            f"Remove shop {found.name!r} and all that is stored of it?", abort=True, err=True
        )
    with pipeline.only_one(here.settings, found), here.store.write() as session:
        purge.shop(session, pipeline.shop_key(found))
    say(f"shop {cell(found.name)} removed")


def _flat(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {inner}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value
