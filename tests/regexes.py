"""Regular expressions of Scout's modules, and texts on which each may take long.

Python's engine backtracks: some expressions take time that grows with the square of the text, or
worse. The texts to try are derived from an expression itself: each of its repetitions is pumped,
behind a text that leads to it, and before a character that makes it fail.
"""

import importlib
import pkgutil
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# Packages whose modules read texts of pages, feeds and sitemaps.
PACKAGES = (
    "catalog",
    "crawler.discovery",
    "crawler.pages",
    "crawler.sources",
    "crawler.urls",
    "matcher.records",
    "parser",
    "rules_generator.candidates",
    "rules_generator.locate",
    "rules_generator.training",
    "rules_generator.variants",
    "url_cleaner",
)
# Modules that do something when they are imported, or need an extra.
SKIPPED = re.compile(r"\.migrations\b|\.__main__$")
ROOT = Path(__file__).parents[1]
# Repetitions in a sample of a bounded or counted repetition.
SAMPLE_REPEATS = 1
# Least upper bound of a repetition that is pumped.
MIN_PUMPED = 8
# Samples of an expression's part that are tried.
MAX_SAMPLES = 6
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_WORD: " ",
}
_FILLERS = "a1 .-/<"
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_METHODS = frozenset(
    ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
)


@dataclass(frozen=True)
class NamedPattern:
    """A compiled expression, the module and name where it stands, and the method that runs it."""

    module: str
    name: str
    pattern: re.Pattern[Any]
    method: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


def list_patterns() -> list[NamedPattern]:
    """List all compiled expressions in the modules of the packages, each once."""
    found: dict[int, NamedPattern] = {}
    for name in _module_names():
        module = importlib.import_module(name)
        for attribute, value in vars(module).items():
            for part, pattern in _patterns_in(attribute, value, set()):
                if id(pattern) not in found and _assigns(name, attribute):
                    method = _method_of(name, attribute)
                    found[id(pattern)] = NamedPattern(name, part, pattern, method)
    return list(found.values())


@cache
def _module_names() -> tuple[str, ...]:
    names = []
    for package in PACKAGES:
        path = [str(ROOT.joinpath(*package.split(".")))]
        for info in pkgutil.walk_packages(path, f"{package}."):
            if not SKIPPED.search(info.name):
                names.append(info.name)
    return tuple(names)


