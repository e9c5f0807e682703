"""The stream of React Router."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.states.turbo import PUSHES, to_assignments


def push(*pieces: str) -> list[str]:
    """A script for each piece."""
    return [f"{PUSHES[0]}{json.dumps(piece)});" for piece in pieces]


STREAMS = [
    ("objects and lists", '[{"_1":2},"a",[3,3],"x"]\n', {"a": ["x", "x"]}),
    ("keys as they are", '[{"a":1},"x"]\n', {"a": "x"}),
    ("no place", '[{"_1":-5,"_2":-7,"_3":99},"a","b","c"]\n', {"a": None, "b": None, "c": None}),
    (
        "sets, maps and dates",
        '[[1,2,5],["S",3],["M",3,4],"k","v",["D",1700]]\n',
        [["k"], {"k": "v"}, None],
    ),
    (
        "one of a class",
        '[{"_1":2},"a",["SingleFetchClassInstance",3],{"_1":4},"x"]\n',
        {"a": {"a": "x"}},
    ),
    ("a promise kept", '[{"_1":2},"a",["P",2]]\nP2:[{"_1":4},"x"]\n', {"a": {"a": "x"}}),
    (
        "a promise of what there is",
        '[{"_1":2,"_3":4},"a",["P",2],"b","x"]\nP2:[["Z",4]]\n',
        {"a": "x", "b": "x"},
    ),
    ("a promise of nothing", '[{"_1":2},"a",["P",2]]\nP2:-5\n', {"a": None}),
    ("a promise not kept", '[{"_1":2},"a",["P",2]]\nE2:[["E","no"]]\n', {"a": None}),
    ("kept later than another", '[[1,2],["P",1],["P",2]]\nP2:["x"]\nP1:["y"]\n', ["y", "x"]),
]


@pytest.mark.parametrize(("name", "stream", "meant"), STREAMS, ids=[case[0] for case in STREAMS])
def test_positions_are_resolved(name: str, stream: str, meant: object) -> None:
    """The state that a stream encodes."""
    (found,) = to_assignments(push(stream))
    assert json.loads(found.removeprefix("__reactRouterContext=").removesuffix(";")) == meant


@pytest.mark.parametrize("pieces", [[], ["[]\n"], ["{}\n"], ["-5\n"], ["["], ["x"]])
def test_no_state(pieces: list[str]) -> None:
    """A stream without state gives no code."""
    assert to_assignments(push(*pieces)) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.integers(1, 40),
)
def test_streamed_data_come_back(data: object, size: int) -> None:
    """However long the pieces are."""
    places: list[object] = []

    def put(value: object) -> int:
        place = len(places)
        places.append(None)
        if isinstance(value, dict):
            places[place] = {f"_{put(name)}": put(inner) for name, inner in value.items()}
        else:
            places[place] = [put(inner) for inner in value] if isinstance(value, list) else value
        return place

    put(data)
    stream = json.dumps(places) + "\n"
    (found,) = to_assignments(
        push(*(stream[start : start + size] for start in range(0, len(stream), size)))
    )
    assert json.loads(found.removeprefix("__reactRouterContext=").removesuffix(";")) == data


@pytest.mark.parametrize("name", PUSHES)
def test_data_are_found_on_a_page(name: str) -> None:
    """Under the name that React Router has today."""
    state = json.dumps('[{"_1":2},"product",{"_3":4},"sku","A-1"]\n')
    page = Document(f"<script>{name}{state});</script>", "https://shop.example/p")
    assert page.find(JsonAt(block="__reactRouterContext=", path="$.product.sku")) == "A-1"


LONG = "x" * 100_000
GROWING = [
    ("a long text at many places", [[1] * 100_000, LONG]),
    (
        "a long key of many objects",
        [[*range(2, 100_002)], LONG, *({"_1": -5} for _ in range(100_000))],
    ),
]


@pytest.mark.parametrize(("name", "places"), GROWING, ids=[case[0] for case in GROWING])
def test_a_state_that_would_grow_too_large_is_dropped(name: str, places: object) -> None:
    """Ten gigabytes out of a few hundred kilobytes."""
    assert to_assignments(push(json.dumps(places))) == []


def test_positions_that_would_grow_too_large_stay_encoded() -> None:
    """Positions that each refer to the next one twice."""
    doubling = [*([place + 1, place + 1] for place in range(50)), "x"]
    assert len(to_assignments(push(json.dumps(doubling)))[0]) < 2_000
