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


def choices(one: Product) -> list[Choice]:
    """One to four variants of a product, by its number."""
    eans = [extra.ean for extra in products(400)[100 + 4 * one.number :]]
    return [
        Choice(
            one.number * 10 + place + 5000,
            colour,
            f"{one.sku}-{colour[:3].upper()}",
            eans[place],
            f"{Decimal(one.price) + 3 * place}",
            f"/img/{one.number}-{colour.lower()}.jpg",
        )
        for place, colour in enumerate(COLOURS[: 1 + one.number % 4])
    ]


def known(
    one: Product, choice: Choice, root: str, *, linked: bool = True, coloured: bool = True
) -> OfferFields:
    """The catalog's offer of a variant."""
    alone = len(choices(one)) == 1
    return OfferFields(
        title=f"{one.title} - {choice.colour}" if coloured and not alone else one.title,
        price=Decimal(choice.price), currency="EUR", brand=one.brand, sku=choice.sku, ean=choice.ean,
        images=[f"{root.rstrip('/')}{choice.image}"],
        url=f"{root}p{one.number}?variant={choice.number}" if linked and not alone else f"{root}p{one.number}",
    )  # fmt: skip


def array_page(one: Product) -> str:
    """The variants in a script, with a list of other products that is none of theirs."""
    mine = [
        {"id": c.number, "sku": c.sku, "barcode": c.ean, "price": round(float(c.price) * 100), "option1": c.colour,
         "featured_image": {"src": c.image} if place else None, "available": True}
        for place, c in enumerate(choices(one))
    ]  # fmt: skip
    data = json.dumps(
        {"product": {"id": one.number, "title": one.title, "vendor": one.brand, "variants": mine}}
    )
    others = json.dumps([{"id": n, "sku": f"OTHER-{n}", "price": 100 * n} for n in range(3)])
    first = choices(one)[0]
    return _page(
        one,
        f'<img class="main" src="{first.image}"><b class="cost">{first.price} €</b>'
        f"<script>var shown = {data}; var alsoLiked = {others};</script>",
    )


def table_page(one: Product) -> str:
    """The variants in the rows of a table."""
    rows = "".join(
        f'<tr class="choice"><td class="c">{c.colour}</td><td>Nr. {c.sku}</td><td>{c.ean}</td>'
        f'<td class="cost">{c.price.replace(".", ",")} €</td><td><button value="{c.number}">+</button></td></tr>'
        for c in choices(one)
    )
    head = "<tr><th>Farbe</th><th>Nummer</th><th>EAN</th><th>Preis</th><th></th></tr>"
    return _page(
        one,
        f'<img class="main" src="/img/{one.number}-red.jpg"><table class="choices">{head}{rows}</table>',
    )


def tables_page(one: Product) -> str:
    """The variants in a table without any mark, among others like it: what it is made of, and what goes with it."""
    head = "<tr><th>Farbe</th><th>Nummer</th><th>EAN</th><th>Preis</th><th></th></tr>"
    goes_with = [choices(other)[0] for other in products(40)[20 + one.number :][:2]]
    made_of = "".join(
        f"<tr><td>{name}</td><td>{one.number} {name}</td></tr>"
        for name in ("Holz", "Stahl", "Glas")
    )
    rows, more = ("".join(map(_row, found)) for found in (choices(one), goes_with))
    return _page(
        one,
        f'<img class="main" src="/img/{one.number}-red.jpg"><table>{head}{rows}</table><table>{made_of}</table>'
        f'<div class="more"><table>{head}{more}</table></div>',
    )


def _row(one: Choice) -> str:
    return (
        f"<tr><td>{one.colour}</td><td>{one.sku}</td><td>{one.ean}</td><td>{one.price.replace('.', ',')} €</td>"
        f'<td><button value="{one.number}">+</button></td></tr>'
    )


def beside_page(one: Product, beside: Sequence[Product]) -> str:
    """One offer, with others beside it."""
    said = (
        f'<p class="nr">{one.sku}</p><p class="gtin">{one.ean}</p><b class="cost">{one.price} €</b>'
    )
    return _page(one, f'<img class="main" src="/img/{one.number}.jpg">{said}{_cards(beside)}')


def cards_page(name: str, shown: Sequence[Product]) -> str:
    """A category, with its offers as other pages have them beside theirs."""
    return (
        f"<!doctype html><html><head><title>{name} | Wohnhaus</title></head><body><header>Wohnhaus</header>"
        f'<section class="category"><h2>{name}</h2>{_cards(shown)}</section></body></html>'
    )


def _cards(shown: Sequence[Product]) -> str:
    cards = "".join(
        f'<li class="card"><a href="/p{one.number}">{one.title}</a> <i>{one.sku}</i> <b>{one.price} €</b></li>'
        for one in shown
    )
    return f'<ul class="cards">{cards}</ul>'


def _page(one: Product, body: str) -> str:
    return (
        f"<!doctype html><html><head><title>{one.title} | Wohnhaus</title></head><body><header>Wohnhaus</header>"
        f'<main class="product-view"><h1 class="name">{one.title}</h1><p class="maker">{one.brand}</p>{body}</main>'
        "</body></html>"
    )
