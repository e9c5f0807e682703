"""Candidates that are the best there is and still no evidence are no rules."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes, read_page
from parser.rules.selector import TextAt
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import names_attribute
from rules_generator.induction.inducer import induce
from rules_generator.training.examples import TrainingExample
from tests.pages import Product, products, text_page
from tests.rules_generator.conftest import make_example

*ALL, OTHER = products(11)
MENU = "<ul class='menu'><li>Ardwen</li><li>Nordlicht</li><li>Sprout</li></ul>"


def rules_of(attribute: Attribute, members: list[TrainingExample]) -> int:
    """How many rules of an attribute are learnt."""
    rules, _ = induce(members)
    return sum(
        rule.origin == "learnt"
        for template in rules.templates
        for rule in template.rules_for(attribute)
    )


CASES = [
    ("a menu that names them all", ["Ardwen", "Nordlicht", "Sprout", "Elm", "Oak"], 0),
    ("the commonest value", ["Ardwen"] * 4 + ["Elm"], 0),
    ("a shop of one brand", ["Ardwen"], 1),
    ("two brands that begin alike", ["Ardwen", "Ardwen", "Ardwena"], 0),
]


@pytest.mark.parametrize(("name", "brands", "least"), CASES, ids=[case[0] for case in CASES])
def test_constant_texts(name: str, brands: list[str], least: int) -> None:
    """A text that is the same on all pages is a rule only where the known values are the same too."""
    members = [
        make_example(
            product, f"<body>{MENU}<h1>{product.title}</h1>", brand=brands[place % len(brands)]
        )
        for place, product in enumerate(ALL)
    ]
    assert (rules_of(Attribute.BRAND, members) > 0) is (least > 0)


def layout(product: Product, *classes: str) -> str:
    """A page of a shop that says its own name, and the brand in its second layout only."""
    marks = "".join(f"<div class='{name}-{part}'></div>" for name in classes for part in "abcdefgh")
    return f"<meta property='og:site_name' content='Ardwen'><body>{marks}<h1 class='{classes[0]}'>{product.title}</h1>"


@pytest.mark.parametrize(("brands", "learnt"), [(["Elm", "Oak", "Sprout"], 0), (["Ardwen"], 1)])
def test_a_layouts_only_brand_is_no_rule_where_the_shop_has_others(
    brands: list[str], learnt: int
) -> None:
    """The shop's own name is its brand where that is all that it sells, not where a few examples happen to bear it."""
    members = [
        make_example(product, layout(product, "plain"), brand="Ardwen") for product in ALL[:4]
    ]
    members += [
        make_example(
            product, layout(product, "rich", "wide") + f"<b class='brand'>{brand}</b>", brand=brand
        )
        for product, brand in zip(ALL[4:], brands * 6, strict=False)
    ]
    rules, _ = induce(members)
    page = Document(layout(OTHER, "plain"), "https://shop.example/p")
    plain = read_page(page, rules).template
    (template,) = [template for template in rules.templates if template.name == plain]
    assert len(rules.templates) == 2
    assert len(template.rules_for(Attribute.BRAND)) == learnt


INDIRECT = [
    ("in a class", "<h1>{0}</h1><p class='x{1} cat-{2} on'>", "desk-lamps", "wool-rugs"),
    ("as a known word", "<h1>{0}</h1><p class='t'>{1} {2} of {0}</p>", "desk lamps", "wool rugs"),
]


@pytest.mark.parametrize(
    ("name", "build", "first", "second"), INDIRECT, ids=[case[0] for case in INDIRECT]
)
def test_categories_that_stand_in_no_text_of_their_own(
    name: str, build: str, first: str, second: str
) -> None:
    """They are read from classes, or known again where a text names one of them."""
    members = [
        make_example(each, build.format(each.title, each.sku, (first, second)[place % 2]),
               category=("Desk Lamps", "Wool Rugs")[place % 2])
        for place, each in enumerate([*ALL, *ALL])
    ]  # fmt: skip
    rules, _ = induce(members)
    page = Document(build.format("Other", "SK-9", first), "https://shop.example/p")
    read_page = read_attributes(page, rules.templates[0])[Attribute.CATEGORY].value
    assert read_page is not None
    assert read_page.casefold() == "desk lamps"


