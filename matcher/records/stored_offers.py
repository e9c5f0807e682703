"""Offers as plain rows of the store: a million of its models would fill memory."""

from typing import Any

from sqlalchemy import Row

from catalog.models import OfferFields


def to_fields(row: Row[Any]) -> OfferFields:
    """Return the fields of an offer that a row has; the store's values need no validation."""
    values = row._mapping
    return OfferFields.model_construct(
        **{name: values[name] for name in OfferFields.model_fields if name in values}
    )
