"""Google Merchant XML (RSS 2.0 or Atom with the `g:` namespace), and plain XML lists of products, as a stream.

libxml2's recovery is used because feeds with `&nbsp;` or a bare `&` are common, and one such sign shall not cost the
whole feed: each repair is told. Document types and entities are refused before anything is read, nothing is ever
fetched, and a file that ends in its middle is refused rather than taken for the full catalog.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from catalog.errors import UnreadableFeed
from catalog.feeds.files import opened
from catalog.feeds.rows import DEEPEST, MOST_TEXTS, Notice, Row, Rows, Texts

ITEMS = ("item", "entry", "product", "offer", "article")
_CUT_SHORT = {"ERR_TAG_NOT_FINISHED", "ERR_DOCUMENT_EMPTY", "ERR_DOCUMENT_END"}
_REFUSED = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def read(path: Path, notice: Notice) -> Rows:
    """The rows of an XML feed; `notice` is told of repairs. Raises UnreadableFeed."""
    with opened(path) as file:
        if _REFUSED.search(file.peek(1 << 16)):
            raise _doctype(path)
        events = etree.iterparse(
            file,
            events=("end",),
            tag=[f"{{*}}{name}" for name in ITEMS],
            recover=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            yield from _rows(events, path)
        except etree.XMLSyntaxError as error:
            raise UnreadableFeed(f"{path} is no XML: {error}") from error
        _judge(events.error_log, path, notice)


def _rows(events: Iterator[tuple[str, Any]], path: Path) -> Rows:
    position = 0
    for _, element in events:
        if element.getroottree().docinfo.internalDTD is not None:
            raise _doctype(path)
        if any(_name(outer) in ITEMS for outer in element.iterancestors()):
            continue
        position += 1
        raw = etree.tostring(element, encoding="unicode", with_tail=False)[:1000]
        yield Row(element.sourceline or position, _texts(element), raw)
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _texts(item: Any) -> Texts:
    found: Texts = {name: [value] for name, value in item.attrib.items()}
    for child in item.iterchildren("*"):
        _gather(found, _name(child), child, DEEPEST)
    return found


def _gather(found: Texts, name: str, element: Any, depth: int) -> None:
    children = list(islice(element.iterchildren("*"), MOST_TEXTS)) if depth else []
    value = "".join(element.itertext()) if not children else ""
    if not value.strip() and name == "link" and element.get("rel", "alternate") == "alternate":
        value = element.get("href", "")
    if value.strip() and len(texts := found.setdefault(name, [])) < MOST_TEXTS:
        texts.append(value)
    for child in children:
        _gather(found, f"{name}.{_name(child)}", child, depth - 1)


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _judge(log: Any, path: Path, notice: Notice) -> None:
    for entry in log:
        if entry.type_name in _CUT_SHORT:
            raise UnreadableFeed(
                f"{path} is cut short at line {entry.line}: {entry.message}; fetch it again"
            )
        notice(f"XML repaired: {entry.message}")


def _doctype(path: Path) -> UnreadableFeed:
    return UnreadableFeed(
        f"{path} declares a document type or entities, which no feed needs: remove the declaration"
    )
