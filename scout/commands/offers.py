"""`scout offers` and `scout decide`: the findings of the newest run, and a person's word on one of them."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import Json, ShopName, call, latest_run
from scout.terminal.output import cell, note, say, say_json, short, table

if TYPE_CHECKING:
    from catalog.models import Verdict
    from reports.statistics.findings_reader import Finding


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("offers")(offers)
    app.command("decide")(decide)


def offers(
    context: typer.Context,
    shop: ShopName,
    missing: Annotated[
        bool, typer.Option("--missing", help="Offers that the catalog lacks (the default).")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--listed", help="Offers that the catalog lists.")
    ] = False,
    unsure: Annotated[
        bool, typer.Option("--unsure", help="Offers of which Scout cannot tell.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="All offers.")] = False,
    as_json: Json = False,
) -> None:
    """Print a shop's offers with their verdicts.

    They are those of the newest run. With --json, one object a line.
    """
    from catalog.models import Verdict
    from reports.model.findings import rows
    from scout.pipeline import pipeline

    here = call(context)
    found = here.shop(shop)
    asked = {Verdict.MISSING: missing, Verdict.LISTED: listed, Verdict.UNSURE: unsure}
    verdicts = (
        set(asked)
        if all_
        else {verdict for verdict, wanted in asked.items() if wanted} or {Verdict.MISSING}
    )
    findings = rows(here.store, found, pipeline.run_key(latest_run(here, found)), verdicts)
    if as_json:
        for finding in findings:
            say_json(finding.as_row())
        return
    _print(findings, verdicts)


def _print(findings: "list[Finding]", verdicts: "set[Verdict]") -> None:
    columns = ("verdict", "score", "price", "", "title", "cause", "url")
    lines = [
        (
            row.verdict,
            row.score,
            row.price,
            row.currency,
            short(row.title),
            short(row.cause, 40),
            row.url,
        )
        for row in findings
    ]
    table(columns, lines)
    say(f"{len(findings)} offers ({', '.join(sorted(verdicts))})")


def decide(
    context: typer.Context,
    shop: ShopName,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The offer's URL, as 'scout offers' prints it.")
    ],
    word: Annotated[
        Literal["accept", "reject", "ignore"],
        typer.Argument(
            metavar="WORD",
            help="accept: it is missing; reject: the catalog does list it; ignore: leave it out.",
        ),
    ],
    remark: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why.")] = None,
) -> None:
    """Keep a person's word on a finding.

    It outlives runs, and the matcher learns from it.
    """
    from catalog.models import Word
    from scout.inspect import review

    here = call(context)
    found = here.shop(shop)
    kept = review.keep(here.store, found, url, Word(word), remark)
    say(f"{word}: {cell(kept.url)}")
    if not kept.is_finding:
        note("this URL is no finding of the newest run: the word is kept for when it is one")
