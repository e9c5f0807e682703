"""Made-up shops in the markup that themes of common shop systems have, without structured data unless named so."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Good:
    """A made-up offer: its path, the other values as the shop shows them."""

    path: str
    title: str
    price: str
    old_price: str
    sku: str
    brand: str
    category: str


@dataclass(frozen=True)
class ShopSystem:
    """A shop: how it shows an offer and a list, its words, and the attributes that its pages state.

    `offer` takes a good and the cards of related ones; `listing` takes a heading and cards.
    """

    name: str
    words: dict[str, str]
    offer: Callable[[Good, str, dict[str, str]], str]
    card: Callable[[Good, dict[str, str]], str]
    listing: Callable[[str, str, dict[str, str]], str]
    states: tuple[str, ...] = ("title", "price", "sku", "category")

    def goods(self) -> list[Good]:
        """Return 14 made-up goods in two categories; every third is reduced."""
        goods = []
        for number in range(14):
            kind = self.words["kinds"].split()[number % 7]
            amount = f"{number * 7 + 12}{self.words['decimal']}{(number * 31) % 90 + 10}"
            old = f"{number * 7 + 20}{self.words['decimal']}00" if number % 3 == 0 else ""
            goods.append(
                Good(
                    path=f"/{kind.lower()}-{number}{self.words.get('ending', '/')}",
                    title=f"{kind} {('Nordal', 'Vistera', 'Bramble')[number % 3]} {number + 41}",
                    price=self.words["money"].format(amount),
                    old_price=self.words["money"].format(old) if old else "",
                    sku=f"K{number * 13 + 200}-{number}",
                    brand=("Nordal", "Vistera", "Bramble")[number % 3],
                    category=self.words["categories"].split("|")[number % 2],
                )
            )
        return goods

    def offer_pages(self) -> dict[str, tuple[Good, str]]:
        """Return the offer pages by path, each with three related goods."""
        goods = self.goods()
        pages = {}
        for number, good in enumerate(goods):
            related = [goods[(number + step) % len(goods)] for step in (1, 2, 3)]
            cards = "".join(self.card(other, self.words) for other in related)
            pages[good.path] = good, self.frame(good.title, self.offer(good, cards, self.words))
        return pages

    def other_pages(self) -> dict[str, str]:
        """Return the pages that show no offer by path: lists, articles, the cart and a contact page."""
        goods, words = self.goods(), self.words
        first, second = words["categories"].split("|")
        cards = [self.card(good, words) for good in goods]
        price_range = f"<p class='range'>{goods[0].price} – {goods[9].price}</p>"
        pages = {
            "/c/first/": (first, self.listing(first, "".join(cards[:6]), words)),
            "/c/second/": (second, self.listing(second, "".join(cards[6:]), words)),
            "/c/single/": (f"{first} 2", self.listing(f"{first} 2", cards[3], words)),
            "/c/two/": (f"{second} 2", self.listing(f"{second} 2", "".join(cards[4:6]), words)),
            "/c/range/": (
                f"{first} {second}",
                self.listing(f"{first} {second}", price_range + "".join(cards[2:8]), words),
            ),
            "/blog/one/": _article("Five ideas for small rooms", goods, ""),
            "/blog/two/": _article("How we choose our goods", goods, "".join(cards[:2])),
            "/contact/": (
                "Contact",
                "<h1>Contact</h1><form><input name=mail><button>OK</button></form>",
            ),
            "/cart/": _cart(goods[:2], words),
        }
        return {path: self.frame(title, body) for path, (title, body) in pages.items()}

    def frame(self, title: str, body: str) -> str:
        """Put a body between the shop's header and footer."""
        buy = self.words["buy"]
        first, second = self.words["categories"].split("|")
        scripts = (
            '<script id="wc-add-to-cart-js" src="/add-to-cart.js"></script>'
            f'<script>var texts = {{"buy": "{buy}", "add": "add-to-cart"}};</script>'
        )
        return (
            f"<!doctype html><html><head><title>{title} | Haus Wendel</title>{scripts}</head><body>"
            f'<header><a href="/" class="logo">Haus Wendel</a><a href="/cart/" class="cart">0</a>'
            f'<nav><a href="/c/first/">{first}</a><a href="/c/second/">{second}</a></nav></header>'
            f"{body}<footer><p>© Haus Wendel</p></footer></body></html>"
        )


def _article(heading: str, goods: Sequence[Good], cards: str) -> tuple[str, str]:
    text = " ".join(f"The {good.title} costs <b>{good.price}</b> with us." for good in goods[:2])
    if cards.startswith("<td"):
        cards = f"<table><tr>{cards}</tr></table>"
    body = f"<article class='post'><h1>{heading}</h1><p>Some ideas. {text}</p>{cards}<p>More soon.</p></article>"
    return heading, body


