"""`scout deliver`: digests by mail or webhook, on a schedule of `scout serve` or at once."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import JsonOption, command_group, get_invocation
from scout.terminal.output import format_cell, print_json, print_lines, print_note, print_table

if TYPE_CHECKING:
    from catalog.models import Delivery

deliver_commands = command_group(
    "deliver", "Digests of what needs a look, by mail or webhook: add, list, send, remove."
)
COLUMNS = ("name", "kind", "target", "shops", "cron", "paused", "last_sent", "last_error")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the delivery.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(deliver_commands)


@deliver_commands.command("add")
def add(
    context: typer.Context,
    name: NameArgument,
    cron: Annotated[
        str, typer.Option(metavar="EXPR", help="Five fields in local time, such as '0 7 * * 1-5'.")
    ],
    mail: Annotated[
        str | None, typer.Option(metavar="ADDRESSES", help="Mail addresses, separated by commas.")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="A webhook, which gets signed JSON.")
    ] = None,
    shop: Annotated[
        list[str] | None,
        typer.Option(metavar="SHOP", help="Only this shop; may be repeated. Without it, all."),
    ] = None,
    language: Annotated[str, typer.Option(metavar="CODE", help="en or de.")] = "en",
    attach: Annotated[
        bool, typer.Option("--attach", help="Attach the HTML reports of the shops to mails.")
    ] = False,
) -> None:
    """Add a delivery; `scout serve` sends it by the clock."""
    from catalog.models import DeliveryKind
    from scout.delivery.deliveries import add_delivery

    if (mail is None) == (webhook is None):
        raise typer.BadParameter("give either --mail or --webhook")
    delivery = add_delivery(
        get_invocation(context).store,
        name,
        DeliveryKind.MAIL if mail is not None else DeliveryKind.WEBHOOK,
        mail or webhook or "",
        cron,
        shops=shop or (),
        language=language,
        with_report=attach,
    )
    print_lines(f"delivery {format_cell(delivery.name)} goes out at {cron}")
    if delivery.secret is not None:
        print_note(f"its requests are signed by this secret, shown once: {delivery.secret}")


@deliver_commands.command("list")
def list_all(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the deliveries. With --json, one object a line."""
    from catalog.storage.deliveries import list_deliveries

    rows = [_row(delivery) for delivery in list_deliveries(get_invocation(context).store)]
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


def _row(delivery: "Delivery") -> dict[str, Any]:
    return {
        "name": delivery.name,
        "kind": str(delivery.kind),
        "target": delivery.target,
        "shops": ", ".join(delivery.shops) or "all",
        "cron": delivery.cron,
        "paused": delivery.is_paused,
        "last_sent": delivery.last_sent_at,
        "last_error": delivery.last_error,
    }


@deliver_commands.command("send")
def send(context: typer.Context, name: NameArgument) -> None:
    """Send a delivery now."""
    from catalog.storage.deliveries import get_delivery
    from scout.delivery.dispatch import send_delivery

    invocation = get_invocation(context)
    delivery = get_delivery(invocation.store, name)
    send_delivery(invocation.settings, invocation.store, delivery)
    print_lines(f"sent to {format_cell(delivery.target)}")


@deliver_commands.command("remove")
def remove(context: typer.Context, name: NameArgument) -> None:
    """Remove a delivery."""
    from scout.delivery.deliveries import remove_delivery

    remove_delivery(get_invocation(context).store, name)
    print_lines(f"delivery {format_cell(name)} is removed")
