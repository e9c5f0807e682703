"""The steps of a run one at a time: `scout crawl`, `learn`, `parse`, `match`, `report`.

Each works on the shop's unfinished run, or on its newest one where all are done; `crawl` begins one where it has to.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import MOST_ROWS, Call, Json, ShopName, call, latest_run
from scout.terminal.output import cell, say, say_json

if TYPE_CHECKING:
    from catalog.models import Shop, Stage
    from catalog.runtime.progress import Progress

LABELS = {
    "wanted": "more examples would make sure of",
    "by": "learnt from",
    "set_aside": "examples set aside",
}


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    for command in (crawl, learn, parse, match, report):
        app.command(command.__name__)(command)


def crawl(
    context: typer.Context,
    shop: ShopName,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="Pages from a folder, a WARC file or a list of URLs instead.",
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_ROWS,
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
    as_json: Json = False,
) -> None:
    """Fetch a shop's pages.

    Goes on where a crawl that was stopped left off; begins a new run where all are done. With --warc, what was
    crawled is written to a file (FILE.warc, or FILE.warc.gz), which --from reads again.
    """
    from catalog.models import Stage
    from crawler.crawl import crawl_shop

    here = call(context)
    if warc is not None:
        _export(here, shop, warc, source, as_json)
        return

    def step(found: "Shop", run_id: int, progress: "Progress") -> object:
        return crawl_shop(
            here.settings,
            here.store,
            found,
            run_id,
            source=source,
            max_pages=max_pages,
            progress=progress,
        )

    _tell(_take(here, shop, Stage.CRAWL, step), as_json)


def learn(
    context: typer.Context,
    shop: ShopName,
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
    as_json: Json = False,
) -> None:
    """Learn the rules by which a shop is read.

    The pages of offers that the catalog knows are the examples.
    """
    from catalog.models import Stage
    from rules_generator.learn import learn_shop

    here = call(context)

    def step(found: "Shop", run_id: int, progress: "Progress") -> object:
        return learn_shop(
            here.settings,
            here.store,
            found,
            run_id,
            most=examples,
            threshold=threshold,
            anew=True,
            progress=progress,
        )

    _tell(_take(here, shop, Stage.LEARN, step), as_json)


def parse(
    context: typer.Context,
    shop: ShopName,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes that read pages.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read the offers from a shop's pages."""
    from catalog.models import Stage
    from parser.parse_job import parse_shop

    here = call(context)

    def step(found: "Shop", run_id: int, progress: "Progress") -> object:
        return parse_shop(
            here.settings, here.store, found, run_id, workers=workers, progress=progress
        )

    _tell(_take(here, shop, Stage.PARSE, step), as_json)


def match(
    context: typer.Context,
    shop: ShopName,
    engine: Annotated[Literal["local"], typer.Option(help="Where the work is done.")] = "local",
    as_json: Json = False,
) -> None:
    """Pair a shop's offers with the catalog's.

    Each is then listed, missing, or unsure, with a score and reasons.
    """
    from catalog.models import Stage
    from matcher.match_job import match_shop

    here = call(context)

    def step(found: "Shop", run_id: int, progress: "Progress") -> object:
        return match_shop(
            here.settings, here.store, found, run_id, engine=engine, progress=progress
        )

    _tell(_take(here, shop, Stage.MATCH, step), as_json)


def report(
    context: typer.Context,
    shop: ShopName,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="LIST", help="Any of html,csv,xlsx,json, with commas between."
        ),
    ] = "html,csv,xlsx,json",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where to write; a folder of the run's own unless given."
        ),
    ] = None,
    run_id: Annotated[
        int | None, typer.Option("--run", metavar="ID", help="An earlier run of the shop.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run."""
    from catalog.models import Stage
    from reports.write.write import report_shop

    here = call(context)
    formats = _formats(format_)

    def step(found: "Shop", run_id: int, progress: "Progress") -> object:
        return report_shop(
            here.settings, here.store, found, run_id, formats=formats, out=out, progress=progress
        )

    _tell(_take(here, shop, Stage.REPORT, step, run_id), as_json)


def _export(here: Call, name: str, file: Path, source: str | None, as_json: bool) -> None:
    from crawler.sources.warc_writer import write_warc
    from scout.pipeline import pipeline

    if source is not None:
        raise typer.BadParameter(
            "--warc writes what was crawled, --from reads something else: give one of them"
        )
    found = here.shop(name)
    with here.progress() as progress:
        _tell(
            pipeline.figures_of(
                write_warc(here.settings, here.store, found, file, progress=progress)
            ),
            as_json,
        )


def _take(
    here: Call,
    name: str,
    stage: "Stage",
    step: "Callable[[Shop, int, Progress], object]",
    run_id: int | None = None,
) -> dict[str, Any]:
    from scout.pipeline import pipeline

    found = here.shop(name)
    with pipeline.only_one(here.settings, found), here.progress() as progress:
        run = _run_for(here, found, stage, run_id)
        done = pipeline.do(here.store, run, stage, lambda run_id: step(found, run_id, progress))
    return {"run": run} | pipeline.figures_of(done)


def _run_for(here: Call, shop: "Shop", stage: "Stage", run_id: int | None) -> int:
    from catalog.models import Stage
    from scout.pipeline import pipeline

    if stage is Stage.CRAWL:
        return pipeline.take_up(here.store, shop)
    if run_id is not None:
        return pipeline.run_of(here.store, shop, run_id)
    return pipeline.run_key(latest_run(here, shop))


def _tell(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(figures)
        return
    for name, value in figures.items():
        counts = value.items() if isinstance(value, dict) else ()
        said = ", ".join(f"{inner} {number}" for inner, number in counts) if counts else cell(value)
        say(f"{LABELS.get(name, name)}: {said}")


def _formats(text: str) -> tuple[str, ...]:
    """The formats of a list with commas.

    >>> _formats("html, csv")
    ('html', 'csv')
    """
    formats = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [part for part in formats if part not in ("html", "csv", "xlsx", "json")]
    if unknown or not formats:
        raise typer.BadParameter(
            f"--format {text!r}: choose from html,csv,xlsx,json, with commas between"
        )
    return formats
