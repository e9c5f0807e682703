"""`scout drift`: re-score a shop's rules on fresh pages of known offers."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from scout.commands.context import JsonOption, ShopArgument, get_invocation
from scout.terminal.output import print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from rules_generator.monitoring.drift import Drift

SELECTOR_LENGTH = 80
"""Characters of a selector in the table."""


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("drift")(measure_drift)


def measure_drift(context: typer.Context, shop: ShopArgument, as_json: JsonOption = False) -> None:
    """Re-score a shop's rules on the newest pages of its known offers; detect a redesign.

    A sample of all its pages shows how much the rules read there, now and when they were learnt.
    The next 'scout run' learns the rules again in any case; locked and manual rules are kept.
    """
    from rules_generator.monitoring.drift import drift_shop

    invocation = get_invocation(context)
    with invocation.limited(), invocation.progress() as progress:
        drift = drift_shop(
            invocation.settings, invocation.store, invocation.shop(shop), progress=progress
        )
    if as_json:
        print_json(asdict(drift))
    else:
        _print_drift(drift)


def _print_drift(drift: "Drift") -> None:
    print_lines(f"rules version {drift.version}: {drift.summary}", "")
    rows = []
    for name, result in drift.attributes.items():
        then = "" if result.then is None else f"{result.then:.0%}"
        rows.append((name, result.known, result.found, result.right, f"{result.share:.0%}", then))
    print_table(("attribute", "known", "found", "right", "share", "when learnt"), rows)
    if drift.silent:
        print_lines("")
        broken = [
            (rule.attribute, rule.template, shorten(rule.selector, SELECTOR_LENGTH), rule.support)
            for rule in drift.silent
        ]
        columns = ("attribute", "template", "selector", "agreed with")
        print_table(columns, broken, title="Rules that read nothing right any more")
