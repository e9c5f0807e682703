"""Cold start: shops without known offers are read by what their pages say, and by offers of other shops."""

import json

import pytest
from sqlmodel import select

from catalog.models import Attribute, KnownOffer, Match, Run, Shop, ShopOffer, StoredRules, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.match_job import match_shop
from parser.heuristics.heuristic_reader import read_page_by_heuristics
from parser.page.document import Document
from parser.parse_job import parse_shop, stored_rules
from reports.write.report_files import report_shop
from rules_generator.induction.self_training import index_other_shops
from rules_generator.learn_job import GENERAL_RULES, learn_shop
from tests.pages import Product, article_page, category_page, products, text_page
from tests.parser.test_parse_job import store_pages
from tests.rules_generator.conftest import known

ALL = products(12)


def schema_page(product: Product) -> str:
    """A page that says all in JSON-LD, among related products."""
    thing = {
        "@context": "https://schema.org", "@type": "Product", "name": product.title, "sku": product.sku, "gtin13": product.ean,
        "brand": {"@type": "Brand", "name": product.brand},
        "offers": {"@type": "Offer", "price": product.price, "priceCurrency": "EUR", "availability": "InStock"},
    }  # fmt: skip
    body = f'<div class="item-view"><h1 class="name">{product.title}</h1><p class="cost">{product.price} EUR</p></div>'
    return _page(
        product.title, f'<script type="application/ld+json">{json.dumps(thing)}</script>{body}'
    )


def open_graph_page(product: Product) -> str:
    """A page that says little in OpenGraph, the rest in an object of a script."""
    data = {
        "page": {
            "items": [
                {
                    "name": product.title,
                    "vendor": product.brand,
                    "variants": [{"sku": product.sku, "ean": product.ean}],
                }
            ]
        }
    }
    head = f'<meta property="og:type" content="product"><meta property="product:price:amount" content="{product.price}">'
    return _page(
        product.title,
        f"{head}<h1>{product.title}</h1><script>var state = {json.dumps(data)};</script>",
    )


def several_page(product: Product) -> str:
    """A product in two sizes, each an offer with a number of its own in the structured data."""
    offers = [
        {
            "@type": "Offer",
            "sku": f"{product.sku}-{size}",
            "price": f"{n + 5}.00",
            "url": f"/p{product.number}?size={size}",
        }
        for n, size in enumerate("SM")
    ]
    thing = {"@type": "Product", "name": product.title, "brand": product.brand, "offers": offers}
    body = f"<h1>{product.title}</h1><p class=cost>5.00</p>"
    return _page(
        product.title, f'<script type="application/ld+json">{json.dumps(thing)}</script>{body}'
    )


def _page(title: str, body: str) -> str:
    return f"<!doctype html><title>{title} | Shop</title><nav>Menu</nav><main>{body}</main><footer>Ende</footer>"


def _run(settings: Settings, store: Store, shop: Shop, pages: dict[str, str]) -> int:
    lists = {f"c{n}": category_page(ALL[n : n + 6]) for n in range(0, 6, 2)}
    store_pages(settings, store, shop, pages | lists | {"about": article_page()})
    with store.write() as session:
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    learnt = learn_shop(settings, store, shop, run.id or 0)
    assert learnt.by == GENERAL_RULES
    parse_shop(settings, store, shop, run.id or 0)
    return run.id or 0


@pytest.mark.parametrize("page", [schema_page, open_graph_page])
def test_a_shop_without_known_offers_is_read(
    settings: Settings, store: Store, shop: Shop, page: object
) -> None:
    """Offer pages are told from others, their values read with less confidence, and everything is missing."""
    run = _run(settings, store, shop, {f"p{product.number}": page(product) for product in ALL})  # type: ignore[operator]
    with store.read() as session:
        read = {offer.title: offer for offer in session.exec(select(ShopOffer))}
    assert set(read) == {product.title for product in ALL}
    for product in ALL:
        offer = read[product.title]
        assert (offer.sku, offer.ean, offer.brand, str(offer.price)) == (
            product.sku,
            product.ean,
            product.brand,
            product.price,
        )
        assert offer.readings["sku"]["weight"] <= 0.95
    match_shop(settings, store, shop, run)
    with store.write() as session:
        session.get_one(Run, run).figures = {"learn": {"by": GENERAL_RULES}}
    report_shop(settings, store, shop, run, formats=("html",), out=settings.data_dir / "report")
    said = "".join(path.read_text() for path in (settings.data_dir / "report").rglob("*.html"))
    assert "The pages were read with general rules" in said
    with store.read() as session:
        assert {match.verdict for match in session.exec(select(Match))} == {Verdict.MISSING}


