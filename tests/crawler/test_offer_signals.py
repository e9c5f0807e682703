"""Offer signals: prices and buttons in many languages count, the texts of scripts do not."""

import pytest

from crawler.pages.offer_signals import count_offer_signals

BUTTONS = [
    ("en", "Add to cart"),
    ("de", "In den Warenkorb"),
    ("fr", "Ajouter au panier"),
    ("es", "Añadir al carrito"),
    ("pl", "Do koszyka"),
    ("cs", "Přidat do košíku"),
    ("ru", "В корзину"),
    ("uk", "Купити"),
    ("el", "Προσθήκη στο καλάθι"),
    ("ja", "カートに入れる"),
    ("zh-CN", "加入购物车"),
    ("ko", "장바구니에 담기"),
]


@pytest.mark.parametrize(("language", "button"), BUTTONS)
def test_buttons_count_in_the_language_of_the_page(language: str, button: str) -> None:
    """A button's words count on a page of its language, and not in a script."""
    page = f"<html lang='{language}'><body><button>{button}</button></body></html>"
    assert count_offer_signals(page.encode())
    script = f"<html lang='{language}'><body><script>t = '{button}'</script></body></html>"
    assert count_offer_signals(script.encode()) == 0


def test_unfinished_scripts_hide_the_page_behind_them() -> None:
    """A script that never ends holds all that follows."""
    assert count_offer_signals(b"<p>Add to cart<script>x = 'add to cart'") == 1


@pytest.mark.parametrize("price", ["12 €", "£12", "1 200 ₽", "12 zł", "¥1200", "₩12000", "$12"])
def test_prices_count(price: str) -> None:
    """Prices count in currencies with a sign of their own."""
    assert count_offer_signals(f"<p>{price}</p>".encode()) == 1


def test_signals_that_overlap_count_once() -> None:
    """`Preorder now` has `order now` in it, and is one button."""
    assert count_offer_signals(b"<html lang=en><button>Preorder now</button>") == 1
    assert count_offer_signals(b"<html lang=en><p>Preorder now <p>order now") == 2
