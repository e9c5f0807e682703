"""Page store: bodies compressed with zstandard, named by the hash of their content, on any fsspec
file system.

A body is written under a temporary name and then moved, so that after a kill every name holds a
complete body. After a power cut it may not, since nothing is forced onto the disk: the content is
compared before a file is trusted, and `holds` verifies it. Equal content is stored once, however
many pages share it.

An object store such as S3 does not lose a confirmed object, and never shows a part of one. So a
body is one request there. Scout passes no credentials: fsspec's file systems find them in the
environment or in their own files.
"""

import errno
import hashlib
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import fsspec
import zstandard

from catalog.errors import BodiesUnreachable, ConfigError, StorageFull, StoreError
from catalog.runtime.served_process import share_variables

# zstandard's own default level.
COMPRESSION_LEVEL = 3
# Bytes of an unpacked body. Bound against hostile input.
MAX_BODY_SIZE = 64_000_000
# Environment variables by which file systems outside this machine are told who asks.
CREDENTIAL_PREFIXES = ("AWS_", "AZURE_", "FSSPEC_", "GCLOUD_", "GOOGLE_")
# Schemes of file systems of this machine.
FOLDER_SCHEMES = ("file", "local")
LOCAL_SCHEMES = (*FOLDER_SCHEMES, "memory")
# Schemes of object stores: durable, and without half-written objects.
OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss")
# Bytes of the hash in a body's name.
_HASH_SIZE = 20
# Characters of a body's name that name its folder, and the ending of its file.
_FOLDER_NAME_LENGTH = 2
_ENDING = ".zst"


def body_hash(body: bytes) -> str:
    """Hash a body to the name under which it is stored."""
    return hashlib.blake2b(body, digest_size=_HASH_SIZE).hexdigest()


def share_credentials(url: str) -> None:
    """Let the processes that this one starts reach a page store that is not on this machine.

    Each stage that starts processes calls it, since a stage may run alone. Raises ConfigError for a
    URL that cannot be used, before each of the processes ends for it.
    """
    if _scheme(url) not in LOCAL_SCHEMES:
        BodyStore(url)
        share_variables(CREDENTIAL_PREFIXES)


@dataclass(frozen=True)
class StoredBody:
    """A file of the page store: the name of its body, its path, bytes, and time of writing.

    `modified` is in seconds of the epoch. A part is an incomplete body left by a killed process.
    """

    name: str
    path: str
    size: int
    modified: float
    is_part: bool = False


def _scheme(url: str) -> str:
    """Return the scheme of a URL; that of a plain path is `file`.

    >>> _scheme("s3://bucket/pages"), _scheme("var/bodies")
    ('s3', 'file')
    """
    scheme, separator, _ = url.partition("://")
    return scheme if separator else "file"


