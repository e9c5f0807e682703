"""Is this an offer page, and of which template? Told by marks of the markup, learnt from pages of known offers.

Marks are what a template leaves on each of its pages: classes, ids, schema.org names, the kinds of its scripts, the
folder of the URL; digits are folded. Category, search and article pages share the shop's header and footer
with its offers, so `rules_generator.training.page_clusters` weighs each mark by how much rarer it is on other pages.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum
from operator import itemgetter
from typing import Any, NamedTuple

from parser.page.document import Document
from parser.page.element_index import NAMED, Names, Said
from parser.rules.model import Signature, Template
from parser.rules.selector import CONTENT
from parser.scripts.blocks import SCHEMA_ORG, DataScript

CLASS = "."
ID = "#"
TYPED = "[itemtype="
ALL_KINDS = (CLASS, ID, TYPED, CONTENT)
COSTS = {ID: 1, TYPED: 2, CLASS: 2}
MOST_CLASSES = 12
MOST_REMEMBERED = 5_000
LONGEST = 120
MOST_FOLDERS = 3
NONE = frozenset[str]()
DIGITS = re.compile(r"\d+")
TYPE = re.compile(r'"@type"\s*:\s*"(\w{1,40})"')
HOST = r"(?:[^/?#]*//[^/?#]*)?"
PATH = re.compile(rf"{HOST}([^?#]*)")
FRONT_DOOR = re.compile(
    rf"{HOST}(?:/?|/(?:index|home|default)(?:\.\w{{2,5}})?/?)(?:#.*)?", re.IGNORECASE
)


def marks_of(document: Document) -> frozenset[str]:
    """The marks of a page."""
    told = (tell(one) for tell, said in _said(document) for one in said)
    return frozenset(chain.from_iterable(told))


Teller = Callable[[Any], tuple[str, ...]]


def _said(
    document: Document, kinds: Container[str] = ALL_KINDS
) -> Iterator[tuple[Teller, Collection[Any]]]:
    """What a page says of itself, each thing once, and by what it is told which marks that leaves.

    To look for classes, ids, types or templates costs a walk through the page each, and is left out where none is
    asked for.
    """
    if CLASS in kinds:
        yield _of_classes, set(document.seen.classes)
    if ID in kinds:
        yield _of_id, document.seen.ids
    if TYPED in kinds:
        yield _of_type, document.seen.types
    yield _of_names, [document.seen.names]
    scripts = document.scripts
    state = scripts.in_templates if CONTENT in kinds else []
    yield _of_script, [(script.css, _types(script)) for script in (*scripts.data, *state)]
    yield _of_folder, [folder_of(document.url)]
    kind = document.first('meta[property="og:type"]')
    yield _of_page_type, [kind.attrs.get("content")] if kind is not None else []


@lru_cache(maxsize=16_384)
def _of_classes(said: str | None) -> tuple[str, ...]:
    return tuple(_folded(f".{name}") for name in (said or "").split()[:MOST_CLASSES])


@lru_cache(maxsize=16_384)
def _of_id(name: str | None) -> tuple[str, ...]:
    return (_folded(f"#{name}"),) if name else ()


def _of_names(names: Names) -> tuple[str, ...]:
    return tuple(mark for said in names.said for mark in _of_name(said))


@lru_cache(maxsize=16_384)
def _of_name(said: Said) -> tuple[str, ...]:
    tag, *values = said
    return tuple(
        _folded(f"{tag}[{name}={value}]")
        for name, value in zip(NAMED, values, strict=True)
        if value
    )


@lru_cache(maxsize=16_384)
def _of_type(said: tuple[str | None, str | None]) -> tuple[str, ...]:
    return (_folded(f"{said[0]}{TYPED}{said[1]}]"),) if said[1] else ()


def _of_script(said: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    css, types = said
    return (_folded(css), *(f"ld+json {kind}" for kind in types))


def _types(script: DataScript) -> tuple[str, ...]:
    return tuple(sorted(set(TYPE.findall(script.text)))) if script.css == SCHEMA_ORG else ()


def _of_folder(path: str) -> tuple[str, ...]:
    folders = [part for part in path.split("/") if part]
    return tuple(
        _folded(f"url:/{'/'.join(folders[: depth + 1])}/")
        for depth in range(min(len(folders), MOST_FOLDERS))
    )


def _of_page_type(said: str | None) -> tuple[str, ...]:
    return (_folded(f"og:type={said}"),)


def cost_of(mark: str) -> int:
    """How dear it is to look for marks of that kind.

    Names and data are looked at anyway. Ids and types cost a walk through the page each, and of classes pages hold by
    far the most.
    """
    return COSTS.get(_kind_of(mark), 0)


def _kind_of(mark: str) -> str:
    return (
        mark[:1]
        if mark.startswith((CLASS, ID))
        else next((kind for kind in (TYPED, CONTENT) if kind in mark), "")
    )


def _folded(mark: str) -> str:
    return DIGITS.sub("0", mark)[:LONGEST]


def likeness(marks: Collection[str], signature: Signature) -> float:
    """The weighted share of a signature's marks that a page shows, in [0, 1]; 1 where the signature has none."""
    weights = signature.marks
    whole = fsum(weights.values())
    return fsum([weights[mark] for mark in marks if mark in weights]) / whole if whole else 1.0


