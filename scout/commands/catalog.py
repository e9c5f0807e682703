"""`scout catalog`: the known offers of a shop, imported from a feed and shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    FollowOption,
    JsonOption,
    ShopArgument,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from catalog.feeds.importing import ImportSummary

catalog_commands = command_group("catalog", "Known offers: import, show.")
Format = Literal["auto", "csv", "tsv", "jsonl", "parquet", "google-xml", "rest", "sql"]

IMPORT_SECONDS = 6 * 3600
"""Seconds of processor time of one import: a hundred times that of a million offers."""

MAX_SOURCE_SIZE = 100_000
"""Characters of a source that is read from a file: an address, or a query."""

OFFER_COLUMNS = ("ref", "title", "price", "currency", "ean", "sku", "url")
REJECTED_ROW_COLUMNS = ("line", "reason", "raw")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(catalog_commands)


@catalog_commands.command("import")
def import_feed(
    context: typer.Context,
    shop: ShopArgument,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file, a URL (of a file or a paged REST endpoint), or DATABASE-URL::SELECT ...; "
            "@FILE reads the source from a file, so that no argument holds its password.",
        ),
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="The format; 'auto' detects it from the source.")
    ] = "auto",
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="The column of a field; may be repeated."
        ),
    ] = None,
    follow: FollowOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import the catalog's offers of a shop; they replace those of the import before."""
    from catalog.feeds.importing import import_offers
    from catalog.links.shop_links import make_cleaner
    from scout.job_queue.job_kinds import PURPOSES, JobKind
    from scout.pipeline import run_records, shop_run

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    source = _read_source(source)
    columns = _parse_mapping(mapping or ())
    settings, store = invocation.settings, invocation.store
    with (
        shop_run.lock_shop(settings, store, stored_shop, PURPOSES[JobKind.IMPORT]) as lease,
        invocation.limited(IMPORT_SECONDS),
        invocation.progress() as progress,
    ):
        result = import_offers(
            lease.store,
            stored_shop,
            source,
            format=format_,
            mapping=columns,
            cleaner=make_cleaner(settings, store, stored_shop, follow),
            progress=lease.watch(progress),
        )
    if as_json:
        print_json(run_records.storable_figures(result))
        return
    _print_import(result, shop)


def _read_source(argument: str) -> str:
    """Return the source that an argument names: itself, or the content of a file `@FILE`.

    Raises UsageError where there is no such file, or it is empty.
    """
    from catalog.errors import UsageError

    if not argument.startswith("@"):
        return argument
    file = Path(argument[1:])
    try:
        with file.open(encoding="utf-8") as content:
            source = content.read(MAX_SOURCE_SIZE).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{argument}: {file} cannot be read: name a file with a source") from error
    if not source:
        raise UsageError(f"{argument}: {file} is empty: name a file with a source")
    return source


def _print_import(result: "ImportSummary", shop: str) -> None:
    print_lines(
        f"{result.read} rows read, {result.kept} offers imported, {result.bad} rows rejected"
    )
    if result.removed:
        print_lines(f"tracking or redirects removed from {result.removed} links")
    if result.opaque:
        print_lines(
            f"{result.opaque} links hide their target: "
            "their offers are matched by identifiers and title"
        )
    for reason, number in sorted(result.reasons.items(), key=lambda pair: -pair[1]):
        print_lines(f"{number:>7} {format_cell(reason)}")
    if result.bad:
        print_lines(f"'scout catalog show {shop} --bad' lists the rejected rows")


@catalog_commands.command("show")
def show_offers(
    context: typer.Context,
    shop: ShopArgument,
    bad: Annotated[
        bool, typer.Option("--bad", help="Show the rejected rows instead, each with its reason.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, max=MAX_ROWS, metavar="N", help="Rows to show; 0 for all.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the known offers of a shop, or the rejected rows of its feed.

    With --json, one object a line.
    """
    from sqlmodel import col, func, select

    from catalog.models import BadRow, KnownOffer

    invocation = get_invocation(context)
    shop_id = invocation.shop(shop).id
    model: type[BadRow] | type[KnownOffer] = BadRow if bad else KnownOffer
    counted = select(func.count()).select_from(model).where(model.shop_id == shop_id)
    query = select(model).where(model.shop_id == shop_id).order_by(col(model.id))
    # JSON is for scripts, which want every row.
    if limit and not as_json:
        query = query.limit(limit)
    with invocation.store.read() as session:
        total = session.exec(counted).one()
        rows = list(session.exec(query))
    if as_json:
        for row in rows:
            print_json(row.model_dump(exclude={"id", "shop_id", "content_key"}))
        return
    names = REJECTED_ROW_COLUMNS if bad else OFFER_COLUMNS
    print_table(names, [[_shorten_text(getattr(row, name)) for name in names] for row in rows])
    print_lines(f"{len(rows)} of {total} {'rejected rows' if bad else 'known offers'}")


def _shorten_text(value: object) -> object:
    return shorten(value) if isinstance(value, str) else value


def _parse_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Parse the values of `--map`.

    >>> _parse_mapping(["ean=barcode", "title=product name"])
    {'ean': 'barcode', 'title': 'product name'}
    """
    mapping = {}
    for pair in pairs:
        field, _, column = pair.partition("=")
        if not field or not column:
            raise typer.BadParameter(f"--map {pair!r} has to be FIELD=COLUMN, such as ean=barcode")
        mapping[field.strip()] = column.strip()
    return mapping
