"""Published matching data as records: tables whose columns are mapped to the fields of an offer.

Columns that offers do not have (authors, venue, year) are compared one by one as extra features,
and their text serves as the description.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from catalog.errors import UnreadableFeed
from catalog.models import OfferFields
from matcher.array_types import Floats, Pairs
from matcher.records.record import Record, build_records
from matcher.records.text import fold, tokenize

# {column of the data: field of the offer}; the first column with a text fills a field.
_FIELD_OF_COLUMN = {
    "title": "title",
    "name": "title",
    "description": "description",
    "brand": "brand",
    "manufacturer": "brand",
    "modelno": "han",
    "mpn": "han",
    "gtin": "ean",
    "ean": "ean",
    "sku": "sku",
}
# Columns that are read elsewhere or say nothing about the offer.
_RESERVED = {"id", "product", "merchant", "price", "cluster"}
# Characters of a value that are read; bound against hostile input.
MAX_VALUE = 5000
# Greatest difference of two whole numbers, such as years; beyond it they merely differ.
MAX_GAP = 10
# Digits of a number that is compared as one.
MAX_DIGITS = 9


@dataclass(frozen=True)
class OfferTable:
    """The rows of one side: ids, records, raw rows, and the folded text of its extra columns."""

    ids: list[str]
    records: list[Record]
    extra_columns: dict[str, list[str]]
    rows: list[Mapping[str, Any]]


def read_table(path: Path) -> OfferTable:
    """Read a table of JSON Lines. Raises UnreadableFeed if it is absent or broken."""
    rows = [*_read_lines(path)]
    columns: set[str] = set().union(*rows)
    names = sorted(columns - _RESERVED - set(_FIELD_OF_COLUMN))
    extra_columns = {}
    for name in names:
        extra_columns[name] = [fold(_text(row.get(name))) for row in rows]
    ids = [str(row["id"]) for row in rows]
    records = build_records(to_offer(row, names) for row in rows)
    return OfferTable(ids, records, extra_columns, rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file. Raises UnreadableFeed."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFeed(f"{path} cannot be read as CSV: {error}") from error


def compare_extra_columns(left: OfferTable, right: OfferTable, pairs: Pairs) -> Floats:
    """Compute four features per extra column that both sides have; NaN where a text is absent.

    The features are: similarity of the texts, equality, share of the shorter text's words that the
    longer one has, difference of whole numbers (years).
    """
    columns = [np.empty((len(pairs), 0), np.float32)]
    for name in left.extra_columns:
        if name not in right.extra_columns:
            continue
        left_texts = [left.extra_columns[name][row] for row in pairs[:, 0]]
        right_texts = [right.extra_columns[name][row] for row in pairs[:, 1]]
        columns.append(_compare_texts(left_texts, right_texts))
    return np.column_stack(columns)


def _compare_texts(left: Sequence[str], right: Sequence[str]) -> Floats:
    count = len(left)
    is_given = np.fromiter(map(bool, left), bool, count) & np.fromiter(
        map(bool, right), bool, count
    )
    columns = (
        process.cpdist(left, right, scorer=fuzz.token_sort_ratio, dtype=np.float32),
        np.fromiter(map(eq, left, right), np.float32, count),
        np.fromiter(map(word_overlap, left, right), np.float32, count),
        np.fromiter(map(_number_gap, left, right), np.float32, count),
    )
    return np.where(is_given[:, None], np.column_stack(columns), np.nan).astype(np.float32)


# Cache size: extra columns repeat few values (venues, years) in many pairs.
@lru_cache(maxsize=262_144)
def word_overlap(first: str, second: str) -> float:
    """Return the share of the shorter text's words that the longer one has.

    An initial stands for any word that begins with it.

    >>> word_overlap("michael stonebraker , l. a. rowe", "m stonebraker")
    1.0
    >>> word_overlap("jim gray", "j. melton")
    0.5
    """
    short, long = sorted((tokenize(first), tokenize(second)), key=len)
    long_words = {*long}
    first_letters = {word[0] for word in long}
    shared = 0
    for word in short:
        if word in long_words:
            shared += 1
        elif len(word) == 1:
            shared += word in first_letters
        else:
            # One letter in the longer text stands for this word.
            shared += word[0] in long_words
    return shared / max(1, len(short))


def _number_gap(first: str, second: str) -> float:
    """Return the difference of two whole numbers, at most MAX_GAP; NaN for other texts."""
    for text in (first, second):
        if not text.isdecimal() or len(text) > MAX_DIGITS:
            return np.nan
    return float(min(MAX_GAP, abs(int(first) - int(second))))


def _read_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            if not isinstance(row, dict) or "id" not in row:
                raise UnreadableFeed(f"{path}, line {number}: not an object with an id")
            yield row
    except (OSError, ValueError) as error:
        raise UnreadableFeed(f"{path} cannot be read as JSON Lines: {error}") from error


def to_offer(row: Mapping[str, Any], extra_columns: Sequence[str] = ()) -> OfferFields:
    """Return a row as an offer; texts of the extra columns describe one without a description."""
    offer = OfferFields(price=_price(row.get("price")))
    for column, name in _FIELD_OF_COLUMN.items():
        text = _text(row.get(column))
        if text and getattr(offer, name) is None:
            setattr(offer, name, text)
    if not offer.description:
        extra_text = " ".join(_text(row.get(name)) for name in extra_columns)
        offer.description = extra_text or None
    return offer


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value)[:MAX_VALUE]


def _price(value: object) -> Decimal | None:
    if not value:
        return None
    try:
        return Decimal(_text(value).strip(" $€£").replace(",", ""))
    except InvalidOperation:
        return None
