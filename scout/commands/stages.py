"""The stages of a run one at a time: `scout crawl`, `learn`, `parse`, `match`, `report`.

Each works on the shop's unfinished run, or on its newest one where all are done; `crawl` starts a
run where needed, and `report` takes the last finished run unless a report is due.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    EngineOption,
    Invocation,
    JsonOption,
    MasterOption,
    ShopArgument,
    get_invocation,
    open_engine,
    require_finished_run,
    require_run,
)
from scout.commands.findings.options import (
    BrandOption,
    CategoryOption,
    CauseOption,
    ChangeOption,
    PriceOption,
    SinceOption,
    VerdictFlags,
    make_filter,
)
from scout.terminal.output import format_cell, print_json, print_lines

if TYPE_CHECKING:
    from catalog.models import Shop, Stage
    from catalog.runtime.progress import Progress
    from scout.offer_filters import FilterTexts

    StageWork = Callable[[Shop, int, Progress], object]
    """The work of a stage: takes the shop, the run's id and a progress.

    Returns the stage's figures.
    """

LABELS = {
    "wanted": "more examples needed for",
    "by": "learnt from",
    "set_aside": "examples set aside",
}
"""Text for the figures whose JSON key does not explain itself."""

REPORT_FORMATS = ("html", "csv", "xlsx", "json", "feed-xml", "feed-csv", "feed-jsonl")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.command("crawl")(crawl)
    app.command("learn")(learn)
    app.command("parse")(parse)
    app.command("match")(match)
    app.command("report")(report)


def crawl(
    context: typer.Context,
    shop: ShopArgument,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="Take pages from a folder, a WARC file or a list of URLs instead.",
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_ROWS,
            metavar="N",
            help="Pages to fetch at most, instead of the shop's own limit.",
        ),
    ] = None,
    warc: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the crawled pages to a WARC file instead of fetching any."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch a shop's pages.

    Resumes a crawl that was stopped; begins a new run where all are done. With --warc, the crawled
    pages are written to a file (FILE.warc, or FILE.warc.gz), which --from reads again.
    """
    from catalog.models import Stage
    from crawler.crawl import crawl_shop

    invocation = get_invocation(context)
    if warc is not None:
        if source is not None:
            raise typer.BadParameter(
                "--warc writes the crawled pages and --from reads saved ones: give only one of the two"
            )
        if max_pages is not None:
            raise typer.BadParameter(
                "--max-pages limits what is fetched, and --warc fetches nothing: give only one of the two"
            )
        _export_warc(invocation, shop, warc, as_json)
        return

    def work(stored_shop: "Shop", run_id: int, progress: "Progress") -> object:
        return crawl_shop(
            invocation.settings,
            invocation.store,
            stored_shop,
            run_id,
            source=source,
            max_pages=max_pages,
            progress=progress,
        )

    _print_figures(_execute(invocation, shop, Stage.CRAWL, work), as_json)


