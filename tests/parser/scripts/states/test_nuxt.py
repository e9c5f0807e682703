"""The state of Nuxt's pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.states.nuxt import MAX_RESOLVED_CHARS, resolve_call, resolve_payload

CALLS = [
    ("names among values", '(function(a){return {x:a,y:[a,1]}}("v"))', '{x:"v",y:["v",1]}'),
    ("a name that is a key too", '(function(a){return {a:a}}("v"))', '{a:"v"}'),
    ("a name in a string", '(function(a){return {x:"b,a,c",y:a}}("v"))', '{x:"b,a,c",y:"v"}'),
    (
        "brackets in an argument",
        '(function(a,b){return {x:a,y:b}}("}(1)",false))',
        '{x:"}(1)",y:false}',
    ),
    ("nothing", "(function(a){return {x:a}}(void 0))", "{x:null}"),
    ("empty ones", "(function(a,b){return {x:a,y:b}}({},[]))", "{x:{},y:[]}"),
    ("statements first", '(function(a){a.b=1;return {x:a}}("v"))', '{x:"v"}'),
]
LEFT = [
    ("too few arguments", '(function(a,b){return {x:a}}("v"))'),
    ("an argument that is code", "(function(a){return {x:a}}(go(1)))"),
    ("no call", '{x:"v"}'),
    ("broken off", "(function(a){return {x:a"),
]


@pytest.mark.parametrize(("name", "call", "written"), CALLS, ids=[case[0] for case in CALLS])
def test_parameters_are_replaced_by_their_values(name: str, call: str, written: str) -> None:
    """As a browser would evaluate the call."""
    assert resolve_call(f"window.__NUXT__={call};") == f"window.__NUXT__={written};"


@pytest.mark.parametrize(("name", "call"), LEFT, ids=[case[0] for case in LEFT])
def test_other_code_stays(name: str, call: str) -> None:
    """It is read like any other script."""
    assert resolve_call(f"window.__NUXT__={call};") == f"window.__NUXT__={call};"


PAYLOADS = [
    (
        "objects and lists by their places",
        [{"a": 1, "b": 2}, "x", [1, 1]],
        {"a": "x", "b": ["x", "x"]},
    ),
    ("wrapped ones", [["ShallowReactive", 1], {"a": 2}, ["Ref", 3], 7], {"a": 7}),
    (
        "no place",
        [{"a": -1, "b": 99, "c": True, "d": "x"}],
        {"a": None, "b": None, "c": None, "d": None},
    ),
    (
        "sets, maps and dates",
        [[1, 2, 5], ["Set", 3], ["Map", 3, 4], "k", "v", ["Date", "2021"]],
        [["k"], {"k": "v"}, "2021"],
    ),
    ("an object within itself", [{"a": 0, "b": 1}, "x"], {"a": None, "b": "x"}),
    ("no list", {"a": 1}, {"a": 1}),
    ("an empty one", [], []),
]


@pytest.mark.parametrize(("name", "said", "meant"), PAYLOADS, ids=[case[0] for case in PAYLOADS])
def test_positions_are_resolved(name: str, said: object, meant: object) -> None:
    """The value that a list of positions encodes."""
    assert resolve_payload(said) == meant


def test_data_are_found_on_a_page() -> None:
    """By the names of both formats in their scripts."""
    page = Document(
        '<script>window.__NUXT__=(function(a){return {data:[{sku:a}]}}("A-1"));</script>'
        '<script type="application/json" id="__NUXT_DATA__">[{"product":1},{"sku":2},"B-2"]</script>',
        "https://shop.example/p",
    )
    assert page.find(JsonAt(block="window.__NUXT__=", path="$.data[0].sku")) == "A-1"
    assert (
        page.find(JsonAt(css='script[id="__NUXT_DATA__"]', block="", path="$.product.sku")) == "B-2"
    )


def test_values_that_would_grow_too_large_stay_encoded() -> None:
    """A value used a thousand times, and positions that each refer to the next one twice."""
    long = f'(function(a){{return {{x:[{",".join("a" * 1000)}]}}}}("{"v" * 10_000}"))'
    assert len(resolve_call(f"window.__NUXT__={long};")) < MAX_RESOLVED_CHARS
    doubling = [*([place + 1, place + 1] for place in range(50)), "x"]
    assert resolve_payload(doubling) is doubling


@pytest.mark.parametrize(
    "text",
    [
        "(function(" + "a," * 300_000,
        "(function(a){return {" + "}(" * 300_000,
        '(function(a){return {x:a}}("' + "a" * 900_000,
    ],
    ids=["names", "ends", "an open string"],
)
def test_hostile_calls_stay_unchanged(text: str) -> None:
    """The search ends soon."""
    assert resolve_call(f"window.__NUXT__={text}") == f"window.__NUXT__={text}"


def test_stray_quotes_are_skipped_once() -> None:
    """However many: the parameters behind them are replaced."""
    quotes = r"\"" * 300_000
    assert resolve_call(
        "window.__NUXT__=(function(a){return {x:" + quotes + ',y:a}}("b"));'
    ).endswith(quotes + ',y:"b"};')


@given(
    st.recursive(
        st.none() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_encoded_data_come_back(data: object) -> None:
    """Any data without shared parts."""
    places: list[object] = []

    def put(value: object) -> int:
        place = len(places)
        places.append(None)
        if isinstance(value, dict):
            places[place] = {name: put(inner) for name, inner in value.items()}
        else:
            places[place] = [put(inner) for inner in value] if isinstance(value, list) else value
        return place

    put(data)
    assert resolve_payload(places) == data
