"""`scout review`: decisions of reviewers on findings, and `scout decide`, its older form."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    Invocation,
    JsonOption,
    ShopArgument,
    check_writable,
    command_group,
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
from scout.terminal.output import (
    format_cell,
    plural,
    print_json,
    print_lines,
    print_note,
    print_table,
    shorten,
)

if TYPE_CHECKING:
    from catalog.models import Shop
    from scout.inspect.review_decisions import Judgement, RecordedStep, UndoneChanges
    from scout.offer_filters import FilterTexts

review_commands = command_group(
    "review", "Review decisions: confirm, reject or ignore findings; list, undo, export, import."
)

UrlsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL", help="Offers by URL, as 'scout offers' prints them; else give a filter."
    ),
]
NoteOption = Annotated[
    str | None, typer.Option("--note", metavar="TEXT", help="The reason, stored with the decision.")
]
ReviewerOption = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="NAME", help="The reviewer, by default the user of the operating system."
    ),
]
LimitOption = Annotated[
    int, typer.Option(min=0, max=MAX_ROWS, metavar="N", help="Rows to print at most, 0 for all.")
]

MAX_UNKNOWN_NAMED = 3
"""URLs that are no findings, named one by one at most."""


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(review_commands)
    app.command("decide")(record_decision)


@review_commands.callback()
def select_shop(shop: ShopArgument) -> None:
    """Review decisions: confirm, reject or ignore findings; list, undo, export, import.

    They apply to later runs too, and the matcher learns from them.
    """


DECISION_HELP = {
    "confirm": "Confirm that offers are missing in the catalog.",
    "reject": "Reject findings: the catalog does list these offers.",
    "ignore": "Leave offers out of all figures; reports list them as ignored.",
}
FILTER_HELP = "Name offers by URL, or select them by the filters of 'scout offers'."


def decide(
    context: typer.Context,
    urls: UrlsArgument = None,
    missing: MissingOption = False,
    listed: ListedOption = False,
    unsure: UnsureOption = False,
    ignored: IgnoredOption = False,
    all_: AllOption = False,
    category: CategoryOption = None,
    brand: BrandOption = None,
    price: PriceOption = None,
    cause: CauseOption = None,
    since: SinceOption = None,
    change: ChangeOption = None,
    remark: NoteOption = None,
    by: ReviewerOption = None,
) -> None:
    """Record the decision that the command is named after, as one step."""
    from scout.inspect import review_decisions
    from scout.offer_filters import FilterTexts

    flags = VerdictFlags(missing, listed, unsure, ignored, all_)
    texts = FilterTexts(category, brand, price, cause, change, since)
    has_filter = bool(flags.given or texts.given())
    if urls and has_filter:
        raise typer.BadParameter("give URLs or a filter, not both")
    if not urls and not has_filter:
        raise typer.BadParameter("give URLs or a filter; --missing selects all missing offers")
    name = context.info_name or ""
    invocation = get_invocation(context)
    shop = _shop(context, invocation)
    judgement = _judge(name, remark, by)
    if urls:
        _print_recorded(name, review_decisions.decide_urls(invocation.store, shop, urls, judgement))
        return
    require_finished_run(invocation, shop)
    where = make_filter(invocation.store, shop, flags, texts)
    selection = _describe_selection(flags, texts)
    recorded = review_decisions.decide_filtered(invocation.store, shop, where, judgement, selection)
    print_lines(f"{name}: {plural(len(recorded.urls), 'offer')} ({format_cell(selection)})")


for command_name, summary in DECISION_HELP.items():
    review_commands.command(command_name, help=f"{summary}\n\n{FILTER_HELP}")(decide)


def _judge(decision: str, remark: str | None, by: str | None) -> "Judgement":
    from scout.inspect import review_decisions

    return review_decisions.Judgement(
        review_decisions.parse_decision(decision),
        review_decisions.check_note(remark),
        review_decisions.reviewer_name(by),
    )


def _describe_selection(flags: VerdictFlags, texts: "FilterTexts") -> str:
    given = [f"{name} {text}" for name, text in texts.given().items()]
    return ", ".join([*(flags.given or ["missing"]), *given])


def _print_recorded(decision: str, recorded: "RecordedStep") -> None:
    for url in recorded.urls:
        print_lines(f"{decision}: {format_cell(url)}")
    later = "the decision is stored and applies once it is"
    for url in recorded.unknown[:MAX_UNKNOWN_NAMED]:
        print_note(f"{format_cell(url)} is not among the offers of the last finished run: {later}")
    if len(recorded.unknown) > MAX_UNKNOWN_NAMED:
        print_note(
            f"{len(recorded.unknown) - MAX_UNKNOWN_NAMED} further URLs are not among them either"
        )


@review_commands.command("list")
def list_decisions(
    context: typer.Context,
    steps: Annotated[
        bool, typer.Option("--steps", help="The steps that 'undo' takes back, the newest first.")
    ] = False,
    limit: LimitOption = 0,
    as_json: JsonOption = False,
) -> None:
    """List a shop's review decisions, the newest first. With --json, one object a line."""
    from scout.inspect import review_lists

    invocation = get_invocation(context)
    shop = _shop(context, invocation)
    make_rows = review_lists.list_steps if steps else review_lists.list_decisions
    rows = make_rows(invocation.store, shop, limit or None)
    if as_json:
        for row in rows:
            print_json(row)
        return
    columns = review_lists.STEP_COLUMNS if steps else review_lists.DECISION_COLUMNS
    print_table(columns, [[_shortened(row, column) for column in columns] for row in rows])
    number = plural(len(rows), "step" if steps else "review decision")
    print_lines(f"{number}, the newest ones" if limit and len(rows) == limit else number)


