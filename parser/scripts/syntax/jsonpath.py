"""JSONPath, compiled: the plain paths that Scout learns are walked directly, all others by jsonpath-ng.

jsonpath-ng understands every path that a person may write, but walks one in about a hundred times the time that a few
look-ups take; a page costs dozens. So `$.a[0].b`, `$.a.*.b`, `$.a['b','c']` and `$.a[?(@.name=='b')].value` become
steps, and anything richer keeps its own engine.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from jsonpath_ng import Child, Fields, Index, JSONPath, Root, Slice, This
from jsonpath_ng.exceptions import JSONPathError
from jsonpath_ng.ext.filter import Expression, Filter
from jsonpath_ng.ext.parser import parse
from jsonpath_ng.jsonpath import Wildcard

from catalog.errors import RuleError
from parser.scripts.syntax.javascript import as_json, opens
from parser.scripts.syntax.js_strings import HALF


class Entry(NamedTuple):
    """Those of a list's objects that say `name` under `key`, as in `[{"name": "ean", "value": "4006381333931"}]`."""

    key: str
    name: str


class AnyOf(NamedTuple):
    """Those of an object's values that stand under one of these names, in the order of the names."""

    names: tuple[str, ...]


Step = str | int | slice | Entry | AnyOf | None
MOST_FANOUT = 50
UNWRITTEN = re.compile(rf"['\\]|{HALF.pattern}")
RESERVED = ("where", "wherenot")
LONGEST_NESTED = 200_000


@lru_cache(maxsize=4096)
def compile_path(path: str) -> Callable[[Any], Iterable[Any]]:
    """A function from data to the values at `path`, in document order. Raises RuleError.

    >>> list(compile_path("$.variants.*.sku")({"variants": {"17": {"sku": "A"}, "18": {"sku": "B"}}}))
    ['A', 'B']
    >>> list(compile_path("$.a[?(@.name=='ean')].value")({"a": [{"name": "size"}, {"name": "ean", "value": "40"}]}))
    ['40']
    >>> list(compile_path("$..sku")({"a": {"sku": "A"}}))
    ['A']
    """
    parsed, steps = _parsed(path)
    if steps is None:
        return lambda data: (match.value for match in parsed.find(data))
    if any(map(_forks, steps)):
        return lambda data: _walk(data, steps, 0)
    return lambda data: _followed(data, steps)


def keys_of(path: str) -> tuple[str, ...]:
    """The keys that a plain path goes through; none of a richer one. Raises RuleError.

    >>> keys_of("$.offers[0].sku"), keys_of("$..sku")
    (('offers', 'sku'), ())
    """
    return tuple(step for step in _parsed(path)[1] or () if isinstance(step, str))


@lru_cache(maxsize=4096)
def _parsed(path: str) -> tuple[JSONPath, list[Step] | None]:
    try:
        parsed = parse(path)
        return parsed, list(_steps(parsed))
    except _NotPlain:
        return parsed, None
    except (JSONPathError, ValueError, AttributeError, RecursionError) as error:
        raise RuleError(f"not a JSONPath: {path!r}: {str(error).splitlines()[0]}") from error


def child(path: str, key: Step) -> str:
    """`path` one step deeper: into a key, some keys, an index, a part or entries of a list, or (None) every child.

    >>> child(child("$", "a b"), 0), child("$", slice(1, -1)), child("$", Entry("name", "ean"))
    ("$['a b'][0]", '$[1:-1]', "$[?(@.name=='ean')]")
    >>> child("$", AnyOf(("ean", "gtin")))
    "$['ean','gtin']"
    """
    if key is None:
        return f"{path}.*"
    if isinstance(key, str) and key.isidentifier() and key.isascii() and key not in RESERVED:
        return f"{path}.{key}"
    return f"{path}[{_in_brackets(key)}]"


def has_path(key: str) -> bool:
    """Whether a path can name this key: quotes, backslashes and half an emoji are written in none.

    >>> has_path("a b"), has_path("it's"), has_path("\\ud83d")
    (True, False, False)
    """
    return UNWRITTEN.search(key) is None


