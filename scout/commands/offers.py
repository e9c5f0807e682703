"""`scout offers` and `scout decide`: the findings of a shop, and review decisions on them."""

import sys
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    Invocation,
    JsonOption,
    ShopArgument,
    get_invocation,
    require_finished_run,
)
from scout.terminal.output import (
    format_cell,
    print_json,
    print_lines,
    print_note,
    print_table,
    shorten,
)

if TYPE_CHECKING:
    from catalog.models import RunCounts, Shop
    from catalog.storage.findings import FindingFilter
    from reports.statistics.findings_reader import Finding

TERMINAL_ROWS = 50
"""Rows on a terminal where no limit is given: one screen or two."""


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
    ignored: Annotated[
        bool, typer.Option("--ignored", help="Offers that a reviewer asked to leave out.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="All offers, the ignored ones marked.")
    ] = False,
    category: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="A category or its first steps: 'Garden > Hoses'."),
    ] = None,
    brand: Annotated[str | None, typer.Option(metavar="NAME", help="A brand.")] = None,
    price: Annotated[
        str | None, typer.Option(metavar="A-B", help="A price range: 10-49.90, 100- or -5.")
    ] = None,
    cause: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Part of a cause's name.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="RUN|DATE",
            help="Only findings that got their verdict after that run ('last': the one before the "
            "last) or since that date.",
        ),
    ] = None,
    change: Annotated[
        str | None,
        typer.Option(
            metavar="CHANGE",
            help="Since the previous run: new, still, reappeared, resolved, unsure or gone.",
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            help="value (the default), price, title, brand, category, cause, verdict, score, url, "
            "first-seen, last-seen or since; with - in front descending.",
        ),
    ] = "value",
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_ROWS,
            metavar="N",
            help="Rows to print at most, 0 for all; 50 on a terminal, else all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a shop's offers with their verdicts.

    They are those of the last finished run, the most valuable first. Filters may be combined. With
    --json, one object a line.
    """
    from catalog.models import Verdict
    from scout import offer_filters
    from scout.pipeline import run_records

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    run_id = run_records.run_key(require_finished_run(invocation, stored_shop))
    options = {Verdict.MISSING: missing, Verdict.LISTED: listed, Verdict.UNSURE: unsure}
    verdicts = {verdict for verdict, is_given in options.items() if is_given or all_}
    texts = offer_filters.FilterTexts(category, brand, price, cause, change, since)
    # Offers with one of these changes are not missing any more.
    if not verdicts and not ignored and change in ("resolved", "unsure"):
        verdicts = set(Verdict)
    only_ignored = ignored and not verdicts
    where = offer_filters.parse_filters(
        invocation.store,
        stored_shop,
        texts,
        verdicts=set() if only_ignored else verdicts or {Verdict.MISSING},
        includes_ignored=ignored or all_,
        only_ignored=only_ignored,
    )
    if as_json:
        _print_json_rows(invocation, stored_shop, run_id, where, sort, limit)
    else:
        _print_table_rows(invocation, stored_shop, run_id, where, sort, limit)


def _print_json_rows(
    invocation: Invocation,
    shop: "Shop",
    run_id: int,
    where: "FindingFilter",
    sort: str,
    limit: int | None,
) -> None:
    from reports.model.findings import iterate_findings

    findings = iterate_findings(invocation.store, shop, run_id, where, sort)
    for finding in islice(findings, limit or None):
        print_json(finding.as_row())


def _print_table_rows(
    invocation: Invocation,
    shop: "Shop",
    run_id: int,
    where: "FindingFilter",
    sort: str,
    limit: int | None,
) -> None:
    from catalog.storage.findings import count_matching, read_counts
    from reports.model.findings import list_findings

    if limit is None and sys.stdout.isatty():
        limit = TERMINAL_ROWS
    findings = list_findings(
        invocation.store, shop, run_id, where=where, sort=sort, limit=limit or None
    )
    with invocation.store.read() as session:
        total = count_matching(session, run_id, where)
        counts = read_counts(session, run_id)
    # Without a filter by verdict, the rows differ in it.
    shows_verdict = len(where.verdicts) != 1 or where.includes_ignored
    rows = [_cells(finding, shows_verdict) for finding in findings]
    columns: tuple[str, ...] = (
        "price",
        "",
        "title",
        "category",
        "cause",
        "change",
        "first seen",
        "url",
    )
    if shows_verdict:
        columns = ("verdict", "probability", *columns)
    print_table(columns, rows)
    names = "ignored" if where.only_ignored else ", ".join(sorted(where.verdicts))
    shown = f"{len(findings)} of {total}" if len(findings) < total else f"{total}"
    print_lines(f"{shown} offers ({names})")
    if counts is not None:
        _print_counts(counts, where)


def _print_counts(counts: "RunCounts", where: "FindingFilter") -> None:
    """Print the figures of the whole run that a list of missing offers is read with."""
    from catalog.models import Verdict
    from reports.statistics.formatting import format_totals

    if Verdict.MISSING in where.verdicts and counts.values:
        values = {currency: Decimal(value) for currency, value in counts.values.items()}
        print_lines(
            f"value of all {counts.missing} missing offers: "
            f"{format_totals(values, counts.currency)}"
        )
    if counts.ranking:
        print_lines(counts.ranking)
    if counts.ignored and not where.includes_ignored:
        print_lines(f"ignored by reviewers and not among them: {counts.ignored} (see --ignored)")
    if not counts.known_offers:
        print_lines(
            "nothing was imported into the catalog, so every offer counts as missing: "
            "'scout catalog import'"
        )


def _cells(finding: "Finding", shows_verdict: bool) -> tuple[object, ...]:
    cells = (
        finding.price,
        finding.currency,
        shorten(finding.title, 50),
        shorten(_last_steps(finding.category), 30),
        shorten(finding.cause, 36),
        finding.since,
        finding.first_seen_at,
        finding.url,
    )
    if not shows_verdict:
        return cells
    verdict = f"{finding.verdict} (ignored)" if finding.is_ignored else str(finding.verdict)
    return (verdict, f"{finding.score:.0%}", *cells)


def _last_steps(category: str | None) -> str | None:
    """Return the last two steps of a category path, which tell more than the first ones.

    >>> _last_steps("Home > Garden > Hoses")
    'Garden > Hoses'
    """
    if category is None:
        return None
    return " > ".join(category.split(" > ")[-2:])


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
            "this URL is no finding of the last finished run: the decision is kept for when it is one"
        )
