"""Words of shops: the data file is complete and free of contradictions, and values follow it."""

from itertools import combinations

import pytest

from catalog.models import Attribute
from catalog.values import normalise
from catalog.values.shop_words import Concept, is_buy_text, keys_of, names, words_of

LABELS: tuple[Concept, ...] = (
    "brand",
    "article_number",
    "manufacturer_number",
    "trade_number",
    "price",
    "availability",
    "category",
)
# Languages of the European Union, of the countries around it, and of East Asia.
LANGUAGES = (
    "en de fr es it pt nl sv da fi et lv lt pl cs sk hu ro bg ru uk sr hr sl el tr ja zh ko".split()
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_its_labels_and_buttons(language: str) -> None:
    """The concepts that a cold start needs most have words in every language."""
    needed: tuple[Concept, ...] = ("brand", "article_number", "price", "category", "buy", "home")
    for concept in needed:
        assert words_of(concept, [language]), concept


def test_no_word_labels_two_attributes() -> None:
    """A label means one attribute."""
    for first, second in combinations(LABELS, 2):
        assert not keys_of(first) & keys_of(second)


def test_no_word_is_empty() -> None:
    """Each word has letters."""
    concepts: tuple[Concept, ...] = (*LABELS, "buy", "from", "home", "assortment", "uncategorized")
    for concept in concepts:
        assert "" not in keys_of(concept)


UNCATEGORIZED = [
    "Uncategorized",
    "uncategorised",
    "Unkategorisiert",
    "Non classé",
    "Sin categorizar",
    "Sin categoría",
    "Senza categoria",
    "Sem categoria",
    "Ongecategoriseerd",
    "Geen onderdeel van een categorie",
    "Okategoriserade",
    "Ikke-kategoriseret",
    "Bez kategorii",
    "Nezařazené",
    "Без категории",
    "Без рубрики",
    "Без категорії",
    "Χωρίς κατηγορία",
    "未分類",
    "未分类",
    "미분류",
]


@pytest.mark.parametrize("word", UNCATEGORIZED)
def test_uncategorized_is_no_category_and_no_brand(word: str) -> None:
    """The name that a shop system gives to goods without a category is no value."""
    assert normalise(Attribute.CATEGORY, word) is None
    assert normalise(Attribute.BRAND, word) is None
    assert normalise(Attribute.CATEGORY, f"Home > {word} > Lamps") == "Lamps"


PATHS = [
    ("Home > Shop > Lamps > Desk", "Lamps > Desk"),
    ("Startseite > Alle Produkte > Lampen", "Lampen"),
    ("Главная / Каталог / Лампы", "Лампы"),
    ("Inicio > Tienda > Lámparas", "Lámparas"),
    ("ホーム > 商品一覧 > ランプ", "ランプ"),
    ("Lamps > Shop lights", "Lamps > Shop lights"),
    ("Lamps > Shop", "Lamps > Shop"),
]


@pytest.mark.parametrize(("raw", "path"), PATHS)
def test_home_and_assortment_begin_no_path(raw: str, path: str) -> None:
    """Steps that mean the home page or all goods are dropped at the beginning, not later."""
    assert normalise(Attribute.CATEGORY, raw) == path


NO_BUTTONS = [
    "Cart",
    "Warenkorb (2)",
    "Panier",
    "Checkout",
    "Buyer's guide",
    "Order status",
    "Kaufberatung",
    "",
    "x" * 500,
]


@pytest.mark.parametrize("text", NO_BUTTONS)
def test_no_buttons_to_buy(text: str) -> None:
    """Links to the cart and guides do not put an offer into it."""
    assert not is_buy_text(text)


def test_long_texts_name_nothing() -> None:
    """A text longer than any word is refused without work."""
    assert not names("brand", "brand" * 1000)
