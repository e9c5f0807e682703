"""Texts in requests: characters that no database can store are refused."""

from typing import Annotated

from fastapi import Form
from pydantic import AfterValidator, Field


def check_text(text: str) -> str:
    """Return a text that can be stored. Raises ValueError for NUL and lone surrogates.

    >>> check_text("Straße")
    'Straße'
    """
    if "\x00" in text:
        raise ValueError("a text cannot hold NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a text cannot hold a lone surrogate") from error
    return text


PlainText = Annotated[str, AfterValidator(check_text)]
"""A text of a request."""

ShortText = Annotated[PlainText, Field(max_length=500)]
"""A text of at most 500 characters."""

UrlText = Annotated[PlainText, Field(max_length=4000)]
"""A URL of a request."""

FormText = Annotated[str, AfterValidator(check_text), Form(max_length=4000)]
"""A field of a form."""
