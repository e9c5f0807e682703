"""Language twins: one offer on pages in several languages, and different offers that look alike."""

from decimal import Decimal
from typing import Any

import pytest

from catalog.models import OfferFields, Verdict
from matcher.match import match_offers
from matcher.records.languages.localized_page import PageVersions, localize_pages
from matcher.records.page_dedup import group_pages
from matcher.records.record import add_alternate_links, build_records

SHOP = "https://shop.example"
LAMP: dict[str, Any] = {
    "url": f"{SHOP}/produkt/rote-lampe",
    "title": "Rote Lampe",
    "price": Decimal("19.90"),
    "currency": "EUR",
    "images": [f"{SHOP}/files/lamp-red.jpg"],
}
PICTURE = {"images": [f"{SHOP}/files/other.jpg"]}
PRICE = {"price": Decimal("24.90")}
PAGES: dict[str, str] = {
    "a folder": "/en/produkt/rote-lampe",
    "a locale": "/en-ca/produkt/rote-lampe",
    "a query": "/produkt/rote-lampe?lang=en",
    "a number": "/produkt/rote-lampe?id_lang=2",
    "a store view": "/produkt/rote-lampe?___store=en",
    "a label of the host": "//en.shop.example/produkt/rote-lampe",
    "another domain": "//shop.fr/produkt/rote-lampe",
}


def group(*pages: tuple[dict[str, Any], PageVersions], catalog: int = 0) -> list[tuple[int, ...]]:
    """Group pages; the first `catalog` of them are the catalog's as well."""
    offers = [OfferFields(**LAMP | fields) for fields, _ in pages]
    records = add_alternate_links(build_records(offers), [[str(offer.url)] for offer in offers])
    localized = localize_pages(records, [language for _, language in pages], offers)
    return group_pages(records, records[:catalog], localized)


def page(path: str, language: str = "", **fields: Any) -> tuple[dict[str, Any], PageVersions]:
    """A page of the shop in this language, without links to others."""
    return {"url": join(path), **fields}, PageVersions(language)


def linked(
    path: str, language: str, versions: dict[str, str], **fields: Any
) -> tuple[dict[str, Any], PageVersions]:
    """A page that names its versions in other languages."""
    alternates = {code: join(target) for code, target in versions.items()}
    return {"url": join(path), **fields}, PageVersions(language, alternates)


def join(path: str) -> str:
    return f"https:{path}" if path.startswith("//") else SHOP + path


GERMAN = page("/produkt/rote-lampe", "de")


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
@pytest.mark.parametrize("fields", [{}, PICTURE, PRICE, {"price": None, "images": []}])
def test_addresses_that_differ_in_language(path: str, fields: dict[str, Any]) -> None:
    """One address in two languages is one offer, even if its picture or price is another."""
    assert len(group(GERMAN, page(path, "en", **{"title": "Red lamp"} | fields))) == 1


@pytest.mark.parametrize(
    "fields",
    [
        PICTURE | PRICE,
        {"title": "Red lamp 500 ml"},
        {"ean": "4006381333948"},
        {"sku": "B"} | PICTURE,
    ],
    ids=["picture and price", "amount", "EAN", "SKU"],
)
def test_pages_of_one_address_that_look_different(fields: dict[str, Any]) -> None:
    """Pages of one address stay apart where identifiers, amounts, or all they show differ."""
    lamp = page(
        "/produkt/rote-lampe",
        "de",
        title="Rote Lampe 250 ml",
        ean=fields.get("ean") and "4006381333931",
        sku=fields.get("sku") and "A",
    )
    twin = page("/en/produkt/rote-lampe", "en", **{"title": "Red lamp"} | fields)
    assert group(lamp, twin) == [(0,), (1,)]


def test_a_query_of_a_script_names_the_product() -> None:
    """Of `index.php?product_id=7&language=en-gb`, the language goes and the product stays."""
    path = "/index.php?route=product/product&product_id="
    assert group(
        page(path + "7", title="Lampe"),
        page(path + "7&language=en-gb", title="Lamp"),
        page(path + "8", title="Tisch"),
        page(path + "8&language=en-gb", title="Table"),
    ) == [(0, 1), (2, 3)]


VERSIONS = {"de": "/produkt/rote-lampe", "en": "/en/product/red-lamp"}


def test_pages_that_name_each_other() -> None:
    """Two pages that name each other are one offer, whatever their addresses and pictures."""
    assert group(
        linked("/produkt/rote-lampe", "de", VERSIONS),
        linked("/en/product/red-lamp", "en", VERSIONS, title="Red lamp", **PICTURE | PRICE),
    ) == [(0, 1)]


def test_a_page_that_names_a_similar_one() -> None:
    """One link suffices if price and picture agree; it does not if only one of them does."""
    similar = page("/en/product/red-lamp", "en", title="Red lamp")
    other = page("/en/product/red-lamp", "en", title="Red lamp", **PICTURE)
    german = linked("/produkt/rote-lampe", "de", VERSIONS)
    assert group(german, similar) == [(0, 1)]
    assert group(german, other) == [(0,), (1,)]


