"""Offers as plain rows of the store: a million of its models would fill memory."""

from typing import Any

from sqlalchemy import Row

from catalog.models import OfferFields


def to_fields(row: Row[Any]) -> OfferFields:
    """Return the fields of an offer that a row has; the store's values need no validation."""
    # A value for each field: pydantic takes ten times as long to find defaults.
    values = dict.fromkeys(OfferFields.model_fields) | row._asdict()
    fields = {name: values[name] for name in OfferFields.model_fields}
    return OfferFields.model_construct(**fields | {"images": fields["images"] or []})
