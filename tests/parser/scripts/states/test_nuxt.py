"""The state of Nuxt's pages, written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.states.nuxt import LONGEST_WRITTEN, without_call, written_out

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
def test_arguments_stand_where_their_names_do(name: str, call: str, written: str) -> None:
    """As the browser would put them in."""
    assert without_call(f"window.__NUXT__={call};") == f"window.__NUXT__={written};"


@pytest.mark.parametrize(("name", "call"), LEFT, ids=[case[0] for case in LEFT])
def test_what_is_not_understood_stays(name: str, call: str) -> None:
    """It is read as any other script."""
    assert without_call(f"window.__NUXT__={call};") == f"window.__NUXT__={call};"


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
def test_places_are_followed(name: str, said: object, meant: object) -> None:
    """What a list of places stands for."""
    assert written_out(said) == meant


def test_data_is_found_on_a_page() -> None:
    """By the names that both have in their scripts."""
    page = Document(
        '<script>window.__NUXT__=(function(a){return {data:[{sku:a}]}}("A-1"));</script>'
        '<script type="application/json" id="__NUXT_DATA__">[{"product":1},{"sku":2},"B-2"]</script>',
        "https://shop.example/p",
    )
    assert page.find(JsonAt(block="window.__NUXT__=", path="$.data[0].sku")) == "A-1"
    assert (
        page.find(JsonAt(css='script[id="__NUXT_DATA__"]', block="", path="$.product.sku")) == "B-2"
    )


def test_what_would_grow_beyond_measure_is_left() -> None:
    """A value named a thousand times, and places that each name the next one twice."""
    long = f'(function(a){{return {{x:[{",".join("a" * 1000)}]}}}}("{"v" * 10_000}"))'
    assert len(without_call(f"window.__NUXT__={long};")) < LONGEST_WRITTEN
    doubling = [*([place + 1, place + 1] for place in range(50)), "x"]
    assert written_out(doubling) is doubling


@pytest.mark.parametrize(
    "text",
    [
        "(function(" + "a," * 300_000,
        "(function(a){return {" + "}(" * 300_000,
        '(function(a){return {x:a}}("' + "a" * 900_000,
    ],
    ids=["names", "ends", "an open string"],
)
def test_made_to_be_slow(text: str) -> None:
    """It is soon left as it is."""
    assert without_call(f"window.__NUXT__={text}") == f"window.__NUXT__={text}"


def test_quotes_that_open_nothing_are_passed_over_once() -> None:
    """However many: the names behind them are written out all the same."""
    quotes = r"\"" * 300_000
    assert without_call(
        "window.__NUXT__=(function(a){return {x:" + quotes + ',y:a}}("b"));'
    ).endswith(quotes + ',y:"b"};')


@given(
    st.recursive(
        st.none() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_written_as_places_comes_back(data: object) -> None:
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
    assert written_out(places) == data
