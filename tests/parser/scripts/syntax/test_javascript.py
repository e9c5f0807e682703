"""Data in code: the cache of earlier scripts does not change the data of later ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.scripts.syntax.javascript import CodeReader, block_name

PIECES = st.sampled_from(
    [
        "var a = ",
        "f(",
        "x: ",
        '{"k": 1}',
        "{k: 'v'}",
        '{"k": "it\'s"}',
        "{k: don't}",
        '{"k": 1',
        "[1, 2,]",
        "[[[",
        "{",
        "}",
        '"',
        "'",
        "\n",
        ";",
        ", ",
        "=",
        "\\",
        "function(){ return 1 }",
        "{ a: function() {}, b: 1 }",
        '{"id": 0896, "t": "for this"}',
        "{'t': 'if new', n: 07",
        "nul",
        "-Infinity",
        "{" + "k" * 50 + ": 1}",
        "=[" + "1, " * 20 + "]",
        " " * 45,
        '{ /* " */ k: 1 }',
        "// don't {\n",
        '= {"a": "' + "b" * 45,
        '= "{\\"k\\": 1}"',
        "='[{\\u0022k\\u0022: 1}",
        "= '[\n [",
        "{k: 'it\\x27s'}",
    ]
)
CODE = st.lists(PIECES, max_size=14).map("".join)


@given(st.lists(st.tuples(CODE, CODE, CODE), min_size=1, max_size=5))
def test_cached_scripts_change_nothing(parts: list[tuple[str, str, str]]) -> None:
    """A shared reader gives the data that a fresh one gives."""
    head = parts[0][0]
    scripts = [head + middle + end for _, middle, end in parts] + [
        head + parts[0][1] + end for *_, end in parts
    ]
    shared = CodeReader()
    for script in scripts:
        assert shared.named_data(script) == CodeReader().named_data(script)


WAYS = {
    "an assignment": ('var meta17 = {"a": 1};', [("var meta0 =", {"a": 1})]),
    "a call": ("push({a: 'b',})", [("push(", {"a": "b"})]),
    "a line of its own": ('x;\n  {"a": 1}', [("", {"a": 1})]),
    "the beginning": (' [{"a": 1}]', [("", [{"a": 1}])]),
    "a number with a zero first": (
        'var a = {"id": 0896, "t": "07, 08"};',
        [("var a =", {"id": "0896", "t": "07, 08"})],
    ),
    "many numbers with a zero first": (
        f'var a = {{"id": [{", ".join(["007"] * 20)}], "t": "007, 008"}};',
        [("var a =", {"id": ["007"] * 20, "t": "007, 008"})],
    ),
    "the same in JavaScript": (
        "var a = {id: 07, b: [-1, 0.5]};",
        [("var a =", {"id": "07", "b": [-1, 0.5]})],
    ),
    "words of code in a string": (
        "var a = {'t': 'if this is for you',};",
        [("var a =", {"t": "if this is for you"})],
    ),
    "an escape that JSON lacks": (
        r"var a = {t: 'Oak\x27s \x22A\-1\x22 \u{1F600}', s: 'a\\x27'};",
        [("var a =", {"t": 'Oak\'s "A-1" \U0001f600', "s": r"a\x27"})],
    ),
    "a string": (r'S="{\"a\": \"b\\n\"}";', [("S=", {"a": "b\n"})]),
    "a string handed on": (
        r"""S1 = JSON.parse('{"a": [1]}');""",
        [("S0 = JSON.parse(", {"a": [1]})],
    ),
    "a string of escapes": (r"p('\u005B\x7B\u0022a\u0022:1\u007D\u005D')", [("p(", [{"a": 1}])]),
    "a string on several lines": (r'S = "{\n  \"a\": 1\n}";', [("S =", {"a": 1})]),
    "a string between backticks": ('S = `{"a": "it\'s"}`;', [("S =", {"a": "it's"})]),
    "a string as addresses have it": ('d("%7B%22a%22%3A1%7D")', [("d(", {"a": 1})]),
    "not a string that only begins so": ("x = '{\"' + a + '\": 1}'; y('[\"')", []),
    "not a string that says a word": ("x = '[data-a]'; y = \"{0} left\"", []),
    "not a string that does not end": ('x = \'{"a": 1}', []),
    "not in a function": ("function f() { return 1 }", []),
    "not what is code": ("x = {a: function() { return 1 }}", []),
    "the rest after what breaks": ('x = {"a": 1; y = {"b": 2}', [("y =", {"b": 2})]),
}


@pytest.mark.parametrize(("text", "found"), WAYS.values(), ids=WAYS.keys())
def test_data_are_found_where_code_introduces_them(text: str, found: list[object]) -> None:
    """Blocks are decoded where they begin, and named by the code before them."""
    assert list(CodeReader().named_data(text, with_pairs=False)) == found


PAIRS = {
    "escapes in single quotes": (
        r"a = 'A7139\u002D71'; b: 'Oak\x27s'",
        {"a": "A7139-71", "b": "Oak's"},
    ),
    "halves of a sign": (r"a = '\ud83d\ude00'", {"a": "\U0001f600"}),
    "escapes in double quotes": (r'a = "Oak\x27s \u0026 more"', {"a": "Oak's & more"}),
    "a key in brackets": ("d['a'] = 'B'; d[\"b\"]=1", {"a": "B", "b": "1"}),
    "not a name in brackets": ("d[a] = 'B'", None),
    "beside data in a string": ("""x = '{"a": 1}'; b = 'C'""", {"x": '{"a": 1}', "b": "C"}),
}


@pytest.mark.parametrize(("text", "pairs"), PAIRS.values(), ids=PAIRS.keys())
def test_values_of_pairs_are_unescaped(text: str, pairs: dict[str, str] | None) -> None:
    """A key may be a member's in brackets."""
    assert dict(CodeReader().named_data(text)).get("pairs") == pairs


@pytest.mark.parametrize("number", ["7", "4361724625", "6785412300917"])
def test_block_names_do_not_depend_on_the_length_of_numbers(number: str) -> None:
    """A name is cut to its length after digits are folded."""
    text = f"var shown = new Shopify.OptionSelectors('product-select-{number}', {{'sku': 'A'}});"
    assert block_name(text, text.index("{")) == "new Shopify.OptionSelectors('product-select-0',"