def _cart(goods: Sequence[Good], words: dict[str, str]) -> tuple[str, str]:
    rows = "".join(
        f"<tr><td><a href='{good.path}'><img src='/i.jpg'></a></td><td class='product-name'><a href='{good.path}'>"
        f"{good.title}</a></td><td>{good.price}</td></tr>"
        for good in goods
    )
    total = f"<p>Total <strong>{words['money'].format('99' + words['decimal'] + '00')}</strong></p>"
    return (
        "Cart",
        f"<main><h1>Cart</h1><table>{rows}</table>{total}<button>Checkout</button></main>",
    )


def _crumbs(good: Good, words: dict[str, str], separator: str = "") -> str:
    return (
        f"<a href='/'>{words['home']}</a>{separator}<a href='/shop/'>{words['shop']}</a>{separator}"
        f"<a href='/c/{good.category}/'>{good.category}</a>{separator}<span>{good.title}</span>"
    )


def _woo_offer(good: Good, related: str, words: dict[str, str]) -> str:
    if good.old_price:
        price = (
            f"<del><span class='amount'><bdi>{good.old_price}</bdi></span></del> "
            f"<ins><span class='amount'><bdi>{good.price}</bdi></span></ins>"
        )
    else:
        price = f"<span class='amount'><bdi>{good.price}</bdi></span>"
    return (
        f"<nav class='woocommerce-breadcrumb'>{_crumbs(good, words, ' / ')}</nav>"
        f"<div class='product type-product'><div class='gallery'><a href='/big{good.sku}.jpg'><img src='/{good.sku}.jpg'></a></div>"
        f"<div class='summary entry-summary'><h1 class='product_title'>{good.title}</h1><p class='price'>{price}</p>"
        f"<form class='cart' method='post'><button type='submit' name='add-to-cart'>{words['buy']}</button></form>"
        f"<div class='product_meta'><span class='sku_wrapper'>{words['sku']}: <span class='sku'>{good.sku}</span></span>"
        f"<span class='posted_in'>{words['category']}: <a href='/c/x/'>{good.category}</a></span></div></div></div>"
        f"<section class='related products'><h2>{words['related']}</h2><ul class='products'>{related}</ul></section>"
    )


def _woo_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<li class='product'><a href='{good.path}' class='woocommerce-LoopProduct-link'><img src='/{good.sku}.jpg'>"
        f"<h2>{good.title}</h2><span class='price'><span class='amount'>{good.price}</span></span></a>"
        f"<a href='?add-to-cart=1' class='button add_to_cart_button'>{words['buy']}</a></li>"
    )


def _woo_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<nav class='woocommerce-breadcrumb'><a href='/'>{words['home']}</a> / {heading}</nav>"
        f"<main><h1 class='page-title'>{heading}</h1><ul class='products columns-4'>{cards}</ul></main>"
    )


def _woo_data_offer(good: Good, related: str, words: dict[str, str]) -> str:
    amount = "".join(letter for letter in good.price if letter.isdigit() or letter in ".,")
    product = {
        "@context": "https://schema.org/",
        "@type": "Product",
        "name": good.title,
        "sku": good.sku,
        "offers": [{"@type": "Offer", "price": amount.replace(",", "."), "priceCurrency": "EUR"}],
    }
    steps = [
        {"@type": "ListItem", "position": place, "item": {"@id": f"/{place}", "name": name}}
        for place, name in enumerate((words["home"], good.category, good.title), 1)
    ]
    crumbs = {"@type": "BreadcrumbList", "itemListElement": steps}
    blocks = "".join(
        f'<script type="application/ld+json">{json.dumps(block)}</script>'
        for block in (product, crumbs)
    )
    return f"{blocks}{_woo_offer(good, related, words)}"


def _magento1_offer(good: Good, related: str, words: dict[str, str]) -> str:
    if good.old_price:
        price = (
            f"<p class='old-price'><span class='price-label'>x</span><span class='price'>{good.old_price}</span></p>"
            f"<p class='special-price'><span class='price'>{good.price}</span></p>"
        )
    else:
        price = f"<span class='regular-price'><span class='price'>{good.price}</span></span>"
    return (
        f"<div class='breadcrumbs'><ul><li>{_crumbs(good, words, '</li><li>')}</li></ul></div>"
        f"<div class='product-view'><form action='/checkout/cart/add/product/{good.sku}' id='product_addtocart_form'>"
        f"<div class='product-shop'><div class='product-name'><span class='h1'>{good.title}</span></div>"
        f"<p class='sku'>{words['sku']}: {good.sku}</p><div class='price-box'>{price}</div>"
        f"<button type='button' class='button btn-cart' onclick='productAddToCartForm.submit(this)'>{words['buy']}</button>"
        f"</div></form></div><div class='box-related'><h2>{words['related']}</h2><ol>{related}</ol></div>"
    )


