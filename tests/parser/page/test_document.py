"""A page opened once: what selectors find on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonpath_ng.ext.parser import parse

from catalog.errors import HostilePage, RuleError
from parser.page.document import Document
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt, selector_from
from parser.scripts.syntax.jsonpath import AnyOf, Entry, child, compile_path

PAGE = Document(
    """<html><head><meta property="og:title" content=" Lamp "></head><body>
    <h1>Lamp <small>by  Ardwen</small></h1><p class="price">$<b>12</b>.<sup>50</sup></p>
    <table><tr><th>EAN:</th><td>4006<br>381</td></tr></table><div data-p='{"a": [{"sku": "S1"}]}'></div>
    <nav><a>Home</a><a>Rugs</a><a> Wool </a></nav><textarea>[{"ean": "4006"}]</textarea>
    <p class="menu">Rugs of wool</p>
    <template><i>none</i></template><template id="more"><h2>T-1</h2><p data-j='{"a": 5}'>x</p></template>
    <noscript><b class="still">here</b></noscript><i x-data="{open: false, p: {sku: 'S2'}}"></i>
    <script>way = {"steps": [{"t": "Home"}, {"t": "Rugs"}, {}, {"t": "Wool"}], "names": ["a", "b"]};</script>
    <script>fbq("t", {"ids": "[\\"S3_7\\"]"}); var z = {n: {q: 1}, 'm': {q: 2}};</script>
    <p class="none"><script>var x = {"list": [{"id": null}, {"id": 7}], "on": true, "f": 12.5};</script></p></body>""",
    "https://shop.example/p/1",
)

FOUND: list[tuple[AnySelector, str | None]] = [
    (TextAt(css="h1"), "Lamp by Ardwen"),
    (TextAt(css="h1", own=True), "Lamp"),
    (TextAt(css="p.price"), "$12.50"),
    (TextAt(css='th:lexbor-contains("ean" i) + td'), "4006 381"),
    (TextAt(css="p.none"), None),
    (TextAt(css="p.missing"), None),
    (AttributeAt(css="meta[property='og:title']", name="content"), "Lamp"),
    (AttributeAt(css="h1", name="title"), None),
    (JsonAt(block="var x =", path="$.list.*.id"), "7"),
    (JsonAt(block="var x =", path="$.list[0].id"), None),
    (JsonAt(block="var x =", path="$.list[-1].id"), "7"),
    (JsonAt(block="var x =", path="$.on"), "true"),
    (JsonAt(block="var x =", path="$.f"), "12.5"),
    (JsonAt(block="var x =", path="$..id"), "7"),
    (JsonAt(block="var y =", path="$.on"), None),
    (JsonAt(css="[data-p]", block="@data-p", path="$.a[0].sku"), "S1"),
    (JsonAt(css="[x-data]", block="@x-data", path="$.p.sku"), "S2"),
    (JsonAt(css="textarea", block="text", path="$[0].ean"), "4006"),
    (JsonAt(css="h1", block="text", path="$[0].ean"), None),
    (JsonAt(block='fbq("t",', path="$.ids[0]"), "S3_7"),
    (JsonAt(css="script", block="-> 2 -> 2", path="$.q"), "2"),
    (JsonAt(css="script", block="-> 9", path="$.q"), None),
    (TextAt(css="nav a", join=True), "Home > Rugs > Wool"),
    (TextAt(css="nav b", join=True), None),
    (JsonAt(block="way =", path="$.steps[*].t", join=True), "Home > Rugs > Wool"),
    (JsonAt(block="way =", path="$.steps[1:-1].t", join=True), "Rugs"),
    (JsonAt(block="way =", path="$.steps[1:].t"), "Rugs"),
    (JsonAt(block="way =", path="$.names[:-1]", join=True), "a"),
    (JsonAt(block="way =", path="$.names", join=True), "a"),
    (JsonAt(block="way =", path="$.none[*]", join=True), None),
    (TextAt(css="noscript b.still"), "here"),
    (TextAt(css="h2"), None),
    (TextAt(css='template[id="more"] ::content h2'), "T-1"),
    (TextAt(css="template ::content h2"), "T-1"),
    (TextAt(css="template ::content table"), None),
    (TextAt(css="table ::content td"), None),
    (JsonAt(css="template ::content [data-j]", block="@data-j", path="$.a"), "5"),
    (TextAt(css="h1, th, td", named_in="h1"), None),
    (TextAt(css="h1, nav a, i", named_in="p.menu"), "Rugs"),
]


@pytest.mark.parametrize(("selector", "value"), FOUND, ids=str)
def test_finds_the_first_value(selector: AnySelector, value: str | None) -> None:
    """Each kind of selector gives its first value as text, or nothing."""
    assert PAGE.find(selector) == value


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ('{type: "", id: 7}', None),
        ("{type: null, id: 7}", None),
        ("{type: [], id: 7}", None),
        ("{type: {}, id: 7}", None),
        ("{id: 7}", "Gift Card"),
    ],
)
def test_what_the_pages_own_product_leaves_empty_is_not_read_from_the_next(
    first: str, value: str | None
) -> None:
    """Only where a block does not have the key at all is that of the same name behind it asked."""
    script = f'item("p-17", {first}); item("p-18", {{type: "Gift Card"}});'
    page = Document(f"<script>{script}</script>", "https://shop.example/p/1")
    assert page.find(JsonAt(block='item("p-0",', path="$.type")) == value


def test_within_a_block_the_first_that_is_not_empty_counts() -> None:
    """A variant without a number does not hide those behind it."""
    page = Document(
        "<script>var p = {variants: [{sku: null}, {sku: 'B-2'}]};</script>",
        "https://shop.example/p/1",
    )
    assert page.find(JsonAt(block="var p =", path="$.variants[*].sku")) == "B-2"


@pytest.mark.parametrize(
    "selector",
    [
        TextAt(css="p[["),
        TextAt(css="p ::content [["),
        TextAt(css="p ::content "),
        JsonAt(block="var x =", path="$.["),
    ],
)
def test_says_so_where_a_selector_is_not_well_formed(selector: AnySelector) -> None:
    """A selector that a person wrote wrongly is an error that names it."""
    with pytest.raises(RuleError, match=r"not a (CSS selector|JSONPath)"):
        PAGE.find(selector)


def test_selectors_survive_storage() -> None:
    """A selector's JSON form gives the same selector back; anything else is refused in one line."""
    for selector, _ in FOUND:
        assert selector_from(selector.model_dump()) == selector
    with pytest.raises(RuleError, match="not a selector"):
        selector_from({"kind": "xpath", "css": "h1"})