def test_a_canonical_link_to_another_language() -> None:
    """A page that names one in another language as canonical is joined if it looks alike."""
    fields = {"url": join("/en/product/red-lamp"), "title": "Red lamp"}
    canonical = PageVersions("en", canonical=str(LAMP["url"]))
    assert group(GERMAN, (fields, canonical)) == [(0, 1)]
    assert group(GERMAN, (fields | PICTURE, canonical)) == [(0,), (1,)]


def test_a_page_cannot_claim_the_offers_of_others() -> None:
    """A page that names all products as its versions hides none of them."""
    codes = ["de", "en", "fr", "it", "es"]
    products = []
    for number, code in enumerate(codes):
        fields = {"price": Decimal(10 + number), "images": [f"{SHOP}/files/{number}-x.jpg"]}
        products.append(page(f"/p/thing-{number}x", code, title=f"Thing {number}", **fields))
    claims = {code: f"/p/thing-{number}x" for number, code in enumerate(codes)}
    hostile = linked("/p/thief", "pl", claims, title="Thief", **PICTURE | PRICE)
    assert len(group(*products, hostile)) == 6
    # Nor if it shows the picture or the price of one.
    first = {"images": products[0][0]["images"]}
    hostile = linked("/p/thief", "pl", claims, title="Thief", **first | PRICE)
    assert len(group(*products, hostile)) == 6


def test_pages_that_all_name_all_pages() -> None:
    """A template that lists other products under made-up codes joins none of them."""
    codes = {"pl": "/p/red-thing", "fi": "/p/blue-thing", "sv": "/p/new-thing"}
    pages = []
    for number, (path, language) in enumerate(zip(codes.values(), ("de", "de", "en"), strict=True)):
        fields = {"price": Decimal(10 + number), "images": [f"{SHOP}/files/{number}-x.jpg"]}
        pages.append(linked(path, language, codes, title=path, **fields))
    assert len(group(*pages)) == 3


def test_a_page_that_names_another_twin_is_not_claimed() -> None:
    """A page whose German version is another page belongs to that one."""
    english = linked(
        "/en/product/red-lamp", "en", {"de": "/produkt/lampe-rot"}, title="Red lamp", **PICTURE
    )
    german = page("/produkt/lampe-rot", "de", description="Eine Lampe.", **PICTURE)
    claimant = linked("/produkt/andere-lampe", "de", VERSIONS, title="Andere", **PICTURE)
    assert group(claimant, english, german) == [(0,), (2, 1)]


SIMILAR: list[tuple[str, str, str, dict[str, Any], int]] = [
    ("the same ending", "/lampen/lumo-x1", "/en/lamps/lumo-x1", {}, 1),
    ("a number in front", "/lampen/12-rote-lampe", "/en/lamps/12-red-lamp", {}, 1),
    ("a number behind", "/rote-lampe-12.html", "/en/red-lamp-12.html", {}, 1),
    ("a number in a folder", "/p/12/rote-lampe", "/p/12/red-lamp", {}, 1),
    ("a number in the query", "/lampe?id_product=12", "/lamp?id_product=12&id_lang=2", {}, 1),
    ("a copy's number", "/produkt/lumo", "/product/lumo-2", {}, 1),
    ("a language at the end", "/produkt/lumo", "/product/lumo-en", {}, 1),
    ("no price", "/lampen/lumo-x1", "/en/lamps/lumo-x1", {"price": None}, 1),
    ("another currency", "/lampen/lumo-x1", "/us/lamps/lumo-x1", {"currency": "USD"} | PRICE, 1),
    ("another price", "/lampen/lumo-x1", "/en/lamps/lumo-x1", PRICE, 2),
    ("another picture", "/lampen/lumo-x1", "/en/lamps/lumo-x1", PICTURE, 2),
    ("another ending", "/lampen/rote-lampe", "/en/lamps/red-lamp", {}, 2),
    ("another number", "/lampen/12-rote-lampe", "/en/lamps/13-red-lamp", {}, 2),
]


@pytest.mark.parametrize(
    ("first", "second", "fields", "number"),
    [case[1:] for case in SIMILAR],
    ids=[case[0] for case in SIMILAR],
)
def test_similar_pages(first: str, second: str, fields: dict[str, Any], number: int) -> None:
    """Without links, ending or number, picture and price tell that two pages are one offer."""
    twin = page(second, "en", **{"title": "Red lamp"} | fields)
    assert len(group(page(first, "de"), twin)) == number


def test_pictures_with_translated_names() -> None:
    """A shop that translates the names of pictures numbers them: the number identifies one."""
    german = page("/lampen/12-rote-lampe", "de", images=[f"{SHOP}/45-large_default/rote-lampe.jpg"])
    image = f"{SHOP}/45-large_default/red-lamp.jpg"
    assert group(german, page("/en/lamps/12-red-lamp", "en", title="Red lamp", images=[image])) == [
        (0, 1)
    ]