def test_a_brand_that_only_a_menu_and_the_heading_name() -> None:
    """The menu's entry that the heading names is the brand, also one that no known offer has."""
    menu = "".join(
        f"<li><a>{brand}</a>" for brand in ("Ardwen", "Bolitt", "Cosmira", "Nordlicht", "Sale")
    )
    page = f"<ul class='brands'>{menu}</ul><h1>{{}}</h1>"
    rules, _ = induce([make_example(product, page.format(product.title)) for product in ALL])
    other = Document(page.format("Nordlicht Lamp 7"), "https://shop.example/p")
    assert read_attributes(other, rules.templates[0])[Attribute.BRAND].value == "Nordlicht"


SELDOM = [
    ("at a place like any other", "<p class='t'>{}</p>", 0),
    ("at a place that is named for it", "<p class='brand'>{}</p>", 1),
]


@pytest.mark.parametrize(("name", "shown", "least"), SELDOM, ids=[case[0] for case in SELDOM])
def test_two_values_of_many(name: str, shown: str, least: int) -> None:
    """What is right on two offers of ten, and silent on the rest, may be chance."""
    brands = ["Bolitt", "Elm", "Olmo", "Pira"]
    members = [
        make_example(product, f"<h1>{product.sku}</h1>{shown.format(brands[place]) if place < 2 else ''}", title=product.sku,
               brand=brands[place % 4])
        for place, product in enumerate(ALL)
    ]  # fmt: skip
    assert (rules_of(Attribute.BRAND, members) > 0) is (least > 0)


USUALLY = [
    ("a field named for it, once wrong", "<p class='brand'>{}</p>", "Cosmira"),
]


