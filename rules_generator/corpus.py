"""Labelled shops on disk: `SHOP.tar.xz` files or `SHOP/` folders with `pages/` and `truth.jsonl`."""

import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalog.errors import FeedError

MOST_TRAINED, MOST_TESTED = 50, 100


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
        raise FeedError(f"{data} is no folder: name one that holds SHOP.tar.xz files or SHOP/ folders")
    found = sorted(path for path in data.iterdir() if path.name.endswith(".tar.xz") or (path / "truth.jsonl").is_file())
    if not found:
        raise FeedError(f"{data} holds no labelled shop: SHOP.tar.xz or SHOP/ with pages/ and truth.jsonl")
    return found


def open_shop(path: Path) -> LabelledShop:
    """A labelled shop. Raises FeedError where a file is missing or not well formed."""
    try:
        files = dict(_packed(path) if path.is_file() else _unpacked(path))
        rows = [json.loads(line) for line in files["truth.jsonl"].decode().splitlines() if line.strip()]
        pages = tuple(_page(row, files) for row in rows)
    except (KeyError, ValueError, OSError, tarfile.TarError) as error:
        raise FeedError(f"{path} cannot be read as a labelled shop: {error}") from error
    return LabelledShop(path.name.removesuffix(".tar.xz"), pages)


def _page(row: Mapping[str, Any], files: Mapping[str, bytes]) -> LabelledPage:
    url = row.get("url") or ""
    absolute = url if "://" in url else f"https://shop.example/{url.lstrip('/')}"
    return LabelledPage(
        row["page"], absolute, files[f"pages/{row['page']}"], row["attributes"], row.get("alternatives") or {}
    )


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.removeprefix("./"), content.read()


def _unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in path.rglob("*"):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
