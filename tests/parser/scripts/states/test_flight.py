"""The stream of Next's app router."""

import base64
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.states.flight import MAX_ASSIGNMENTS, to_assignments


def push(*pieces: object) -> list[str]:
    """A script for each piece; a text is a piece of text."""
    pushed = [[1, piece] if isinstance(piece, str) else piece for piece in pieces]
    return [f"self.__next_f.push({json.dumps(piece)})" for piece in pushed]


def handing(**handed: object) -> str:
    """A row with a component that has these properties."""
    return f"0:{json.dumps(['$', '$L1', None, handed])}\n"


STREAMS = [
    ("an object", handing(product={"sku": "A"}), ['product={"sku":"A"}']),
    ("a list", handing(images=["/a.jpg"]), ['images=["/a.jpg"]']),
    (
        "all else, by its names",
        handing(price=12.5, sku="A"),
        ['price_sku={"price":12.5,"sku":"A"}'],
    ),
    ("nothing", handing(children="A", empty={}, none=None), []),
    (
        "within elements of HTML",
        '0:["$","div",null,{"children":["$","$L1","key",{"a":[1]}]}]\n',
        ["a=[1]"],
    ),
    ("within a list of elements", '0:[["$","b",null,{}],["$","$L1",null,{"a":[1]}]]\n', ["a=[1]"]),
    (
        "elements are no data",
        handing(a={"icon": ["$", "svg", None, {}], "b": 1}),
        ['a={"icon":null,"b":1}'],
    ),
    (
        "within what another is handed",
        handing(a={"b": ["$", "$L2", None, {"c": [1]}]}),
        ['a={"b":null}', "c=[1]"],
    ),
    (
        "text in a row of its own",
        "a:T3,x\nyb:[1]\n" + handing(a={"text": "$a"}),
        ['a={"text":"x\\ny"}'],
    ),
    ("a text by its bytes", "a:T6,€\nab" + handing(a={"text": "$a"}), ['a={"text":"€\\nab"}']),
    (
        "data in a row of its own",
        handing(a="$5", b="$@6") + '5:{"c":1}\n6:[2]\n',
        ['a={"c":1}', "b=[2]"],
    ),
    (
        "only where first pointed at",
        handing(a=["$5"], b=["$5"]) + '5:{"c":1}\n',
        ['a=[{"c":1}]', "b=[null]"],
    ),
    ("a row that points at itself", handing(a=["$5"]) + '5:["$5"]\n', ["a=[[null]]"]),
    ("a sign that is meant", handing(a=["$$12", "$undefined", "$L7"]), ['a=["$12",null,null]']),
    (
        "rows of other kinds",
        '1:I[7,["a.js"],"A"]\n:HL["/a.css"]\n2:"$Sreact.suspense"\n' + handing(a=[1]),
        ["a=[1]"],
    ),
    ("what is no row", "ab\n{}\n" + handing(a=[1]), ["a=[1]"]),
    ("the same again", handing(a=[1]) + "1" + handing(a=[1]), ["a=[1]"]),
    ("the last row without its end", handing(a=[1]).rstrip(), ["a=[1]"]),
    ("broken off", handing(a=[1]) + '3:["$","$L1",null,{"b":', ["a=[1]"]),
    ("a name that is none", handing(**{"a-b": [1], "c": [2]}), ["c=[2]"]),
]


@pytest.mark.parametrize(("name", "stream", "handed"), STREAMS, ids=[case[0] for case in STREAMS])
def test_properties_of_components(name: str, stream: str, handed: list[str]) -> None:
    """Objects by their names, all scalars as one object."""
    assert to_assignments(push(stream)) == [f"__next_f.{chunk};" for chunk in handed]


BYTES = [3, base64.b64encode(b"7:o3,\xff0:").decode()]
PUSHED = [
    ("no piece", push([0], [2, None], [1], {}, 7), []),
    ("no JSON", ["self.__next_f.push([1,'0:'])", "self.__next_f.push("], []),
    ("several in one script", [";".join(push("0:[1", handing(a=[1])[1:]))], []),
    (
        "bytes that are no text",
        push(handing(a=[1]), BYTES, "1" + handing(b=[2])),
        ["a=[1]", "b=[2]"],
    ),
    ("no base 64", push([3, "€"], handing(a=[1])), ["a=[1]"]),
]


@pytest.mark.parametrize(("name", "scripts", "handed"), PUSHED, ids=[case[0] for case in PUSHED])
def test_pushed_pieces(name: str, scripts: list[str], handed: list[str]) -> None:
    """Pieces of the stream, and pushes that are none."""
    assert to_assignments(scripts) == [f"__next_f.{chunk};" for chunk in handed]


JSON = st.recursive(
    st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, min_size=1) | st.dictionaries(st.text(), inner, min_size=1),
)


def escaped(data: object) -> object:
    """Data as the router writes it."""
    if isinstance(data, dict):
        return {name: escaped(value) for name, value in data.items()}
    if isinstance(data, list):
        return [escaped(value) for value in data]
    return f"${data}" if isinstance(data, str) and data.startswith("$") else data


@given(JSON, st.lists(st.integers(0, 200)))
def test_properties_come_back(data: object, cuts: list[int]) -> None:
    """However the stream was cut into pieces."""
    stream = handing(handed=[escaped(data)])
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(places)]
    (found,) = to_assignments(push(*pieces))
    assert json.loads(found.removeprefix("__next_f.handed=").removesuffix(";")) == [data]


def test_data_are_found_on_a_page() -> None:
    """By the name of the property."""
    scripts = "".join(
        f"<script>{script}</script>"
        for script in push("0:[1]\n2:[", '"$","$L1",null,{"product":{"sku":"A-1"}}]')
    )
    page = Document(f"<script>go()</script>{scripts}", "https://shop.example/p")
    assert page.find(JsonAt(block="__next_f.product=", path="$.sku")) == "A-1"
    assert [(block.name, block.data) for block in page.blocks] == [
        ("__next_f.product=", {"sku": "A-1"})
    ]


ROWS = "".join(handing(a=[row]).replace("0:", f"{row:x}:", 1) for row in range(2000))
DOUBLING = "".join(f'{row:x}:["${row + 1:x}","${row + 1:x}"]\n' for row in range(1, 50))
SLOW = [
    ("pushes", ["self.__next_f.push(" * 100_000], 0),
    ("open brackets", push("0:" + "[" * 900_000), 0),
    (
        "elements within one another",
        push("0:" + '["$","$L1",null,{"a":' * 400 + "1" + "}]" * 400),
        1,
    ),
    ("components", push(ROWS), MAX_ASSIGNMENTS),
    ("rows that each point at the next twice", push(handing(a=["$1"]) + DOUBLING), 1),
    ("a length beyond the end", push("a:Tffffffff," + "x" * 900_000), 0),
]


@pytest.mark.parametrize(("name", "scripts", "count"), SLOW, ids=[case[0] for case in SLOW])
def test_hostile_streams_are_bounded(name: str, scripts: list[str], count: int) -> None:
    """Few assignments, and soon."""
    assert len(to_assignments(scripts)) == count
