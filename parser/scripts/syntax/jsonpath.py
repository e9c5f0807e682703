"""Compiled JSONPaths: plain paths are walked directly, all others by jsonpath-ng.

jsonpath-ng supports all of JSONPath, but takes about a hundred times as long as a few dictionary
look-ups, and a page needs dozens of paths. So `$.a[0].b`, `$.a.*.b`, `$.a['b','c']` and
`$.a[?(@.name=='b')].value` become steps; a richer path keeps its own engine.
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

from catalog.errors import RuleError, first_line
from parser.scripts.syntax.javascript import parse_json, starts_like_data
from parser.scripts.syntax.js_strings import SURROGATE


class Entry(NamedTuple):
    """The objects of a list with `name` under `key`, as in `[{"name": "ean", "value": "40"}]`.

    A name of True is a flag: `[{"main": false}, {"main": true}]`.
    """

    key: str
    name: str | bool


class AnyOf(NamedTuple):
    """The values of an object under any of these names, in the order of the names."""

    names: tuple[str, ...]


# None stands for every child.
Step = str | int | slice | Entry | AnyOf | None
# Children that a forking step enters, and characters of JSON in a string: bounds against hostile
# input.
MAX_FANOUT = 50
MAX_NESTED_CHARS = 200_000
UNQUOTABLE = re.compile(rf"['\\]|{SURROGATE.pattern}")
# Names that jsonpath-ng reads as operators.
RESERVED = ("where", "wherenot")


@lru_cache(maxsize=4096)
def compile_path(path: str) -> Callable[[Any], Iterable[Any]]:
    """Return a function from data to the values at `path`, in document order. Raises RuleError.

    >>> list(compile_path("$.items.*.sku")({"items": {"17": {"sku": "A"}, "18": {"sku": "B"}}}))
    ['A', 'B']
    >>> data = {"a": [{"name": "size"}, {"name": "ean", "value": "40"}]}
    >>> list(compile_path("$.a[?(@.name=='ean')].value")(data))
    ['40']
    >>> list(compile_path("$..sku")({"a": {"sku": "A"}}))
    ['A']
    """
    parsed, steps = _parse(path)
    if steps is None:
        return lambda data: (match.value for match in parsed.find(data))
    if any(map(_is_fork, steps)):
        return lambda data: _walk(data, steps, 0)
    return lambda data: _follow(data, steps)


def path_keys(path: str) -> tuple[str, ...]:
    """Return the keys on a plain path; none of a richer one. Raises RuleError.

    >>> path_keys("$.offers[0].sku"), path_keys("$..sku")
    (('offers', 'sku'), ())
    """
    return tuple(step for step in _parse(path)[1] or () if isinstance(step, str))


@lru_cache(maxsize=4096)
def _parse(path: str) -> tuple[JSONPath, list[Step] | None]:
    """Return the parsed path and its steps; no steps where it is not plain."""
    try:
        parsed = parse(path)
        return parsed, list(_steps(parsed))
    except _NotPlain:
        return parsed, None
    except (JSONPathError, ValueError, AttributeError, RecursionError) as error:
        raise RuleError(f"not a JSONPath: {path!r}: {first_line(error)}") from error


def child_path(path: str, step: Step) -> str:
    """Extend `path` by a step; None stands for every child.

    >>> child_path(child_path("$", "a b"), 0), child_path("$", slice(1, -1))
    ("$['a b'][0]", '$[1:-1]')
    >>> child_path("$", Entry("name", "ean")), child_path("$", AnyOf(("ean", "gtin")))
    ("$[?(@.name=='ean')]", "$['ean','gtin']")
    >>> child_path("$", Entry("isMain", True))
    '$[?(@.isMain==true)]'
    """
    if step is None:
        return f"{path}.*"
    if isinstance(step, str) and step.isidentifier() and step.isascii() and step not in RESERVED:
        return f"{path}.{step}"
    return f"{path}[{_bracketed(step)}]"


def can_name(key: str) -> bool:
    """Return True if a path can contain this key: some characters cannot be quoted.

    >>> can_name("a b"), can_name("it's"), can_name("\\ud83d")
    (True, False, False)
    """
    return UNQUOTABLE.search(key) is None


def _bracketed(step: str | int | slice | Entry | AnyOf) -> str:
    if isinstance(step, Entry):
        name = "true" if step.name is True else f"'{step.name}'"
        return f"?(@.{step.key}=={name})"
    if step == slice(None):
        return "*"
    if isinstance(step, slice):
        return ":".join("" if bound is None else str(bound) for bound in (step.start, step.stop))
    if isinstance(step, int):
        return str(step)
    names = step.names if isinstance(step, AnyOf) else (step,)
    return ",".join(f"'{name}'" for name in names)


class _NotPlain(Exception):
    """The path has a step that is no `Step`."""


def _steps(path: JSONPath) -> Iterator[Step]:
    match path:
        case Root():
            return
        case Child():
            yield from _steps(path.left)
            yield from _steps(path.right)
        case Wildcard() | Fields(fields=["*"]):
            yield None
        case Fields(fields=[name]):
            yield name
        case Fields(fields=names) if "*" not in names:
            yield AnyOf(tuple(names))
        case Index(indices=[index]):
            yield index
        case Slice(step=None):
            yield slice(path.start, path.end)
        case Filter(expressions=[Expression() as test]):
            yield _entry_of(test)
        case _:
            raise _NotPlain


def _entry_of(test: Expression) -> Entry:
    """Return the entry that a filter selects, if it compares one key of it with a text or flag."""
    match test.target, test.op, test.value:
        case Child(left=This(), right=Fields(fields=[key])), "==", (str() | True) as name:
            if key != "*":
                return Entry(key, name)
    raise _NotPlain


def _is_fork(step: Step) -> bool:
    """Return True if a step may lead to several values."""
    return step is None or isinstance(step, slice | Entry | AnyOf)


def _walk(data: Any, steps: list[Step], depth: int) -> Iterator[Any]:
    """Yield the values behind steps of which some fork."""
    fork = next((place for place in range(depth, len(steps)) if _is_fork(steps[place])), len(steps))
    for value in _follow(data, steps[depth:fork]):
        if fork == len(steps):
            yield value
            continue
        parent = nested_json(value) if isinstance(value, str) else value
        for child in _children(parent, steps[fork])[:MAX_FANOUT]:
            yield from _walk(child, steps, fork + 1)


def _children(data: Any, step: Step) -> list[Any]:
    """Return the children that a forking step selects."""
    if isinstance(data, list) and isinstance(step, slice):
        return data[step]
    if isinstance(step, AnyOf):
        if not isinstance(data, dict):
            return []
        return [data[name] for name in step.names if name in data]
    children: list[Any] = []
    if isinstance(data, list):
        children = data
    elif isinstance(data, dict):
        children = list(data.values())
    if isinstance(step, Entry):
        objects = (child for child in children if isinstance(child, dict))
        return [child for child in objects if child.get(step.key) == step.name]
    return children if step is None else []


def _follow(data: Any, steps: Sequence[Step]) -> tuple[Any, ...]:
    """Return the single value behind keys and indices; empty where there is none."""
    for step in steps:
        if isinstance(data, str):
            data = nested_json(data)
        if isinstance(data, dict):
            if step not in data:
                return ()
            data = data[step]
        elif isinstance(data, list) and isinstance(step, int) and -len(data) <= step < len(data):
            data = data[step]
        else:
            return ()
    return (data,)


def nested_json(text: str) -> Any:
    """Return the object or list that a string within data encodes as JSON.

    None where it encodes none.

    >>> nested_json('["A-1"]'), nested_json("[sold out]")
    (['A-1'], None)
    """
    if not starts_like_data(text) or len(text) > MAX_NESTED_CHARS:
        return None
    data = parse_json(text)
    if not isinstance(data, dict | list):
        return None
    return data
