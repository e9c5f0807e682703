"""`scout offers` and `scout decide`: the newest run's findings, and review decisions on them."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import JsonOption, ShopArgument, get_invocation, require_run
from scout.terminal.output import (
    format_cell,
    print_json,
    print_lines,
    print_note,
    print_table,
    shorten,
)

if TYPE_CHECKING:
    from catalog.models import Verdict
    from reports.statistics.findings_reader import Finding


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.command("offers")(list_offers)
    app.command("decide")(record_decision)


def list_offers(
    context: typer.Context,
    shop: ShopArgument,
    missing: Annotated[
        bool, typer.Option("--missing", help="Offers that the catalog lacks (the default).")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--listed", help="Offers that the catalog lists.")
    ] = False,
    unsure: Annotated[
        bool, typer.Option("--unsure", help="Offers that may be listed or missing.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="All offers.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print a shop's offers with their verdicts.

    They are those of the newest run. With --json, one object a line.
    """
    from catalog.models import Verdict
    from reports.model.findings import list_findings
    from scout.pipeline import run_records

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    options = {Verdict.MISSING: missing, Verdict.LISTED: listed, Verdict.UNSURE: unsure}
    verdicts = {verdict for verdict, is_given in options.items() if is_given or all_}
    verdicts = verdicts or {Verdict.MISSING}
    run = require_run(invocation, stored_shop)
    findings = list_findings(invocation.store, stored_shop, run_records.run_key(run), verdicts)
    if as_json:
        for finding in findings:
            print_json(finding.as_row())
        return
    _print_findings(findings, verdicts)


def _print_findings(findings: "list[Finding]", verdicts: "set[Verdict]") -> None:
    list_findings = []
    for finding in findings:
        list_findings.append(
            (
                finding.verdict,
                finding.score,
                finding.price,
                finding.currency,
                shorten(finding.title),
                shorten(finding.cause, 40),
                finding.url,
            )
        )
    print_table(("verdict", "score", "price", "", "title", "cause", "url"), list_findings)
    print_lines(f"{len(findings)} offers ({', '.join(sorted(verdicts))})")


def record_decision(
    context: typer.Context,
    shop: ShopArgument,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The offer's URL, as 'scout offers' prints it.")
    ],
    decision: Annotated[
        Literal["accept", "reject", "ignore"],
        typer.Argument(
            metavar="DECISION",
            help="accept: it is missing; reject: the catalog does list it; ignore: leave it out.",
        ),
    ],
    remark: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="The reason.")
    ] = None,
) -> None:
    """Record a review decision on a finding.

    It applies to later runs too, and the matcher learns from it.
    """
    from catalog.models import ReviewDecision
    from scout.inspect import review_decisions

    invocation = get_invocation(context)
    recorded = review_decisions.record_decision(
        invocation.store, invocation.shop(shop), url, ReviewDecision(decision), remark
    )
    print_lines(f"{decision}: {format_cell(recorded.url)}")
    if not recorded.is_finding:
        print_note(
            "this URL is no finding of the newest run: the decision is kept for when it is one"
        )
