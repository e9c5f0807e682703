"""`scout evaluate`: how right Scout is, on data whose truth is known."""

from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    JsonOption,
    check_writable,
    command_group,
    get_invocation,
)
from scout.terminal.output import print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from url_cleaner.evaluation import Evaluation

evaluations = command_group("evaluate", "How right Scout is, on data whose truth is known.")


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(evaluations)


@evaluations.command("urls")
def urls(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="JSON Lines with 'dirty', 'clean' and, if there are, 'category'."
        ),
    ],
    misses: Annotated[
        bool, typer.Option("--misses", help="Also print the links that came out wrong.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Clean the links of a file and count which come out as expected."""
    evaluation = _evaluate_file(file)
    if as_json:
        print_json(_to_json(evaluation, misses))
        return
    rows = []
    for category, score in [*evaluation.categories.items(), ("all", evaluation.overall)]:
        rows.append((category, score.total, score.right, score.share))
    print_table(("category", "links", "right", "share"), rows)
    if misses and evaluation.misses:
        print_lines("")
        wrong = []
        for miss in evaluation.misses:
            links = (shorten(miss.dirty), shorten(miss.expected), shorten(miss.got))
            wrong.append((miss.line, *links))
        print_table(("line", "link", "expected", "came out"), wrong)


@evaluations.command("extraction")
def extraction(
    context: typer.Context,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A folder of SHOP.tar.xz files or SHOP/ folders.")
    ],
    train: Annotated[
        str,
        typer.Option(
            metavar="N,N",
            help="Pages to learn from at most, a column of figures for each number; 0: no known offer, only the pages.",
        ),
    ] = "",
    threshold: Annotated[
        str,
        typer.Option(
            metavar="F,F", help="Scores below which rules are dropped, a row of figures for each."
        ),
    ] = "",
    view: Annotated[
        Literal["full", "nosd", "html"],
        typer.Option(
            help="Pages as they are, without structured data, or without any script as well."
        ),
    ] = "full",
    stale: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Make this share of the known prices and titles wrong.",
        ),
    ] = 0.0,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=check_writable,
            help="Write what the last setting reads, a line a page.",
        ),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=check_writable,
            help="Draw the figures into this file, .svg or .html.",
        ),
    ] = None,
    misses: Annotated[
        bool,
        typer.Option(
            "--misses", help="Also count which of the missed values stand nowhere on their pages."
        ),
    ] = False,
    without: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME",
            help="Switch mechanisms of the learner off, and print the values that each shop gains or loses.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Learn from half of each shop's pages, read the rest, and count what is right."""
    from rules_generator.evaluation.ablation import evaluate_ablation
    from rules_generator.evaluation.chart import write_chart
    from rules_generator.evaluation.evaluate import EvaluationPlan, Setting, evaluate_extraction

    invocation = get_invocation(context)
    default = Setting()
    trains = numbers(train, int, "--train") or [default.train]
    thresholds = numbers(threshold, float, "--threshold", maximum=1) or [default.threshold]
    settings = tuple(Setting(*pair) for pair in product(trains, thresholds))
    plan = EvaluationPlan(settings, view, stale, misses)
    mechanisms = [name.strip() for name in without.split(",") if name.strip()]
    if mechanisms:
        with invocation.progress() as progress:
            changes = evaluate_ablation(
                data, plan, mechanisms, workers=invocation.settings.workers, progress=progress
            )
        if as_json:
            print_json(changes)
        else:
            _print_ablation(changes)
        return
    with invocation.progress() as progress:
        figures = evaluate_extraction(
            data,
            plan,
            predictions=predictions,
            workers=invocation.settings.workers,
            progress=progress,
        )
    if chart is not None:
        write_chart(figures, chart)
    if as_json:
        print_json(figures)
        return
    _print_extraction(figures)


