"""Labelled shops on disk: `SHOP.tar.xz` files or `SHOP/` folders with `pages/` and `truth.jsonl`.

Pages without a line in `truth.jsonl` are no offer pages: they test whether offer pages are
recognised. Folders with `www.tar.xz` and `truth.json` are mirrored sites
(`rules_generator.evaluation.mirrored_site`).
"""

import json
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.errors import FeedError
from rules_generator.evaluation.labelled_shop import LabelledPage, LabelledShop
from rules_generator.evaluation.mirrored_site import MIRROR, is_mirrored_site, read_mirrored_site

TRUTH = "truth.jsonl"


class TruthLine(BaseModel):
    """A line of `truth.jsonl`: the labels of one page."""

    page: str
    url: str | None = None
    attributes: dict[str, Any]
    alternatives: dict[str, list[Any]] | None = None


def shop_paths(data: Path) -> list[Path]:
    """List the shops in a folder by name. Raises FeedError where there are none."""
    if not data.is_dir():
        raise FeedError(
            f"{data} is no folder: name one that holds SHOP.tar.xz files or SHOP/ folders"
        )
    paths = []
    for path in sorted(data.iterdir()):
        is_labelled = path.name.endswith(".tar.xz") or (path / TRUTH).is_file()
        if is_labelled or is_mirrored_site(path):
            paths.append(path)
    if not paths:
        raise FeedError(
            f"{data} holds no labelled shop: SHOP.tar.xz or SHOP/ with pages/ and {TRUTH}, "
            f"or SHOP/ with {MIRROR}"
        )
    return paths


def open_shop(path: Path) -> LabelledShop:
    """Open a labelled shop. Raises FeedError, with the line, for missing or malformed files."""
    if is_mirrored_site(path):
        return read_mirrored_site(path)
    try:
        files = dict(_unpack(path) if path.is_file() else _read_folder(path))
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise FeedError(f"{path} cannot be read as a labelled shop: {error}") from error
    if TRUTH not in files:
        raise FeedError(f"{path} is no labelled shop: it holds no {TRUTH}")
    lines = enumerate(files[TRUTH].splitlines(), 1)
    pages = tuple(_page(path, number, line, files) for number, line in lines if line.strip())
    labelled = {page.name for page in pages}
    other_pages = []
    for file, html in sorted(files.items()):
        name = file.removeprefix("pages/")
        if name != file and name not in labelled:
            other_pages.append(LabelledPage(name, _url(name), html))
    return LabelledShop(path.name.removesuffix(".tar.xz"), pages, other_pages=tuple(other_pages))


def _page(path: Path, number: int, line: bytes, files: Mapping[str, bytes]) -> LabelledPage:
    try:
        row = TruthLine.model_validate(json.loads(line))
        html = files[f"pages/{row.page}"]
        return LabelledPage(
            row.page, _url(row.url or ""), html, row.attributes, row.alternatives or {}
        )
    except (KeyError, ValueError, RecursionError) as error:
        raise FeedError(f"{path}, {TRUTH}, line {number}: {_reason(error)}") from error


def _url(path: str) -> str:
    return path if "://" in path else f"https://shop.example/{path.lstrip('/')}"


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        if not first["loc"]:
            return "not an object"
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{error.args[0]} is not there" if isinstance(error, KeyError) else str(error)


def _unpack(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive, read to its end: the check sum stands there."""
    with lzma.open(path) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield member.name.removeprefix("./"), content.read()
        while stream.read(tarfile.RECORDSIZE):
            pass


def _read_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in path.rglob("*"):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
