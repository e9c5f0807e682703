"""Report files: the report of a run in each format, every file complete or absent.

A file is written under a temporary name in the same folder and renamed when it is complete. A
failed or killed report leaves no partial file under the final name, and writing it again leaves no
duplicates.
"""

import errno
import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.language.languages import Language, load_language
from catalog.models import RunState, Shop, Verdict
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.findings import FindingFilter, read_match_urls
from catalog.storage.store import Store
from reports.model.finding_storage import ALL_VERDICTS, backfill_findings, store_findings
from reports.model.findings import ensure_stored, iterate_findings
from reports.model.offer_details import read_offer_details
from reports.model.offer_sources import iterate_rows
from reports.model.report_model import Report, build_report
from reports.statistics.findings_reader import Finding
from reports.write.feed_export import (
    last_import_columns,
    read_feed_offers,
    write_feeds,
)
from reports.write.html_report import write_html
from reports.write.json_report import write_json
from reports.write.spreadsheets import (
    write_csv,
    write_findings_csv,
    write_findings_xlsx,
    write_xlsx,
)

FORMATS = ("html", "csv", "xlsx", "json")
# Feeds of the missing offers, and the files they are written to.
FEED_FORMATS = {
    "feed-xml": "missing.xml",
    "feed-csv": "missing.csv",
    "feed-jsonl": "missing.jsonl",
}
_FINDING_WRITERS: dict[str, Callable[[Path, Iterable[Finding]], None]] = {
    "csv": write_findings_csv,
    "xlsx": write_findings_xlsx,
}
EXPORT_FORMATS = (*_FINDING_WRITERS, *FEED_FORMATS)
"""Formats of a list of findings that a filter keeps."""

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
        for number, name in enumerate(name for name in formats if name not in FEED_FORMATS):
            progress("report files", number, len(formats))
            paths[name] = folder / f"report.{name}"
            with _complete_files({name: paths[name]}) as temporary:
                _write_format(store, name, report, language, temporary[name])
        feeds = {name: folder / FEED_FORMATS[name] for name in formats if name in FEED_FORMATS}
        if feeds:
            progress("report files", len(paths), len(formats))
            urls = [finding.url for finding in report.findings_with(Verdict.MISSING)]
            _write_feeds(store, shop, run_id, feeds, urls)
    progress("report files", len(formats), len(formats))
    paths |= feeds
    return {name: paths[name] for name in formats}


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
    """Write one file of a report that is no feed."""
    shop_id = report.shop.id or 0
    if format == "html":
        with store.read() as session:
            write_html(path, report, partial(read_offer_details, session, shop_id), language)
    elif format == "json":
        with store.read() as session:
            write_json(path, report, partial(iterate_rows, session, shop_id))
    elif format == "xlsx":
        write_xlsx(path, report, language)
    else:
        write_csv(path, report)


def _write_feeds(
    store: Store, shop: Shop, run_id: int, paths: Mapping[str, Path], urls: Sequence[str]
) -> None:
    """Write the offers of some findings of a run as feeds; `paths` has a file for each format."""
    with _complete_files(paths) as temporary, store.read() as session:
        write_feeds(
            temporary,
            read_feed_offers(session, run_id, urls),
            title=f"Missing offers of {shop.name}",
            columns=last_import_columns(session, shop.id),
        )


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
    paths = {name: folder / f"filtered-{FEED_FORMATS[name]}" for name in formats}
    _write_feeds(store, shop, run_id, paths, urls)
    return paths


def export_findings(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    where: FindingFilter,
    *,
    format: str,
    out: Path,
) -> Path:
    """Write the findings of a run that a filter keeps to a folder, in one of `EXPORT_FORMATS`.

    A feed has the missing ones of them. Raises UsageError (an unknown format, or a run that the
    shop does not have), StorageFull, StoreError.
    """
    if format in FEED_FORMATS:
        feeds = export_feeds(settings, store, shop, run_id, where, formats=[format], out=out)
        return feeds[format]
    if format not in _FINDING_WRITERS:
        raise UsageError(f"format {format[:40]!r} is none of {', '.join(EXPORT_FORMATS)}")
    findings = iterate_findings(store, shop, run_id, where)
    path = out / f"findings.{format}"
    with _complete_files({format: path}) as temporary:
        _FINDING_WRITERS[format](temporary[format], findings)
    return path


def _store_report(
    settings: Settings, store: Store, shop: Shop, run_id: int, progress: Progress
) -> Report:
    """Build the report of a run, and store its findings if the run ends with it or has ended."""
    backfill_findings(store, shop, before=run_id, progress=progress, rates=settings.rates)
    report = build_report(
        store, shop, run_id, keep=ALL_VERDICTS, progress=progress, rates=settings.rates
    )
    if report.run_state is RunState.DONE:
        store_findings(store, report)
    # No report file lists the listed offers.
    return replace(report, listed=[])


def report_folder(settings: Settings, shop: Shop, run_id: int) -> Path:
    """Return the folder of a run's reports, under a name that is valid on every file system."""
    name = re.sub(r"[^a-z0-9]+", "-", shop.name.casefold()).strip("-")[:_MAX_FOLDER_NAME]
    return settings.data_dir / "reports" / f"{shop.id}-{name}".rstrip("-") / str(run_id)


@contextmanager
def _complete_files(paths: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Give files to write under temporary names, and rename them when all are complete.

    Raises StorageFull, StoreError.
    """
    # The process id keeps two processes that write the same report apart.
    temporary = {
        name: path.with_name(f".{path.name}.{os.getpid()}.part") for name, path in paths.items()
    }
    folder = next(iter(paths.values())).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield temporary
        for name, path in paths.items():
            temporary[name].replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(
                f"no space left for the report in {folder}: free some, then report again"
            ) from error
        raise StoreError(
            f"the report cannot be written to {folder}: {error.strerror or error}"
        ) from error
    finally:
        for path in temporary.values():
            with suppress(OSError):
                path.unlink()
