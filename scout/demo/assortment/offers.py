"""What the demo shop sells: an offer, its variants, its category, and how a price is written.

An offer is what one row of a report names. Where the shop gives each variant a canonical link of its own (phones by
storage), each variant is an offer and they share a `family`; where the canonical link leaves the variant out (shoes by
size), the variants belong to one offer.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Category:
    """A category of the shop: its words, and which of the three page templates it uses."""

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
        """Where the category's first page stands."""
        return f"/de/{self.slug}/" if self.locale == "de" else f"/en/collections/{self.slug}"

    def offer_path(self, words: str, number: int) -> str:
        """Canonical path of an offer of this category."""
        return (
            f"/de/artikel/{words}-{number}.html" if self.locale == "de" else f"/en/products/{words}"
        )

    def below(self, path: str) -> str:
        """The offer's other path, which leads through the category."""
        last = path.rsplit("/", 1)[-1]
        return f"{self.path}{last}" if self.locale == "de" else f"{self.path}/products/{last}"


@dataclass(frozen=True)
class Variant:
    """A choice on one offer's page, selected by `?variant=ID`; it has its own identifiers and price."""

    id: int
    label: str
    sku: str
    ean: str | None
    price: Decimal


@dataclass(frozen=True)
class Offer:
    """One thing that can be bought. `path` is its canonical link without the host; `alternates` lead to it as well."""

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
        """The language of the shop's half that sells it."""
        return self.category.locale

    @property
    def currency(self) -> str:
        """ISO code of its price."""
        return "EUR" if self.locale == "de" else "USD"

    @property
    def image(self) -> str:
        """Path of its first picture."""
        return f"/img/{self.sku.lower()}-1.svg"


def money(amount: Decimal, locale: str) -> str:
    """A price as that half of the shop writes it.

    >>> money(Decimal("1299"), "de"), money(Decimal("1299"), "en")
    ('1.299,00 €', '$1,299.00')
    """
    english = f"{amount:,.2f}"
    if locale == "en":
        return f"${english}"
    return english.translate(str.maketrans(",.", ".,")) + " €"