def test_a_page_is_decoded_as_it_says() -> None:
    """The charset of header, meta or byte order mark is heeded."""
    latin = '<meta charset="iso-8859-1"><h1>Größe</h1>'.encode("latin-1")
    assert Document(latin, "https://shop.example/").find(TextAt(css="h1")) == "Größe"


@pytest.mark.parametrize(
    "page", ["<div>" * 100_000, "<div " + " ".join(f"a{n}=1" for n in range(200_000)) + ">x"]
)
def test_pages_made_to_be_slow_are_refused(page: str) -> None:
    """Nesting and attributes without end are refused before they are parsed."""
    with pytest.raises(HostilePage):
        Document(page, "https://shop.example/")


def test_plain_paths_and_rich_ones_agree() -> None:
    """A path walked directly finds what jsonpath-ng finds."""
    data = {"a": [{"b c": 1}, {"b c": 2}], "d": {"1": {"e": 3}}}
    assert list(compile_path("$.a[*]['b c']")(data)) == [1, 2]
    assert list(compile_path("$.a.*['b c']")(data)) == [1, 2]
    assert list(compile_path("$.d.*.e")(data)) == [3]
    assert (
        list(compile_path("$.a[1:]['b c']")(data))
        == list(compile_path("$.a[-1:]['b c']")(data))
        == [2]
    )
    assert (
        list(compile_path("$.a[::2]['b c']")(data))
        == list(compile_path("$.a[:-1]['b c']")(data))
        == [1]
    )
    assert list(compile_path("$.d[1:].e")(data)) == []
    assert list(compile_path("$.a[?('b c'>1)]")(data)) == [{"b c": 2}]
    assert list(compile_path("$.a[0]['x','b c']")(data)) == [1]


NAMES = st.sampled_from(["ean", "Größe", "a b", 'in "', "$", "1"])
ENTRY = st.dictionaries(
    st.sampled_from(["name", "key", "value"]), NAMES | st.integers(0, 2) | st.none()
)


@given(st.dictionaries(NAMES, NAMES) | st.lists(NAMES), st.lists(NAMES, min_size=2, max_size=3))
def test_what_stands_under_one_of_some_names_is_what_jsonpath_ng_finds(
    thing: object, names: list[str]
) -> None:
    """In the order of the names, not in that of the object."""
    path = child("$.all", AnyOf(tuple(names)))
    expected = [match.value for match in parse(path).find({"all": thing})]
    assert list(compile_path(path)({"all": thing})) == expected


@given(
    st.lists(ENTRY | NAMES, max_size=6) | st.dictionaries(NAMES, ENTRY, max_size=4),
    st.sampled_from(["name", "key"]),
    NAMES,
)
def test_entries_of_a_name_are_those_that_a_filter_finds(
    entries: object, key: str, name: str
) -> None:
    """Of lists, and of objects by any key; entries that say nothing under that key are passed over."""
    path = f"{child('$.all', Entry(key, name))}.value"
    expected = [match.value for match in parse(path).find({"all": entries})]
    assert list(compile_path(path)({"all": entries})) == expected


BASES = {
    "one of the shop's": ('<base href="https://shop.example/">', "https://shop.example/"),
    "a relative one": ('<base target=_top><base href=" ../ ">', "https://shop.example/"),
    "one of another host": ('<base href="//cdn.example/a/">', "https://cdn.example/a/"),
    "none": ("", "https://shop.example/p/lamp"),
    "one without an address": ("<base href>", "https://shop.example/p/lamp"),
    "one that is no web address": ('<base href="javascript:x">', "https://shop.example/p/lamp"),
    "one that is broken": ('<base href="https://[x">', "https://shop.example/p/lamp"),
}


@pytest.mark.parametrize(("head", "base"), BASES.values(), ids=BASES.keys())
def test_relative_addresses_start_from_the_base_that_the_head_names(head: str, base: str) -> None:
    """Where it is one of the web; else from the page's own address."""
    assert Document(f"<html><head>{head}</head><body>x", "https://shop.example/p/lamp").base == base
