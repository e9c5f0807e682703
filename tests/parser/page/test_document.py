"""A page that is opened once: the values that selectors find on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonpath_ng.ext.parser import parse

from catalog.errors import HostilePage, RuleError
from parser.page.document import Document
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt, selector_from
from parser.scripts.syntax.jsonpath import AnyOf, Entry, child_path, compile_path

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
]


@pytest.mark.parametrize(("selector", "value"), FOUND, ids=str)
def test_finds_the_first_value(selector: AnySelector, value: str | None) -> None:
    """Each kind of selector gives its first value as text, or None."""
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
def test_an_empty_value_is_not_filled_from_the_next_block(first: str, value: str | None) -> None:
    """The next block of the name counts only where the first lacks the key."""
    script = f'item("p-17", {first}); item("p-18", {{type: "Gift Card"}});'
    page = Document(f"<script>{script}</script>", "https://shop.example/p/1")
    assert page.find(JsonAt(block='item("p-0",', path="$.type")) == value


def test_the_first_value_of_a_block_that_is_not_empty_counts() -> None:
    """A variant without a number does not hide the variants behind it."""
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
def test_an_invalid_selector_raises(selector: AnySelector) -> None:
    """The error names the selector."""
    with pytest.raises(RuleError, match=r"not a (CSS selector|JSONPath)"):
        PAGE.find(selector)


def test_selectors_survive_storage() -> None:
    """A selector's JSON form gives the same selector back; anything else is refused in one line."""
    for selector, _ in FOUND:
        assert selector_from(selector.model_dump()) == selector
    with pytest.raises(RuleError, match="not a selector"):
        selector_from({"kind": "xpath", "css": "h1"})


def test_the_declared_charset_is_used() -> None:
    """The charset of header, meta or byte order mark decodes the page."""
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
    """A path that is walked directly finds the values that jsonpath-ng finds."""
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
def test_any_of_names_finds_what_jsonpath_ng_finds(thing: object, names: list[str]) -> None:
    """Values come in the order of the names, not in that of the object."""
    path = child_path("$.all", AnyOf(tuple(names)))
    expected = [match.value for match in parse(path).find({"all": thing})]
    assert list(compile_path(path)({"all": thing})) == expected


@given(
    st.lists(ENTRY | NAMES, max_size=6) | st.dictionaries(NAMES, ENTRY, max_size=4),
    st.sampled_from(["name", "key"]),
    NAMES,
)
def test_entries_of_a_name_are_found_like_by_a_filter(entries: object, key: str, name: str) -> None:
    """Entries of lists and objects are found; entries without the key are skipped."""
    path = f"{child_path('$.all', Entry(key, name))}.value"
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
def test_the_base_of_relative_urls(head: str, base: str) -> None:
    """The head's base counts if it is a web address, else the page's own URL."""
    assert Document(f"<html><head>{head}</head><body>x", "https://shop.example/p/lamp").base == base
