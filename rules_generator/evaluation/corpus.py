"""Labelled shops on disk: `SHOP.tar.xz` files or `SHOP/` folders with `pages/` and `truth.jsonl`.

Pages without a line in `truth.jsonl` are no offer pages: they test whether offer pages are recognised. Folders with
`www.tar.xz` and `truth.json` are mirrored sites (`rules_generator.evaluation.mirrored_site`).
"""

import json
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.errors import FeedError
from rules_generator.evaluation.mirrored_site import MIRROR, is_mirrored_site, read_mirror

# Split of a shop's labelled pages: the first half, at most 50, to learn from; then at most 100 to test on.
MAX_TRAINING = 50
MAX_TESTING = 100
TRUTH = "truth.jsonl"


class TruthLine(BaseModel):
    """A line of `truth.jsonl`: the labels of one page."""

    page: str
    url: str | None = None
    attributes: dict[str, Any]
    alternatives: dict[str, list[Any]] | None = None


@dataclass(frozen=True)
class LabelledPage:
    """A page with its values by attribute, and alternatives that are right too (prices and SKUs of variants)."""

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
    """A shop's labelled offer pages, its offer pages without labels, and its pages that are no offers."""

    name: str
    pages: tuple[LabelledPage, ...]
    unlabelled_offers: tuple[LabelledPage, ...] = ()
    other_pages: tuple[LabelledPage, ...] = ()

    @property
    def training(self) -> tuple[LabelledPage, ...]:
        """The pages to learn from."""
        return self.pages[: self._split]

    @property
    def testing(self) -> tuple[LabelledPage, ...]:
        """The pages to test on."""
        return self.pages[self._split : self._split + MAX_TESTING]

    @property
    def background(self) -> tuple[LabelledPage, ...]:
        """Every other page that is no offer: seen in learning, as any page of a crawl, without a label."""
        return self.other_pages[::2]

    @property
    def unseen_other_pages(self) -> tuple[LabelledPage, ...]:
        """The pages that are no offers and were not seen in learning."""
        return self.other_pages[1::2]

    @property
    def _split(self) -> int:
        return min(MAX_TRAINING, len(self.pages) // 2)


def shop_paths(data: Path) -> list[Path]:
    """List the shops in a folder by name. Raises FeedError where there are none."""
    if not data.is_dir():
        raise FeedError(
            f"{data} is no folder: name one that holds SHOP.tar.xz files or SHOP/ folders"
        )
    paths = sorted(path for path in data.iterdir() if _is_shop(path))
    if not paths:
        raise FeedError(
            f"{data} holds no labelled shop: SHOP.tar.xz or SHOP/ with pages/ and {TRUTH}, "
            f"or SHOP/ with {MIRROR}"
        )
    return paths


def _is_shop(path: Path) -> bool:
    return path.name.endswith(".tar.xz") or (path / TRUTH).is_file() or is_mirrored_site(path)


def open_shop(path: Path) -> LabelledShop:
    """Open a labelled shop. Raises FeedError, with the line, where a file is missing or malformed."""
    if is_mirrored_site(path):
        return _mirrored_shop(path)
    try:
        files = dict(_unpack(path) if path.is_file() else _read_folder(path))
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise FeedError(f"{path} cannot be read as a labelled shop: {error}") from error
    if TRUTH not in files:
        raise FeedError(f"{path} is no labelled shop: it holds no {TRUTH}")
    lines = enumerate(files[TRUTH].splitlines(), 1)
    pages = tuple(_page(path, number, line, files) for number, line in lines if line.strip())
    labelled = {f"pages/{page.name}" for page in pages}
    other_pages = tuple(
        LabelledPage(name.removeprefix("pages/"), _url(name.removeprefix("pages/")), html, {})
        for name, html in sorted(files.items())
        if name.startswith("pages/") and name not in labelled
    )
    return LabelledShop(path.name.removesuffix(".tar.xz"), pages, (), other_pages)


def _mirrored_shop(path: Path) -> LabelledShop:
    """Open a mirrored site: catalogued offers are labelled by the catalog, the missing ones are not labelled."""
    mirror = read_mirror(path)
    pages, unlabelled = [], []
    for page in mirror.offer_pages:
        attributes = mirror.attributes.get(page.offer)
        if attributes is None or not page.is_first:
            unlabelled.append(LabelledPage(page.name, page.url, page.html, {}))
        else:
            pages.append(LabelledPage(page.name, page.url, page.html, attributes))
    other_pages = tuple(
        LabelledPage(page.name, page.url, page.html, {}) for page in mirror.other_pages
    )
    return LabelledShop(path.name, tuple(pages), tuple(unlabelled), other_pages)


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
    """Yield the files of an archive, read to its end, where its check sum stands: damaged bytes unpack before."""
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
