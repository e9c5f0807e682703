"""Data blocks in scripts and attributes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.html import open_html
from parser.scripts.blocks import attribute_data, scripts_of
from parser.scripts.syntax.javascript import MAX_ATTEMPTS

SEEN = [
    ("an assignment", 'var meta = {"a": {"b": 1}};', [("var meta =", {"a": {"b": 1}})]),
    ("digits in the name", 'var meta12 = {"a": 1}', [("var meta0 =", {"a": 1})]),
    ("a call", 'dataLayer.push({"a": 1});', [("dataLayer.push(", {"a": 1})]),
    (
        "JavaScript rather than JSON",
        "push({a: 'x', b: [1, 2,],})",
        [("push(", {"a": "x", "b": [1, 2]})],
    ),
    ("two blocks", 'x = {"a": 1}; y = {"b": 2};', [("x =", {"a": 1}), ("y =", {"b": 2})]),
    ("a second argument", 'track("Viewed", {"a": 1})', [('track("Viewed",', {"a": 1})]),
    (
        "pairs of a script that parses as nothing",
        "if (x) { 'price': '12.50', ",
        [("pairs", {"price": "12.50"})],
    ),
    ("a plain assignment", "var sku = 'A-1';", [("pairs", {"sku": "A-1"})]),
    ("code only", "function f() { return 1; }", []),
    ("control characters in a string", 'x = {"a": "b\tc"}', [("x =", {"a": "b\tc"})]),
]


@pytest.mark.parametrize(("name", "script", "expected"), SEEN, ids=[case[0] for case in SEEN])
def test_finds_the_blocks_of_a_script(
    name: str, script: str, expected: list[tuple[str, object]]
) -> None:
    """A script's blocks are found with their names and data."""
    found = scripts_of(open_html(f"<script>{script}</script>")).blocks()
    assert [(block.name, block.data) for block in found] == expected


def test_schema_org_things_are_named_by_type_and_taken_out_of_their_graph() -> None:
    """JSON-LD is read thing by thing, also inside @graph, in lists and between comment marks."""
    scripts = (
        '{"@graph": [{"@type": ["Product", "Thing"], "name": "x"}, {"@type": "Person"}]}',
        '<!-- [{"@type": "Product", "sku": "1"}]; -->',
    )
    page = "".join(f'<script type="application/ld+json">{script}</script>' for script in scripts)
    names = [block.name for block in scripts_of(open_html(page)).blocks()]
    assert names == ["ld+json Product", "ld+json Person", "ld+json Product"]


def test_broken_schema_org_does_not_cost_the_page() -> None:
    """Trailing commas and raw line breaks are accepted; other faults cost only the script."""
    page = """<script type="application/ld+json">{"@type": "Product", "name": "a\nb",}</script>
              <script type="application/ld+json">{"@type": "Product" </script><script>x = {"a": 1}</script>"""
    names = [block.name for block in scripts_of(open_html(page)).blocks()]
    assert names[0] == "ld+json Product"
    assert "x =" in names


def test_json_scripts_are_identified_by_id_or_data_attribute() -> None:
    """A script that is JSON as a whole has its own selector."""
    opening = '<script type="application/json"'
    page = f'{opening} id="state">{{"a": 1}}</script>{opening} data-x>[1]</script>'
    found = [(block.css, block.name) for block in scripts_of(open_html(page)).blocks()]
    assert found == [('script[id="state"]', ""), ("script[data-x]", "")]


STARTS = [
    ("a section's name behind it", ["ProductJson-product-template"], ['script[id^="ProductJson-"]']),
    ("a section's number", ["ProductJson-template--14208383942757__main"], ['script[id^="ProductJson-"]']),
    ("a product's number", ["data-product-77"], ['script[id^="data-product-"]']),
    ("the first of two", ["Json-a", "Json-b"], ['script[id^="Json-"]', 'script[id="Json-b"]']),
    ("nothing behind it", ["cart-json"], ['script[id="cart-json"]']),
]  # fmt: skip


@pytest.mark.parametrize(("name", "ids", "expected"), STARTS, ids=[case[0] for case in STARTS])
def test_ids_are_cut_where_sections_and_products_append_to_them(
    name: str, ids: list[str], expected: list[str]
) -> None:
    """The first script of a prefix is found by the prefix, and by its whole id as well."""
    page = "".join(
        f'<script type="application/json" id="{script_id}">{{"a": 1}}</script>' for script_id in ids
    )
    scripts = scripts_of(open_html(page))
    assert [block.css for block in scripts.blocks()] == expected
    whole = [
        f'script[id="{script_id}"]'
        for script_id in ids
        if not any(char.isdigit() for char in script_id)
    ]
    assert all(any(script.is_at(css) for script in scripts.data) for css in whole)


def test_state_in_templates_and_of_angular() -> None:
    """VTEX keeps it in the script of a template; code in templates is not read."""
    page = """<template data-type="json" data-varname="__STATE__"><script> {"a": 1}</script></template>
              <template><script>x = {"b": 2}</script></template>
              <script id="app-state" type="application/json">{&q;c&q;:&q;&l;b&g;&s;&a;&q;}</script>"""
    found = [(block.css, block.data) for block in scripts_of(open_html(page)).blocks()]
    assert found == [
        ('script[id="app-state"]', {"c": "<b>'&"}),
        ('template[data-varname="__STATE__"] ::content script', {"a": 1}),
    ]


@pytest.mark.parametrize("value", ["", "x", "{", '"text"', "12", None, "[" * 100_000])
def test_an_attribute_without_an_object_holds_no_data(value: str | None) -> None:
    """Only whole objects and lists count."""
    assert attribute_data(value) is None


SLOW = {
    "brackets": "x = " + "[" * 200_000,
    "nested blocks": "x = " + '{"a":' * 100_000 + "1" + "}" * 100_000,
    "many blocks": 'x = {"a": 1};' * 50_000,
    "quotes": "x = {" + "'" * 200_000,
    "opening braces": "({" * 200_000,
    "backslashes": 'x = {"a": "' + "\\" * 300_001,
    "pairs": "a: 1, " * 200_000,
    "strings of data": r"""x = '{"a\u0022:1}';""" * 50_000,
    "strings that do not end": r"x = `{\u0022 " + r"y = '{\u0022 " * 50_000,
    "empty lines": "x" + "\n" * 300_000,
    "escaped quotes": "x = {a: " + r"\"" * 200_000,
    "escaped quotes behind a number": 'x = {"id": 01, ' + r"\"" * 200_000,
    "escaped quotes of both kinds": "x = {a: " + r"\"\'" * 100_000,
    "escapes": r"x = {a: '" + r"\x27" * 200_000 + "'}",
}


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW.keys())
def test_hostile_scripts_end_soon(script: str) -> None:
    """No script keeps the reader busy, and no page has more blocks than the bound."""
    begin = time.process_time()
    assert len(scripts_of(open_html(f"<script>{script}</script>")).blocks()) <= MAX_ATTEMPTS + 1
    assert time.process_time() - begin < 5


@given(st.text(alphabet="{}[]\"'\\:,=abc1 \n", max_size=300))
def test_no_script_raises(script: str) -> None:
    """Reading the blocks of any script raises nothing."""
    scripts_of(open_html(f"<script>{script}</script>")).blocks()
