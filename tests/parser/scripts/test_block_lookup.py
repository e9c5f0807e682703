"""Data that is asked for by name: found wherever reading all code finds it, and nothing else is decoded."""

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts import block_lookup
from parser.scripts.block_lookup import PAIRS, Sought, named, pair
from parser.scripts.blocks import CODE, SCHEMA_ORG, DataScript, Scripts
from parser.scripts.syntax.jsonpath import child

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
def test_what_reading_all_code_lists_is_found_by_its_name(texts: list[str]) -> None:
    """Blocks by their name; of loose pairs some value by the key, as a key may stand in a text before it."""
    data = [DataScript(SCHEMA_ORG, one) for one in texts if one.startswith("{")]
    scripts = Scripts(data, [one for one in texts if not one.startswith("{")])
    page = Sought(scripts)
    for block in scripts.blocks():
        if block.name == PAIRS:
            assert all(
                list(page.data(JsonAt(css=CODE, block=PAIRS, path=child("$", key))))
                for key in block.data
            )
        else:
            found = list(page.data(JsonAt(css=block.css, block=block.name, path="$.*")))
            assert block.data in found or len(found) == block_lookup.MOST_PLACES


def test_a_page_is_gone_once_it_is_read() -> None:
    """What was found holds on to nothing that holds on to it: no page waits until garbage is collected."""
    page = Document(
        "<script>x = {'a': 1}</script><script>x = {'a': 2}; y = {'a': 3}</script>",
        "https://shop.example/",
    )
    assert [page.find(JsonAt(block=f"{name} =", path="$.a")) for name in "xy"] == ["1", "3"]
    held = [weakref.ref(part) for part in (page, page.scripts, page.sought)]
    gc.disable()
    try:
        del page
        assert [part() for part in held] == [None, None, None]
    finally:
        gc.enable()


def test_state_in_a_template_is_found() -> None:
    """It is no part of the page's own scripts, and asked for by a selector that leads into the template."""
    page = Document(
        '<template id=\'state\'><script> {"a": {"b": 7}}</script></template>',
        "https://shop.example/",
    )
    assert [page.find(JsonAt(css=block.css, block="", path="$.a.b")) for block in page.blocks] == [
        "7"
    ]


def test_only_what_is_asked_for_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many objects in code, those before which the name stands are looked into, once for all rules."""
    looked_into = []
    monkeypatch.setattr(
        block_lookup,
        "opened_at",
        lambda text, start: looked_into.append(text[start:]) or {"sku": 1},
    )
    texts = [
        'var meta = {"sku": 1}',
        "var metadata = {}; meta({})",
        "x = {'sku': 1}",
        'var  meta12 = {"sku": 2}',
    ]
    page = Sought(Scripts([], texts))
    for path in ("$.sku", "$.name"):
        assert len(list(page.data(JsonAt(block="var meta =", path=path)))) == 1
    assert looked_into == ['{"sku": 1}']
    assert len(list(page.data(JsonAt(block="var meta0 =", path="$.sku")))) == 1


@pytest.mark.parametrize(
    "script",
    [
        r'window.STATE=JSON.parse("{\"product\": {\"sku\": \"A-1\"}}");',
        r"window.STATE = '\u007B\u0022product\u0022:{\u0022sku\u0022:\u0022A\u002D1\u0022}}';",
        r"window.STATE = {product: {sku: 'A\x2D1', name: 'Oak\x27s'}};",
    ],
)
def test_state_in_a_string_is_found_by_what_stands_before_it(script: str) -> None:
    """Under the name that reading all code gives it."""
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
    ],
)
def test_a_pair_is_found_by_its_key(text: str, key: str, value: str | None) -> None:
    """Between quotes or bare, but only where the whole key stands there and a value follows."""
    assert pair(text, key) == value


def test_pages_made_to_be_slow_cost_no_time() -> None:
    """A name that stands a million times in a script, and a million brackets behind it, are looked at up to a bound."""
    assert not list(named("meta " * 500_000, "var meta ="))
    assert len(list(named("meta = [[], 1];" * 50_000, "meta ="))) <= block_lookup.MOST_OCCURRENCES
    assert pair("sku " * 500_000, "sku") is None
