"""Feeds that were uploaded: files in a folder of the data folder, named by a random token.

A token leads to a file of its own shop only. Files that are a day old are deleted at the next upload to
their shop, or by `scout db prune`.
"""

import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from catalog.errors import StorageFull, UsageError
from catalog.models import Shop
from catalog.runtime.settings import Settings

MAX_UPLOAD = 2_000_000_000
"""Bytes of an uploaded feed: a bound against hostile input."""

_KEPT_SECONDS = 24 * 3600
_CHUNK = 1_000_000  # bytes copied at a time
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 80  # characters of a file's name that are kept


@dataclass(frozen=True)
class Upload:
    """An uploaded feed: its token, and the file under the name that it was uploaded with."""

    token: str
    path: Path


def store_upload(settings: Settings, shop: Shop, file: BinaryIO, name: str) -> Upload:
    """Store an uploaded file. Raises UsageError where it is too large, StorageFull.

    Of its name only letters, digits, dots, dashes and underscores are kept.
    """
    folder = _shop_folder(settings, shop)
    _delete_old(folder)
    token = secrets.token_urlsafe(16)
    target = folder / token
    path = target / (_UNSAFE.sub("-", name)[-_MAX_NAME:].lstrip(".-") or "feed")
    try:
        target.mkdir(parents=True)
        _copy(file, path)
    except BaseException as error:
        # Whatever stops it, half a feed is not kept.
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, OSError):
            raise StorageFull(f"the feed cannot be stored: {error.strerror}") from error
        raise
    return Upload(token, path)


def _copy(file: BinaryIO, path: Path) -> None:
    copied = 0
    with path.open("wb") as out:
        while chunk := file.read(_CHUNK):
            copied += len(chunk)
            if copied > MAX_UPLOAD:
                raise UsageError(f"the feed has more than {MAX_UPLOAD // 10**6:,} MB")
            out.write(chunk)


def find_upload(settings: Settings, shop: Shop, token: str) -> Upload:
    """Return an uploaded feed of a shop. Raises UsageError where it is there no more."""
    if _TOKEN.fullmatch(token):
        folder = _shop_folder(settings, shop) / token
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        if files:
            return Upload(token, files[0])
    raise UsageError("this upload is there no more: choose the file again")


def _shop_folder(settings: Settings, shop: Shop) -> Path:
    return settings.data_dir.resolve() / "uploads" / str(shop.id)


def _delete_old(folder: Path) -> None:
    oldest = time.time() - _KEPT_SECONDS
    if not folder.is_dir():
        return
    for upload in list(folder.iterdir()):
        # Another process may delete it at the same time.
        with suppress(FileNotFoundError):
            if upload.stat().st_mtime < oldest:
                shutil.rmtree(upload, ignore_errors=True)
