"""Rules that stand in where the one that reads best is silent."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

ALL = products(11)
TEXT = "<p>A long and honest description of {0}, which says what it is made of and how it is cared for.</p>"
CASES = [
    (
        "another block of data",
        "<script>var meta = {{'sku': '{1}'}};</script>",
        "<script>track.view({{'number': '{1}'}});</script>",
        Attribute.SKU,
        "SK-1170",
    ),
    (
        "the visible description",
        "<script>var meta = {{'description': '" + TEXT + "'}};</script>",
        "<div class='text'>" + TEXT + "</div>",
        Attribute.DESCRIPTION,
        "made of",
    ),
]


@pytest.mark.parametrize(
    ("name", "best", "other", "attribute", "said"), CASES, ids=[case[0] for case in CASES]
)
@pytest.mark.parametrize("both", [True, False], ids=["both known", "one of them gone"])
def test_a_page_on_which_one_place_is_gone(
    name: str, best: str, other: str, attribute: Attribute, said: str, both: bool
) -> None:
    """Whichever of two places is gone, the other one is read, though on all examples one alone would do."""
    members = [
        make_example(
            product,
            f"<h1>{product.title}</h1>{best.format(product.title, product.sku)}{other.format(product.title, product.sku)}",
            description=TEXT.format(product.title),
        )
        for product in ALL[:10]
    ]
    template = induce(members)[0].templates[0]
    for shown in (best, other) if not both else (best + other,):
        page = Document(f"<h1>x</h1>{shown.format('x', ALL[10].sku)}", "https://shop.example/p")
        assert said in (read_attributes(page, template)[attribute].value or "")


def test_none_stands_in_that_speaks_where_there_is_nothing() -> None:
    """A place that holds something else where the catalog knows no value is not asked."""
    members = [
        make_example(
            product,
            f"<h1>{product.title}</h1><script>a = {{'sku': '{product.sku if product.number % 3 else ''}'}};</script>"
            f"<i id='n'>{product.sku if product.number % 3 else f'p{product.number}'}</i>",
            sku=product.sku if product.number % 3 else None,
        )
        for product in ALL
    ]
    page = Document(
        "<h1>x</h1><script>a = {'sku': ''};</script><i id='n'>p77</i>", "https://shop.example/p"
    )
    assert read_attributes(page, induce(members)[0].templates[0])[Attribute.SKU].value is None


def test_a_constant_does_not_outvote_the_place_that_is_named() -> None:
    """Where all examples are of one brand, the shop's logo says it too, and still says it beside other brands."""
    page = "<h1>{0}</h1><p class='vendor'>by {1}</p><a class='logo'><img alt='Ardwen'></a><title>{0} - Ardwen</title>"
    members = [
        make_example(product, page.format(product.title, "Ardwen"), brand="Ardwen")
        for product in ALL
    ]
    other = Document(page.format("Other", "Nordlicht"), "https://shop.example/p")
    assert (
        read_attributes(other, induce(members)[0].templates[0])[Attribute.BRAND].value
        == "Nordlicht"
    )


def test_one_place_is_not_counted_twice() -> None:
    """A price's text and its attribute stand or fall together: on a page without them the first of others is read."""
    shown = "<h1>{0}</h1>{1}<div class='more'>{2}</div><script>view({{'price': '{3}'}});</script>"
    price = "<div class='price'><b class='now' content='{0}'>{0} €</b></div>"
    members = [
        make_example(
            product,
            shown.format(
                product.title, price.format(product.price), price.format("99.50"), product.price
            ),
        )
        for product in ALL
    ]
    template = induce(members)[0].templates[0]
    page = Document(shown.format("x", "", price.format("99.50"), "12.50"), "https://shop.example/p")
    assert read_attributes(page, template)[Attribute.PRICE].value == "12.50"


def test_one_of_its_kind_is_preferred() -> None:
    """Both classes find the brand on all examples; one of them finds another link where there is no brand."""
    shown = "<h1>{0}</h1>{1}<a class='small' href='#r'>({2} reviews)</a>"
    brand = "<a class='small upper' href='/b'>{0}</a>"
    members = [
        make_example(
            product, shown.format(product.title, brand.format(product.brand), product.number)
        )
        for product in ALL
    ]
    template = induce(members)[0].templates[0]
    page = Document(shown.format("x", "", 7), "https://shop.example/p")
    assert read_attributes(page, template)[Attribute.BRAND].value is None


LABELLED = "<dl><dt>{0}</dt><dd class='product-sku'>{1}</dd></dl>"


