"""Known values are found wherever they stand, in whatever form, and everything is bounded."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.page.document import Document
from parser.scripts.syntax.jsonpath import compile_path
from rules_generator.locate.json_texts import flatten_json
from rules_generator.locate.occurrences import MAX_OCCURRENCES, find_occurrences
from rules_generator.locate.value_matcher import ValueMatcher

URL = "https://shop.example/p/1"


def found(page: str, attribute: Attribute, value: str) -> list[tuple[str, str, bool]]:
    """Where a value was found: the kind of place, the form, whether it is all of the text."""
    located = find_occurrences(Document(page, URL), ValueMatcher({attribute: [value]}, URL))[
        attribute
    ]
    return [
        (
            occurrence.path or occurrence.name or ("own" if occurrence.is_direct_text else "text"),
            occurrence.form,
            occurrence.is_whole_text,
        )
        for occurrence in located
    ]


def test_a_price_is_found_in_all_its_forms() -> None:
    """In text with a sign, in an attribute, in cents inside a script."""
    page = '<h2>Now</h2><b>$1,299.00</b><i data-price="1299"></i><script>x = {"cents": 129900, "was": 1}</script>'
    assert found(page, Attribute.PRICE, "1299.00") == [
        ("$.cents", "minor", True), ("text", "plain", True), ("data-price", "plain", True)
    ]  # fmt: skip


def test_a_relative_picture_is_found_from_the_base_of_the_page() -> None:
    """Places are compared with known addresses as browsers resolve them."""
    page = Document('<base href="/"><img src="media/a.jpg">', URL)
    known = {Attribute.IMAGE: ["https://shop.example/media/a.jpg"]}
    assert [
        occurrence.name
        for occurrence in find_occurrences(page, ValueMatcher(known, page.base))[Attribute.IMAGE]
    ] == ["src"]


def test_a_german_thousand_is_no_decimal() -> None:
    """The form says how the separator was meant."""
    assert found("<b>1.299</b>", Attribute.PRICE, "1.30") == [("text", "point", True)]
    assert found("<b>1.299</b>", Attribute.PRICE, "1299.00") == [("text", "plain", True)]


def test_a_text_that_contains_the_value_needs_cuts() -> None:
    """The place counts, but not as a whole one."""
    assert ("text", "plain", False) in found("<li>Art.-Nr.: SK-12 *</li>", Attribute.SKU, "SK-12")


def test_an_elements_own_text_counts_where_other_elements_stand_in_it() -> None:
    """`Lamp <small>by X</small>` is a title of its own."""
    assert ("own", "plain", True) in found(
        "<h1>Lamp <small>by X</small></h1>", Attribute.TITLE, "Lamp"
    )


def test_data_in_attributes_is_looked_into() -> None:
    """HTML-escaped JSON in a data- attribute is a block."""
    page = '<div data-item="{&quot;a&quot;: [{&quot;sku&quot;: &quot;SK-1&quot;}]}"></div>'
    assert found(page, Attribute.SKU, "SK-1") == [("$.a[0].sku", "plain", True)]


def test_data_in_any_attribute_or_text_is_looked_into() -> None:
    """A page's own component data, the JSON of a hidden text field, JSON within a string of JSON."""
    page = """<i x-data="{p: {sku: 'SK-1'}}"></i><textarea id="v-1">[{"sku": "SK-1"}]</textarea>
    <script>x = {"ids": "[\\"SK-1\\"]"}</script>"""
    seen = [place for place, _, whole in found(page, Attribute.SKU, "SK-1") if whole]
    assert seen == ["$.ids[0]", "$.p.sku", "$[0].sku"]


def test_a_picture_behind_an_element_is_known() -> None:
    """Galleries show pictures as backgrounds, which only the elements' own CSS names."""
    page = "<i style='background-image: url(/up/lamp-300x300.jpg)'></i><i style='color: red'>/up/lamp.jpg.html</i>"
    assert found(page, Attribute.IMAGE, "https://shop.example/up/lamp.jpg") == [
        ("style", "plain", True)
    ]


def test_names_in_classes_and_addresses_are_known() -> None:
    """`desk-lamps` in a class is the category, to be read as words."""
    page = '<body class="product product_cat-desk-lamps"><a href="/c/desk+lamps?x=1">all</a>'
    assert found(page, Attribute.CATEGORY, "Desk Lamps") == [
        ("class", "slug", False),
        ("href", "slug", False),
    ]
    assert found(page, Attribute.SKU, "desk-lamps") == []


