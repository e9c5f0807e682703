"""Labelled shops on disk: `SHOP.tar.xz` files or `SHOP/` folders with `pages/` and `truth.jsonl`."""

import json
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.errors import FeedError

MOST_TRAINED = 50
MOST_TESTED = 100


class Line(BaseModel):
    """A line of `truth.jsonl`, as it has to be: what is labelled of one page."""

    page: str
    url: str | None = None
    attributes: dict[str, Any]
    alternatives: dict[str, list[Any]] | None = None


@dataclass(frozen=True)
class LabelledPage:
    """A page with what it says: values by attribute, and others that are right too (variants' prices and skus)."""

    name: str
    url: str
    html: bytes
    attributes: Mapping[str, Any]
    alternatives: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def currency(self) -> str | None:
        """The currency of its prices, where that is labelled."""
        return str(self.attributes.get("currency") or "") or None


@dataclass(frozen=True)
class LabelledShop:
    """A shop's labelled pages: the first half (at most 50) to learn from, of the rest at most 100 to test on."""

    name: str
    pages: tuple[LabelledPage, ...]

    @property
    def training(self) -> tuple[LabelledPage, ...]:
        """The pages to learn from."""
        return self.pages[: self._split]

    @property
    def testing(self) -> tuple[LabelledPage, ...]:
        """The pages to test on."""
        return self.pages[self._split : self._split + MOST_TESTED]

    @property
    def _split(self) -> int:
        return min(MOST_TRAINED, len(self.pages) // 2)


def shop_paths(data: Path) -> list[Path]:
    """The shops in a folder, by name. Raises FeedError where there are none."""
    if not data.is_dir():
        raise FeedError(
            f"{data} is no folder: name one that holds SHOP.tar.xz files or SHOP/ folders"
        )
    found = sorted(
        path
        for path in data.iterdir()
        if path.name.endswith(".tar.xz") or (path / "truth.jsonl").is_file()
    )
    if not found:
        raise FeedError(
            f"{data} holds no labelled shop: SHOP.tar.xz or SHOP/ with pages/ and truth.jsonl"
        )
    return found


def open_shop(path: Path) -> LabelledShop:
    """A labelled shop. Raises FeedError, with the line, where a file is missing or not well formed."""
    try:
        files = dict(_packed(path) if path.is_file() else _unpacked(path))
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise FeedError(f"{path} cannot be read as a labelled shop: {error}") from error
    if "truth.jsonl" not in files:
        raise FeedError(f"{path} is no labelled shop: it holds no truth.jsonl")
    lines = enumerate(files["truth.jsonl"].splitlines(), 1)
    pages = tuple(_page(path, number, line, files) for number, line in lines if line.strip())
    return LabelledShop(path.name.removesuffix(".tar.xz"), pages)


def _page(path: Path, number: int, line: bytes, files: Mapping[str, bytes]) -> LabelledPage:
    try:
        row = Line.model_validate(json.loads(line))
        url = row.url or ""
        address = url if "://" in url else f"https://shop.example/{url.lstrip('/')}"
        return LabelledPage(
            row.page, address, files[f"pages/{row.page}"], row.attributes, row.alternatives or {}
        )
    except (KeyError, ValueError, RecursionError) as error:
        raise FeedError(f"{path}, truth.jsonl, line {number}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return (
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            if first["loc"]
            else "not an object"
        )
    return f"{error.args[0]} is not there" if isinstance(error, KeyError) else str(error)


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of an archive. It is read to its end, where its check sum stands: damaged bytes are unpacked before."""
    with lzma.open(path) as unpacked:
        with tarfile.open(fileobj=unpacked, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield member.name.removeprefix("./"), content.read()
        while unpacked.read(tarfile.RECORDSIZE):
            pass


def _unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in path.rglob("*"):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
