"""Published matching data as records: a folder of tables whose columns are mapped to what an offer has.

Columns that no offer has (authors, venue, year) are compared one by one as further features, and their text serves as
the description.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from catalog.errors import UnreadableFeed
from catalog.models import OfferFields
from matcher.blocking.nearest_rows import Pairs
from matcher.records.record import Record, records
from matcher.records.text import fold, tokens

_COLUMNS = {
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
_OWN = {"id", "product", "merchant", "price", "cluster"}


@dataclass(frozen=True)
class Table:
    """The rows of one side: their ids, their records, and the folded text of the columns that no offer has."""

    ids: list[str]
    records: list[Record]
    others: dict[str, list[str]]
    rows: list[Mapping[str, Any]]


def read_table(path: Path) -> Table:
    """A JSON Lines table. Raises UnreadableFeed where it is missing or broken."""
    rows = [*_lines(path)]
    names = sorted({name for row in rows for name in row} - _OWN - set(_COLUMNS))
    others = {name: [fold(_text(row.get(name))) for row in rows] for name in names}
    return Table(
        [str(row["id"]) for row in rows], records(_offer(row, names) for row in rows), others, rows
    )


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file. Raises UnreadableFeed."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFeed(f"{path} cannot be read as CSV: {error}") from error


def compare_others(left: Table, right: Table, pairs: Pairs) -> NDArray[np.float32]:
    """Columns of features per shared further column, NaN where a text is not given.

    Likeness of the texts, whether they are equal, how much of the shorter one the longer one names, and how far two
    numbers (years) are apart.
    """
    columns = [np.empty((len(pairs), 0), np.float32)]
    for name in [name for name in left.others if name in right.others]:
        a, b = (
            [left.others[name][i] for i in pairs[:, 0]],
            [right.others[name][j] for j in pairs[:, 1]],
        )
        alike = process.cpdist(a, b, scorer=fuzz.token_sort_ratio, dtype=np.float32)
        given = np.fromiter((bool(x and y) for x, y in zip(a, b, strict=True)), bool, len(pairs))
        equal = np.fromiter((x == y for x, y in zip(a, b, strict=True)), np.float32, len(pairs))
        within = np.fromiter(map(named, a, b), np.float32, len(pairs))
        gap = np.fromiter(map(_gap, a, b), np.float32, len(pairs))
        columns.append(
            np.where(given[:, None], np.column_stack((alike, equal, within, gap)), np.nan).astype(
                np.float32
            )
        )
    return np.column_stack(columns)


@lru_cache(maxsize=262_144)
def named(one: str, other: str) -> float:
    """The share of the shorter text's words that the longer one has; an initial stands for a word that begins so.

    >>> named("michael stonebraker , l. a. rowe", "m stonebraker"), named("jim gray", "j. melton")
    (1.0, 0.5)
    """
    short, long = sorted((tokens(one), tokens(other)), key=len)
    whole, initials = {*long}, {word[0] for word in long}
    alone = {word for word in long if len(word) == 1}
    held = sum(
        word in whole or (word in initials if len(word) == 1 else word[0] in alone)
        for word in short
    )
    return held / max(1, len(short))


def _gap(one: str, other: str) -> float:
    """How far two whole numbers are apart, at most 10; NaN for other texts."""
    if not (one.isdecimal() and other.isdecimal() and len(one) < 10 and len(other) < 10):
        return np.nan
    return float(min(10, abs(int(one) - int(other))))


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            if not isinstance(row, dict) or "id" not in row:
                raise UnreadableFeed(f"{path}, line {number}: not an object with an id")
            yield row
    except (OSError, ValueError) as error:
        raise UnreadableFeed(f"{path} cannot be read as JSON Lines: {error}") from error


def _offer(row: Mapping[str, Any], others: Sequence[str]) -> OfferFields:
    offer = OfferFields(price=_price(row.get("price")))
    for column, name in _COLUMNS.items():
        if (text := _text(row.get(column))) and getattr(offer, name) is None:
            setattr(offer, name, text)
    offer.description = (
        offer.description or " ".join(_text(row.get(name)) for name in others) or None
    )
    return offer


def _text(value: object) -> str:
    return "" if value is None else str(value)[:5000]


def _price(value: object) -> Decimal | None:
    try:
        return Decimal(_text(value).strip(" $€£").replace(",", "")) if value else None
    except InvalidOperation:
        return None
