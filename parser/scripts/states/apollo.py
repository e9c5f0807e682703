"""The cache that Apollo's client keeps of what a page has asked for, written out: entities put in where they belong.

The cache holds each entity under its own id, `Product:sp-1204`, which no path can name for all pages, and beside the
page's product those that it recommends. `ROOT_QUERY` says what the page has asked for, with all arguments, and points
at the entities. So that is written out: `ROOT_QUERY.product.items`, whatever id or address the product was asked by.
"""

from collections.abc import Mapping
from typing import Any

from parser.scripts.states import nuxt

ASKED = "ROOT_QUERY"
MOST_STEPS = 4
MOST_LEVELS = 60
MOST_KEYS = 50
NOWHERE = -1


def written_out(data: Any, steps: int = MOST_STEPS) -> Any:
    """The data with what was asked for written out, where a cache stands in it; as they are where none does.

    >>> cache = {"ROOT_QUERY": {'product({"id":7})': {"__ref": "Product:7"}}, "Product:7": {"sku": "A"}}
    >>> written_out(cache)["ROOT_QUERY"]
    {'product': {'sku': 'A'}}
    """
    if not isinstance(data, dict):
        return data
    if ASKED in data:
        places = _Places(data).of(data[ASKED])
        tree = nuxt.written_out(places)
        return data if tree is places else {**data, ASKED: tree}
    if steps and len(data) <= MOST_KEYS:
        return {name: written_out(value, steps - 1) for name, value in data.items()}
    return data


class _Places:
    """A list that names each value once, entities included, as Nuxt's does."""

    def __init__(self, entities: Mapping[str, Any]) -> None:
        self._entities = entities
        self._places: list[Any] = []
        self._known: dict[str, int] = {}
        self._waiting: list[tuple[int, Any]] = []

    def of(self, said: Any) -> list[Any]:
        """The list; what it stands for is what `said` means."""
        self._put(said, 0)
        while self._waiting:
            place, entity = self._waiting.pop()
            self._places[place] = self._within(entity, 0)
        return self._places

    def _put(self, said: Any, level: int) -> int:
        """The place of a value, at which it stands or will."""
        if isinstance(said, dict):
            entity = said.get("__ref") or (said.get("type") == "id" and said.get("id"))
            if isinstance(entity, str):
                return self._place_of(entity)
            if said.get("type") == "json" and "json" in said:
                said = said["json"]
        self._places.append(None)
        place = len(self._places) - 1
        self._places[place] = self._within(said, level)
        return place

    def _place_of(self, entity: str) -> int:
        if entity not in self._entities:
            return NOWHERE
        if entity not in self._known:
            self._known[entity] = len(self._places)
            self._places.append(None)
            self._waiting.append((self._known[entity], self._entities[entity]))
        return self._known[entity]

    def _within(self, said: Any, level: int) -> Any:
        """A value with the places of those within it; of a field that was asked for in several ways, the first."""
        if level > MOST_LEVELS:
            return None
        if isinstance(said, list):
            return [self._put(one, level + 1) for one in said]
        if not isinstance(said, dict):
            return said
        found: dict[str, int] = {}
        for name, value in said.items():
            field = name.partition("(")[0].partition("@")[0]
            if field not in found:
                found[field] = self._put(value, level + 1)
        return found
