"""Report files: the report of a run in each format, every file complete or absent.

A file is written under a temporary name in the same folder and renamed when it is complete. A
failed or killed report leaves no partial file under the final name, and writing it again leaves no
duplicates.
"""

import errno
import gc
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.language.languages import Language, load_language
from catalog.models import RunState, Shop, Stage, Verdict
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.findings import FindingFilter, read_match_urls
from catalog.storage.store import Store
from reports.model.finding_storage import ALL_VERDICTS, backfill_findings, store_findings
from reports.model.findings import ensure_stored
from reports.model.offer_details import read_offer_details
from reports.model.report_model import Report, build_report
from reports.write.feed_export import (
    last_import_columns,
    read_feed_offers,
    write_csv_feed,
    write_jsonl_feed,
    write_xml_feed,
)
from reports.write.html_report import write_html
from reports.write.json_report import write_json
from reports.write.spreadsheets import write_csv, write_xlsx

Writer = Callable[[Path, Report], None]

FORMATS = ("html", "csv", "xlsx", "json")
# Feeds of the missing offers, and the files they are written to.
FEED_FORMATS = {
    "feed-xml": "missing.xml",
    "feed-csv": "missing.csv",
    "feed-jsonl": "missing.jsonl",
}
_WRITERS: dict[str, Writer] = {
    "csv": write_csv,
    "json": write_json,
}
_MAX_FOLDER_NAME = 40  # characters of a shop's name in a path


def report_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    formats: Sequence[str] = FORMATS,
    out: Path | None = None,
    progress: Progress = no_progress,
) -> dict[str, Path]:
    """Store the findings of a run, write its report, and return the file of each format.

    `out` replaces the folder below the data folder. HTML and XLSX are in the language of the
    settings.

    Raises UsageError (unknown format, or a run that the shop does not have), StorageFull,
    StoreError.
    """
    known_formats = (*FORMATS, *FEED_FORMATS)
    for name in formats:
        if name not in known_formats:
            choices = ", ".join(known_formats)
            raise UsageError(f"{name!r} is not a report format: choose from {choices}")
    folder = out
    if folder is None:
        folder = report_folder(settings, shop, run_id)
    with _paused_cycle_collection():
        report = _store_report(settings, store, shop, run_id, progress)
        language = load_language(settings.language)
        paths = {}
        for number, name in enumerate(formats):
            progress("report files", number, len(formats))
            file_name = FEED_FORMATS.get(name, f"report.{name}")
            write = partial(_write_format, store, name, report, language)
            paths[name] = _write_complete(folder / file_name, write)
    progress("report files", len(formats), len(formats))
    return paths


@contextmanager
def _paused_cycle_collection() -> Iterator[None]:
    """Pause the collection of reference cycles.

    A large report keeps millions of objects without cycles; looking for some takes a third of its
    time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _write_format(
    store: Store, format: str, report: Report, language: Language, path: Path
) -> None:
    """Write one file of a report."""
    if format in FEED_FORMATS:
        _write_report_feed(store, format, report, path)
    elif format == "html":
        _write_html_with_details(store, report, language, path)
    elif format == "xlsx":
        write_xlsx(path, report, language)
    else:
        _WRITERS[format](path, report)


def _write_html_with_details(store: Store, report: Report, language: Language, path: Path) -> None:
    with store.read() as session:
        write_html(path, report, partial(read_offer_details, session), language)


def _write_report_feed(store: Store, format: str, report: Report, path: Path) -> None:
    """Write the missing offers of a report as a feed."""
    urls = [finding.url for finding in report.findings_with(Verdict.MISSING)]
    _write_feed(store, report.shop, report.run.id or 0, format, urls, path)


def _write_feed(
    store: Store, shop: Shop, run_id: int, format: str, urls: Sequence[str], path: Path
) -> None:
    """Write the offers of some findings of a run as a feed."""
    with store.read() as session:
        offers = read_feed_offers(session, run_id, urls)
        if format == "feed-xml":
            write_xml_feed(path, offers, title=f"Missing offers of {shop.name}")
        elif format == "feed-jsonl":
            write_jsonl_feed(path, offers)
        else:
            write_csv_feed(path, offers, last_import_columns(session, shop.id))


def export_feeds(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    where: FindingFilter,
    *,
    formats: Sequence[str] = tuple(FEED_FORMATS),
    out: Path | None = None,
) -> dict[str, Path]:
    """Write the missing offers of a run that a filter keeps as feeds; returns the files.

    They are no part of the run's report and do not replace its feeds. `out` replaces the folder of
    the report.

    Raises UsageError (a format that is no feed, or a run that the shop does not have), StorageFull,
    StoreError.
    """
    for name in formats:
        if name not in FEED_FORMATS:
            raise UsageError(
                f"filters apply to feeds only, not to {name!r}: "
                f"give --format with any of {','.join(FEED_FORMATS)}"
            )
    ensure_stored(store, shop, run_id)
    missing = replace(where, verdicts=frozenset({Verdict.MISSING}), includes_ignored=False)
    with store.read() as session:
        urls = read_match_urls(session, run_id, missing)
    folder = report_folder(settings, shop, run_id) if out is None else out
    paths = {}
    for name in formats:
        writer = partial(_write_feed, store, shop, run_id, name, urls)
        paths[name] = _write_complete(folder / f"filtered-{FEED_FORMATS[name]}", writer)
    return paths


def _store_report(
    settings: Settings, store: Store, shop: Shop, run_id: int, progress: Progress
) -> Report:
    """Build the report of a run, and store its findings if the run ends with it or has ended."""
    backfill_findings(store, shop, before=run_id, progress=progress, rates=settings.rates)
    report = build_report(
        store, shop, run_id, keep=ALL_VERDICTS, progress=progress, rates=settings.rates
    )
    run = report.run
    is_ending = run.state == RunState.RUNNING and run.stage == Stage.REPORT
    if is_ending or run.state == RunState.DONE:
        store_findings(store, report)
    # No report file lists the listed offers.
    return replace(report, listed=[])


def report_folder(settings: Settings, shop: Shop, run_id: int) -> Path:
    """Return the folder of a run's reports, under a name that is valid on every file system."""
    name = re.sub(r"[^a-z0-9]+", "-", shop.name.casefold()).strip("-")[:_MAX_FOLDER_NAME]
    return settings.data_dir / "reports" / f"{shop.id}-{name}".rstrip("-") / str(run_id)


def _write_complete(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file under a temporary name and rename it. Raises StorageFull, StoreError."""
    # The process id keeps two processes that write the same report apart.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(
                f"no space left for the report in {path.parent}: free some, then report again"
            ) from error
        raise StoreError(
            f"the report cannot be written to {path.parent}: {error.strerror or error}"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return path
