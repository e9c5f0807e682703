"""Objects of JavaScript that are JSON but for their own keys, read as chompjs reads them."""

import json

import chompjs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.scripts.syntax.lenient_json import MOST_NESTED, bare_object, json_in_front

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
    ("too much within", "{" + ",".join(f"a{n}: []" for n in range(MOST_NESTED + 1)) + "}"),
    (
        "too much within what is within",
        f"{{a: {{{', '.join(f'b{n}: []' for n in range(MOST_NESTED))}}}}}",
    ),
    ("too deep", "{a:" * 9 + "1" + "}" * 9),
]


@pytest.mark.parametrize(("name", "text", "within"), SHOWN, ids=[case[0] for case in SHOWN])
def test_what_shops_write(name: str, text: str, within: dict[str, object]) -> None:
    """The same as chompjs reads, and where it ends."""
    found = bare_object(f"f({text});", 2)
    assert found == (chompjs.parse_js_object(text), 2 + len(text))
    assert within.items() <= found[0].items()


@pytest.mark.parametrize(("name", "text"), LEFT, ids=[case[0] for case in LEFT])
def test_what_is_left_to_others(name: str, text: str) -> None:
    """Anything that is more than JSON, literals and names."""
    assert bare_object(text, 0) is None


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
def test_bare_keys_of_any_json(data: dict[str, object], behind: str) -> None:
    """Whatever JSON the values are, they are that or left alone; what stands behind the object does not matter."""
    text = "{" + ", ".join(f"{name}: {json.dumps(value)}" for name, value in data.items()) + "}"
    found = bare_object(text + behind, 0)
    assert found is None or found == (data, len(text))


@given(st.text(alphabet="{}[]:,'\"ab1 \n.-", max_size=40))
def test_whatever_is_read_is_what_chompjs_reads(text: str) -> None:
    """Of any text."""
    found = bare_object("{" + text, 0)
    if found is not None:
        assert chompjs.parse_js_object(("{" + text)[: found[1]]) == found[0]


def test_why_there_is_no_json_holds_no_frames() -> None:
    """An error that is handed on with its traceback holds the frames of all who hold it."""
    error = json_in_front("[1,")
    assert isinstance(error, json.JSONDecodeError)
    assert error.__traceback__ is None
