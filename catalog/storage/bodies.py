"""Page bodies, compressed with zstandard and named by the hash of their content, on any fsspec file system.

A body is written under another name first and then moved, so after a kill a name that exists holds a whole body. After
a power cut it may not, for nothing is forced onto the disk: what stands under a name is compared before it is trusted,
and `holds` tells whether it is what it should be. The same content is stored once, however many pages share it.
"""

import errno
import hashlib
import uuid
from contextlib import suppress

import fsspec
import zstandard

from catalog.errors import StorageFull, StoreError

LEVEL = 3


def name_of(body: bytes) -> str:
    """The name under which a body is kept."""
    return hashlib.blake2b(body, digest_size=20).hexdigest()


class Bodies:
    """The page store at an fsspec URL (a plain path is a folder)."""

    def __init__(self, url: str) -> None:
        self._files, self._root = fsspec.core.url_to_fs(url, auto_mkdir=True)

    def put(self, body: bytes, name: str = "") -> str:
        """Store `body`, give its name, which may have been computed already. Raises StorageFull, StoreError."""
        name = name or name_of(body)
        path = self._path(name)
        packed = zstandard.ZstdCompressor(LEVEL, write_checksum=True).compress(body)
        try:
            if self._stored(path) != packed:
                self._write(path, packed)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    f"no space left for page bodies in {self._root}: free some and run the same command again"
                ) from error
            raise StoreError(f"page bodies cannot be written to {self._root}: {error}") from error
        return name

    def holds(self, name: str, closely: bool = True) -> bool:
        """Whether the body of that name is there; `closely`, whether it is what its name says."""
        if not closely:
            try:
                return bool(self._files.size(self._path(name)))
            except OSError:
                return False
        try:
            return name_of(self.get(name)) == name
        except StoreError:
            return False

    def get(self, name: str, limit: int = 64_000_000) -> bytes:
        """The body of that name, at most `limit` bytes. Raises StoreError where it is missing or damaged."""
        try:
            packed = self._files.cat_file(self._path(name))
            if zstandard.frame_content_size(packed) > limit:
                raise StoreError(f"page body {name} in {self._root} is larger than {limit} bytes")
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=limit)
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(
                f"page body {name} in {self._root} is missing or damaged: crawl the shop again"
            ) from error

    def _stored(self, path: str) -> bytes | None:
        """What stands there: a power cut may have left less than a body, or something of its length."""
        try:
            found: bytes = self._files.cat_file(path)
        except FileNotFoundError:
            return None
        return found

    def _write(self, path: str, packed: bytes) -> None:
        part = f"{path}.{uuid.uuid4().hex}.part"
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            self._files.pipe_file(part, packed)
            self._files.mv(part, path)
        except OSError:
            with suppress(OSError):
                self._files.rm_file(part)
            raise

    def _path(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:]}.zst"
