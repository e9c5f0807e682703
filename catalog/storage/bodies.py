"""Page store: bodies compressed with zstandard, named by the hash of their content, on any fsspec
file system.

A body is written under a temporary name and then moved, so that after a kill every name holds a
complete body. After a power cut it may not, since nothing is forced onto the disk: the content is
compared before a file is trusted, and `holds` verifies it. Equal content is stored once, however
many pages share it.
"""

import errno
import hashlib
import uuid
from contextlib import suppress

import fsspec
import zstandard

from catalog.errors import StorageFull, StoreError
from catalog.runtime.served_process import share_variables

# zstandard's own default level.
COMPRESSION_LEVEL = 3
# Bytes of an unpacked body. Bound against hostile input.
MAX_BODY_SIZE = 64_000_000
# Environment variables by which file systems outside this machine are told who asks.
CREDENTIAL_PREFIXES = ("AWS_", "AZURE_", "FSSPEC_", "GCLOUD_", "GOOGLE_")
# Schemes of file systems of this machine.
LOCAL_SCHEMES = ("file", "local", "memory")
# Bytes of the hash in a body's name.
_HASH_SIZE = 20


def body_hash(body: bytes) -> str:
    """Hash a body to the name under which it is stored."""
    return hashlib.blake2b(body, digest_size=_HASH_SIZE).hexdigest()


def share_credentials(url: str) -> None:
    """Let the processes that this one starts reach a page store that is not on this machine."""
    scheme, separator, _ = url.partition("://")
    if separator and scheme not in LOCAL_SCHEMES:
        share_variables(CREDENTIAL_PREFIXES)


class BodyStore:
    """The page store at an fsspec URL; a plain path is a folder."""

    def __init__(self, url: str) -> None:
        self._files, self._root = fsspec.core.url_to_fs(url, auto_mkdir=True)

    def put(self, body: bytes, name: str = "") -> str:
        """Store a body and return its name. Raises StorageFull, StoreError.

        `name` is its `body_hash` where that has been computed already.
        """
        name = name or body_hash(body)
        path = self._path(name)
        packed = zstandard.ZstdCompressor(COMPRESSION_LEVEL, write_checksum=True).compress(body)
        try:
            if self._read(path) != packed:
                self._write(path, packed)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    f"no space left for page bodies in {self._root}: free some and run the same "
                    f"command again"
                ) from error
            raise StoreError(f"page bodies cannot be written to {self._root}: {error}") from error
        return name

    def holds(self, name: str, verify: bool = True) -> bool:
        """Return True if a body is stored under the name; with `verify`, if its content is
        intact.
        """
        if not verify:
            try:
                return bool(self._files.size(self._path(name)))
            except OSError:
                return False
        try:
            return body_hash(self.get(name)) == name
        except StoreError:
            return False

    def get(self, name: str, limit: int = MAX_BODY_SIZE) -> bytes:
        """Read a body of at most `limit` bytes. Raises StoreError where it is missing or
        damaged.
        """
        try:
            packed = self._files.cat_file(self._path(name))
            if zstandard.frame_content_size(packed) > limit:
                raise StoreError(f"page body {name} in {self._root} is larger than {limit} bytes")
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=limit)
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(
                f"page body {name} in {self._root} is missing or damaged: crawl the shop again"
            ) from error

    def _read(self, path: str) -> bytes | None:
        """Read a file; None where there is none. A power cut may have left a part of a body."""
        try:
            content: bytes = self._files.cat_file(path)
        except FileNotFoundError:
            return None
        return content

    def _write(self, path: str, packed: bytes) -> None:
        temporary = f"{path}.{uuid.uuid4().hex}.part"
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            self._files.pipe_file(temporary, packed)
            self._files.mv(temporary, path)
        except OSError:
            with suppress(OSError):
                self._files.rm_file(temporary)
            raise

    def _path(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:]}.zst"