def _in_brackets(key: str | int | slice | Entry | AnyOf) -> str:
    if isinstance(key, Entry):
        return f"?(@.{key.key}=='{key.name}')"
    if isinstance(key, slice):
        ends = ("" if end is None else str(end) for end in (key.start, key.stop))
        return "*" if key == slice(None) else ":".join(ends)
    if isinstance(key, int):
        return str(key)
    names = key.names if isinstance(key, AnyOf) else (key,)
    return ",".join(f"'{name}'" for name in names)


class _NotPlain(Exception):
    """The path has a step other than key, index, part of a list, entries of a name, or wildcard."""


def _steps(path: JSONPath) -> Iterator[Step]:
    if isinstance(path, Root):
        return
    if isinstance(path, Child):
        yield from _steps(path.left)
        yield from _steps(path.right)
    elif isinstance(path, Wildcard):
        yield None
    elif isinstance(path, Fields) and len(path.fields) == 1:
        yield None if path.fields[0] == "*" else path.fields[0]
    elif isinstance(path, Fields) and "*" not in path.fields:
        yield AnyOf(tuple(path.fields))
    elif isinstance(path, Index) and len(path.indices) == 1:
        yield path.indices[0]
    elif isinstance(path, Slice) and path.step is None:
        yield slice(path.start, path.end)
    elif isinstance(path, Filter) and len(path.expressions) == 1:
        yield _entry(path.expressions[0])
    else:
        raise _NotPlain


def _entry(test: Expression) -> Entry:
    """What a filter asks of an entry, if that is a name under a key of its own."""
    asked = (
        test.target
        if isinstance(test, Expression) and test.op == "==" and isinstance(test.value, str)
        else None
    )
    if (
        isinstance(asked, Child)
        and isinstance(asked.left, This)
        and isinstance(asked.right, Fields)
    ):
        fields = asked.right.fields
        if len(fields) == 1 and fields[0] != "*":
            return Entry(fields[0], test.value)
    raise _NotPlain


def _forks(step: Step) -> bool:
    return step is None or isinstance(step, slice | Entry | AnyOf)


def _walk(data: Any, steps: list[Step], depth: int) -> Iterator[Any]:
    """The values behind steps of which some go into every child, or into some of a list."""
    fork = next((place for place in range(depth, len(steps)) if _forks(steps[place])), len(steps))
    for found in _followed(data, steps[depth:fork]):
        if fork == len(steps):
            yield found
            continue
        inner = nested(found) if isinstance(found, str) else found
        for child_of in _children(inner, steps[fork])[:MOST_FANOUT]:
            yield from _walk(child_of, steps, fork + 1)


def _children(data: Any, step: Step) -> list[Any]:
    if isinstance(data, list) and isinstance(step, slice):
        return data[step]
    if isinstance(step, AnyOf):
        return [data[name] for name in step.names if name in data] if isinstance(data, dict) else []
    inner = (
        data if isinstance(data, list) else list(data.values()) if isinstance(data, dict) else []
    )
    if isinstance(step, Entry):
        return [one for one in inner if isinstance(one, dict) and one.get(step.key) == step.name]
    return inner if step is None else []


def _followed(data: Any, steps: Sequence[Step]) -> tuple[Any, ...]:
    """The one value behind keys and indices, or none."""
    for step in steps:
        if isinstance(data, str):
            data = nested(data)
        if isinstance(data, dict):
            if step not in data:
                return ()
            data = data[step]
        elif isinstance(data, list) and isinstance(step, int) and -len(data) <= step < len(data):
            data = data[step]
        else:
            return ()
    return (data,)


def nested(text: str) -> Any:
    """The object or list that a string within data says as JSON itself; None where it says none.

    >>> nested('["A-1"]'), nested("[sold out]")
    (['A-1'], None)
    """
    if not opens(text) or len(text) > LONGEST_NESTED:
        return None
    data = as_json(text)
    return data if isinstance(data, dict | list) else None
