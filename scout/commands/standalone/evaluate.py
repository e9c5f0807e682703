"""`scout evaluate`: how right Scout is, on data whose truth is known."""

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
    found = _evaluated(file)
    if as_json:
        print_json(_as_json(found, misses))
        return
    overall = found.overall
    rows = [(name, one.total, one.right, one.share) for name, one in found.categories.items()]
    print_table(
        ("category", "links", "right", "share"),
        [*rows, ("all", overall.total, overall.right, overall.share)],
    )
    if misses and found.misses:
        print_lines("")
        wrong = [
            (one.line, shorten(one.dirty), shorten(one.expected), shorten(one.got))
            for one in found.misses
        ]
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
            help="Make this share of the taught prices and titles wrong.",
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

    here = get_invocation(context)
    default = Setting()
    trains = numbers(train, int, "--train") or [default.train]
    thresholds = numbers(threshold, float, "--threshold", most=1) or [default.threshold]
    settings = tuple(Setting(one, other) for one in trains for other in thresholds)
    plan = EvaluationPlan(settings, view, stale, misses)
    mechanisms = [name.strip() for name in without.split(",") if name.strip()]
    if mechanisms:
        with here.progress() as progress:
            changes = evaluate_ablation(
                data, plan, mechanisms, workers=here.settings.workers, progress=progress
            )
        if as_json:
            print_json(changes)
        else:
            _print_ablation(changes)
        return
    with here.progress() as progress:
        figures = evaluate_extraction(
            data,
            plan,
            predictions=predictions,
            workers=here.settings.workers,
            progress=progress,
        )
    if chart is not None:
        write_chart(figures, chart)
    if as_json:
        print_json(figures)
        return
    _tell_extraction(figures)


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


def numbers(text: str, kind: type[int] | type[float], flag: str, most: int = MAX_ROWS) -> list[Any]:
    """The numbers of a list with commas, none below 0 or above `most`. Raises BadParameter.

    >>> numbers("10,20", int, "--train"), numbers("0,0.5", float, "--threshold")
    ([10, 20], [0.0, 0.5])
    """
    try:
        found = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = [-1]
    if any(not 0 <= one <= most for one in found):
        raise typer.BadParameter(
            f"{flag} {text!r} has to be numbers from 0 to {most} with commas between"
        )
    return found


def _tell_extraction(figures: dict[str, Any]) -> None:
    """The thesis's Table 4: a row per threshold, two columns per number of training pages; then the attributes."""
    settings = figures["settings"]
    trains = sorted({one["train"] for one in settings})
    by_place = {(one["threshold"], one["train"]): one for one in settings}
    columns = [f"{name} {train}" for train in trains for name in ("accuracy", "precision")]
    rows = [
        [
            f"{threshold:g}",
            *(
                by_place[threshold, train][name]
                for train in trains
                for name in ("accuracy", "precision")
            ),
        ]
        for threshold in sorted({one["threshold"] for one in settings})
    ]
    print_table(
        ("F", *columns),
        rows,
        f"{figures['shops']} shops, view {figures['view']}, {figures['stale']:.0%} stale",
    )
    print_lines("")
    for one in figures["unread"]:
        print_lines(f"not read: {one['site']} {one['page']}: {one['reason']}")
    last = settings[-1]
    keys = ("accuracy", "precision", "truth", "found", "right", "extra", "absent")
    nowhere = {name: [count] for name, count in figures.get("nowhere", {}).items()}
    rows = [
        [name, *(one[key] for key in keys), *nowhere.get(name, [])]
        for name, one in last["attributes"].items()
    ]
    title = f"By attribute, learnt from {last['train']} pages, threshold {last['threshold']:g}"
    columns = [
        "attribute",
        "accuracy",
        "precision",
        "known",
        "found",
        "right",
        "extra",
        "of none known",
    ]
    print_table((*columns, *(["missed, nowhere"] if nowhere else [])), rows, title)
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


def _print_reliability(reliability: dict[str, Any], title: str) -> None:
    rows = [
        (f"{row['from']:g} to {row['to']:g}", row["values"], row["said"], row["right"])
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


def _evaluated(file: Path) -> "Evaluation":
    from catalog.errors import UnreadableFeed
    from url_cleaner.evaluation import evaluate_urls

    try:
        return evaluate_urls(file)
    except OSError as error:
        raise UnreadableFeed(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableFeed(str(error)) from error


def _as_json(found: "Evaluation", misses: bool) -> dict[str, Any]:
    figures = {
        name: {"links": one.total, "right": one.right} for name, one in found.categories.items()
    }
    said = {
        "links": found.overall.total,
        "right": found.overall.right,
        "share": found.overall.share,
    }
    wrong = [
        {"line": one.line, "dirty": one.dirty, "expected": one.expected, "got": one.got}
        for one in found.misses
    ]
    return {**said, "categories": figures} | ({"misses": wrong} if misses else {})
