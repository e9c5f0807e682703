"""Write: the report of a run as files, each whole or not there.

A file is written under another name in the same folder and moved when complete, so that a killed or failed report never
leaves half a file under its name, and running it again leaves nothing doubled.
"""

import errno
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.models import Shop
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.model.report_model import Story, gather
from reports.write.html_report import write_html
from reports.write.json_report import write_json
from reports.write.sheets import write_csv, write_xlsx

FORMATS = ("html", "csv", "xlsx", "json")
_WRITERS: dict[str, Callable[[Path, Story], None]] = {
    "html": write_html,
    "csv": write_csv,
    "xlsx": write_xlsx,
    "json": write_json,
}


def report_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    formats: Sequence[str] = FORMATS,
    out: Path | None = None,
    progress: Progress = silent,
) -> dict[str, Path]:
    """Write the report of a run; gives the file of each format. Made in the data folder unless `out` names another.

    Raises UsageError (an unknown format, a run that the shop does not have), StorageFull, StoreError.
    """
    for name in formats:
        if name not in _WRITERS:
            raise UsageError(f"no report format is called {name!r}: choose of {', '.join(FORMATS)}")
    folder = out if out is not None else folder_of(settings, shop, run_id)
    story = gather(store, shop, run_id, progress=progress)
    paths = {}
    for number, name in enumerate(formats):
        progress("report files", number, len(formats))
        paths[name] = _whole(folder / f"report.{name}", _WRITERS[name], story)
    progress("report files", len(formats), len(formats))
    return paths


def folder_of(settings: Settings, shop: Shop, run_id: int) -> Path:
    """Where the reports of a run are kept: a name that any file system takes, whatever the shop is called."""
    name = re.sub(r"[^a-z0-9]+", "-", shop.name.casefold()).strip("-")[:40]
    return settings.data_dir / "reports" / f"{shop.id}-{name}".rstrip("-") / str(run_id)


def _whole(path: Path, write: Callable[[Path, Story], None], story: Story) -> Path:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(part, story)
        part.replace(path)
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
            part.unlink()
    return path