class BodyStore:
    """The page store at an fsspec URL; a plain path is a folder.

    `is_durable` is set where a stored body outlives a power cut. Raises ConfigError for a URL that
    cannot be used.
    """

    def __init__(self, url: str) -> None:
        scheme = _scheme(url)
        self._is_local = scheme in LOCAL_SCHEMES
        self._is_folder = scheme in FOLDER_SCHEMES
        self.is_durable = scheme in OBJECT_STORES
        if self.is_durable and not url.partition("://")[2].strip("/"):
            raise ConfigError(
                f"setting 'bodies_url': {url} names no bucket: {scheme}://BUCKET/FOLDER"
            )
        options = {"auto_mkdir": True} if self._is_local else {}
        try:
            self._files, self._root = fsspec.core.url_to_fs(url, **options)
        except ImportError as error:
            # Scout's extra has the name of the scheme.
            extra = f"'scout-offer-gaps[s3]' for s3://: {error}"
            raise ConfigError(f"setting 'bodies_url': {url} needs a package, {extra}") from error
        except ValueError as error:
            raise ConfigError(f"setting 'bodies_url': {url} cannot be used: {error}") from error

    def put(self, body: bytes, name: str = "") -> str:
        """Store a body and return its name. Raises StorageFull, StoreError.

        `name` is its `body_hash` where that has been computed already.
        """
        name = name or body_hash(body)
        path = self._path(name)
        packed = zstandard.ZstdCompressor(COMPRESSION_LEVEL, write_checksum=True).compress(body)
        with self._clear_errors():
            if self.is_durable or self._read(path) != packed:
                self._write(path, packed)
            elif self._is_folder:
                # Its time says that it is in use: `remove` leaves it alone.
                os.utime(path)
        return name

    def holds(self, name: str, verify: bool = True) -> bool:
        """Return True if a body is stored under the name; with `verify`, if its content is
        intact. Raises BodiesUnreachable.
        """
        if not verify:
            try:
                with self._remote_errors():
                    return bool(self._files.size(self._path(name)))
            except OSError:
                return False
        try:
            return body_hash(self.get(name)) == name
        except StoreError:
            return False

    def get(self, name: str, limit: int = MAX_BODY_SIZE) -> bytes:
        """Read a body of at most `limit` bytes. Raises StoreError where it is missing or
        damaged, BodiesUnreachable where a remote store cannot tell.
        """
        try:
            with self._remote_errors():
                packed = self._files.cat_file(self._path(name))
            if zstandard.frame_content_size(packed) > limit:
                raise StoreError(f"page body {name} in {self._root} is larger than {limit} bytes")
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=limit)
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(
                f"page body {name} in {self._root} is missing or damaged: crawl the shop again"
            ) from error

    def folders(self) -> list[str]:
        """Return the names of the folders of bodies that exist; each begins the names in it."""
        try:
            entries = self._files.ls(self._root, detail=False)
        except FileNotFoundError:
            return []
        names = (str(entry).rstrip("/").rsplit("/", 1)[-1] for entry in entries)
        return sorted(name for name in names if len(name) == _FOLDER_NAME_LENGTH)

    def list_folder(self, folder: str) -> Iterator[StoredBody]:
        """Yield the files of a folder: bodies, and parts of bodies that were never completed."""
        # File systems on other machines remember what they have listed.
        self._files.invalidate_cache()
        try:
            entries = self._files.ls(f"{self._root}/{folder}", detail=True)
        except FileNotFoundError:
            return
        for entry in entries:
            file_name = str(entry["name"]).rsplit("/", 1)[-1]
            name = folder + file_name.removesuffix(_ENDING)
            is_part = not file_name.endswith(_ENDING)
            yield StoredBody(name, entry["name"], entry["size"] or 0, _modified(entry), is_part)

    def remove(self, body: StoredBody, unless_newer_than: float) -> bool:
        """Remove a file unless it was written since; returns False where it was, or is gone.

        `unless_newer_than` is a time in seconds of the epoch. Raises StoreError.
        """
        self._files.invalidate_cache()
        try:
            # Another crawl may have stored the same content again in the meantime (`put`).
            if _modified(self._files.info(body.path)) > unless_newer_than:
                return False
            self._files.rm_file(body.path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"page bodies in {self._root} cannot be removed: {error}") from error
        return True

    def find(self, name: str) -> StoredBody | None:
        """Return the file of a body, None where there is none."""
        path = self._path(name)
        try:
            entry = self._files.info(path)
        except OSError:
            return None
        return StoredBody(name, path, entry["size"] or 0, _modified(entry))

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Raise StorageFull where no space is left, and StoreError for all other errors of a write."""
        try:
            with self._remote_errors():
                yield
        except BodiesUnreachable as error:
            raise StoreError(str(error)) from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    f"no space left for page bodies in {self._root}: free some and run the same "
                    f"command again"
                ) from error
            raise StoreError(f"page bodies cannot be written to {self._root}: {error}") from error

    @contextmanager
    def _remote_errors(self) -> Iterator[None]:
        """Raise BodiesUnreachable for all errors of a remote store but a missing file.

        Their libraries have error classes of their own, which are no OSError.
        """
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            if self._is_local:
                raise
            reason = str(error) or type(error).__name__
            raise BodiesUnreachable(
                f"page bodies in {self._root} cannot be reached: {reason} (see the setting "
                f"'bodies_url')"
            ) from error

    def _read(self, path: str) -> bytes | None:
        """Read a file; None where there is none. A power cut may have left a part of a body."""
        try:
            content: bytes = self._files.cat_file(path)
        except FileNotFoundError:
            return None
        return content

    def _write(self, path: str, packed: bytes) -> None:
        if self.is_durable:
            self._files.pipe_file(path, packed)
            return
        temporary = f"{path}.{uuid.uuid4().hex}.part"
        if not self._is_local:
            # Local file systems do so by themselves (`auto_mkdir`).
            self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            self._files.pipe_file(temporary, packed)
            self._files.mv(temporary, path)
        except OSError:
            with suppress(OSError):
                self._files.rm_file(temporary)
            raise

    def _path(self, name: str) -> str:
        folder, file_name = name[:_FOLDER_NAME_LENGTH], name[_FOLDER_NAME_LENGTH:]
        return f"{self._root}/{folder}/{file_name}{_ENDING}"


def _modified(entry: Mapping[str, Any]) -> float:
    """Return the time of a file in seconds of the epoch, as file systems name it.

    Now where a file system has none: a file of unknown age is never old.
    """
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = entry.get(name)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, datetime):
            return value.timestamp()
    return time.time()
