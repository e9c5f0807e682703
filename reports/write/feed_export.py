"""Missing offers of a report as a feed, ready to be imported into the catalog.

Three formats: Google Merchant XML, CSV under the column names of the catalog's last import, and
JSON Lines. Scout's own importer reads each back unchanged.
"""

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from lxml import etree
from sqlmodel import Session, col, select

from catalog.models import CatalogImport, Match
from catalog.runtime.batches import batches
from catalog.values.spreadsheet_cells import escape_formula
from reports.statistics.findings_reader import (
    MAX_CODE_LENGTH,
    MAX_CURRENCY_LENGTH,
    MAX_KEY_LENGTH,
    MAX_TEXT_LENGTH,
    MAX_URL_LENGTH,
    clean_text,
)

GOOGLE_NAMESPACE = "http://base.google.com/ns/1.0"
# Findings whose offers are read from the store at a time.
_BATCH_SIZE = 500
# Hexadecimal digits of an offer's id.
_ID_LENGTH = 16
# Images of an offer that a feed lists: the main one, and the ten further ones that Google takes.
_MAX_IMAGES = 11
# Characters of a description: the limit of Google's feeds.
_MAX_DESCRIPTION_LENGTH = 5_000
# Fields of a feed in the order of its columns, and their lengths at most.
_FIELD_LENGTHS = {
    "id": _ID_LENGTH,
    "link": MAX_URL_LENGTH,
    "title": MAX_TEXT_LENGTH,
    "description": _MAX_DESCRIPTION_LENGTH,
    "price": MAX_CODE_LENGTH,
    "currency": MAX_CURRENCY_LENGTH,
    "brand": MAX_KEY_LENGTH,
    "category": MAX_TEXT_LENGTH,
    "image": MAX_URL_LENGTH,
    "ean": MAX_CODE_LENGTH,
    "han": MAX_KEY_LENGTH,
    "sku": MAX_KEY_LENGTH,
    "availability": MAX_CODE_LENGTH,
}
# Names of Google's elements; `sku` is none of Google's, which readers ignore.
_GOOGLE_NAMES = {
    "id": "id",
    "title": "title",
    "description": "description",
    "link": "link",
    "brand": "brand",
    "category": "product_type",
    "ean": "gtin",
    "han": "mpn",
    "sku": "sku",
    "availability": "availability",
}
# Elements of RSS itself, which have no namespace.
_RSS_NAMES = ("title", "description", "link")


@dataclass(frozen=True)
class FeedOffer:
    """A missing offer: texts by field, and its images, the main one first."""

    texts: Mapping[str, str]
    images: Sequence[str]


FeedWriter = Callable[[FeedOffer], object]
"""Writes one offer to a feed."""


def write_feeds(
    paths: Mapping[str, Path],
    offers: Iterable[FeedOffer],
    title: str,
    columns: Mapping[str, Sequence[str]],
) -> None:
    """Write the offers as one or several feeds in one pass; `paths` has a file for each format.

    `title` is that of an XML feed, `columns` are those of the last import (see `open_csv_feed`).
    """
    openers: dict[str, Callable[[Path], AbstractContextManager[FeedWriter]]] = {
        "feed-xml": partial(open_xml_feed, title=title),
        "feed-csv": partial(open_csv_feed, columns=columns),
        "feed-jsonl": open_jsonl_feed,
    }
    with ExitStack() as stack:
        writers = [stack.enter_context(openers[name](path)) for name, path in paths.items()]
        for offer in offers:
            for write in writers:
                write(offer)


def read_feed_offers(session: Session, run_id: int, urls: Sequence[str]) -> Iterator[FeedOffer]:
    """Yield the offers of these findings of a run, in the order of their URLs."""
    for batch in batches(urls, _BATCH_SIZE):
        query = select(Match.url, Match.offer).where(
            Match.run_id == run_id, col(Match.url).in_(batch)
        )
        offers = dict(session.exec(query).all())
        for url in batch:
            if url in offers:
                yield _make_offer(url, offers[url])


