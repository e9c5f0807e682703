"""The one schema of an offer, and the tables of offers, on either side of the comparison."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import (
    DecimalText,
    LargeId,
    UtcDateTime,
    empty_dict,
    empty_list,
    utc_now,
)


class Attribute(StrEnum):
    """Attributes of an offer that are read from a page; `image` stands for the list of product
    images.
    """

    TITLE = "title"
    DESCRIPTION = "description"
    PRICE = "price"
    CURRENCY = "currency"
    BRAND = "brand"
    CATEGORY = "category"
    IMAGE = "image"
    EAN = "ean"
    HAN = "han"
    SKU = "sku"
    AVAILABILITY = "availability"


# Attributes that identify an offer or product.
IDENTIFIERS = (Attribute.SKU, Attribute.EAN, Attribute.HAN)


class OfferFields(SQLModel):
    """The attributes of an offer, normalised (`catalog.values`); None where unknown.

    `url` is cleaned and, where the page names a canonical link, canonical. `category` is a path
    joined by ` > `. `ean` is a GTIN of 8, 12, 13 or 14 digits. `availability` is in_stock,
    out_of_stock or preorder.
    """

    url: str | None = None
    title: str | None = None
    description: str | None = None
    price: Decimal | None = Field(default=None, sa_type=DecimalText)
    currency: str | None = None
    brand: str | None = None
    category: str | None = None
    images: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    ean: str | None = None
    han: str | None = None
    sku: str | None = None
    availability: str | None = None


class KnownOffer(OfferFields, table=True):
    """An offer of the shop that the catalog lists.

    `ref` is the catalog's own key, unique per shop. `link` is the link as delivered; `url` is the
    cleaned link, or None where it is opaque (`opaque`) or malformed. `product` groups offers of one
    catalog product. `generation` numbers the shop's imports: all offers have that of the last one.
    `content_key` is a digest of the fields by which offers are found
    (`catalog.values.content_keys`), None where it was not computed.
    """

    __tablename__ = "known_offer"
    __table_args__ = (
        UniqueConstraint("shop_id", "ref"),
        # The keys of all offers of a shop are read from this index alone.
        Index("known_offer_content", "shop_id", "id", "content_key"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    ref: str
    link: str | None = None
    opaque: bool = False
    product: str | None = None
    imported_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    generation: int = 0
    content_key: int | None = Field(default=None, sa_type=BigInteger)


class FormerOffer(OfferFields, table=True):
    """A known offer as it was before the shop's last import, so that the import can be undone.

    `known_id` is the id that it had among the known offers.
    """

    __tablename__ = "former_offer"

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    known_id: int = Field(sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    ref: str
    link: str | None = None
    opaque: bool = False
    product: str | None = None
    imported_at: datetime = Field(sa_type=UtcDateTime)
    generation: int = 0
    content_key: int | None = Field(default=None, sa_type=BigInteger)


class LostOffer(SQLModel, table=True):
    """An offer that the catalog listed until an import of a feed without it.

    `generation` is that of the last import with it, `lost_at` the time of the first one without.
    `cleared_by` is the generation of the import that brought the offer back, or was too many imports
    later; None while the offer is lost. A cleared row is kept until that import cannot be undone.
    """

    __tablename__ = "lost_offer"
    __table_args__ = (UniqueConstraint("shop_id", "ref"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    ref: str
    url: str | None = None
    title: str | None = None
    ean: str | None = None
    han: str | None = None
    sku: str | None = None
    generation: int = 0
    lost_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    cleared_by: int | None = None


class ShopOffer(OfferFields, table=True):
    """An offer parsed from a page of the shop. `variant` numbers the offers of one page, from 0.

    Where a page has several offers, the variants of one product, `variant_of` is that page's URL.
    `readings` holds, per attribute, the confidence of the winning value, the number of votes, and
    the text and selector that it comes from: `{"price": {"weight": 0.97, "votes": 4, "raw": "7,90
    €", "rule": ".price"}}`. Offers parsed by earlier versions lack the last two.
    """

    __tablename__ = "shop_offer"
    __table_args__ = (UniqueConstraint("page_id", "variant"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    page_id: int = Field(foreign_key="page.id", index=True, sa_type=LargeId)
    variant: int = 0
    variant_of: str | None = None
    readings: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