def _magento1_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<li class='item'><a href='{good.path}' class='product-image'><img src='/{good.sku}.jpg' alt='{good.title}'></a>"
        f"<h2 class='product-name'><a href='{good.path}'>{good.title}</a></h2><div class='price-box'>"
        f"<span class='regular-price'><span class='price'>{good.price}</span></span></div>"
        f"<button class='button btn-cart' onclick=\"setLocation('/checkout/cart/add/')\">{words['buy']}</button></li>"
    )


def _magento1_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<div class='category-title'><h1>{heading}</h1></div>"
        f"<div class='category-products'><ul class='products-grid'>{cards}</ul></div>"
    )


def _magento2_offer(good: Good, related: str, words: dict[str, str]) -> str:
    old = ""
    if good.old_price:
        old = f"<span class='old-price'><span class='price-wrapper'><span class='price'>{good.old_price}</span></span></span>"
    return (
        f"<div class='breadcrumbs'><ul class='items'><li>{_crumbs(good, words, '</li><li>')}</li></ul></div>"
        f"<main><div class='product-info-main'><div class='page-title-wrapper'><h1 class='page-title'><span class='base'>"
        f"{good.title}</span></h1></div><div class='product-info-price'><div class='price-box price-final_price'>"
        f"<span class='special-price'><span class='price-container'><span class='price-wrapper'><span class='price'>"
        f"{good.price}</span></span></span></span>{old}</div><div class='product attribute sku'><strong class='type'>"
        f"{words['sku']}</strong><div class='value'>{good.sku}</div></div></div><form id='product_addtocart_form'>"
        f"<button type='submit' class='action primary tocart'><span>{words['buy']}</span></button></form></div>"
        f"<div class='block related'><ol class='products list'>{related}</ol></div></main>"
    )


def _magento2_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<li class='item product product-item'><div class='product-item-info'><a href='{good.path}' class='product photo'>"
        f"<img src='/{good.sku}.jpg' alt='{good.title}'></a><div class='product details'><strong class='product name'>"
        f"<a class='product-item-link' href='{good.path}'>{good.title}</a></strong><div class='price-box'>"
        f"<span class='price-container'><span class='price-wrapper'><span class='price'>{good.price}</span></span></span>"
        f"</div><form data-role='tocart-form' action='/checkout/cart/add/uenc/x'><button class='action tocart'>"
        f"<span>{words['buy']}</span></button></form></div></div></li>"
    )


def _magento2_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<main><div class='page-title-wrapper'><h1 class='page-title'><span class='base'>{heading}</span></h1></div>"
        f"<div class='products wrapper grid'><ol class='products list items'>{cards}</ol></div></main>"
    )


def _opencart_offer(good: Good, related: str, words: dict[str, str]) -> str:
    old = (
        f"<li><span style='text-decoration: line-through;'>x</span><s>{good.old_price}</s></li>"
        if good.old_price
        else ""
    )
    return (
        f"<ul class='breadcrumb'><li>{_crumbs(good, words, '</li><li>')}</li></ul>"
        f"<div id='content'><div class='col-sm-8'><a class='thumbnail' href='/big{good.sku}.jpg'><img src='/{good.sku}.jpg'></a>"
        f"</div><div class='col-sm-4'><h1>{good.title}</h1><ul class='list-unstyled'><li>{words['brand']}: "
        f"<a href='/brand/{good.brand}'>{good.brand}</a></li><li>{words['sku']}: {good.sku}</li>"
        f"<li>{words['stock']}</li></ul><ul class='list-unstyled'>{old}<li><h2>{good.price}</h2></li></ul>"
        f"<div id='product'><button type='button' id='button-cart' class='btn btn-primary'>{words['buy']}</button></div>"
        f"</div></div><h3>{words['related']}</h3><div class='row'>{related}</div>"
    )


def _opencart_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<div class='product-layout'><div class='product-thumb'><div class='image'><a href='{good.path}'>"
        f"<img src='/{good.sku}.jpg' alt='{good.title}'></a></div><div class='caption'><h4><a href='{good.path}'>"
        f"{good.title}</a></h4><p class='price'>{good.price}</p></div><div class='button-group'>"
        f"<button onclick=\"cart.add('1');\"><span>{words['buy']}</span></button></div></div></div>"
    )