def nearness(marks: Collection[str], signature: Signature) -> tuple[bool, bool, float, float]:
    """What orders templates by which of them a page of these marks is rather built from.

    Those that take it are nearer than others, and of those the likest. Of two that it is as like, the one of which it
    shows more is nearer: one template may have all that another has, and more. One that has no marks takes every page,
    but only where no other does.
    """
    share = likeness(marks, signature)
    return share >= signature.least, bool(signature.marks), share, fsum(signature.marks.values())


class Likeness(NamedTuple):
    """How like a template a page is, and whether that suffices."""

    template: Template
    share: float

    @property
    def takes(self) -> bool:
        """Whether the template takes the page."""
        return self.share >= self.template.signature.least


def ranked(marks: Collection[str], templates: Iterable[Template]) -> list[Likeness]:
    """How like each template a page of these marks is, the nearest first."""
    told = [(nearness(marks, one.signature), one) for one in templates]
    told.sort(key=itemgetter(0), reverse=True)
    return [Likeness(one, share) for (_, _, share, _), one in told]


class Gate:
    """The templates of a shop, ready to be told apart: of a page it looks at those marks only that they know.

    Which of those a thing on a page leaves is remembered, since a shop's pages say much the same.
    """

    def __init__(self, templates: Sequence[Template]) -> None:
        self._templates = templates
        self._known = frozenset(mark for template in templates for mark in template.signature.marks)
        self._kinds = frozenset(map(_kind_of, self._known))
        self._remembered: dict[Teller, dict[Any, frozenset[str]]] = {}
        self._ranked: dict[frozenset[str], list[Likeness]] = {}

    def ranked(self, document: Document) -> list[Likeness]:
        """How like each template a page is, as the function of that name says; none for the shop's front door."""
        if is_front_door(document.url):
            return []
        marks = self._marks_of(document) if self._known else NONE
        found = self._ranked.get(marks)
        if found is None:
            if len(self._ranked) > MOST_REMEMBERED:
                self._ranked.clear()
            found = self._ranked[marks] = ranked(marks, self._templates)
        return found

    def _marks_of(self, document: Document) -> frozenset[str]:
        """Those of the page's marks that some template knows."""
        found: list[frozenset[str]] = []
        for tell, said in _said(document, self._kinds):
            remembered = self._remembered.setdefault(tell, {})
            try:
                found.extend(map(remembered.__getitem__, said))
            except KeyError:
                self._learn(remembered, tell, said)
                found.extend(map(remembered.__getitem__, said))
        return frozenset().union(*found)

    def _learn(
        self, remembered: dict[Any, frozenset[str]], tell: Teller, said: Collection[Any]
    ) -> None:
        """Remember which known marks are left by what was not met before."""
        if len(remembered) > MOST_REMEMBERED:
            remembered.clear()
        for one in said:
            if one not in remembered:
                remembered[one] = self._known.intersection(tell(one)) or NONE


def is_front_door(url: str) -> bool:
    """Whether a URL is the shop's start page, which may show a whole product but is never that product's page.

    >>> is_front_door("https://shop.example/index.html"), is_front_door("https://shop.example/?p=12")
    (True, False)
    """
    return FRONT_DOOR.fullmatch(url) is not None


def folder_of(url: str) -> str:
    """The path that leads to a page.

    >>> folder_of("https://shop.example/de/p/1?a=/b/")
    '/de/p'
    """
    return path_of(url).rstrip("/").rpartition("/")[0]


def path_of(url: str) -> str:
    """The path of a URL.

    >>> path_of("https://shop.example/de/p/1?a=/b/")
    '/de/p/1'
    """
    path = PATH.match(url)
    return path[1] if path else ""
