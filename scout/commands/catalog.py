"""`scout catalog`: what the catalog knows of a shop, brought in from a feed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import MOST_ROWS, Json, ShopName, call, group
from scout.terminal.output import cell, say, say_json, short, table

if TYPE_CHECKING:
    from catalog.feeds.importing import Imported

known = group("catalog", "Known offers: import them, show them.")
Format = Literal["auto", "csv", "tsv", "jsonl", "parquet", "google-xml", "rest", "sql"]


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(known)


@known.command("import")
def import_(
    context: typer.Context,
    shop: ShopName,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file, an address (of a file or a paged REST endpoint), or DATABASE-URL::SELECT ...",
        ),
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="The format; 'auto' looks at the source.")
    ] = "auto",
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Which column holds a field; may be repeated."
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Ask where opaque links lead: one request each, a click that may cost."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Import the offers that the catalog lists of a shop; they replace those of the import before."""
    from catalog.feeds.importing import import_offers
    from catalog.links.shop_links import cleaner
    from scout.pipeline import pipeline

    here = call(context)
    found = here.shop(shop)
    columns = _mapping(mapping or ())
    with pipeline.only_one(here.settings, found), here.progress() as progress:
        how = cleaner(here.settings, here.store, found, follow)
        done = import_offers(
            here.store,
            found,
            source,
            format=format_,
            mapping=columns,
            cleaner=how,
            progress=progress,
        )
    if as_json:
        say_json(pipeline.figures_of(done))
        return
    _tell(done, shop)


def _tell(done: "Imported", shop: str) -> None:
    say(f"{done.read} rows read, {done.kept} offers kept, {done.bad} rows set aside")
    if done.removed:
        say(f"{done.removed} links had tracking or redirects, which were taken off")
    if done.opaque:
        say(
            f"{done.opaque} links are opaque: their pages will be looked for by identifiers and title"
        )
    for reason, number in sorted(done.reasons.items(), key=lambda pair: -pair[1]):
        say(f"{number:>7} {cell(reason)}")
    if done.bad:
        say(f"'scout catalog show {shop} --bad' lists the rows set aside")


@known.command("show")
def show(
    context: typer.Context,
    shop: ShopName,
    bad: Annotated[
        bool, typer.Option("--bad", help="Show the rows set aside instead, each with its reason.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, max=MOST_ROWS, metavar="N", help="Rows to show; 0 for all.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """Show the known offers of a shop, or the rows that could not become one. With --json, one object a line."""
    from sqlmodel import col, func, select

    from catalog.models import BadRow, KnownOffer

    here = call(context)
    found = here.shop(shop)
    kind: type[BadRow] | type[KnownOffer] = BadRow if bad else KnownOffer
    with here.store.read() as session:
        total = session.exec(
            select(func.count()).select_from(kind).where(kind.shop_id == found.id)
        ).one()
        wanted = select(kind).where(kind.shop_id == found.id).order_by(col(kind.id))
        rows = list(session.exec(wanted.limit(limit) if limit and not as_json else wanted))
    if as_json:
        for row in rows:
            say_json(row.model_dump(exclude={"id", "shop_id"}))
        return
    names = (
        ("line", "reason", "raw")
        if bad
        else ("ref", "title", "price", "currency", "ean", "sku", "url")
    )
    table(names, [[_cut(getattr(row, name)) for name in names] for row in rows])
    say(f"{len(rows)} of {total} {'rows set aside' if bad else 'known offers'}")


def _cut(value: object) -> object:
    return short(value) if isinstance(value, str) else value


def _mapping(pairs: Sequence[str]) -> dict[str, str]:
    """What `--map` said.

    >>> _mapping(["ean=barcode", "title=product name"])
    {'ean': 'barcode', 'title': 'product name'}
    """
    split = [pair.partition("=") for pair in pairs]
    for pair, (field, _, column) in zip(pairs, split, strict=True):
        if not field or not column:
            raise typer.BadParameter(f"--map {pair!r} has to be FIELD=COLUMN, such as ean=barcode")
    return {field.strip(): column.strip() for field, _, column in split}
