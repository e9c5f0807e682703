"""Lookup of data by name: it finds every block that is listed, and decodes nothing else."""

import gc
import weakref

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts import block_lookup
from parser.scripts.block_lookup import (
    PAIRS,
    ScriptIndex,
    data_query,
    find_pair,
    named_blocks,
)
from parser.scripts.blocks import CODE, SCHEMA_ORG, DataScript, Scripts
from parser.scripts.syntax.jsonpath import child_path

PIECES = st.sampled_from(
    [
        "var meta17 = ",
        "x1\ty2=",
        "push(",
        "a.b =",
        '{"sku": 1}',
        "{sku: 'A'}",
        '{"s\\u006bu": 2}',
        '"sku": "B",',
        "sku=3;",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "\n",
        ";",
        " ",
        "0",
        "\\",
        '"var meta1 = {"',
        "function(){",
        "[1, [2]]",
        "sku",
        '"{\\"sku\\": 3}"',
        "'[{\\u0022sku\\u0022: 4}]'",
        "['sku']",
        "%7B%22",
    ]
)
LINES = st.lists(PIECES, max_size=25).map("".join)


@given(st.lists(LINES, min_size=1, max_size=4))
@example(['"{\\"sku\\": 3}"a.b =0'])
def test_every_listed_block_is_found_by_its_name(texts: list[str]) -> None:
    """Blocks by their name; pairs by their key, with the value of its first place."""
    data = [DataScript(SCHEMA_ORG, text) for text in texts if text.startswith("{")]
    scripts = Scripts(data, [text for text in texts if not text.startswith("{")])
    page = ScriptIndex(scripts)
    for block in scripts.blocks():
        if block.name == PAIRS:
            assert all(
                list(page.lookup(data_query(CODE, PAIRS, child_path("$", key))))
                for key in block.data
            )
        else:
            found = list(page.lookup(data_query(block.css, block.name, "$.*")))
            assert block.data in found or len(found) == block_lookup.MAX_BLOCKS


def test_a_page_is_freed_without_garbage_collection() -> None:
    """Results refer to the search, and the search to no result."""
    page = Document(
        "<script>x = {'a': 1}</script><script>x = {'a': 2}; y = {'a': 3}</script>",
        "https://shop.example/",
    )
    assert [page.find(JsonAt(block=f"{name} =", path="$.a")) for name in "xy"] == ["1", "3"]
    held = [weakref.ref(part) for part in (page, page.scripts, page.script_index)]
    gc.disable()
    try:
        del page
        assert [part() for part in held] == [None, None, None]
    finally:
        gc.enable()


def test_state_in_a_template_is_found() -> None:
    """It is not part of the page's scripts; its selector leads into the template."""
    page = Document(
        '<template id=\'state\'><script> {"a": {"b": 7}}</script></template>',
        "https://shop.example/",
    )
    assert [page.find(JsonAt(css=block.css, block="", path="$.a.b")) for block in page.blocks] == [
        "7"
    ]


def test_only_named_objects_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many objects in code, those of the name are decoded, once for all rules."""
    looked_into = []
    monkeypatch.setattr(
        block_lookup,
        "decode_at",
        lambda text, start: looked_into.append(text[start:]) or ({"sku": 1}, 10),
    )
    texts = [
        'var meta = {"sku": 1}',
        "var metadata = {}; meta({})",
        "x = {'sku': 1}",
        'var  meta12 = {"sku": 2}',
    ]
    page = ScriptIndex(Scripts([], texts))
    for path in ("$.sku", "$.name"):
        assert len(list(page.lookup(data_query(CODE, "var meta =", path)))) == 1
    assert looked_into == ['{"sku": 1}']
    assert len(list(page.lookup(data_query(CODE, "var meta0 =", "$.sku")))) == 1


@pytest.mark.parametrize(
    "script",
    [
        r'window.STATE=JSON.parse("{\"product\": {\"sku\": \"A-1\"}}");',
        r"window.STATE = '\u007B\u0022product\u0022:{\u0022sku\u0022:\u0022A\u002D1\u0022}}';",
        r"window.STATE = {product: {sku: 'A\x2D1', name: 'Oak\x27s'}};",
    ],
)
def test_state_in_a_string_is_found_by_its_name(script: str) -> None:
    """Under the name that the list of blocks gives it."""
    page = Document(f"<script>{script}</script>", "https://shop.example/")
    block = page.blocks[0]
    assert block.name.startswith("window.STATE")
    assert page.find(JsonAt(css=block.css, block=block.name, path="$.product.sku")) == "A-1"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("sku: 'A'; total.sku = 'B'", "sku", "A"),
        ("total.sku = 'B'; mysku = 'C'", "sku", None),
        ("a = {'sku': \"B\"}", "sku", "B"),
        ("'sku\": 'B'", "sku", None),
        ("price=12.50;", "price", "12.50"),
        ("sku = other", "sku", None),
        ("'a-b': 'C'", "a-b", "C"),
        ("a-b: 'C'", "a-b", None),
        ("a['sku'] = 'D'; sku = 'E'", "sku", "D"),
        ("a[sku] = 'D'; sku = 'E'", "sku", "E"),
        (r"sku = 'A\u002D1'", "sku", "A-1"),
        ('"sku = 3"', "sku", "3"),
        ("'x'sku: 4", "sku", "4"),
    ],
)
def test_a_pair_is_found_by_its_key(text: str, key: str, value: str | None) -> None:
    """The whole key must stand there, between equal quotes or bare, with a value behind it."""
    assert find_pair(text, key) == value


def test_hostile_scripts_cost_no_time() -> None:
    """A million occurrences of a name, and a million brackets, are examined up to a bound."""
    assert not list(named_blocks("meta " * 500_000, "var meta ="))
    assert (
        len(list(named_blocks("meta = [[], 1];" * 50_000, "meta =")))
        <= block_lookup.MAX_OCCURRENCES
    )
    assert find_pair("sku " * 500_000, "sku") is None
