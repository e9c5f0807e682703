"""A small made-up shop in markup: product pages of two templates, a category page and an article."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """What one made-up product page says."""

    number: int
    title: str
    price: str
    brand: str
    sku: str
    ean: str


def products(count: int) -> list[Product]:
    """Made-up products; every third has a discount notice on its page, brands repeat."""
    things = ("Lamp", "Kettle", "Rug", "Vase", "Stool", "Clock", "Tray")
    brands = ("Ardwen", "Bolitt", "Cosmira")
    return [
        Product(
            n,
            f"{brands[n % 3]} {things[n % 7]} {n * 7 + 11}",
            f"{n * 13 + 7}.{(n * 31) % 90 + 10}",
            brands[n % 3],
            f"SK-{n * 17 + 1000}",
            _gtin(f"40{n * 97 + 1_000_000_000:010d}"),
        )
        for n in range(count)
    ]


def _gtin(twelve: str) -> str:
    total = sum(int(digit) * (1 if place % 2 == 0 else 3) for place, digit in enumerate(twelve))
    return f"{twelve}{-total % 10}"


def text_page(product: Product, related: Product | None = None) -> str:
    """A page that says all in visible text, German prices, labels beside the values."""
    price = product.price.replace(".", ",")
    notice = '<div class="notice">Nur heute!</div>' if product.number % 3 == 0 else ""
    other = (
        f'<div class="related"><h3>{related.title}</h3><b class="cost">{related.price}</b></div>'
        if related
        else ""
    )
    return _shell(
        f"""{notice}<div class="product-view" id="p-{product.number}"><h1 class="headline">{product.title}</h1>
        <p class="cost">{price} €</p><ul class="facts"><li>Art.-Nr.: {product.sku} *</li></ul>
        <table><tr><th>Marke</th><td>{product.brand}</td></tr><tr><th>EAN:</th><td>{product.ean}</td></tr></table></div>{other}""",
        f"{product.title} | Wohnhaus",
    )


def data_page(product: Product) -> str:
    """A page whose values stand in a script object and in an escaped attribute, the price in cents."""
    cents = int(product.price.replace(".", ""))
    meta = json.dumps(
        {
            "product": {
                "id": product.number,
                "vendor": product.brand,
                "variants": [{"price": cents, "sku": product.sku}],
            }
        }
    )
    gtin = json.dumps({"gtin": product.ean, "n": product.number}).replace('"', "&quot;")
    return _shell(
        f"""<section class="item-box" data-item="{gtin}"><h2 class="name">{product.title}</h2></section>
        <script>window.track = function () {{ return 1; }}; var meta{product.number} = {meta}; go();</script>
        <script>dataLayer.push({{event: 'view', name: '{product.title}',}});</script>""",
        product.title,
    )


def headed_page(title: str, heading: str, brand: str, price: str) -> str:
    """A page whose heading may say more than the title in its head."""
    named = f"<title>{title} | Shop</title><h1>{heading}</h1>"
    return f"{named}<b class='brand'>{brand}</b><i class='price'>{price} €</i>"


def category_page(shown: list[Product]) -> str:
    """A list of products, which is no offer itself."""
    tiles = "".join(
        f'<div class="tile"><a href="/p/{p.number}">{p.title}</a><b class="cost">{p.price}</b></div>'
        for p in shown
    )
    return _shell(
        f'<h1 class="list-title">Alles</h1><div class="grid">{tiles}</div>', "Alles | Wohnhaus"
    )


def article_page() -> str:
    """A page about the shop."""
    return _shell('<h1>Über uns</h1><p class="story">Seit 1921.</p>', "Über uns")


def _shell(body: str, title: str) -> str:
    return (
        f'<!doctype html><html lang="de"><head><title>{title}</title>'
        '<meta property="og:site_name" content="Wohnhaus"></head>'
        f'<body><div class="head"><a class="home" href="/">Wohnhaus</a></div><div class="main">{body}</div>'
        '<div class="foot">Wohnhaus, 10115 Berlin</div></body></html>'
    )