@pytest.mark.parametrize(
    ("label", "name"), [("Item #:", "product-sku"), ("SKU:", "number")], ids=["label", "name"]
)
def test_another_way_to_the_same_element_stands_in_if_it_is_named(label: str, name: str) -> None:
    """Numbers behind another label are read by the element's name, and the other way round."""
    shown = "<h1>{0}</h1>{1}"
    members = [
        make_example(product, shown.format(product.title, LABELLED.format("SKU:", product.sku)))
        for product in ALL
    ]
    said = LABELLED.format(label, "X-77").replace("product-sku", name)
    page = Document(shown.format("x", said), "https://shop.example/p")
    assert read_attributes(page, induce(members)[0].templates[0])[Attribute.SKU].value == "X-77"


def test_a_title_is_not_the_first_of_whatever_stands_there() -> None:
    """Of spans the first one of a trail is as right on all examples; elsewhere a badge comes first."""
    trail = (
        "<div class='product-detail'><ol><li class='breadcrumbs__item'><a>Lamps</a></li>"
        "<li class='breadcrumbs__item breadcrumbs__item--current'><span>{0}</span></li></ol></div>"
    )
    shown = "<main class='page'>{0}<p><span>in stock</span> <span>free shipping</span></p></main>"
    members = [make_example(product, shown.format(trail.format(product.title))) for product in ALL]
    page = Document(shown.format("<span>-40%</span>"), "https://shop.example/p")
    assert read_attributes(page, induce(members)[0].templates[0])[Attribute.TITLE].value is None


def test_a_literal_is_trusted_more_than_a_number_of_characters() -> None:
    """Where another page's title ends otherwise, a number of characters would leave a part of it."""
    shown = "<title>{0}{1}</title>"
    members = [
        make_example(product, shown.format(product.title, " – The Potters of Halifax, Nova Scotia"))
        for product in ALL
    ]
    page = Document(
        shown.format("A bowl of porcelain with a lid of bronze", ""), "https://shop.example/p"
    )
    assert read_attributes(page, induce(members)[0].templates[0])[Attribute.TITLE].value is None


def test_what_is_around_a_place_is_no_other_place() -> None:
    """What holds the description, and a name and a price besides, is not read where there is none."""
    inner = "<div><div><div><div><div>{2}</div></div></div></div></div>"
    shown = f"<div class='product'><h1>{{0}}</h1><i>{{1}} €</i>{inner}</div>"
    text = f"<div class='description'>{TEXT} Made by hand in a small workshop that one family has run for ever.</div>"
    members = [
        make_example(
            product,
            shown.format(product.title, product.price, text.format(product.title)),
            description=text.format(product.title),
        )
        for product in ALL
    ]
    template = induce(members)[0].templates[0]
    page = Document(shown.format("x", "12.50", ""), "https://shop.example/p")
    assert read_attributes(page, template)[Attribute.DESCRIPTION].value is None


@pytest.mark.parametrize("sizes", [["XL"], ["S", "M", "XL"]], ids=["of one size", "of several"])
def test_a_whole_number_comes_before_one_cut_off_at_a_sign(sizes: list[str]) -> None:
    """Of a variant's number the rest may have that sign, too, and another part of it would be taken for the offer's."""
    page = (
        "<h1>{0}</h1><script>view({{'style': '{1}', 'variants': [{{'sku': '{1}-{2}'}}]}});</script>"
    )
    members = [
        make_example(
            product, page.format(product.title, product.sku, sizes[product.number % len(sizes)])
        )
        for product in ALL
    ]
    other = Document(page.format("Other", "SK-99", "2-3Y"), "https://shop.example/p")
    assert read_attributes(other, induce(members)[0].templates[0])[Attribute.SKU].value == "SK-99"


def test_a_place_that_says_the_brand_comes_before_a_guess() -> None:
    """The first word of a title is the brand of all known offers, and of another one a part of it."""
    shown = "<h1>{0} {1}</h1><p>Brand: <b class='brand'>{2}</b></p>"
    things = "Guitar;Clarinet 2;Case, hard;12 Picks;Bow;Reed 7;Strap;Stool XL;Sticks;Felt".split(
        ";"
    )
    brands = ["Takamine", "Jupiter", "Ibanez", "Yamaha", "Fender"]
    members = [
        make_example(
            product, shown.format(brand, things[place], brand if place % 5 else ""), brand=brand
        )
        for place, product in enumerate(ALL[:10])
        for brand in [brands[place % len(brands)]]
    ]
    page = Document(shown.format("Ernie Ball", "Strings 7", "Ernie Ball"), "https://shop.example/p")
    assert (
        read_attributes(page, induce(members)[0].templates[0])[Attribute.BRAND].value
        == "Ernie Ball"
    )
