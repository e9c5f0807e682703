"""Objects of JavaScript that are JSON except for their own keys: the same data as chompjs reads."""

import json

import chompjs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.scripts.syntax.lenient_json import MAX_NESTED_VALUES, leading_json, parse_plain_object

SHOWN = [
    (
        "a call's options",
        '{ product: {"id": 1, "a": [2]}, on: window.f, more: true }',
        {"product": {"id": 1, "a": [2]}},
    ),
    (
        "strings of both kinds, numbers",
        '{a: \'x "y"\', "b": "it\'s", \'c\': -1.5, d: 0}',
        {"a": 'x "y"', "c": -1.5},
    ),
    ("a bare object within", "{\n  a: {b: [1, 2],\n  c: 'd'},\n}", {"a": {"b": [1, 2], "c": "d"}}),
    ("JSON over several lines", '{a: {"b":\n 1,\n "c": [2]}}', {"a": {"b": 1, "c": [2]}}),
]
LEFT = [
    ("a function", "{a: function() { return {}; }}"),
    ("an arrow", "{a: () => 1}"),
    ("a call", "{a: f(1)}"),
    ("a sum", "{a: 1 + 2}"),
    ("a number with a zero first", "{a: 012}"),
    ("an escaped quote", r"{a: 'it\'s'}"),
    ("a template string", "{a: `b`}"),
    ("no end", "{a: 1"),
    ("no value", "{a:"),
    ("a comment", "{a: 1, // b\n c: 2}"),
    ("too much within", "{" + ",".join(f"a{n}: []" for n in range(MAX_NESTED_VALUES + 1)) + "}"),
    (
        "too much within what is within",
        f"{{a: {{{', '.join(f'b{n}: []' for n in range(MAX_NESTED_VALUES))}}}}}",
    ),
    ("too deep", "{a:" * 9 + "1" + "}" * 9),
]


@pytest.mark.parametrize(("name", "text", "within"), SHOWN, ids=[case[0] for case in SHOWN])
def test_objects_of_shops(name: str, text: str, within: dict[str, object]) -> None:
    """The data that chompjs reads, and the end of the object."""
    found = parse_plain_object(f"f({text});", 2)
    assert found == (chompjs.parse_js_object(text), 2 + len(text))
    assert within.items() <= found[0].items()


@pytest.mark.parametrize(("name", "text"), LEFT, ids=[case[0] for case in LEFT])
def test_other_objects_are_left_to_the_javascript_reader(name: str, text: str) -> None:
    """Anything but JSON, literals and names."""
    assert parse_plain_object(text, 0) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.from_regex(r"[a-z_$][\w$]{0,6}", fullmatch=True), JSON, max_size=5),
    st.text(max_size=9),
)
def test_bare_keys_with_any_json(data: dict[str, object], behind: str) -> None:
    """The values are read as they are, or the object is left; text behind it does not matter."""
    text = "{" + ", ".join(f"{name}: {json.dumps(value)}" for name, value in data.items()) + "}"
    found = parse_plain_object(text + behind, 0)
    assert found is None or found == (data, len(text))


@given(st.text(alphabet="{}[]:,'\"ab1 \n.-", max_size=40))
def test_any_data_are_those_of_chompjs(text: str) -> None:
    """For any text."""
    found = parse_plain_object("{" + text, 0)
    if found is not None:
        assert chompjs.parse_js_object(("{" + text)[: found[1]]) == found[0]


def test_a_json_error_holds_no_frames() -> None:
    """A traceback would keep the frames of all callers alive."""
    error = leading_json("[1,")
    assert isinstance(error, json.JSONDecodeError)
    assert error.__traceback__ is None
