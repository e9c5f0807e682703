"""Mirrored sites as test data: `www.tar.xz` with all pages, `truth.json`, and the merchant's
`catalog.jsonl`.

`truth.json` has `host` and `offers` {offer id: [paths of its pages]}; all other HTML files are no
offer pages. A line of `catalog.jsonl` has the values of one offer under the id `HOST:OFFER`; offers
without a line are missing ones.
"""

import json
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from catalog.errors import FeedError
from catalog.models import Attribute
from rules_generator.evaluation.labelled_shop import LabelledPage, LabelledShop

MIRROR = "www.tar.xz"
TRUTH = "truth.json"
CATALOG = "catalog.jsonl"
INDEX = "index.html"
SUFFIX = ".html"


def is_mirrored_site(path: Path) -> bool:
    """Return True for a folder that holds a mirror with its truth."""
    return (path / MIRROR).is_file() and (path / TRUTH).is_file()


def read_mirrored_site(path: Path) -> LabelledShop:
    """Read a mirrored site: the catalog labels one page of each of its offers; missing ones are not
    labelled.

    Raises FeedError where a file is missing or malformed.
    """
    try:
        truth = json.loads((path / TRUTH).read_text(encoding="utf-8"))
        host, offers = str(truth["host"]), dict(truth["offers"])
        attributes = _catalog_attributes(path / CATALOG)
        files = _html_files(path / MIRROR)
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError, ValueError, KeyError) as error:
        raise FeedError(f"{path} cannot be read as a mirrored site: {error!r}") from error
    offer_of = {}
    for offer, pages in offers.items():
        offer_of.update(dict.fromkeys(map(_page_path, pages), offer))
    labelled, unlabelled, other_pages = [], [], []
    shown: set[str] = set()
    for name, html in sorted(files.items()):
        url_path = _page_path(name)
        page = LabelledPage(name, f"https://{host}/{url_path}", html)
        offer = offer_of.get(url_path)
        if offer is None:
            other_pages.append(page)
        elif offer in shown or offer not in attributes:
            unlabelled.append(page)
        else:
            labelled.append(replace(page, attributes=attributes[offer]))
            shown.add(offer)
    return LabelledShop(path.name, tuple(labelled), tuple(unlabelled), tuple(other_pages))


def _catalog_attributes(path: Path) -> dict[str, dict[str, Any]]:
    """Return {offer id: {attribute: value}} of the merchant's catalog."""
    names = [attribute.value for attribute in Attribute]
    attributes = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line:
            row = json.loads(line)
            offer_id = str(row["id"]).partition(":")[2]
            attributes[offer_id] = {name: row.get(name) for name in names}
    return attributes


def _html_files(path: Path) -> dict[str, bytes]:
    files = {}
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and member.name.endswith(SUFFIX):
                files[member.name.removeprefix("./")] = content.read()
    return files


def _page_path(name: str) -> str:
    """Return the path that a mirrored file answers to.

    >>> _page_path("lamps/index.html"), _page_path("products/desk-lamp.html"), _page_path("lamps/")
    ('lamps', 'products/desk-lamp', 'lamps')
    """
    if name == INDEX or name.endswith(f"/{INDEX}"):
        name = name.removesuffix(INDEX)
    return name.removesuffix(SUFFIX).rstrip("/")
