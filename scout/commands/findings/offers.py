"""`scout offers`: the findings of a shop."""

import sys
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import (
    MAX_ROWS,
    Invocation,
    JsonOption,
    ShopArgument,
    get_invocation,
    require_finished_run,
)
from scout.commands.findings.options import (
    AllOption,
    BrandOption,
    CategoryOption,
    CauseOption,
    ChangeOption,
    IgnoredOption,
    ListedOption,
    MissingOption,
    PriceOption,
    SinceOption,
    UnsureOption,
    VerdictFlags,
    make_filter,
)
from scout.terminal.output import plural, print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from catalog.models import RunCounts, Shop
    from catalog.storage.findings import FindingFilter
    from reports.statistics.findings_reader import Finding

TERMINAL_ROWS = 50
"""Rows on a terminal where no limit is given: one screen or two."""


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.command("offers")(list_offers)


def list_offers(
    context: typer.Context,
    shop: ShopArgument,
    missing: MissingOption = False,
    listed: ListedOption = False,
    unsure: UnsureOption = False,
    ignored: IgnoredOption = False,
    all_: AllOption = False,
    stale: Annotated[
        bool, typer.Option("--stale", help="Offers of the catalog that are gone from the shop.")
    ] = False,
    category: CategoryOption = None,
    brand: BrandOption = None,
    price: PriceOption = None,
    cause: CauseOption = None,
    since: SinceOption = None,
    change: ChangeOption = None,
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
    from scout.offer_filters import FilterTexts
    from scout.pipeline import run_records

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    run_id = run_records.run_key(require_finished_run(invocation, stored_shop))
    flags = VerdictFlags(missing, listed, unsure, ignored, all_)
    texts = FilterTexts(category, brand, price, cause, change, since)
    where = make_filter(invocation.store, stored_shop, flags, texts)
    if stale:
        if flags.given or cause or since or change:
            raise typer.BadParameter(
                "--stale lists offers of the catalog: only --category, --brand and --price filter them"
            )
        _print_stale_offers(invocation, stored_shop, run_id, where, sort, limit, as_json)
        return
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

    findings = list_findings(
        invocation.store, shop, run_id, where=where, sort=sort, limit=_terminal_limit(limit)
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
        columns = ("verdict", "probability listed", *columns)
    if rows:
        print_table(columns, rows)
    names = "ignored" if where.only_ignored else ", ".join(sorted(where.verdicts))
    print_lines(f"{_shown_of_total(len(findings), total)} ({names})")
    if counts is not None:
        _print_counts(counts, where)
        # The ranking explains the order of several rows by value.
        if counts.ranking and len(rows) > 1 and sort.removeprefix("-") == "value":
            print_lines(counts.ranking)


def _print_stale_offers(
    invocation: Invocation,
    shop: "Shop",
    run_id: int,
    where: "FindingFilter",
    sort: str,
    limit: int | None,
    as_json: bool,
) -> None:
    from catalog.language.languages import ENGLISH
    from reports.model.stale_offers import find_stale_offers, stale_row
    from reports.statistics.page_reasons import PAGE_REASONS

    stale = find_stale_offers(invocation.store, shop, run_id, where, sort)
    if as_json:
        for offer in stale.offers[: limit or None]:
            print_json(stale_row(offer))
        return
    shown = stale.offers[: _terminal_limit(limit)]
    rows = []
    for offer in shown:
        title, category = shorten(offer.title, 50), shorten(_last_steps(offer.category), 30)
        reason = PAGE_REASONS.translate(offer.reason or "", ENGLISH)
        rows.append((offer.price, offer.currency, title, category, reason, offer.url))
    if rows:
        print_table(("price", "", "title", "category", "page", "url"), rows)
    print_lines(f"{_shown_of_total(len(shown), len(stale.offers))} (stale)")
    if stale.undecided:
        counts = ", ".join(f"{status} {number}" for status, number in stale.undecided.most_common())
        print_lines(f"also not seen, but possibly still in the shop: {counts}")


def _terminal_limit(limit: int | None) -> int | None:
    """Return the number of rows of a table; None: all."""
    if limit is None and sys.stdout.isatty():
        return TERMINAL_ROWS
    return limit or None


def _shown_of_total(shown: int, total: int) -> str:
    return f"{shown} of {plural(total, 'offer')}" if shown < total else plural(total, "offer")


def _print_counts(counts: "RunCounts", where: "FindingFilter") -> None:
    """Print the figures of the whole run that a list of missing offers is read with."""
    from catalog.language.languages import ENGLISH
    from catalog.models import Verdict

    if Verdict.MISSING in where.verdicts and counts.values:
        values = {currency: Decimal(value) for currency, value in counts.values.items()}
        print_lines(
            f"value of all {plural(counts.missing, 'missing offer')}: "
            f"{ENGLISH.totals(values, counts.currency)}"
        )
    if counts.ignored and not where.includes_ignored:
        print_lines(f"ignored by reviewers, not listed here: {counts.ignored} (see --ignored)")
    if not counts.known_offers:
        print_lines(
            "no offers of this shop were imported into the catalog, so every offer counts as "
            "missing: import them with 'scout catalog import'"
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