def offer_id(url: str) -> str:
    """Return the id of an offer in a feed, which is the same in every run.

    >>> offer_id("https://shop.example/p/1")
    'a66efc3df88ebd75'
    """
    return hashlib.blake2b(url.encode(), digest_size=_ID_LENGTH // 2).hexdigest()


def _make_offer(url: str, fields: Mapping[str, Any]) -> FeedOffer:
    texts = {"id": offer_id(url), "link": clean_text(url, MAX_URL_LENGTH) or ""}
    for field, length in _FIELD_LENGTHS.items():
        if field in texts:
            continue
        if text := clean_text(fields.get(field), length):
            texts[field] = text
    images = []
    for image in (fields.get("images") or [])[:_MAX_IMAGES]:
        if text := clean_text(image, MAX_URL_LENGTH):
            images.append(text)
    return FeedOffer(texts, images)


@contextmanager
def open_xml_feed(path: Path, title: str) -> Iterator[FeedWriter]:
    """Open a feed of Google Merchant XML (RSS 2.0)."""
    with etree.xmlfile(str(path), encoding="utf-8") as file:
        file.write_declaration()
        with (
            file.element("rss", version="2.0", nsmap={"g": GOOGLE_NAMESPACE}),
            file.element("channel"),
        ):
            file.write(_text_element("title", title))
            yield lambda offer: file.write("\n", _xml_item(offer))


def _xml_item(offer: FeedOffer) -> etree._Element:
    item = etree.Element("item", nsmap={"g": GOOGLE_NAMESPACE})
    for field, name in _GOOGLE_NAMES.items():
        if text := offer.texts.get(field):
            full_name = name if name in _RSS_NAMES else f"{{{GOOGLE_NAMESPACE}}}{name}"
            item.append(_text_element(full_name, text))
    if price := _price_with_currency(offer):
        item.append(_text_element(f"{{{GOOGLE_NAMESPACE}}}price", price))
    names = ["image_link", *["additional_image_link"] * len(offer.images)]
    for name, image in zip(names, offer.images, strict=False):
        item.append(_text_element(f"{{{GOOGLE_NAMESPACE}}}{name}", image))
    return item


def _text_element(name: str, text: str) -> etree._Element:
    element = etree.Element(name)
    element.text = text
    return element


def _price_with_currency(offer: FeedOffer) -> str:
    """Return the price as Google writes it, `12.99 EUR`; "" without a price."""
    if "price" not in offer.texts:
        return ""
    return f"{offer.texts['price']} {offer.texts.get('currency', '')}".strip()


@contextmanager
def open_jsonl_feed(path: Path) -> Iterator[FeedWriter]:
    """Open a feed of JSON Lines: an object of texts for each offer, with a list of images."""
    with path.open("wb") as file:

        def write(offer: FeedOffer) -> None:
            row: dict[str, Any] = dict(offer.texts)
            if offer.images:
                row["image"] = offer.images
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

        yield write


@contextmanager
def open_csv_feed(path: Path, columns: Mapping[str, Sequence[str]]) -> Iterator[FeedWriter]:
    """Open a feed of CSV (UTF-8, comma, header) under the catalog's column names.

    `columns` are the columns of each field in the last import; a field that the catalog has no
    column for stands under its own name. No cell can become a formula.
    """
    headings = csv_headings(columns)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([escape_formula(heading) for heading in headings.values()])

        def write(offer: FeedOffer) -> None:
            texts = dict(offer.texts)
            # A list of URLs with spaces between: no URL has one, and the importer splits there.
            texts["image"] = " ".join(offer.images)
            if "currency" not in headings:
                texts["price"] = _price_with_currency(offer)
            writer.writerow([escape_formula(texts.get(field, "")) for field in headings])

        yield write


def csv_headings(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the column of each field, in the order of the feed.

    >>> csv_headings({"title": ["Titel"], "price": ["Preis"]})["title"]
    'Titel'
    """
    headings = {}
    for field in _FIELD_LENGTHS:
        names = columns.get(field, ())
        # The catalog's prices carry their currency where it has no column for it.
        if field == "currency" and not names and "price" in columns:
            continue
        headings[field] = names[0] if names else field
    return headings


def last_import_columns(session: Session, shop_id: int | None) -> dict[str, list[str]]:
    """Return the columns of each field in the shop's last import; empty without one."""
    newest = session.exec(
        select(CatalogImport)
        .where(CatalogImport.shop_id == shop_id)
        .order_by(col(CatalogImport.id).desc())
        .limit(1)
    ).first()
    return dict(newest.columns) if newest else {}
