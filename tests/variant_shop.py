"""A small made-up shop whose pages keep several offers each, in a list of a script or in the rows of a table."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from catalog.models import OfferFields
from tests.pages import Product, products

COLOURS = ("Red", "Blue", "Green", "Black")


@dataclass(frozen=True)
class Choice:
    """A variant of a product."""

    number: int
    colour: str
    sku: str
    ean: str
    price: str
    image: str


def choices(product: Product) -> list[Choice]:
    """One to four variants of a product, by its number."""
    eans = [extra.ean for extra in products(400)[100 + 4 * product.number :]]
    return [
        Choice(
            product.number * 10 + place + 5000,
            colour,
            f"{product.sku}-{colour[:3].upper()}",
            eans[place],
            f"{Decimal(product.price) + 3 * place}",
            f"/img/{product.number}-{colour.lower()}.jpg",
        )
        for place, colour in enumerate(COLOURS[: 1 + product.number % 4])
    ]


def known(
    product: Product, choice: Choice, root: str, *, linked: bool = True, coloured: bool = True
) -> OfferFields:
    """The catalog's offer of a variant."""
    alone = len(choices(product)) == 1
    return OfferFields(
        title=f"{product.title} - {choice.colour}" if coloured and not alone else product.title,
        price=Decimal(choice.price), currency="EUR", brand=product.brand, sku=choice.sku, ean=choice.ean,
        images=[f"{root.rstrip('/')}{choice.image}"],
        url=f"{root}p{product.number}?variant={choice.number}" if linked and not alone else f"{root}p{product.number}",
    )  # fmt: skip


def array_page(product: Product) -> str:
    """The variants in a script, with a list of other products that is none of theirs."""
    mine = [
        {"id": c.number, "sku": c.sku, "barcode": c.ean, "price": round(float(c.price) * 100), "option1": c.colour,
         "featured_image": {"src": c.image} if place else None, "available": True}
        for place, c in enumerate(choices(product))
    ]  # fmt: skip
    data = json.dumps(
        {
            "product": {
                "id": product.number,
                "title": product.title,
                "vendor": product.brand,
                "variants": mine,
            }
        }
    )
    other_products = json.dumps(
        [{"id": n, "sku": f"OTHER-{n}", "price": 100 * n} for n in range(3)]
    )
    first = choices(product)[0]
    return _page(
        product,
        f'<img class="main" src="{first.image}"><b class="cost">{first.price} €</b>'
        f"<script>var shown = {data}; var alsoLiked = {other_products};</script>",
    )


def table_page(product: Product) -> str:
    """The variants in the rows of a table."""
    rows = "".join(
        f'<tr class="choice"><td class="c">{c.colour}</td><td>Nr. {c.sku}</td><td>{c.ean}</td>'
        f'<td class="cost">{c.price.replace(".", ",")} €</td><td><button value="{c.number}">+</button></td></tr>'
        for c in choices(product)
    )
    head = "<tr><th>Farbe</th><th>Nummer</th><th>EAN</th><th>Preis</th><th></th></tr>"
    return _page(
        product,
        f'<img class="main" src="/img/{product.number}-red.jpg"><table class="choices">{head}{rows}</table>',
    )


def tables_page(product: Product) -> str:
    """The variants in a table without any mark, among others like it: what it is made of, and what goes with it."""
    head = "<tr><th>Farbe</th><th>Nummer</th><th>EAN</th><th>Preis</th><th></th></tr>"
    goes_with = [choices(accessory)[0] for accessory in products(40)[20 + product.number :][:2]]
    made_of = "".join(
        f"<tr><td>{name}</td><td>{product.number} {name}</td></tr>"
        for name in ("Holz", "Stahl", "Glas")
    )
    rows, rows_of_accessories = (
        "".join(map(_row, variants)) for variants in (choices(product), goes_with)
    )
    return _page(
        product,
        f'<img class="main" src="/img/{product.number}-red.jpg"><table>{head}{rows}</table><table>{made_of}</table>'
        f'<div class="more"><table>{head}{rows_of_accessories}</table></div>',
    )


def _row(choice: Choice) -> str:
    return (
        f"<tr><td>{choice.colour}</td><td>{choice.sku}</td><td>{choice.ean}</td><td>{choice.price.replace('.', ',')} €</td>"
        f'<td><button value="{choice.number}">+</button></td></tr>'
    )


def beside_page(product: Product, neighbours: Sequence[Product]) -> str:
    """One offer, with others beside it."""
    facts = f'<p class="nr">{product.sku}</p><p class="gtin">{product.ean}</p><b class="cost">{product.price} €</b>'
    return _page(
        product, f'<img class="main" src="/img/{product.number}.jpg">{facts}{_cards(neighbours)}'
    )


def cards_page(name: str, shown: Sequence[Product]) -> str:
    """A category, with its offers as other pages have them beside theirs."""
    return (
        f"<!doctype html><html><head><title>{name} | Wohnhaus</title></head><body><header>Wohnhaus</header>"
        f'<section class="category"><h2>{name}</h2>{_cards(shown)}</section></body></html>'
    )


def _cards(shown: Sequence[Product]) -> str:
    cards = "".join(
        f'<li class="card"><a href="/p{card_product.number}">{card_product.title}</a> <i>{card_product.sku}</i> <b>{card_product.price} €</b></li>'
        for card_product in shown
    )
    return f'<ul class="cards">{cards}</ul>'


def _page(product: Product, body: str) -> str:
    return (
        f"<!doctype html><html><head><title>{product.title} | Wohnhaus</title></head><body><header>Wohnhaus</header>"
        f'<main class="product-view"><h1 class="name">{product.title}</h1><p class="maker">{product.brand}</p>{body}</main>'
        "</body></html>"
    )
