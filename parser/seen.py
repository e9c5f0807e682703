"""What a page's markup says of its elements - classes, ids, schema.org names -, and the first element that says it.

One look at the marked elements serves twice. The gate tells templates by what is said there; and most of the selectors
that rules have, such as `div.price` and `meta[itemprop="sku"]`, are answered without another walk through the tree,
above all those that find nothing on a page. What this cannot answer for sure is asked of the engine.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_NODES = 20_000
ALIKE_EVERYWHERE = frozenset({"a", "li"})
CLASSED = f"[class]:not({', '.join(sorted(ALIKE_EVERYWHERE))})"
NAMED = ("itemprop", "property", "itemtype", "name")
NAMED_CSS = "meta, [itemprop], [itemtype]"
NAMED_EVERYWHERE = frozenset({"itemprop", "itemtype"})
SPACE = re.compile(r"[ \t\n\f\r]+")
PIECE = re.compile(
    r"""(?P<tag>[a-z][a-z\d]*)|\.(?P<class>-?[A-Za-z_][\w-]*)|\[(?P<name>[a-z-]+)="(?P<value>[^"\\]*)"\]"""
    r"""|(?P<then>\s*[>+~]\s*|\s+)|(?P<other>\[[\w-]+(?:\^="[^"\\]*")?\]|:[a-z-]+\([^()"\\]*(?:"[^"\\]*"[^()"\\]*)?\))""",
    re.ASCII,
)

T = TypeVar("T")
Said = tuple[str | None, ...]
Named = tuple[str, str, str]


@dataclass(frozen=True)
class _Ask:
    """What a selector asks of a page: words that its classes hold and names that must be there, in any of its steps.

    `classes` or `name` is all that it asks of the one element it means; neither is given where it asks for more.
    """

    words: tuple[str, ...] = ()
    named: tuple[Named, ...] = ()
    tag: str = ""
    classes: tuple[str, ...] = ()
    name: Named | None = None


class Seen:
    """What is said on a page; of very large pages only what stands in their first part, which answers no selector."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._marked = tree.css(CLASSED)
        self._with_id = tree.css("[id]")
        self._named = tree.css(NAMED_CSS)
        self._whole = max(len(self._marked), len(self._with_id), len(self._named)) <= MOST_NODES
        if not self._whole:
            del self._marked[MOST_NODES:], self._with_id[MOST_NODES:], self._named[MOST_NODES:]
        self.classes = _first([node.attrs.get("class") for node in self._marked])
        self.ids = _first([node.id for node in self._with_id])
        self.names = _first([(node.tag, *map(node.attributes.get, NAMED)) for node in self._named])

    def first(self, css: str) -> tuple[bool, LexborNode | None]:
        """Whether it is known which element a selector finds first, and that element."""
        ask = _asked(css) if self._whole else None
        if ask is None:
            return False, None
        for word in ask.words:
            if word not in self._words:
                return True, None
        for name in ask.named:
            if name not in self._places:
                return True, None
        if ask.name is None and not ask.classes:
            return False, None
        node = self._marked_as(ask.classes) if ask.name is None else self._node(ask.name)
        return node is not None and (node.tag == ask.tag or not ask.tag), node

    def _marked_as(self, classes: tuple[str, ...]) -> LexborNode | None:
        one = classes[0]
        found = [at for said, at in self.classes.items() if said and one in said and _has(said, classes)]
        return self._marked[min(found)] if found else None

    def _node(self, name: Named) -> LexborNode:
        return (self._with_id if name[1] == "id" else self._named)[self._places[name]]

    @cached_property
    def _words(self) -> str:
        """All classes, in lower case as some pages take them in any."""
        return "\n".join(filter(None, self.classes)).lower()

    @cached_property
    def _places(self) -> dict[Named, int]:
        """Where the first element of a tag is that has an attribute of that value; of ids, of any tag."""
        places: dict[Named, int] = {("", "id", name): place for name, place in self.ids.items() if name}
        for said, place in self.names.items():
            for name in _names(said):
                places[name] = place
        return places


def _first(said: list[T]) -> dict[T, int]:
    """Where each thing was said first; what was said last comes first."""
    return dict(zip(reversed(said), range(len(said) - 1, -1, -1), strict=True))


@lru_cache(maxsize=16_384)
def _has(said: str, classes: tuple[str, ...]) -> bool:
    return set(SPACE.split(said)).issuperset(classes)


@lru_cache(maxsize=16_384)
def _names(said: Said) -> tuple[Named, ...]:
    """The names that an element can be asked for by."""
    tag = said[0] or ""
    told = zip(NAMED, said[1:], strict=True)
    return tuple((tag, name, value) for name, value in told if value is not None and _is_noted(tag, name))


def _is_noted(tag: str, name: str) -> bool:
    """Whether all elements of that tag with that attribute are among those looked at."""
    return bool(tag) and (name in NAMED_EVERYWHERE or (name in NAMED and tag == "meta"))


@lru_cache(maxsize=16_384)
def _asked(css: str) -> _Ask | None:
    """What a selector asks for; None where it is more than a row of simple steps.

    >>> _asked('div.a > meta[itemprop="sku"]')
    _Ask(words=('a',), named=(('meta', 'itemprop', 'sku'),), tag='', classes=(), name=None)
    >>> _asked("div.a"), _asked("a, b")
    (_Ask(words=('a',), named=(), tag='div', classes=('a',), name=None), None)
    """
    pieces = [match for match in PIECE.finditer(css) if match.end() > match.start()]
    if "".join(match[0] for match in pieces) != css:
        return None
    tag, words, named, parts = "", list[str](), list[Named](), list[bool]()
    for piece in pieces:
        if piece["then"]:
            tag = ""
        elif piece["tag"]:
            tag = piece["tag"]
            continue
        elif piece["class"] and tag and tag not in ALIKE_EVERYWHERE:
            words.append(piece["class"])
        elif piece["name"] == "id" or (piece["name"] and _is_noted(tag, piece["name"])):
            named.append(("" if piece["name"] == "id" else tag, piece["name"], piece["value"]))
        parts.append(bool(piece["class"]) or bool(piece["name"]))
    return _with_aim(_Ask(tuple(word.lower() for word in words), tuple(named)), tag, words, len(parts))


def _with_aim(ask: _Ask, tag: str, words: Sequence[str], parts: int) -> _Ask:
    """The same, with the one thing that it asks for, where it is only one."""
    if parts == len(words) > 0:
        return replace(ask, tag=tag, classes=tuple(words))
    if parts == 1 and ask.named:
        return replace(ask, tag=tag, name=ask.named[0])
    return ask