def test_different_products_with_one_picture_and_price() -> None:
    """In one language they are two offers, and a page that fits both of them is a third."""
    red, blue = page("/lampen/lumo-2", "de"), page("/lampen/lumo-3", "de", title="Blaue Lampe")
    assert group(red, blue) == [(0,), (1,)]
    assert group(red, blue, page("/en/lamps/lumo", "en", title="Lamp")) == [(0,), (1,), (2,)]
    # The same ending is stronger than one without its number.
    assert group(red, blue, page("/en/lamps/lumo-3", "en", title="Blue lamp")) == [(0,), (1, 2)]


def test_pages_in_one_language_are_not_joined() -> None:
    """The same ending in two folders of one language may be two offers."""
    other = page("/deko/rote-lampe", "de", title="Eine rote Lampe")
    assert group(GERMAN, other) == [(0,), (1,)]


def test_offers_that_the_catalog_lists_apart_stay_apart() -> None:
    """A catalog with one row per language has two offers."""
    english = page("/en/produkt/rote-lampe", "en", title="Red lamp")
    assert group(GERMAN, english, catalog=2) == [(0,), (1,)]


def test_the_page_in_the_language_of_the_catalog_stands_for_the_offer() -> None:
    """It is learnt from the catalog's links; without them, x-default and plain addresses win."""
    listed = page("/en/produkt/tisch", "en", title="Table", **PICTURE)
    english = page("/en/produkt/rote-lampe", "en", title="Red lamp", description="A red lamp.")
    assert group(listed, GERMAN, english, catalog=1) == [(0,), (2, 1)]
    assert group(listed, english, GERMAN, catalog=1) == [(0,), (1, 2)]
    default = {"x-default": "/en/produkt/rote-lampe"}
    assert group(GERMAN, linked("/en/produkt/rote-lampe", "en", default)) == [(1, 0)]
    assert group(english, GERMAN) == [(1, 0)]


def test_the_language_is_learnt_from_markup_as_well() -> None:
    """Where addresses do not tell, the language that pages give for themselves does."""
    listed = page("/a/table", "en", title="Table", **PICTURE)
    german, english = page("/b/lumo-x1", "de"), page("/c/lumo-x1", "en", title="Red lamp")
    assert group(listed, german, english, catalog=1) == [(0,), (2, 1)]
    other = page("/a/tisch", "de", title="Tisch", **PICTURE)
    assert group(other, german, english, catalog=1) == [(0,), (1, 2)]


def test_an_offer_is_listed_if_the_catalog_lists_any_of_its_pages() -> None:
    """Of two pages, the catalog links the English one: there is one offer, and it is listed."""
    german = OfferFields(**LAMP)
    english = OfferFields(**LAMP | {"url": f"{SHOP}/en/produkt/rote-lampe", "title": "Red lamp"})
    [result] = match_offers([german, english], [english])
    assert (result.verdict, result.pages) == (Verdict.LISTED, (1, 0))


def test_the_catalog_lists_a_page_on_another_host() -> None:
    """A version that the page names and that was not crawled lists the offer, if it looks alike."""
    abroad = "https://boutique.example/lampe-rouge"
    languages = [PageVersions("de", {"fr": abroad})]
    known = OfferFields(**LAMP | {"url": abroad, "title": "Lampe rouge"})
    [result] = match_offers([OfferFields(**LAMP)], [known], page_languages=languages)
    assert result.verdict is Verdict.LISTED
    assert "the catalog's link leads to this page" in result.reasons
    other = OfferFields(url=abroad, title="Chaise", price=Decimal(99), currency="EUR")
    [result] = match_offers([OfferFields(**LAMP)], [other], page_languages=languages)
    assert result.verdict is Verdict.MISSING


def test_the_order_of_the_pages_does_not_matter() -> None:
    """The same pages in another order give the same groups, and the same page stands for each."""
    pages = [
        linked("/produkt/rote-lampe", "de", VERSIONS),
        linked("/en/product/red-lamp", "en", VERSIONS, title="Red lamp"),
        page("/fr/produkt/rote-lampe", "fr", title="Lampe rouge"),
        page("/produkt/tisch", "de", title="Tisch", **PICTURE),
    ]
    expected = {tuple(pages[i][0]["url"] for i in members) for members in group(*pages)}
    assert len(expected) == 2
    backwards = pages[::-1]
    assert {tuple(backwards[i][0]["url"] for i in members) for members in group(*backwards)} == (
        expected
    )


def test_page_languages_have_one_entry_per_offer() -> None:
    """A list of another length is refused."""
    with pytest.raises(ValueError, match="page_languages has 1 entries for 0 offers"):
        match_offers([], [], page_languages=[None])