@pytest.mark.parametrize(("name", "shown", "other"), USUALLY, ids=[case[0] for case in USUALLY])
def test_right_but_for_once(name: str, shown: str, other: str | None) -> None:
    """A catalog may be wrong once, but a menu is, too: the place's own name decides whether new brands are read."""
    said = ["Elm", "Olmo", "Pira", "Ulmo", "Sorb", "Sale"]
    brands = [*said[:-1], "Bolitt"]
    members = [
        make_example(product, f"<h1>{product.sku}</h1>{shown.format(said[place % 6]) if place < 6 else ''}", title=product.sku,
               brand=brands[place % 6])
        for place, product in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    pages = [
        Document(f"<h1>SK-1</h1>{shown.format(brand)}", "https://shop.example/p")
        for brand in ("Olmo", "Cosmira")
    ]
    read_page = [read_attributes(page, rules.templates[0])[Attribute.BRAND].value for page in pages]
    assert read_page == ["Olmo", other]


def test_the_first_word_of_a_pictures_name_confirms_no_brand() -> None:
    """Where the brand's own place is silent, it would say what the picture shows."""
    page = (
        "<meta property='og:image' content='https://shop.example/pictures/{2}.jpg'><h1>{0}</h1>{1}"
    )
    things = ["lamp", "rug", "vase", "chair", "mug", "bowl", "shelf"]
    brands = ["Ardwen", "Bolitt", "Elm", "Olmo", "Pira"]
    members = [
        make_example(product, page.format(product.sku, f"<b class='brand'>{brands[place % 5]}</b>",
                                f"{brands[place % 5].lower()}-{things[place % 7]}"),
               title=product.sku, brand=brands[place % 5])
        for place, product in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    none = Document(page.format("Other", "", "lamp-of-wool"), "https://shop.example/p")
    assert read_attributes(none, rules.templates[0])[Attribute.BRAND].value is None


NAMED = [
    ("third of its type", Attribute.CATEGORY, TextAt(css="li:nth-of-type(3)"), False),
    ("by its class", Attribute.CATEGORY, TextAt(css="p.product-type"), True),
    ("by its label", Attribute.BRAND, TextAt(css='b:lexbor-contains("Brand" i) + i'), True),
    ("by that of something else", Attribute.PRICE, TextAt(css="s.old-price"), False),
]


@pytest.mark.parametrize(
    ("name", "attribute", "at", "expected"), NAMED, ids=[case[0] for case in NAMED]
)
def test_places_that_are_named_for_what_they_hold(
    name: str, attribute: Attribute, at: TextAt, expected: bool
) -> None:
    """By words of the shop's own."""
    assert names_attribute(Candidate(attribute, at)) is expected


def test_more_wrong_than_right() -> None:
    """What is right on three examples of ten and wrong on the others is none."""
    members = [
        make_example(
            product,
            text_page(product),
            sku=product.sku if product.number % 4 == 0 else f"X-{product.number}",
        )
        for product in ALL
    ]
    assert rules_of(Attribute.SKU, members) == 0


def test_stale_titles_are_still_read() -> None:
    """Where half of the titles were rewritten, the heading is read all the same: without a title there is no offer."""
    members = [
        make_example(
            product,
            text_page(product),
            title=product.title if product.number % 2 else f"Neu {product.sku}",
        )
        for product in ALL
    ]
    rules, _ = induce(members)
    other = Document(text_page(OTHER), "https://shop.example/p")
    assert read_attributes(other, rules.templates[0])[Attribute.TITLE].value == OTHER.title


PRICED = [
    ("a place that is named for it", "<b class='price'>{}</b>", 1),
    ("any place", "<b class='rating'>{}</b>", 0),
]


@pytest.mark.parametrize(("name", "shown", "least"), PRICED, ids=[case[0] for case in PRICED])
def test_one_value_twice(name: str, shown: str, least: int) -> None:
    """Where it stands on the two pages that have it and on no other, its place is a rule if it is named so."""
    prices = ["8.00", "9.50", "4.00", "8.00", "30.00", "5.00", "21.99", "12.00", "17.00", "54.99"]
    members = [
        make_example(
            product,
            f"<h1>{product.title}</h1>{shown.format(price) if price == '8.00' else ''}",
            price=price,
        )
        for product, price in zip(ALL, prices, strict=True)
    ]
    assert (rules_of(Attribute.PRICE, members) > 0) is (least > 0)


def test_a_number_of_another_variant_is_no_reason_for_silence() -> None:
    """Where the known number stands nowhere on the page, what a place says instead does not speak against it."""
    page = "<div><h1>{0}{2}</h1><b class='number'>No.: {1}</b></div>"
    sale, plain = "<b>sale</b>", "<i data-number='{0}'></i><u>{0}</u>"
    members = [
        make_example(product, page.format(product.title, f"SK-900{place}" if place in (0, 6) else product.sku,
                                sale if place in (0, 4, 6, 9) else plain.format(product.sku)))
        for place, product in enumerate(ALL)
    ]  # fmt: skip
    rules, _ = induce(members)
    other = Document(page.format("Other", "SK-9999", sale), "https://shop.example/p")
    assert read_attributes(other, rules.templates[0])[Attribute.SKU].value == "SK-9999"


IN_STOCK = [
    (
        "a product's number on its button",
        "<button value='50{0}'>Buy</button><p>{1}</p>",
        "out_of_stock",
    ),
    ("what its stock is called", "<p class='stock' data-stock='{0}'>now</p>", "out_of_stock"),
]


@pytest.mark.parametrize(("name", "page", "expected"), IN_STOCK, ids=[case[0] for case in IN_STOCK])
def test_a_bare_number_says_nothing_of_stock(name: str, page: str, expected: str) -> None:
    """Unless its place does: where all known offers are in stock, any number that is not none would agree."""
    members = [
        make_example(
            product,
            f"<h1>{product.title}</h1>" + page.format(place + 1, "In stock"),
            availability="in_stock",
        )
        for place, product in enumerate(ALL)
    ]
    rules, _ = induce(members)
    sold = Document("<h1>Other</h1>" + page.format(0, "Sold out"), "https://shop.example/p")
    assert read_attributes(sold, rules.templates[0])[Attribute.AVAILABILITY].value == expected


@pytest.mark.parametrize(("known", "least"), [(4, 0), (6, 1)])
def test_numbers_where_the_catalog_knows_none(known: int, least: int) -> None:
    """A place without a name that has a number on more offers than the catalog knows one of has another number."""
    page = "<h1>{0}</h1><p class='facts'><b>{1}</b></p>"
    examples = [
        make_example(
            product,
            page.format(product.title, product.sku),
            sku=None,
            han=product.sku if n < known else None,
        )
        for n, product in enumerate(ALL)
    ]
    assert (rules_of(Attribute.HAN, examples) > 0) is (least > 0)
