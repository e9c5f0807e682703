"""Tables of catalog imports, and of the index of a shop's known offers."""

from datetime import datetime

from sqlalchemy import JSON, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import LargeId, UtcDateTime, empty_dict, utc_now


class CatalogImport(SQLModel, table=True):
    """One import of a shop's feed: source without password, columns by field, and its counts.

    `generation` is that of the known offers it wrote. `reasons` counts the reasons of bad rows and
    the notes on rows that were kept. `undone_at` is None until the import is undone.
    """

    __tablename__ = "catalog_import"
    __table_args__ = (Index("catalog_import_newest", "shop_id", "id", "kept"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    generation: int
    source: str
    format: str
    columns: dict[str, list[str]] = Field(default_factory=empty_dict, sa_type=JSON)
    read: int = 0
    kept: int = 0
    bad: int = 0
    reasons: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    imported_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    undone_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    undone_by: str | None = None


class BadRow(SQLModel, table=True):
    """A row of a feed that is no known offer, with its line and the reason."""

    __tablename__ = "bad_row"

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    source: str
    line: int
    reason: str
    raw: str
    at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class KnownIndex(SQLModel, table=True):
    """The index of a shop's known offers, by which the matcher finds candidates.

    It consists of the parts of its `build`; parts of other builds are of an indexing that was
    killed. `catalog_state` names the catalog that it was made from, `layout` the version of its
    format. `updates` counts the changes of the catalog that were added since, `documents` all
    offers that were ever indexed in this build.
    """

    __tablename__ = "known_index"

    shop_id: int = Field(primary_key=True, foreign_key="shop.id")
    build: int
    layout: int
    catalog_state: str
    updates: int = 0
    documents: int = 0
    parts: int = 0
    built_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class KnownIndexPart(SQLModel, table=True):
    """A part of an index of known offers: arrays as bytes (`matcher.known_index`)."""

    __tablename__ = "known_index_part"
    __table_args__ = (UniqueConstraint("shop_id", "build", "kind", "number"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    build: int
    kind: str
    number: int
    data: bytes = Field(sa_type=LargeBinary)