def _opencart_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return f"<div id='content'><h2>{heading}</h2><div class='row'>{cards}</div></div>"


def _presta_offer(good: Good, related: str, words: dict[str, str]) -> str:
    old = (
        f"<div class='product-discount'><span class='regular-price'>{good.old_price}</span></div>"
        if good.old_price
        else ""
    )
    return (
        f"<nav class='breadcrumb'><ol><li>{_crumbs(good, words, '</li><li>')}</li></ol></nav>"
        f"<section id='main'><div class='col-md-6'><img src='/{good.sku}.jpg'></div><div class='col-md-6'><h1 class='h1'>"
        f"{good.title}</h1><div class='product-prices'>{old}<div class='product-price'><div class='current-price'>"
        f"<span class='current-price-value'>{good.price}</span></div></div></div><form action='/carrito' id='add-to-cart-or-refresh'>"
        f"<button class='btn add-to-cart' data-button-action='add-to-cart'>{words['buy']}</button></form>"
        f"<div class='product-manufacturer'><label class='label'>{words['brand']}</label> <span><a href='/brand/1'>{good.brand}</a></span></div>"
        f"<div class='product-reference'><label class='label'>{words['sku']}</label> <span>{good.sku}</span></div></div></section>"
        f"<section class='featured-products'>{related}</section>"
    )


def _presta_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<article class='product-miniature' itemscope itemtype='http://schema.org/Product'><a href='{good.path}' class='thumbnail'>"
        f"<img src='/{good.sku}.jpg' alt='{good.title}'></a><div class='product-description'><h2 class='h3 product-title' itemprop='name'>"
        f"<a href='{good.path}'>{good.title}</a></h2><div class='product-price-and-shipping'><span class='price' itemprop='price'>"
        f"{good.price}</span></div></div></article>"
    )


def _presta_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<section id='main'><div class='block-category'><h1 class='h1'>{heading}</h1></div>"
        f"<section id='products'><div class='products row'>{cards}</div></section></section>"
    )


def _static_offer(good: Good, related: str, words: dict[str, str]) -> str:
    return (
        f"<section class='page-header'><div class='container'><div class='content'><h1>{good.title}</h1></div></div></section>"
        f"<section class='single'><nav aria-label='breadcrumb'><ol class='breadcrumb'><li>{_crumbs(good, words, '</li><li>')}</li></ol></nav>"
        f"<div class='row'><div class='pics'><img src='/{good.sku}.jpg'></div><div class='facts'><h2>{good.title}</h2>"
        f"<h3 class='value'>{good.price}</h3><p>{words['sku']} <b>{good.sku}</b></p><button class='shop-add-item btn'>{words['buy']}</button>"
        f"</div></div></section><section class='more'>{related}</section>"
    )


def _static_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<div class='tile'><a href='{good.path}'><img src='/{good.sku}.jpg'></a><div class='info'><h2><a href='{good.path}'>"
        f"{good.title}</a></h2><span>{good.price}</span></div></div>"
    )


def _static_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<section class='page-header'><div class='container'><div class='content'><h1>{heading}</h1></div></div></section>"
        f"<section class='tiles'>{cards}</section>"
    )


def _plain_offer(good: Good, related: str, words: dict[str, str]) -> str:
    old = f"<tr><td>x</td><td><strike>{good.old_price}</strike></td></tr>" if good.old_price else ""
    return (
        f"<h1><a href='/'>Haus Wendel</a></h1><div class='crumbs'>{_crumbs(good, words, ' &gt; ')}</div><div id='main'>"
        f"<div class='prod-name'>{good.title}</div><img src='/{good.sku}.jpg'><table>{old}<tr><td>{words['price']}</td>"
        f"<td><b>{good.price}</b></td></tr><tr><td>{words['sku']}</td><td>{good.sku}</td></tr></table>"
        f"<form action='/basket.php'><input type='image' src='/buy.gif' alt='{words['buy']}'></form></div>"
    )


def _plain_card(good: Good, words: dict[str, str]) -> str:
    return (
        f"<td><a href='{good.path}'><img src='/{good.sku}.jpg'></a><br><a class='item-name' href='{good.path}'>{good.title}</a>"
        f"<br><b>{good.price}</b><form action='/basket.php'><input type='image' src='/buy.gif' alt='{words['buy']}'></form></td>"
    )


