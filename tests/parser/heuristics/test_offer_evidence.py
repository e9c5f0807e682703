"""The evidence that a page shows one offer: structured data, a price and a button of its own, no cards only."""

import json

import pytest

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import HeuristicReading, read_page_by_heuristics
from parser.page.document import Document

URL = "https://shop.example/lamps/oslo-40/"
BUY = "<button>Add to cart</button>"


def _read(body: str, title: str = "Oslo 40", head: str = "", url: str = URL) -> HeuristicReading:
    page = f"<html><head><title>{title} | Lumo</title>{head}</head><body>{body}</body></html>"
    return read_page_by_heuristics(Document(page, url))


def _json_ld(**thing: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


def _card(name: str, price: str, extra: str = "") -> str:
    return (
        f"<div class='tile'><a href='/x/{name}/'><img src='/{name}.jpg'></a><h3><a href='/x/{name}/'>{name}</a></h3>"
        f"<span class='price'>{price}</span>{extra}</div>"
    )


CARDS = _card("Bergen", "€30.00", BUY) + _card("Narvik", "€44.00", BUY)
H1 = "<h1>Oslo 40</h1>"
PRODUCT = {
    "@type": "Product",
    "name": "Oslo 40",
    "offers": {"price": "12.00", "priceCurrency": "EUR"},
}
RANGE = {
    "@type": "AggregateOffer",
    "lowPrice": "5.00",
    "highPrice": "90.00",
    "priceCurrency": "EUR",
}

OFFERS = [
    ("price and button", f"<main>{H1}<p>€12.00</p>{BUY}</main>", "12.00"),
    ("price in a heading", f"<main>{H1}<h3>€12.00</h3>{BUY}</main>", "12.00"),
    ("related cards below", f"<main>{H1}<p>€12.00</p>{BUY}<div>{CARDS}</div></main>", "12.00"),
    ("cards in a side bar before the content", f"<div>{CARDS}</div><main>{H1}<p>€12.00</p>{BUY}</main>", "12.00"),
    ("cards between the title's bar and the content",
     f"<section><div>{H1}</div></section><div><div class='side'>{CARDS}</div><div class='c'><div><p class='price'>"
     f"€12.00</p>{BUY}</div></div></div>", "12.00"),
    ("old price struck in an ancestor", f"<main>{H1}<div><del><span><b>€20.00</b></span></del> <b>€12.00</b></div>{BUY}</main>",
     "12.00"),
    ("old price named so", f"<main>{H1}<div class='product-price__old'><span>€20.00</span></div><div>€12.00</div>{BUY}</main>",
     "12.00"),
    ("regular price of a reduced offer", f"<main>{H1}<span class='regular-price'>€20.00</span><span>€12.00</span>{BUY}</main>",
     "12.00"),
    ("regular price of another offer", f"<main>{H1}<span class='regular-price'>€12.00</span>{BUY}</main>", "12.00"),
    ("a brand's logo before the price", f"<main>{H1}<a href='/b/os/'><img alt='Oslo'></a><p>€12.00</p>{BUY}</main>", "12.00"),
    ("links to other colours", f"<main>{H1}<a href='/a/'><img></a><a href='/b/'><img></a><p>€12.00</p>{BUY}</main>", "12.00"),
    ("a form of a shop system", f"<main>{H1}<p>€12.00</p><form action='/cart/add'><button>OK</button></form></main>", "12.00"),
    ("an image as button", f"<main>{H1}<p>€12.00</p><input type=image alt='In den Warenkorb'></main>", "12.00"),
    ("a number behind a label", f"<main>{H1}<p>€12.00</p><p>Art.-Nr.: 12-A</p></main>", "12.00"),
    ("a note on postage between price and button", f"<div class='head'>{H1}</div><div><p class='product-price with-list-price'>€12.00*"
     f"</p><p class='product-tax'><a href='/postage/'>plus postage</a></p>{BUY}</div>", "12.00"),
    ("quick views with buttons below", f"<main>{H1}<div>€12.00</div>{BUY}</main><div><p>€13.00</p>{BUY}<p>€14.00</p>{BUY}</div>",
     "12.00"),
    ("JSON-LD", f"{_json_ld(**PRODUCT)}{H1}", "12.00"),
    ("JSON-LD twice", f"{_json_ld(**PRODUCT)}{_json_ld(**PRODUCT)}{H1}", "12.00"),
    ("JSON-LD beside related cards, its price in a script", f"{_json_ld(**PRODUCT)}{H1}<div>{CARDS}</div>", "12.00"),
    ("JSON-LD of related offers, too", f"{_json_ld(**PRODUCT)}{_json_ld(**PRODUCT | {'name': 'Bergen'})}{H1}", "12.00"),
    ("full type", f"{_json_ld(**PRODUCT | {'@type': 'http://schema.org/Product'})}{H1}", "12.00"),
]  # fmt: skip

OTHERS = [
    ("cards", f"<main>{H1}<div>{CARDS}</div></main>"),
    ("one card", f"<main>{H1}<div>{_card('Bergen', '€30.00', BUY)}</div></main>"),
    ("cards that are links", f"<main>{H1}<a href='/x/'><h2>Bergen</h2><p>€30.00</p></a></main>"),
    ("offers without links", f"<main>{H1}<div>Bergen <b>€30.00</b>{BUY}</div><div>Narvik <b>€44.00</b>{BUY}</div></main>"),
    ("offers with plain links", f"<main>{H1}<li><a href='/x/'>Bergen</a> <b>€30.00</b> {BUY}</li></main>"),
    ("names behind the prices", f"<main>{H1}<li><b>€30.00</b> <h3><a href='/x/'>Bergen</a></h3> {BUY}</li></main>"),
    ("a range of prices above cards", f"<main>{H1}<p>€5.00 – €90.00</p><div>{CARDS}</div></main>"),
    ("the lowest price above cards", f"<main>{H1}<p>ab 5,00 €</p><div>{CARDS}</div></main>"),
    ("one card with microdata", f"<main>{H1}<div itemscope itemtype='https://schema.org/Product'><a href='/x/'>"
     "<h2 itemprop='name'>Bergen</h2></a><b itemprop='price' content='30'>€30.00</b></div></main>"),
    ("og:type product on a list", f"<meta property='og:type' content='product'>{H1}<div>{CARDS}</div>"),
    ("a category that declares itself a product", f"{_json_ld(**PRODUCT | {'offers': RANGE})}{H1}<div>{CARDS}</div>"),
    ("an article", f"{_json_ld(**{'@type': 'BlogPosting'})}<article>{H1}<p>It costs <b>€12.00</b>.</p><p>EAN: 40</p></article>"),
    ("an article without data", f"<article>{H1}<p>It costs <b>€12.00</b> now.</p></article>"),
    ("a button in a script", f"<main>{H1}<p>€12.00</p><script id='add-to-cart'>x = 'Add to cart'</script></main>"),
    ("a cart in the header", f"<header><a href='/cart'>Cart</a></header><main>{H1}<p>€12.00</p></main>"),
    ("no price", f"<main>{H1}{BUY}</main>"),
    ("a price of 0", f"<main>{H1}<p>€0.00</p>{BUY}</main>"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body", "price"), OFFERS, ids=[case[0] for case in OFFERS])
def test_offer_pages_have_evidence(name: str, body: str, price: str) -> None:
    """A page with a price and a button of its own, or a product in data, is an offer page at that price."""
    reading = _read(body)
    assert reading.evidence
    assert reading.values[Attribute.PRICE].value == price


@pytest.mark.parametrize(("name", "body"), OTHERS, ids=[case[0] for case in OTHERS])
def test_other_pages_have_none(name: str, body: str) -> None:
    """Lists of any look, articles, and pages without a price are no offer pages."""
    assert _read(body).evidence == 0


TITLES = [
    ("the heading", H1, "Oslo 40", "Oslo 40"),
    ("a second heading, the first is the shop's name", "<h1>Lumo</h1><h2>Oslo 40</h2>", "Oslo 40", "Oslo 40"),
    ("an element named so", "<h1><a href='/'>Lamps!</a></h1><div class='prod-name'>Oslo 40</div>", "Oslo 40", "Oslo 40"),
    ("the page's title without the shop's name", "<p>x</p>", "Oslo 40", "Oslo 40"),
    ("a shop's name before it", "<p>x</p>", "shop – Oslo 40", "Oslo 40"),
    ("a dash that is its own", "<h1>Oslo - large</h1>", "Oslo - large", "Oslo - large"),
    ("a card's heading is another offer's", "<h2><a href='/x/'>Oslo 40</a></h2>", "Oslo 40 and others", "Oslo 40 and others"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "head", "title"), TITLES, ids=[case[0] for case in TITLES]
)
def test_titles(name: str, body: str, head: str, title: str) -> None:
    """The title is the heading, or the element that the page's title names; the shop's name is cut off."""
    meta = (
        '<meta property="og:site_name" content="Lumo"><meta name="application-name" content="shop">'
    )
    assert _read(body, title=head, head=meta).values[Attribute.TITLE].value == title


CRUMBS = "<a href='/'>Start</a> › <a href='/shop/'>Shop</a> › <a href='/l/'>Leuchten</a> › <a href='/t/'>Tisch</a>"
STEPS = [
    {"position": 2, "name": "Tisch"},
    {"position": 1, "item": {"name": "Leuchten"}},
    {"position": 3, "name": "Oslo 40"},
]
CATEGORIES = [
    ("visible", f"<div class='breadcrumbs'>{CRUMBS} › Oslo 40</div>{H1}", "Leuchten > Tisch"),
    ("visible, by its role", f"<nav aria-label='Breadcrumb'>{CRUMBS}</nav>{H1}", "Leuchten > Tisch"),
    ("JSON-LD", f"{_json_ld(**{'@type': 'BreadcrumbList', 'itemListElement': STEPS})}{H1}", "Leuchten > Tisch"),
    ("JSON-LD in a graph", f"{_json_ld(**{'@graph': [{'@type': 'BreadcrumbList', 'itemListElement': STEPS}]})}{H1}",
     "Leuchten > Tisch"),
    ("a label", f"<div>{H1}<p>Kategorie: Leuchten</p></div>", "Leuchten"),
    ("uncategorized", f"<div>{H1}<p>Kategorie: Unkategorisiert</p></div>", None),
    ("the home page alone", f"<div class='breadcrumb'><a href='/'>Startseite</a></div>{H1}", None),
    ("a system's type", f"{H1}<script>var p = {{title: 'Oslo 40', type: 'simple'}}</script>", None),
    ("a type that is a category", f"{H1}<script>var p = {{title: 'Oslo 40', type: 'Bundle'}}</script>", "Bundle"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "category"), CATEGORIES, ids=[case[0] for case in CATEGORIES]
)
def test_categories(name: str, body: str, category: str | None) -> None:
    """Breadcrumbs and labels name the category; home page, assortment and title are no steps of it."""
    value = _read(body).values.get(Attribute.CATEGORY)
    assert (value and value.value) == category


NUMBERS = [
    ("de", "<p>Artikel-Nr.: AB-12</p><p>Hersteller: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("fr", "<p>Réf. : AB-12</p><p>Marque : Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("es", "<p>Referencia AB-12</p><dt>Marca</dt><dd>Bosch</dd>", {"sku": "AB-12", "brand": "Bosch"}),
    ("pl", "<p>Kod produktu: AB-12</p><p>Producent: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("cs", "<p>Kód zboží: AB-12</p><p>Výrobce: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("ru", "<p>Артикул: AB-12</p><p>Производитель: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("el", "<p>Κωδικός προϊόντος: AB-12</p><p>Μάρκα: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("sv", "<p>Art.nr: AB-12</p><p>Varumärke: Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("ja", "<p>商品番号：AB-12</p><p>ブランド：Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("zh", "<p>货号：AB-12</p><p>品牌：Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("ko", "<p>상품코드 : AB-12</p><p>브랜드 : Bosch</p>", {"sku": "AB-12", "brand": "Bosch"}),
    ("several in one element", "<p>SKU: AB-12 | EAN: 4006381333931</p>", {"sku": "AB-12"}),
    ("a label inside the value's element", "<p class='sku'>SKU: AB-12</p>", {"sku": "AB-12"}),
    ("two labels of one value", "<p>EAN / GTIN: 4006381333931</p>", {"ean": "4006381333931"}),
    ("without a mark", "<p>EAN 4006381333931</p>", {"ean": "4006381333931"}),
    ("a number sign", "<p>Артикул № AB-12</p>", {"sku": "AB-12"}),
    ("a sentence", "<p>Brand new and never used</p>", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "expected"), NUMBERS, ids=[case[0] for case in NUMBERS])
def test_labels(name: str, rows: str, expected: dict[str, str]) -> None:
    """Labels in the languages of Europe and East Asia name the value behind them."""
    values = _read(f"<main>{H1}<p>€12.00</p>{rows}</main>").values
    numbers = (Attribute.SKU, Attribute.EAN, Attribute.HAN, Attribute.BRAND)
    read = {name.value: values[name].value for name in numbers if name in values}
    assert {name: read.get(name) for name in expected} == expected
    assert expected or not read
