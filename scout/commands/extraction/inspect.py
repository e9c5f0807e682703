"""`scout inspect`: the votes of all rules on one page."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import JsonOption, ShopArgument, get_invocation
from scout.terminal.output import print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from scout.inspect.page_inspection import InspectedVote, Inspection

AGREEMENT = {None: "", True: "yes", False: "no"}
"""Text of a winner's agreement with the catalog; None where the catalog has no value."""

VARIANT_COLUMNS = ("title", "price", "sku", "ean", "url")
VOTE_COLUMNS = ("attribute", "rule", "selector", "cuts", "score", "found", "value", "vote")

SELECTOR_LENGTH = 70
"""Characters of a selector in the tables."""

VALUE_LENGTH = 40
"""Characters of a value in the table of votes."""


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("inspect")(inspect_page_votes)


def inspect_page_votes(
    context: typer.Context,
    shop: ShopArgument,
    page: Annotated[
        str,
        typer.Argument(metavar="URL|FILE", help="A crawled page's URL, or a saved page's file."),
    ],
    attribute: Annotated[
        str | None, typer.Option(metavar="A", help="Only this attribute, such as price.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the votes of all rules on a page: values before and after trimming, scores, winners."""
    from scout.inspect.page_inspection import inspect_page
    from scout.inspect.review_decisions import parse_attribute

    invocation = get_invocation(context)
    selected = parse_attribute(attribute) if attribute else None
    stored_shop = invocation.shop(shop)
    with invocation.limited():
        inspection = inspect_page(
            invocation.settings, invocation.store, stored_shop, page, selected
        )
    if as_json:
        print_json(asdict(inspection))
    else:
        _print_inspection(inspection)


def _print_inspection(inspection: "Inspection") -> None:
    similarity = ", ".join(f"{name}: {share:.2f}" for name, share in inspection.likeness.items())
    print_lines(
        f"{inspection.url}",
        f"classified as: {inspection.kind} ({inspection.reason}); "
        f"similarity to templates {similarity}",
        "",
    )
    _print_winners(inspection)
    _print_variants(inspection)
    print_lines("")
    print_table(VOTE_COLUMNS, [_vote_row(line) for line in inspection.lines], title="Votes")
    _print_missing(inspection)
    _print_selectors(inspection)


def _print_winners(inspection: "Inspection") -> None:
    catalog_values = {name: values[0] for name, values in inspection.known.items()}
    rows = []
    for name, winner in inspection.winners.items():
        rows.append(
            (
                name,
                shorten(winner["value"]),
                winner["weight"],
                winner["share"],
                winner["votes"],
                shorten(catalog_values.get(name)),
                AGREEMENT[winner["agrees"]],
            )
        )
    columns = ("attribute", "value", "confidence", "share", "votes", "catalog", "agrees")
    print_table(columns, rows, title="Read")


def _print_variants(inspection: "Inspection") -> None:
    if not inspection.variants:
        return
    print_lines("")
    rows = []
    for variant in inspection.variants:
        rows.append([shorten(variant[name]) for name in VARIANT_COLUMNS])
    print_table(VARIANT_COLUMNS, rows, title="Several offers on this page")


def _print_missing(inspection: "Inspection") -> None:
    if not inspection.missing:
        return
    print_lines("")
    rows = []
    for value in inspection.missing:
        rows.append(
            (
                value.attribute,
                shorten(value.value),
                shorten(value.nearest),
                value.likeness,
                shorten(value.selector, SELECTOR_LENGTH),
            )
        )
    columns = ("attribute", "known value", "nearest", "similarity", "selector")
    print_table(columns, rows, title="Known, but not on the page")


def _print_selectors(inspection: "Inspection") -> None:
    """Print the winning rules' selectors as CSS and XPath, to be used in other tools."""
    # Reversed, so that the first winning line of an attribute is the one that stays.
    winning = {line.attribute: line for line in reversed(inspection.lines) if line.won}
    rows = [(name, line.css, line.xpath) for name, line in sorted(winning.items())]
    if rows:
        print_lines("")
        print_table(("attribute", "CSS", "XPath"), rows, title="To copy")


def _vote_row(line: "InspectedVote") -> tuple[object, ...]:
    return (
        line.attribute,
        line.number,
        shorten(line.selector, SELECTOR_LENGTH),
        line.trim,
        line.score,
        shorten(line.raw, VALUE_LENGTH),
        shorten(line.value, VALUE_LENGTH),
        line.why or "won",
    )
