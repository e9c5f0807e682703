"""`scout drift`: the rules re-scored on fresh pages of known offers."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from scout.commands.context import Json, ShopName, call
from scout.terminal.output import say, say_json, short, table

if TYPE_CHECKING:
    from rules_generator.monitoring.drift import Drift


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("drift")(drift)


def drift(context: typer.Context, shop: ShopName, as_json: Json = False) -> None:
    """Re-score a shop's rules on the newest pages of its known offers, and say whether it was redesigned.

    A sample of all its pages tells how much the rules find there, now and when they were learnt. The next
    'scout run' learns anew in any case; rules that are locked or set by hand stay.
    """
    from rules_generator.monitoring.drift import drift_shop

    here = call(context)
    with here.progress() as progress:
        found = drift_shop(here.settings, here.store, here.shop(shop), progress=progress)
    if as_json:
        say_json(asdict(found))
    else:
        _show(found)


def _show(found: "Drift") -> None:
    say(f"rules version {found.version}: {found.said}", "")
    rows = [
        (
            name,
            one.known,
            one.found,
            one.right,
            f"{one.share:.0%}",
            "" if one.then is None else f"{one.then:.0%}",
        )
        for name, one in found.attributes.items()
    ]
    table(("attribute", "known", "found", "right", "share", "when learnt"), rows)
    if found.silent:
        say("")
        gone = [
            (one.attribute, one.template, short(one.selector, 80), one.support)
            for one in found.silent
        ]
        table(
            ("attribute", "template", "selector", "agreed with"),
            gone,
            title="Rules that read nothing right any more",
        )
