"""Files that are made for one download, and deleted when it is over."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from scout.web.files.report_files import MEDIA_TYPES

FEED_MEDIA_TYPES = {
    ".xml": "application/xml",
    ".jsonl": "application/x-ndjson",
}


def download_response(make: Callable[[Path], Path], name: str) -> FileResponse:
    """Return a file that `make` writes into a new folder; `name` is its name without the ending."""
    folder = Path(tempfile.mkdtemp(prefix="scout-download-"))
    try:
        path = make(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    ending = path.suffix
    media_type = MEDIA_TYPES.get(ending.removeprefix("."), FEED_MEDIA_TYPES.get(ending))
    return FileResponse(
        path,
        media_type=media_type,
        filename=f"{name}{ending}",
        background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
    )
