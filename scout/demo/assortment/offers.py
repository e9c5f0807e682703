"""The demo shop's offers, their variants and categories, and the notation of prices.

An offer is a row of a report. Where each variant has a canonical link of its own (phones by
storage), each variant is an offer and they share a `family`. Where the canonical link leaves the
variant out (shoes by size), the variants belong to one offer.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Category:
    """A category of the shop; `template` is its page template: text, microdata or script."""

    slug: str
    name: str
    parent: str
    locale: str
    template: str
    prefix: str
    icon: str
    hue: int

    @property
    def path(self) -> str:
        """The path of the category's first page."""
        return f"/de/{self.slug}/" if self.locale == "de" else f"/en/collections/{self.slug}"

    def offer_path(self, title_slug: str, number: int) -> str:
        """Return the canonical path of an offer of this category."""
        if self.locale == "de":
            return f"/de/artikel/{title_slug}-{number}.html"
        return f"/en/products/{title_slug}"

    def below(self, path: str) -> str:
        """Return an offer's alternate path, which contains the category."""
        file_name = path.rsplit("/", 1)[-1]
        if self.locale == "de":
            return f"{self.path}{file_name}"
        return f"{self.path}/products/{file_name}"


@dataclass(frozen=True)
class Variant:
    """A choice on one offer's page, selected by `?variant=ID`.

    It has its own identifiers and price.
    """

    id: int
    label: str
    sku: str
    ean: str | None
    price: Decimal


@dataclass(frozen=True)
class Offer:
    """An offer.

    `path` is its canonical link without the host; `alternates` are further paths to it.

    `parts` are the numbers of the offers in a bundle; `han` is the manufacturer's article number.
    """

    number: int
    path: str
    title: str
    category: Category
    brand: str
    price: Decimal
    sku: str
    ean: str | None
    han: str | None
    description: str
    model: str
    colour: str
    size: str
    specs: tuple[tuple[str, str], ...]
    available: bool = True
    old_price: Decimal | None = None
    alternates: tuple[str, ...] = ()
    family: str | None = None
    variants: tuple[Variant, ...] = ()
    parts: tuple[int, ...] = ()

    @property
    def locale(self) -> str:
        """The language of the offer's page, `de` or `en`; each has offers of its own."""
        return self.category.locale

    @property
    def currency(self) -> str:
        """The ISO 4217 code of its price."""
        return "EUR" if self.locale == "de" else "USD"

    @property
    def image(self) -> str:
        """The path of its first picture."""
        return f"/img/{self.sku.lower()}-1.svg"


def format_price(amount: Decimal, locale: str) -> str:
    """Format a price in the notation of a locale.

    >>> format_price(Decimal("1299"), "de"), format_price(Decimal("1299"), "en")
    ('1.299,00 €', '$1,299.00')
    """
    english = f"{amount:,.2f}"
    if locale == "en":
        return f"${english}"
    return english.translate(str.maketrans(",.", ".,")) + " €"