def test_known_offers_take_over(settings: Settings, store: Store, shop: Shop) -> None:
    """Once the catalog has offers of the shop, its rules are learnt from these, but for what none of them has.

    General rules for titles and trade numbers stand in for the learnt ones.
    """
    _run(settings, store, shop, {f"p{product.number}": schema_page(product) for product in ALL})
    with store.write() as session:
        for product in ALL[:9]:
            fields = known(product, url=f"{shop.url}p{product.number}").model_dump()
            session.add(KnownOffer(shop_id=shop.id, ref=product.sku, **fields))
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    assert learn_shop(settings, store, shop, run.id or 0).by == "known offers"
    rules = [rule for template in stored_rules(store, shop).templates for rule in template.rules]
    assert {rule.attribute for rule in rules if rule.origin == "general"} <= {
        Attribute.TITLE,
        Attribute.HAN,
        Attribute.CATEGORY,
        Attribute.EAN,
    }
    assert {"title", "price", "ean", "sku"} <= {
        rule.attribute.value for rule in rules if rule.origin == "learnt"
    }


def test_offers_of_other_shops_teach(settings: Settings, store: Store, shop: Shop) -> None:
    """Pages without any structured data are known by EANs that another shop has given the catalog."""
    with store.write() as session:
        other = Shop(name="other", url="https://other.example/")
        session.add(other)
    with store.write() as session:
        for product in ALL[:10]:
            fields = known(
                product, url=f"https://other.example/{product.number}", price=None, sku=None
            ).model_dump()
            session.add(KnownOffer(shop_id=other.id, ref=product.sku, **fields))
    _run(settings, store, shop, {f"p{product.number}": text_page(product) for product in ALL})
    with store.read() as session:
        assert session.exec(select(StoredRules)).one().story["helped_by_other_shops"] == 10
        read = {offer.title: (offer.ean, offer.brand) for offer in session.exec(select(ShopOffer))}
    assert read == {product.title: (product.ean, product.brand) for product in ALL}


NUMBERS = {"ean": "4006381333931", "han": "0601-XY", "brand": "Bosch"}
OTHER_OFFERS = [
    ("one with both numbers", [NUMBERS], True),
    ("one product in two shops", [{"ean": NUMBERS["ean"]}, NUMBERS], True),
    ("two products", [{"ean": NUMBERS["ean"]}, {"han": "0601-XY", "brand": "Bosch", "ean": "4006381333948"}], False),
    ("none", [{"ean": "4006381333948"}], False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "offers", "is_found"), OTHER_OFFERS, ids=[case[0] for case in OTHER_OFFERS]
)
def test_several_numbers_of_one_product(
    name: str, offers: list[dict[str, str]], is_found: bool
) -> None:
    """A page that shows two numbers of a product in other shops is that product, unless they differ."""
    known = [KnownOffer(shop_id=2, title="Bosch Drill GSR 12", **fields) for fields in offers]
    rows = f"<li>EAN: {NUMBERS['ean']}</li><li>Hersteller-Nr.: {NUMBERS['han']}</li>"
    page = Document(
        f"<title>Drill GSR 12</title><main><h1>Drill GSR 12</h1><p>129,00 €</p><ul>{rows}</ul></main>",
        "https://shop.example/p",
    )
    found = index_other_shops(known).find_offer(page, read_page_by_heuristics(page).values)
    assert (found is not None) is is_found


def test_variants_that_structured_data_numbers(
    settings: Settings, store: Store, shop: Shop
) -> None:
    """Offers of one Product that each have a number are offers; so says the shop itself."""
    _run(settings, store, shop, {f"p{product.number}": several_page(product) for product in ALL})
    with store.read() as session:
        read = {
            offer.sku: (str(offer.price), offer.url) for offer in session.exec(select(ShopOffer))
        }
    assert len(read) == 2 * len(ALL)
    assert read[f"{ALL[0].sku}-M"] == ("6.00", f"{shop.url}p0?size=M")


CASES = {
    "microdata": (
        '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Mug</h1>'
        '<b itemprop="brand" itemscope><i itemprop="name">Acme</i></b><meta itemprop="price" content="5.50">'
        '<u itemprop="gtin13">4006381333931</u></div>',
        {"title": "Mug", "brand": "Acme", "price": "5.50", "ean": "4006381333931"},
    ),
    "labels": (
        "<h1>Mug</h1><p class=price>5,50 €</p><form action=/cart/add></form><dl><dt>Artikel-Nr.</dt><dd>M-1</dd>"
        "<dt>Hersteller:</dt><dd>Acme</dd></dl><p>EAN: 4006381333931</p>",
        {"title": "Mug", "price": "5.50", "sku": "M-1", "brand": "Acme", "ean": "4006381333931"},
    ),
    "cents in data": (
        "<h1>Mug</h1><b>$1,205.50</b>"
        "<script>var p = {title: 'Mug', vendor: 'Acme', price: 120550, sku: 'M-1'}</script>",
        {"title": "Mug", "price": "1205.50", "brand": "Acme", "sku": "M-1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_general_rules(name: str) -> None:
    """Each common way of saying what is sold is understood."""
    body, wanted = CASES[name]
    document = Document(_page("Mug", body), "https://shop.example/mug")
    reading = read_page_by_heuristics(document)
    read = {attribute: reading.values[Attribute(attribute)].value for attribute in wanted}
    assert read == wanted
    assert reading.evidence


def test_a_list_is_no_offer() -> None:
    """Lists and articles do not look like an offer."""
    for page in (category_page(ALL[:6]), article_page()):
        document = Document(page, "https://shop.example/list")
        assert not read_page_by_heuristics(document).evidence
