"""`scout inspect`: what every selector found on a page."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import Json, ShopName, call
from scout.terminal.output import say, say_json, short, table

if TYPE_CHECKING:
    from scout.inspect.page_inspection import Inspection, Line

AGREES = {None: "", True: "yes", False: "no"}


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("inspect")(inspect)


def inspect(
    context: typer.Context,
    shop: ShopName,
    page: Annotated[
        str,
        typer.Argument(metavar="URL|FILE", help="A crawled page's URL, or a saved page's file."),
    ],
    attribute: Annotated[
        str | None, typer.Option(metavar="A", help="Only this attribute, such as price.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what every rule finds on a page: the value before and after its cuts, its score and vote, the winner."""
    from scout.inspect.page_inspection import inspect_page
    from scout.inspect.review import attribute_named

    here = call(context)
    wanted = attribute_named(attribute) if attribute else None
    found = inspect_page(here.settings, here.store, here.shop(shop), page, wanted)
    if as_json:
        say_json(asdict(found))
    else:
        _show(found)


def _show(found: "Inspection") -> None:
    likeness = ", ".join(f"{name}: {share:.2f}" for name, share in found.likeness.items())
    say(
        f"{found.url}",
        f"taken for: {found.kind} ({found.reason}); likeness to templates {likeness}",
        "",
    )
    catalog = {name: values[0] for name, values in found.known.items()}
    rows = [
        (
            name,
            short(one["value"]),
            one["weight"],
            one["share"],
            one["votes"],
            short(catalog.get(name)),
            AGREES[one["agrees"]],
        )
        for name, one in found.winners.items()
    ]
    table(
        ("attribute", "value", "confidence", "share", "votes", "catalog", "agrees"),
        rows,
        title="Read",
    )
    _show_variants(found)
    say("")
    columns = ("attribute", "rule", "selector", "cuts", "score", "found", "value", "vote")
    table(columns, [_vote(one) for one in found.lines], title="Votes")
    if found.missing:
        say("")
        lost = [
            (
                one.attribute,
                short(one.value),
                short(one.nearest),
                one.likeness,
                short(one.selector, 70),
            )
            for one in found.missing
        ]
        table(
            ("attribute", "known value", "nearest", "likeness", "where"),
            lost,
            title="Known, but not on the page",
        )
    _show_copies(found)


def _show_variants(found: "Inspection") -> None:
    if found.variants:
        say("")
        names = ("title", "price", "sku", "ean", "url")
        rows = [[short(one[name]) for name in names] for one in found.variants]
        table(names, rows, title="Several offers on this page")


def _show_copies(found: "Inspection") -> None:
    """The winning rules' selectors in words that can be pasted elsewhere."""
    first = {one.attribute: one for one in reversed(found.lines) if one.won}
    rows = [(name, one.css, one.xpath) for name, one in sorted(first.items())]
    if rows:
        say("")
        table(("attribute", "CSS", "XPath"), rows, title="To copy")


def _vote(one: "Line") -> tuple[object, ...]:
    found, value = short(one.raw, 40), short(one.value, 40)
    return (
        one.attribute,
        one.number,
        short(one.selector, 70),
        one.trim,
        one.score,
        found,
        value,
        one.why or "won",
    )