def _plain_list(heading: str, cards: str, words: dict[str, str]) -> str:
    return (
        f"<h1><a href='/'>Haus Wendel</a></h1><div id='main'><div class='cat-name'>{heading}</div>"
        f"<table><tr>{cards}</tr></table></div>"
    )


SPANISH = {
    "kinds": "Lámpara Silla Mesa Cesta Jarra Bandeja Espejo", "decimal": ",", "money": "{} €", "buy": "Añadir al carrito",
    "sku": "Referencia", "category": "Categoría", "categories": "Salón|Cocina", "home": "Inicio", "shop": "Tienda",
    "related": "Productos relacionados", "brand": "Marca", "stock": "Disponible", "price": "Precio",
}  # fmt: skip
GERMAN = {
    "kinds": "Leuchte Stuhl Tisch Korb Krug Tablett Spiegel", "decimal": ",", "money": "{} €", "buy": "In den Warenkorb",
    "sku": "Artikel-Nr.", "category": "Kategorie", "categories": "Wohnzimmer|Küche", "home": "Startseite", "shop": "Shop",
    "related": "Ähnliche Artikel", "brand": "Hersteller", "stock": "Auf Lager", "price": "Preis", "ending": ".html",
}  # fmt: skip
FRENCH = {
    "kinds": "Lampe Chaise Table Panier Cruche Plateau Miroir", "decimal": ",", "money": "{} €", "buy": "Ajouter au panier",
    "sku": "Référence", "category": "Catégorie", "categories": "Salon|Cuisine", "home": "Accueil", "shop": "Boutique",
    "related": "Produits similaires", "brand": "Marque", "stock": "En stock", "price": "Prix", "ending": ".html",
}  # fmt: skip
RUSSIAN = {
    "kinds": "Лампа Стул Стол Корзина Кувшин Поднос Зеркало", "decimal": ".", "money": "{} руб.", "buy": "В корзину",
    "sku": "Артикул", "category": "Категория", "categories": "Гостиная|Кухня", "home": "Главная", "shop": "Каталог",
    "related": "Похожие товары", "brand": "Производитель", "stock": "В наличии", "price": "Цена",
}  # fmt: skip
POLISH = {
    "kinds": "Lampa Krzesło Stół Kosz Dzbanek Taca Lustro", "decimal": ",", "money": "{} zł", "buy": "Do koszyka",
    "sku": "Kod produktu", "category": "Kategoria", "categories": "Salon|Kuchnia", "home": "Strona główna", "shop": "Sklep",
    "related": "Podobne produkty", "brand": "Producent", "stock": "Dostępny", "price": "Cena",
}  # fmt: skip
JAPANESE = {
    "kinds": "ランプ 椅子 テーブル かご 水差し トレイ 鏡", "decimal": ",3", "money": "¥{}", "buy": "カートに入れる",
    "sku": "商品番号", "category": "カテゴリー", "categories": "リビング|キッチン", "home": "ホーム", "shop": "商品一覧",
    "related": "関連商品", "brand": "ブランド", "stock": "在庫あり", "price": "価格",
}  # fmt: skip
WITH_BRAND = ("title", "price", "sku", "category", "brand")

SHOP_SYSTEMS = [
    ShopSystem("WooCommerce, Spanish", SPANISH, _woo_offer, _woo_card, _woo_list),
    ShopSystem("WooCommerce with data, German", GERMAN, _woo_data_offer, _woo_card, _woo_list),
    ShopSystem("Magento 1, German", GERMAN, _magento1_offer, _magento1_card, _magento1_list),
    ShopSystem("Magento 2, French", FRENCH, _magento2_offer, _magento2_card, _magento2_list),
    ShopSystem(
        "OpenCart, Russian", RUSSIAN, _opencart_offer, _opencart_card, _opencart_list, WITH_BRAND
    ),
    ShopSystem(
        "PrestaShop, Spanish", SPANISH, _presta_offer, _presta_card, _presta_list, WITH_BRAND
    ),
    ShopSystem("static generator, German", GERMAN, _static_offer, _static_card, _static_list),
    ShopSystem("tables, Polish", POLISH, _plain_offer, _plain_card, _plain_list),
    ShopSystem("WooCommerce, Japanese", JAPANESE, _woo_offer, _woo_card, _woo_list),
    ShopSystem(
        "OpenCart, French", FRENCH, _opencart_offer, _opencart_card, _opencart_list, WITH_BRAND
    ),
    ShopSystem("Magento 2, Russian", RUSSIAN, _magento2_offer, _magento2_card, _magento2_list),
    ShopSystem("tables, German", GERMAN, _plain_offer, _plain_card, _plain_list),
]
