"""Cursors of long lists: where the next page begins, as an opaque text."""

import base64
import binascii
import json
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator

from catalog.errors import UsageError
from catalog.models import MAX_ROW_ID
from scout.web.plain_text import check_text

_MAX_LENGTH = 3000  # characters: a bound against hostile input

Cursor = Annotated[
    str | None,
    Query(max_length=_MAX_LENGTH, description="The `next` of the page before; none: first page."),
    # Behind the check of the length, which takes no None.
    AfterValidator(lambda cursor: cursor or None),
]
Limit = Annotated[int, Query(ge=1, le=500, description="Rows on a page at most.")]


def encode_cursor(*values: str | float | None) -> str:
    """Encode the place where the next page begins.

    >>> decode_cursor(encode_cursor("value", 7), 2)
    ['value', 7]
    """
    text = json.dumps(values, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, length: int) -> list[Any]:
    """Decode a cursor of that many values: texts, numbers, None. Raises UsageError."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        values = json.loads(base64.b64decode(padded, b"-_", validate=True))
        if not isinstance(values, list) or len(values) != length:
            raise ValueError
        for value in values:
            _check_value(value)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise UsageError("the cursor is not one of this list") from error
    return values


def decode_id(cursor: str | None) -> int | None:
    """Decode a cursor that is a row's id; None where there is no cursor. Raises UsageError."""
    if cursor is None:
        return None
    (row_id,) = decode_cursor(cursor, 1)
    if not isinstance(row_id, int):
        raise UsageError("the cursor is not one of this list")
    return row_id


def _check_value(value: object) -> None:
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, int | float):
        if not -MAX_ROW_ID <= value <= MAX_ROW_ID:
            raise ValueError
    elif value is not None:
        raise ValueError