def test_a_description_is_found_by_its_words() -> None:
    """Long texts are compared by the words they share."""
    text = (
        "A lamp of brass and glass for tables, desks and shelves, made by hand in the north. " * 8
    )
    page = f"<div class='d'><p>{text}</p><p>Now new.</p></div>"
    assert found(page, Attribute.DESCRIPTION, text.strip())


def test_keys_that_are_numbers_are_any_key() -> None:
    """A product's number in the path would hold on its own page only."""
    assert list(flatten_json({"17": {"sku": "A"}, "x": [1, 2, 3, 4]})) == [
        ("$.*.sku", "A"), ("$.x[0]", "1"), ("$.x[1]", "2"), ("$.x[2]", "3")
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["it's", "a\\b", "half \ud83d"])
def test_keys_that_no_path_can_name_are_any_key(name: str) -> None:
    """What is written as no path, or in no file, is in no rule."""
    assert list(flatten_json({name: {"sku": "A"}})) == [("$.*.sku", "A")]


MANY = [*({"name": f"n{n}", "value": "x"} for n in range(9)), {"name": "z", "value": "y"}]
ENTRIES = [
    ("names and values", [{"name": "EAN / UPC", "value": "40"}], ["$[?(@.name=='EAN / UPC')].value", "$[0].value"]),
    ("schema.org's", [{"@type": "x", "propertyID": "gtin", "value": 4}], ["$[?(@.propertyID=='gtin')].value"]),
    ("Magento's", [{"attribute_code": "ean", "value": "40"}], ["$[?(@.attribute_code=='ean')].value"]),
    ("values within", [{"name": "brand", "value": {"label": "A"}}], ["$[?(@.name=='brand')].value.label"]),
    ("far down", MANY, ["$[?(@.name=='z')].value"]),
    ("products", [{"name": "A lamp", "sku": "A-1"}], ["$[0].name", "$[0].sku"]),
    ("a number of its own", [{"id": "48211", "value": "x"}], ["$[0].id", "$[0].value"]),
    ("a name that no path can say", [{"name": "it's", "value": "x"}], ["$[0].name", "$[0].value"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "entries", "expected"), ENTRIES, ids=[case[0] for case in ENTRIES]
)
def test_entries_are_told_by_their_names(
    name: str, entries: list[object], expected: list[str]
) -> None:
    """A list that pairs names with values is read by these, in whatever order it stands; others by place."""
    found = [path for path, _ in flatten_json(entries)]
    assert set(expected) <= set(found)
    assert any("?" in path for path in expected) == any("?" in path for path in found)


@given(st.text(max_size=70))
def test_whatever_an_entry_is_called_its_path_leads_there(name: str) -> None:
    """Names are the page's, and no name may be one that makes no path."""
    data = {"facts": [{"name": "other", "value": "x"}, {"name": name, "value": "40"}]}
    found = [path for path, text in flatten_json(data) if text == "40"]
    assert all("40" in compile_path(path)(data) for path in found)
    assert "$.facts[1].value" in found


def test_a_page_full_of_the_value_ends_soon() -> None:
    """Places are bounded, time too."""
    begin = time.process_time()
    many = found("<p>Ardwen</p>" * 30_000, Attribute.BRAND, "Ardwen")
    assert len(many) == MAX_OCCURRENCES
    assert time.process_time() - begin < 5


ELSEWHERE = [
    ("a bare 0 is no price", "<b>0</b><i data-n='000'></i>", Attribute.PRICE, "0.00", 0),
    ("a price of 0 with its currency", "<b>$0.00</b>", Attribute.PRICE, "0.00", 1),
    ("a link to another page", "<a href='/q'><b>Lamp</b></a>", Attribute.TITLE, "Lamp", 0),
    ("a link of a category", "<a href='/x'>Lamps</a>", Attribute.CATEGORY, "Lamps", 1),
]


@pytest.mark.parametrize(
    ("name", "page", "attribute", "value", "count"), ELSEWHERE, ids=[case[0] for case in ELSEWHERE]
)
def test_texts_that_show_something_else(
    name: str, page: str, attribute: Attribute, value: str, count: int
) -> None:
    """Counts and the offers of other pages are no occurrences."""
    assert len(found(page, attribute, value)) == count


def test_the_main_entry_of_a_list_is_found_by_its_flag() -> None:
    """Galleries mark their main picture, which may stand anywhere in the list."""
    page = """<script>x = {"gallery": [
    {"img": "/a.jpg", "main": false, "is_video": true}, {"img": "/b.jpg", "main": true, "is_video": true}]}</script>"""
    places = [place for place, _, _ in found(page, Attribute.IMAGE, "https://shop.example/b.jpg")]
    assert places == ["$.gallery[?(@.main==true)].img", "$.gallery[1].img"]