@evaluations.command("matching")
def matching(
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET", help="A folder with left/right/pairs, or with catalog/crawled/truth."
        ),
    ],
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=check_writable, help="Write what was decided, as CSV."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Match a data set whose truth is known, and score the result."""
    from matcher.evaluation.evaluate import evaluate_matching

    figures = evaluate_matching(dataset, predictions)
    if as_json:
        print_json(figures)
    else:
        print_table(("figure", "value"), figures.items())


def numbers(
    text: str, kind: type[int] | type[float], flag: str, maximum: int = MAX_ROWS
) -> list[Any]:
    """Parse a list of numbers with commas, each from 0 to `maximum`. Raises BadParameter.

    >>> numbers("10,20", int, "--train"), numbers("0,0.5", float, "--threshold")
    ([10, 20], [0.0, 0.5])
    """
    refusal = f"{flag} {text!r} has to be numbers from 0 to {maximum} with commas between"
    parsed: list[Any] = []
    for part in text.split(","):
        if not part.strip():
            continue
        try:
            number = kind(part)
        except ValueError as error:
            raise typer.BadParameter(refusal) from error
        if not 0 <= number <= maximum:
            raise typer.BadParameter(refusal)
        parsed.append(number)
    return parsed


def _print_extraction(figures: dict[str, Any]) -> None:
    """Print the thesis's Table 4, then the last setting's attributes, pages and reliability."""
    _print_settings(figures)
    print_lines("")
    for page in figures["unread"]:
        print_lines(f"not read: {page['site']} {page['page']}: {page['reason']}")
    last = figures["settings"][-1]
    _print_attributes(last, figures.get("nowhere", {}))
    print_lines("")
    pages = last["pages"]
    print_lines(
        f"Pages of offers: {pages['recognised']} of {pages['offers']} recognised; "
        f"other pages: {pages['refused']} of {pages['others']} refused"
    )
    print_lines("")
    _print_reliability(last["reliability"], "Reliability: confidence, and the share that is right")
    if last["held_out_reliability"] is not None:
        print_lines("")
        title = "The same with each shop left out of the fit of the confidence"
        _print_reliability(last["held_out_reliability"], title)


def _print_settings(figures: dict[str, Any]) -> None:
    """Print a row per threshold with two columns per number of training pages."""
    settings = figures["settings"]
    trains = sorted({setting["train"] for setting in settings})
    rows: dict[float, list[Any]] = {}
    for setting in sorted(settings, key=itemgetter("threshold", "train")):
        threshold = setting["threshold"]
        row = rows.setdefault(threshold, [f"{threshold:g}"])
        row += [setting["accuracy"], setting["precision"]]
    columns = ["F"]
    for train in trains:
        columns += [f"accuracy {train}", f"precision {train}"]
    title = f"{figures['shops']} shops, view {figures['view']}, {figures['stale']:.0%} stale"
    print_table(columns, list(rows.values()), title)


def _print_attributes(setting: dict[str, Any], nowhere: dict[str, int]) -> None:
    """Print a row per attribute. `nowhere`: missed values that stand nowhere on their pages."""
    # Columns as printed, and the keys of their figures.
    columns = {
        "accuracy": "accuracy",
        "precision": "precision",
        "known": "truth",
        "found": "found",
        "right": "right",
        "extra": "extra",
        "of none known": "absent",
    }
    rows = []
    for attribute, counts in setting["attributes"].items():
        row = [attribute, *(counts[key] for key in columns.values())]
        if nowhere:
            row.append(nowhere.get(attribute, ""))
        rows.append(row)
    headings = ["attribute", *columns]
    if nowhere:
        headings.append("missed, nowhere")
    title = (
        f"By attribute, learnt from {setting['train']} pages, threshold {setting['threshold']:g}"
    )
    print_table(headings, rows, title)


def _print_reliability(reliability: dict[str, Any], title: str) -> None:
    rows = [
        (f"{row['from']:g} to {row['to']:g}", row["values"], row["mean_confidence"], row["right"])
        for row in reliability["all"]
    ]
    print_table(("confidence", "values", "mean", "right"), rows, title)


def _print_ablation(changes: dict[str, Any]) -> None:
    """Print the values that each shop gains or loses without some mechanisms, and the total."""
    counts = [
        f"{name}{suffix}"
        for name in ("right", "wrong", "extra")
        for suffix in ("_before", "_after")
    ]
    rows = [
        [row["shop"], row["attribute"], *(row[count] for count in counts)]
        for row in changes["changes"]
    ]
    rows.append(["all", "", *(changes["total"][count] for count in counts)])
    title = (
        f"Without {', '.join(changes['without'])}: {changes['shops']} shops, "
        f"view {changes['view']}, learnt from {changes['train']} pages"
    )
    columns = ("shop", "attribute", "right", "without", "wrong", "without", "extra", "without")
    print_table(columns, rows, title)
    losing = changes["losing"]
    print_lines(
        f"{len(losing)} shops lose values or precision"
        + (f": {', '.join(losing)}" if losing else "")
    )


def _evaluate_file(file: Path) -> "Evaluation":
    """Evaluate the cleaning of a file's links. Raises UnreadableFeed."""
    from catalog.errors import UnreadableFeed
    from url_cleaner.evaluation import evaluate_urls

    try:
        return evaluate_urls(file)
    except OSError as error:
        raise UnreadableFeed(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableFeed(str(error)) from error


def _to_json(evaluation: "Evaluation", misses: bool) -> dict[str, Any]:
    """Return the figures as promised for `--json`; with `misses`, the wrong links as well."""
    overall = evaluation.overall
    categories = {}
    for name, score in evaluation.categories.items():
        categories[name] = {"links": score.total, "right": score.right}
    figures: dict[str, Any] = {
        "links": overall.total,
        "right": overall.right,
        "share": overall.share,
        "categories": categories,
    }
    if misses:
        figures["misses"] = []
        for miss in evaluation.misses:
            figures["misses"].append(
                {
                    "line": miss.line,
                    "dirty": miss.dirty,
                    "expected": miss.expected,
                    "got": miss.got,
                }
            )
    return figures