def _shortened(row: dict[str, object], column: str) -> object:
    value = row[column]
    if column in ("reviewed_at", "made_at"):
        return datetime.fromisoformat(str(value))
    # A URL is copied into the next command.
    if column == "url" or not isinstance(value, str):
        return value
    return shorten(value)


@review_commands.command("undo")
def undo(
    context: typer.Context,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="Undo the last decision on these offers only."),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--last", min=1, max=MAX_ROWS, metavar="N", help="Undo the last N steps, as a whole."
        ),
    ] = 1,
    by: ReviewerOption = None,
) -> None:
    """Undo the last step: the former decision on each of its offers comes back.

    A step is one command, whether it concerned one offer or thousands.
    """
    from scout.inspect import review_decisions

    if urls and count != 1:
        raise typer.BadParameter("give URLs or --last, not both")
    invocation = get_invocation(context)
    shop = _shop(context, invocation)
    reviewer = review_decisions.reviewer_name(by)
    if urls:
        undone = review_decisions.undo_urls(invocation.store, shop, urls, reviewer)
    else:
        undone = review_decisions.undo_last_steps(invocation.store, shop, count, reviewer)
    for changes in undone:
        print_lines(_describe_undone(changes))


def _describe_undone(changes: "UndoneChanges") -> str:
    from scout.inspect import review_lists

    step = changes.step
    offers = (
        format_cell(changes.urls[0])
        if len(changes.urls) == 1
        else plural(len(changes.urls), "offer")
    )
    by = f" by {format_cell(step.reviewer)}" if step.reviewer else ""
    action = review_lists.action_name(step.action)
    return f"undone: {action} of {format_cell(step.made_at)}{by} on {offers}"


@review_commands.command("export")
def export_decisions(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; - for standard output.")
    ],
) -> None:
    """Write a shop's review decisions as JSON Lines, which 'import' reads."""
    from scout.inspect import review_files

    invocation = get_invocation(context)
    shop = _shop(context, invocation)
    if str(file) == "-":
        for row in review_files.export_rows(invocation.store, shop):
            print_json(row)
        return
    check_writable(file)
    number = review_files.write_decisions(invocation.store, shop, file)
    print_lines(f"{plural(number, 'review decision')} written to {file}")


@review_commands.command("import")
def import_decisions(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that 'export' wrote.")],
    by: ReviewerOption = None,
) -> None:
    """Read review decisions from JSON Lines, as one step.

    Of two decisions on an offer the newer one stays. Lines that cannot be read are named and left
    out; the exit code is then 1.
    """
    from scout.inspect import review_decisions, review_files

    invocation = get_invocation(context)
    shop = _shop(context, invocation)
    reviewer = review_decisions.reviewer_name(by)
    result = review_files.import_decisions(invocation.store, shop, file, reviewer)
    for problem in result.problems:
        print_note(problem)
    if len(result.problems) < result.bad:
        print_note(f"{result.bad - len(result.problems)} further lines cannot be read")
    print_lines(
        f"{result.imported} review decisions imported; {result.unchanged} already stored or older "
        f"than the stored ones; {result.bad} lines could not be read"
    )
    if result.bad:
        raise typer.Exit(1)


def record_decision(
    context: typer.Context,
    shop: ShopArgument,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The offer's URL, as 'scout offers' prints it.")
    ],
    decision: Annotated[
        Literal["confirm", "reject", "ignore", "accept"],
        typer.Argument(
            metavar="DECISION",
            help="confirm, or accept as in older versions: it is missing; reject: the catalog does list it; ignore: leave it out.",
        ),
    ],
    remark: NoteOption = None,
    by: ReviewerOption = None,
) -> None:
    """Record a review decision on one offer, as 'scout review' does.

    It applies to later runs too, and the matcher learns from it.
    """
    from scout.inspect import review_decisions

    invocation = get_invocation(context)
    judgement = _judge(decision, remark, by)
    recorded = review_decisions.decide_urls(
        invocation.store, invocation.shop(shop), [url], judgement
    )
    _print_recorded(decision, recorded)


def _shop(context: typer.Context, invocation: Invocation) -> "Shop":
    """Return the shop that stands before the subcommand."""
    assert context.parent is not None
    return invocation.shop(context.parent.params["shop"])