@cache
def _source(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8")


def _assigns(module: str, attribute: str) -> bool:
    """Return True if the module defines the name, so that it does not only import it."""
    return re.search(rf"(?m)^(?:class )?{re.escape(attribute)}\b", _source(module)) is not None


@cache
def _methods_in(module: str) -> Mapping[str, set[str]]:
    """Return the methods that a module calls or names, by the name that they belong to."""
    methods: dict[str, set[str]] = {}
    for name, method in re.findall(r"\b(\w+)\.([a-z]+)\b", _source(module)):
        methods.setdefault(name, set()).add(method)
    return methods


def _method_of(module: str, name: str) -> str:
    """Return the method by which an expression is run: `match` if it begins at a given place.

    That of its own module if it is run there, else that of all modules.
    """
    methods = _methods_in(module).get(name, set()) & _METHODS
    if not methods:
        for other in _module_names():
            methods = methods | (_methods_in(other).get(name, set()) & _METHODS)
    if methods and methods <= {"match", "fullmatch"}:
        return "fullmatch" if methods == {"fullmatch"} else "match"
    return "search"


def _patterns_in(name: str, value: object, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield the expressions in a value, in containers and in fields of frozen values."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _patterns_in(f"{name}[{key!r}]", part, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for number, part in enumerate(value):
            yield from _patterns_in(f"{name}[{number}]", part, seen)
    elif type(value).__module__.startswith(PACKAGES) and hasattr(value, "__dict__"):
        for key, part in vars(value).items():
            yield from _patterns_in(f"{name}.{key}", part, seen)


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (prefix, pump, suffix) of texts on which an expression may take long."""
    text = (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )
    tree = sre_parser.parse(
        text, pattern.flags & ~re.DEBUG & ~(0 if isinstance(pattern.pattern, str) else re.UNICODE)
    )
    seen = set()
    for prefix, pump in _pumps(tree, ""):
        if not pump:
            continue
        for attack in (
            (prefix, pump, "\x00"),
            ("", prefix + pump, "\x00"),
            ("", prefix or pump, "\x00"),
            (prefix, f"{pump} ", "\x00"),
        ):
            if attack not in seen:
                seen.add(attack)
                yield attack
    for filler in _FILLERS:
        if ("", filler, "\x00") not in seen:
            yield "", filler, "\x00"


def _pumps(items: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield (text that leads to a repetition, text that it repeats)."""
    for operator, argument in items:
        if operator in _REPEATS:
            _, most, body = argument
            samples = _samples(body)
            if most == sre.MAXREPEAT or most >= MIN_PUMPED:
                for sample in samples:
                    yield prefix, sample
            yield from _pumps(body, prefix)
        elif operator is sre.BRANCH:
            for branch in argument[1]:
                yield from _pumps(branch, prefix)
        elif operator is sre.SUBPATTERN:
            yield from _pumps(argument[3], prefix)
        elif operator is sre.ATOMIC_GROUP:
            yield from _pumps(argument, prefix)
        elif operator in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _pumps(argument[1], prefix)
        prefix += _samples([(operator, argument)])[0]


def _samples(items: Any) -> list[str]:
    """Return texts that items match, a few for each alternative."""
    samples = [""]
    for item in items:
        texts = _item_samples(item)
        joined = []
        for number in range(max(len(samples), len(texts))):
            joined.append(samples[number % len(samples)] + texts[number % len(texts)])
        samples = joined[:MAX_SAMPLES]
    return samples


def _item_samples(item: Any) -> list[str]:
    operator, argument = item
    if operator is sre.LITERAL:
        return [chr(argument)]
    if operator is sre.NOT_LITERAL:
        return ["b" if argument == ord("a") else "a"]
    samples = [""]
    if operator is sre.ANY:
        samples = ["a"]
    elif operator is sre.IN:
        samples = _set_samples(argument)
    elif operator in _REPEATS:
        least, _, body = argument
        samples = [sample * max(least, SAMPLE_REPEATS) for sample in _samples(body)]
    elif operator is sre.BRANCH:
        samples = [sample for branch in argument[1] for sample in _samples(branch)]
    elif operator is sre.SUBPATTERN:
        samples = _samples(argument[3])
    elif operator is sre.ATOMIC_GROUP:
        samples = _samples(argument)
    return samples


def _set_samples(items: Any) -> list[str]:
    """Return characters of a set: one for each of its parts."""
    if items[0][0] is sre.NEGATE:
        excluded = re.compile("[" + "".join(_set_part(item) for item in items[1:]) + "]")
        allowed = [char for char in _FILLERS + "\"'=>&;,{}()[]_:\n" if not excluded.match(char)]
        return allowed[:3] or ["\u00e4"]
    samples = []
    for kind, argument in items:
        if kind is sre.LITERAL:
            samples.append(chr(argument))
        elif kind is sre.RANGE:
            samples.append(chr(argument[0]))
        elif kind is sre.CATEGORY:
            samples.append(_CATEGORIES[argument])
    return samples[:4] or ["a"]


def _set_part(item: Any) -> str:
    kind, argument = item
    if kind is sre.LITERAL:
        return re.escape(chr(argument))
    if kind is sre.RANGE:
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    names = {
        sre.CATEGORY_DIGIT: r"\d",
        sre.CATEGORY_NOT_DIGIT: r"\D",
        sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S",
        sre.CATEGORY_WORD: r"\w",
        sre.CATEGORY_NOT_WORD: r"\W",
    }
    return names[argument]


def run(named: NamedPattern, text: str) -> float:
    """Return the processor time in seconds of one pass over a text, all matches found."""
    subject: Any = text if isinstance(named.pattern.pattern, str) else text.encode("utf-8")
    started = time.thread_time()
    if named.method == "search":
        for _ in named.pattern.finditer(subject):
            pass
    else:
        getattr(named.pattern, named.method)(subject)
    return time.thread_time() - started
