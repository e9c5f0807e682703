"""The cache of an Apollo client, with its entities put in where queries refer to them.

The cache holds each entity under its own id, `Product:sp-1204`, which no path can name for all
pages, and beside the page's product those that it recommends. `ROOT_QUERY` lists the page's queries
with all arguments, and refers to the entities. It is resolved to `ROOT_QUERY.product.items`,
whichever id or URL the product was queried by.
"""

from collections.abc import Mapping
from typing import Any

from parser.scripts.states import nuxt

ROOT = "ROOT_QUERY"
# Levels of the data at which a cache is searched, and keys of an object that is searched.
MAX_SEARCH_DEPTH = 4
MAX_SEARCHED_KEYS = 50
# Bound against hostile input.
MAX_LEVELS = 60
# The position of an entity that the cache lacks.
NO_POSITION = -1


def resolve_cache(data: Any, depth: int = MAX_SEARCH_DEPTH) -> Any:
    """Return the data with the queries resolved, where it holds a cache; other data unchanged.

    >>> queries = {'product({"id":7})': {"__ref": "Product:7"}}
    >>> resolve_cache({"ROOT_QUERY": queries, "Product:7": {"sku": "A"}})["ROOT_QUERY"]
    {'product': {'sku': 'A'}}
    """
    if not isinstance(data, dict):
        return data
    if ROOT in data:
        payload = _PayloadBuilder(data).build(data[ROOT])
        tree = nuxt.resolve_payload(payload)
        return data if tree is payload else {**data, ROOT: tree}
    if depth and len(data) <= MAX_SEARCHED_KEYS:
        return {name: resolve_cache(value, depth - 1) for name, value in data.items()}
    return data


class _PayloadBuilder:
    """Builds a payload in Nuxt's format: a list that holds each value once, entities included."""

    def __init__(self, entities: Mapping[str, Any]) -> None:
        self._entities = entities
        self._payload: list[Any] = []
        self._positions: dict[str, int] = {}
        # Entities that have a position but are not written yet. A stack instead of recursion:
        # chains of entities may be longer than Python's recursion limit.
        self._pending: list[tuple[int, Any]] = []

    def build(self, root: Any) -> list[Any]:
        """Return the payload of a value and of all entities that it refers to."""
        self._add(root, 0)
        while self._pending:
            position, entity = self._pending.pop()
            self._payload[position] = self._with_positions(entity, 0)
        return self._payload

    def _add(self, value: Any, level: int) -> int:
        """Return the position of a value, added where it has none yet."""
        if isinstance(value, dict):
            entity = value.get("__ref") or (value.get("type") == "id" and value.get("id"))
            if isinstance(entity, str):
                return self._position_of(entity)
            if value.get("type") == "json" and "json" in value:
                value = value["json"]
        self._payload.append(None)
        position = len(self._payload) - 1
        self._payload[position] = self._with_positions(value, level)
        return position

    def _position_of(self, entity: str) -> int:
        if entity not in self._entities:
            return NO_POSITION
        if entity not in self._positions:
            self._positions[entity] = len(self._payload)
            self._payload.append(None)
            self._pending.append((self._positions[entity], self._entities[entity]))
        return self._positions[entity]

    def _with_positions(self, value: Any, level: int) -> Any:
        """Replace values within a value by their positions; the first query of a field counts."""
        if level > MAX_LEVELS:
            return None
        if isinstance(value, list):
            return [self._add(inner, level + 1) for inner in value]
        if not isinstance(value, dict):
            return value
        positions: dict[str, int] = {}
        for name, inner in value.items():
            field = name.partition("(")[0].partition("@")[0]
            if field not in positions:
                positions[field] = self._add(inner, level + 1)
        return positions
