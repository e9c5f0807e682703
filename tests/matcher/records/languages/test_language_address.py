"""Addresses without their language: folders, hosts, queries, and numbers that stay."""

import pytest

from matcher.records.languages.language_address import is_language_code, page_keys, split_language
from matcher.records.url_keys import parse_link

PLAIN = "https://shop.example/product/lamp"
SAME = {
    "a folder": "https://shop.example/en/product/lamp/",
    "a folder of language and country": "https://shop.example/en-ca/product/lamp",
    "a locale": "https://shop.example/de_AT/product/lamp.html",
    "a script": "https://shop.example/zh-hans/product/lamp",
    "a language by its name": "https://shop.example/français/product/lamp",
    "country and language": "https://shop.example/ch/fr/product/lamp",
    "the end of the path": "https://shop.example/product/lamp/en",
    "a label of the host": "https://en.shop.example/product/lamp",
    "another label": "https://www.fr-ca.shop.example/product/lamp",
    "another domain": "https://www.shop.co.uk/product/lamp",
    "lang": PLAIN + "?lang=en",
    "id_lang": PLAIN + "?id_lang=2",
    "store views": PLAIN + "?___store=en&___from_store=de",
    "language": PLAIN + "?language=en-gb",
    "a short key": PLAIN + "?l=fr",
    "currency": PLAIN + "?currency=CHF",
}
DIFFERENT = {
    "a folder that is no code": "https://shop.example/xl/product/lamp",
    "a word that starts with a code": "https://shop.example/de-luxe/product/lamp",
    "a short key with another value": PLAIN + "?l=7",
    "another product": PLAIN + "?id=2",
    "another shop": "https://store.example/product/lamp",
}


@pytest.mark.parametrize("url", SAME.values(), ids=SAME.keys())
def test_the_language_is_removed(url: str) -> None:
    """Addresses that name a language or market in any usual place have one neutral form."""
    address = split_language(parse_link(url).address)
    plain = split_language(parse_link(PLAIN).address)
    assert address.neutral == plain.neutral
    assert address.markers != plain.markers


@pytest.mark.parametrize("url", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_other_parts_stay(url: str) -> None:
    """What names no language stays in the address."""
    neutral = split_language(parse_link(url).address).neutral
    assert neutral != split_language(parse_link(PLAIN).address).neutral


def test_the_parameters_that_name_a_product_stay() -> None:
    """Of a query, only the language is removed."""
    url = "https://shop.example/index.php?route=product/product&product_id=7&language=en-gb"
    address = split_language(parse_link(url).address)
    assert address.neutral == "shop/index?product_id=7&route=product/product"
    assert address.markers[2] == "language=en-gb"


def test_a_code_alone_is_a_page() -> None:
    """The last segment of a short path is the page's name, even if it is a code."""
    assert split_language("shop.example/it").neutral == "shop/it"
    assert split_language("127.0.0.1:8000/en/x").neutral == "127.0.0.1:8000/x"


@pytest.mark.parametrize(
    ("url", "keys"),
    [
        ("/de/lampen/rote-lampe.html", ("rote-lampe",)),
        ("/de/lampen/12-rote-lampe.html", ("12-rote-lampe", "#12")),
        ("/rote-lampe-12.html", ("rote-lampe-12", "#12")),
        ("/p/12/rote-lampe", ("rote-lampe", "#12")),
        ("/produkt/rote-lampe-2/", ("rote-lampe-2", "rote-lampe", "#2")),
        ("/product/rote-lampe-en/", ("rote-lampe-en", "rote-lampe")),
        ("/index.php?id_product=12&id_lang=2", ("#12",)),
        ("/", ()),
    ],
)
def test_keys_that_translated_addresses_share(url: str, keys: tuple[str, ...]) -> None:
    """Folders and words are translated; the last segment or a product's number may stay."""
    assert page_keys(parse_link("https://shop.example" + url).address) == keys


@pytest.mark.parametrize("text", ["en", "DE", "de-at", "pt_BR", "zh-hant-tw", "english", "eng"])
def test_codes(text: str) -> None:
    """Codes of languages, countries and both, in any case, are languages."""
    assert is_language_code(text)


@pytest.mark.parametrize("text", ["", "xl", "xs", "lamp", "de-luxe", "en-", "a", "12"])
def test_other_words(text: str) -> None:
    """Other short words are none."""
    assert not is_language_code(text)