def learn(
    context: typer.Context,
    shop: ShopArgument,
    examples: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Known offers to learn from at most, for each template of the pages.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="F", help="Drop selectors that score below this."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Learn a shop's extraction rules.

    The pages of known offers are the training examples.
    """
    from catalog.models import Stage
    from rules_generator.learn_job import learn_shop

    invocation = get_invocation(context)

    def work(stored_shop: "Shop", run_id: int, progress: "Progress") -> object:
        return learn_shop(
            invocation.settings,
            invocation.store,
            stored_shop,
            run_id,
            most=examples,
            threshold=threshold,
            anew=True,
            progress=progress,
        )

    _print_figures(_execute(invocation, shop, Stage.LEARN, work), as_json)


def parse(
    context: typer.Context,
    shop: ShopArgument,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes that read pages.")
    ] = None,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read the offers from a shop's pages.

    --engine spark reads the pages by Spark, with the same offers; its machines must reach the page
    store.
    """
    from catalog.errors import UsageError
    from catalog.models import Stage
    from parser.parse_job import parse_shop

    invocation = get_invocation(context)

    def work(stored_shop: "Shop", run_id: int, progress: "Progress") -> object:
        return parse_shop(
            invocation.settings,
            invocation.store,
            stored_shop,
            run_id,
            workers=workers,
            jobs=jobs,
            progress=progress,
        )

    if engine == "spark" and workers is not None:
        raise UsageError("--workers: is of --engine local; Spark has the cores of its --master")
    with open_engine(invocation, engine, master) as jobs:
        figures = _execute(invocation, shop, Stage.PARSE, work)
    _print_figures(figures, as_json)


def match(
    context: typer.Context,
    shop: ShopArgument,
    engine: EngineOption = "local",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Match a shop's offers with the catalog's.

    Each offer is then listed, missing, or unsure, with a score and reasons. --engine spark searches
    and compares the candidates by Spark, with the same verdicts.
    """
    from catalog.models import Stage
    from matcher.match_job import match_shop

    invocation = get_invocation(context)

    def work(stored_shop: "Shop", run_id: int, progress: "Progress") -> object:
        return match_shop(
            invocation.settings,
            invocation.store,
            stored_shop,
            run_id,
            jobs=jobs,
            anew=True,
            progress=progress,
        )

    with open_engine(invocation, engine, master) as jobs:
        figures = _execute(invocation, shop, Stage.MATCH, work)
    _print_figures(figures, as_json)


def report(
    context: typer.Context,
    shop: ShopArgument,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="LIST",
            help=f"Any of {','.join(REPORT_FORMATS)}, with commas between; a feed-... holds the missing "
            "offers, ready to be imported.",
        ),
    ] = "html,csv,xlsx,json",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The folder to write to, by default the run's own."),
    ] = None,
    run_id: Annotated[
        int | None, typer.Option("--run", metavar="ID", help="An earlier run of the shop.")
    ] = None,
    language: Annotated[
        Literal["en", "de"] | None,
        typer.Option(
            help="The language of HTML and XLSX, by default that of the settings (SCOUT_LANGUAGE)."
        ),
    ] = None,
    category: CategoryOption = None,
    brand: BrandOption = None,
    price: PriceOption = None,
    cause: CauseOption = None,
    since: SinceOption = None,
    change: ChangeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run.

    With a filter, only feeds of the missing offers that it keeps: --format feed-... .
    """
    from catalog.models import Stage
    from reports.write.report_files import report_shop
    from scout.offer_filters import FilterTexts

    invocation = get_invocation(context)
    formats = _parse_formats(format_)
    texts = FilterTexts(category, brand, price, cause, change, since)
    if texts.given():
        _print_figures(_export_feeds(invocation, shop, formats, texts, out, run_id), as_json)
        return

    settings = invocation.settings
    if language is not None:
        settings = settings.model_copy(update={"language": language})

    def work(stored_shop: "Shop", run_id: int, progress: "Progress") -> object:
        return report_shop(
            settings,
            invocation.store,
            stored_shop,
            run_id,
            formats=formats,
            out=out,
            progress=progress,
        )

    _print_figures(_execute(invocation, shop, Stage.REPORT, work, run_id), as_json)


def _export_feeds(
    invocation: Invocation,
    name: str,
    formats: tuple[str, ...],
    texts: "FilterTexts",
    out: Path | None,
    run_id: int | None,
) -> dict[str, Any]:
    """Write the missing offers that a filter keeps as feeds, which no run records as its report."""
    from reports.write.report_files import export_feeds
    from scout.pipeline import run_records

    settings, store, shop = invocation.settings, invocation.store, invocation.shop(name)
    if run_id is None:
        run_id = run_records.run_key(require_finished_run(invocation, shop))
    run_id = run_records.check_run_id(store, shop, run_id)
    where = make_filter(store, shop, VerdictFlags(), texts)
    paths = export_feeds(settings, store, shop, run_id, where, formats=formats, out=out)
    return {"run": run_id} | run_records.storable_figures(paths)


def _export_warc(invocation: Invocation, name: str, file: Path, as_json: bool) -> None:
    from crawler.sources.warc_writer import write_warc
    from scout.pipeline.run_records import storable_figures

    settings, store, shop = invocation.settings, invocation.store, invocation.shop(name)
    with invocation.progress() as progress:
        result = write_warc(settings, store, shop, file, progress=progress)
        _print_figures(storable_figures(result), as_json)


def _execute(
    invocation: Invocation,
    name: str,
    stage: "Stage",
    work: "StageWork",
    run_id: int | None = None,
) -> dict[str, Any]:
    """Execute one stage under the shop's lease; return the run's id and the stage's figures."""
    from catalog.models import Stage
    from scout.job_queue.job_kinds import stage_purpose
    from scout.pipeline import run_records, shop_run

    shop = invocation.shop(name)
    purpose = stage_purpose(stage.value)
    locked = shop_run.lock_shop(invocation.settings, invocation.store, shop, purpose)
    with locked as lease, invocation.progress() as progress:
        # All that the stage writes is written under the lease.
        invocation.store = lease.store
        selected_run = _select_run(invocation, shop, stage, run_id)
        result = run_records.record_stage(
            invocation.store,
            selected_run,
            stage,
            lambda run_id: work(shop, run_id, lease.watch(progress)),
        )
        if stage is Stage.MATCH:
            _store_again(invocation, shop, selected_run)
    return {"run": selected_run} | run_records.storable_figures(result)


def _store_again(invocation: Invocation, shop: "Shop", run_id: int) -> None:
    """Store the findings of a finished run again after it was matched again."""
    from catalog.models import Run, RunState
    from reports.model.finding_storage import store_run_findings

    with invocation.store.read() as session:
        is_finished = session.get_one(Run, run_id).state == RunState.DONE
    if is_finished:
        store_run_findings(invocation.store, shop, run_id, invocation.settings.rates)


def _select_run(invocation: Invocation, shop: "Shop", stage: "Stage", run_id: int | None) -> int:
    from catalog.models import Stage
    from scout.pipeline import run_records

    # Only a crawl can start a run: the other stages work on the pages of one.
    if stage is Stage.CRAWL:
        return run_records.resume_or_start(invocation.store, shop)
    if run_id is not None:
        return run_records.check_run_id(invocation.store, shop, run_id)
    if stage is Stage.REPORT:
        return _run_to_report(invocation, shop)
    return run_records.run_key(require_run(invocation, shop))


def _run_to_report(invocation: Invocation, shop: "Shop") -> int:
    """Return the run whose report is due, else the last finished one, else the newest."""
    from catalog.models import Stage
    from scout.pipeline import run_records

    newest = require_run(invocation, shop)
    runs = run_records.shop_runs(invocation.store, shop)
    if runs.finished is None or (runs.under_way and newest.stage == Stage.REPORT):
        return run_records.run_key(newest)
    return run_records.run_key(runs.finished)


def _print_figures(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        print_lines(f"{LABELS.get(name, name)}: {_format_figure(value)}")


def _format_figure(value: object) -> str:
    if isinstance(value, dict) and value:
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return format_cell(value)


def _parse_formats(text: str) -> tuple[str, ...]:
    """Parse a list of report formats with commas.

    >>> _parse_formats("html, csv")
    ('html', 'csv')
    """
    formats = tuple(part.strip() for part in text.split(",") if part.strip())
    if not formats or not set(formats) <= set(REPORT_FORMATS):
        raise typer.BadParameter(
            f"--format {text!r}: choose from {','.join(REPORT_FORMATS)}, with commas between"
        )
    return formats
