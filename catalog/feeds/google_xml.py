"""Google Merchant XML (RSS 2.0 or Atom with the `g:` namespace), and plain XML lists of products,
as a stream.

libxml2's recovery is on because feeds with `&nbsp;` or a bare `&` are common, and one such sign
must not cost the whole feed; each repair is reported. Document types and entities are refused
before anything is read, nothing is fetched, and a file that ends in its middle is refused rather
than taken for the full catalog.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from catalog.errors import UnreadableFeed
from catalog.feeds.files import open_feed
from catalog.feeds.rows import MAX_DEPTH, MAX_TEXTS, RepairNotice, Row, Rows, Texts

# Bytes in which a document type must stand.
_PROLOGUE_SIZE = 1 << 16
# Characters of an item that are kept as its source text.
_RAW_LENGTH = 1_000
ITEM_NAMES = ("item", "entry", "product", "offer", "article")
_CUT_SHORT_ERRORS = {"ERR_TAG_NOT_FINISHED", "ERR_DOCUMENT_EMPTY", "ERR_DOCUMENT_END"}
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def read(path: Path, notice: RepairNotice) -> Rows:
    """Yield the rows of an XML feed; `notice` is called with each repair. Raises UnreadableFeed."""
    with open_feed(path) as file:
        if _DECLARATION.search(file.peek(_PROLOGUE_SIZE)):
            raise _declaration_error(path)
        events = etree.iterparse(
            file,
            events=("end",),
            tag=[f"{{*}}{name}" for name in ITEM_NAMES],
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
        _check_log(events.error_log, path, notice)


def _rows(events: Iterator[tuple[str, Any]], path: Path) -> Rows:
    position = 0
    for _, element in events:
        if element.getroottree().docinfo.internalDTD is not None:
            raise _declaration_error(path)
        # An item inside another is a part of it, such as a shipping offer.
        if any(_local_name(outer) in ITEM_NAMES for outer in element.iterancestors()):
            continue
        position += 1
        raw = etree.tostring(element, encoding="unicode", with_tail=False)[:_RAW_LENGTH]
        yield Row(element.sourceline or position, _texts(element), raw)
        # Free the item and all before it: the tree would grow with the feed.
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _texts(item: Any) -> Texts:
    texts: Texts = {name: [value] for name, value in item.attrib.items()}
    for child in item.iterchildren("*"):
        _collect(texts, _local_name(child), child, MAX_DEPTH)
    return texts


def _collect(texts: Texts, name: str, element: Any, depth: int) -> None:
    children = list(islice(element.iterchildren("*"), MAX_TEXTS)) if depth else []
    value = "" if children else "".join(element.itertext())
    # Atom writes a link's URL as an attribute.
    if not value.strip() and name == "link" and element.get("rel", "alternate") == "alternate":
        value = element.get("href", "")
    if value.strip():
        column = texts.setdefault(name, [])
        if len(column) < MAX_TEXTS:
            column.append(value)
    for child in children:
        _collect(texts, f"{name}.{_local_name(child)}", child, depth - 1)


def _local_name(element: Any) -> str:
    if not isinstance(element.tag, str):
        return ""
    return etree.QName(element).localname


def _check_log(log: Any, path: Path, notice: RepairNotice) -> None:
    for entry in log:
        if entry.type_name in _CUT_SHORT_ERRORS:
            raise UnreadableFeed(
                f"{path} is cut short at line {entry.line}: {entry.message}; fetch it again"
            )
        notice(f"XML repaired: {entry.message}")


def _declaration_error(path: Path) -> UnreadableFeed:
    return UnreadableFeed(
        f"{path} declares a document type or entities, which no feed needs: remove the declaration"
    )
