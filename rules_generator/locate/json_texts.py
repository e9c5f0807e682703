"""The texts in a block of data, each with the JSONPath that leads to it."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from parser.page.document import scalar_text
from parser.scripts.syntax.jsonpath import Entry, can_name, child_path, nested_json

# Caps on one block: values, depth, entries of a list, entries of a list without names.
MAX_SCALARS = 8_000
MAX_LEVELS = 14
MAX_ENTRIES = 100
MAX_LIST_ITEMS = 3
# Cap on the keys of an entry that may be a flag: a bound against hostile data.
MAX_FLAGS = 60
MAX_ENTRY_NAME_CHARS = 60
# Keys of a list that pairs names with values.
ENTRY_NAMES = (
    "name",
    "key",
    "code",
    "label",
    "attribute_code",
    "attribute",
    "property",
    "propertyID",
    "title",
    "id",
)
ENTRY_VALUES = frozenset(
    "value values val text content displayValue display_value attribute_value".split()
)
LONG_NUMBER = re.compile(r"\d{4}")


def flatten_json(data: Any, path: str = "$", levels: int = MAX_LEVELS) -> Iterator[tuple[str, str]]:
    """Yield (JSONPath, text) of the scalars of a block: of lists the first three entries, and all
    that have names.

    Keys that are numbers, or contain a long one as ids do, become `*`.

    >>> list(flatten_json({"a": [{"b": 1}], "17": {"c": "x"}, "product-59483": {"d": "y"}}))
    [('$.a[0].b', '1'), ('$.*.c', 'x'), ('$.*.d', 'y')]
    >>> next(flatten_json([{"name": "size", "value": "M"}]))
    ("$[?(@.name=='size')].value", 'M')
    >>> next(flatten_json([{"img": "a.jpg", "isMain": False}, {"img": "b.jpg", "isMain": True}]))
    ('$[?(@.isMain==true)].img', 'b.jpg')
    """
    budget = [MAX_SCALARS]
    yield from _flatten(data, path, levels, budget)


def _flatten(data: Any, path: str, levels: int, budget: list[int]) -> Iterator[tuple[str, str]]:
    if levels < 0 or budget[0] <= 0:
        return
    if isinstance(data, str) and (inner := nested_json(data)) is not None:
        data = inner
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _flatten(value, child_path(path, path_step(str(name))), levels - 1, budget)
    elif isinstance(data, list):
        for entry, value in chain(_named_entries(data), _flagged_entries(data)):
            yield from _flatten(value, child_path(path, entry), levels - 1, budget)
        for index, value in enumerate(data[:MAX_LIST_ITEMS]):
            yield from _flatten(value, child_path(path, index), levels - 1, budget)
    else:
        budget[0] -= 1
        text = scalar_text(data)
        if text:
            yield path, text


def _named_entries(entries: list[Any]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Yield the entries of a list of name and value pairs, whose order may vary."""
    for entry in entries[:MAX_ENTRIES]:
        if not isinstance(entry, dict) or ENTRY_VALUES.isdisjoint(entry):
            return
        name_key = next((name for name in ENTRY_NAMES if _is_entry_name(entry.get(name))), None)
        if name_key is not None:
            unnamed = dict(entry)
            yield Entry(name_key, unnamed.pop(name_key)), unnamed


def _flagged_entries(entries: list[Any]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Yield the entries of a list that alone have a flag, as the main picture of a gallery does."""
    objects = [entry for entry in entries[:MAX_ENTRIES] if isinstance(entry, dict)]
    for entry in objects:
        for name, flag in islice(entry.items(), MAX_FLAGS):
            if flag is not True or path_step(name) is None or not name.isidentifier():
                continue
            if [other.get(name) for other in objects].count(True) == 1 < len(objects):
                yield Entry(name, flag), entry


def _is_entry_name(value: Any) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ENTRY_NAME_CHARS:
        return False
    return path_step(value) is not None


def path_step(name: str) -> str | None:
    """Return a key as a step of a path; None, for any key, if it is an id or unwritable."""
    is_any = name.isdigit() or not can_name(name) or LONG_NUMBER.search(name)
    return None if is_any else name
