"""The cache of an Apollo client."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.states.apollo import resolve_cache

LAMP = {"__typename": "Product", "sku": "A-1", "brand": {"__ref": "Brand:7"}}
BRAND = {"name": "Ardwen", "products": [{"__ref": "Product:1"}]}
CACHES = [
    (
        "as of today",
        {"a": {"__ref": "Brand:7"}},
        {"a": {"name": "Ardwen", "products": [{"sku": "A-1"}]}},
    ),
    (
        "as it was",
        {"a": {"type": "id", "generated": False, "id": "Offer:2"}},
        {"a": {"id": 2, "price": 5}},
    ),
    ("data within", {"a": {"type": "json", "json": {"b": [1]}}}, {"a": {"b": [1]}}),
    ("an entity of a type", {"a": {"type": "id", "id": 2}}, {"a": {"type": "id", "id": 2}}),
    ("arguments", {'offer({"id":2})': {"__ref": "Offer:2"}}, {"offer": {"id": 2, "price": 5}}),
    (
        "directives",
        {'offer@client({"id":2})': {"__ref": "Offer:2"}},
        {"offer": {"id": 2, "price": 5}},
    ),
    ("asked in two ways", {'a({"x":1})': 1, 'a({"x":2})': 2}, {"a": 1}),
    ("a list", {"a": [{"__ref": "Offer:2"}, None, 3]}, {"a": [{"id": 2, "price": 5}, None, 3]}),
    ("what is not there", {"a": {"__ref": "Offer:3"}}, {"a": None}),
    ("itself", {"a": {"__ref": "Loop:1"}}, {"a": {"next": None}}),
    ("nothing", {}, {}),
]
ENTITIES = {
    "Product:1": {"sku": "A-1"},
    "Brand:7": BRAND,
    "Offer:2": {"id": 2, 'price({"in":"EUR"})': 5},
    "Loop:1": {"next": {"__ref": "Loop:1"}},
}


@pytest.mark.parametrize(("name", "asked", "meant"), CACHES, ids=[case[0] for case in CACHES])
def test_entities_are_put_in_where_queries_refer_to_them(
    name: str, asked: object, meant: object
) -> None:
    """The entities of the cache stay beside it."""
    assert resolve_cache({**ENTITIES, "ROOT_QUERY": asked}) == {**ENTITIES, "ROOT_QUERY": meant}


def test_an_entity_that_two_share_stands_in_both() -> None:
    """Within itself an entity is None."""
    asked = {"a": {"__ref": "Product:2"}, "b": {"__ref": "Brand:7"}}
    found = resolve_cache({"ROOT_QUERY": asked, "Product:2": LAMP, "Brand:7": BRAND})["ROOT_QUERY"]
    assert found["a"]["brand"]["name"] == found["b"]["name"] == "Ardwen"


OTHERS = [
    ("no cache", {"a": {"b": [1]}}),
    ("a list", [{"ROOT_QUERY": {"a": {"__ref": "x"}}}]),
    ("deep within", {"a": {"b": {"c": {"d": {"e": {"ROOT_QUERY": {"a": {"__ref": "x"}}}}}}}}),
    ("places that each name the next one twice", {
        "ROOT_QUERY": {"a": {"__ref": "0"}}, **{str(n): [{"__ref": str(n + 1)}] * 2 for n in range(50)}, "50": "x"
    }),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data"), OTHERS, ids=[case[0] for case in OTHERS])
def test_other_data_stay(name: str, data: object) -> None:
    """Data without a cache near their root are unchanged."""
    assert resolve_cache(data) == data


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    )
)
def test_data_without_references_are_unchanged(data: object) -> None:
    """A query may hold any plain data."""
    assert resolve_cache({"ROOT_QUERY": data}) == {"ROOT_QUERY": data}


PLACES = [
    ("code", "<script>window.__APOLLO_STATE__ = {0};</script>", "script", "window.__APOLLO_STATE__ =", "$"),
    ("pairs", "<script>f(); window.__APOLLO_STATE__={0}; g()</script>", "script", "window.__APOLLO_STATE__=", "$"),
    ("data", "<script id='state' type='application/json'>{0}</script>", 'script[id="state"]', "", "$"),
    (
        "state of another",
        "<script id='__NEXT_DATA__' type='application/json'>{{\"props\": {{\"apollo\": {0}}}}}</script>",
        'script[id="__NEXT_DATA__"]', "", "$.props.apollo",
    ),
    (
        "a template",
        "<template data-type='json' data-varname='__STATE__'><script>{0}</script></template>",
        'template[data-varname="__STATE__"] ::content script', "", "$",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "markup", "css", "block", "path"), PLACES, ids=[case[0] for case in PLACES]
)
def test_data_are_found_on_a_page(name: str, markup: str, css: str, block: str, path: str) -> None:
    """By name, and in the list of all blocks."""
    cache = json.dumps(
        {
            "Product:1": LAMP,
            "Brand:7": BRAND,
            "ROOT_QUERY": {'product({"id":1})': {"__ref": "Product:1"}},
        }
    )
    page = Document(markup.format(cache), "https://shop.example/p")
    selector = JsonAt(css=css, block=block, path=f"{path}.ROOT_QUERY.product.sku")
    assert page.find(selector) == "A-1"
    (data,) = [script.data for script in page.blocks if (script.css, script.name) == (css, block)]
    for step in path.split(".")[1:]:
        data = data[step]
    assert data["ROOT_QUERY"]["product"]["brand"]["name"] == "Ardwen"


def test_a_long_chain_of_entities() -> None:
    """Ten thousand entities that refer to the next one do no harm."""
    cache = {str(number): {"next": {"__ref": str(number + 1)}} for number in range(10_000)}
    found = resolve_cache({**cache, "ROOT_QUERY": {"a": {"__ref": "0"}}})["ROOT_QUERY"]
    assert found["a"]["next"]["next"] is not None
