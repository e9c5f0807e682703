"""What a page's markup says of its elements - classes, ids, schema.org names -, and the first element with a name.

One look at the elements of a kind serves twice. The gate tells templates by what is said there; and the selectors that
ask for a name only, such as `meta[itemprop="sku"]`, are answered without another walk through the tree, above all
those that find nothing on a page. What this cannot answer for sure is asked of the engine.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_NODES = 20_000
WORTH_REMEMBERING = 500
MOST_HEADINGS = 5
CLASSED = "[class]:not(a, li)"
NAMED = ("itemprop", "property", "name")
NAMED_CSS = "meta, [itemprop]"
NAME = re.compile(r"""([a-z][a-z\d]*)?\[(id|itemprop|property|name)="([^"\\]*)"\]""", re.ASCII)

Said = tuple[str | None, ...]
Named = tuple[str, str, str]


class Seen:
    """What is said on a page; of very large pages only what stands in their first part, which answers no selector."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    @cached_property
    def classes(self) -> list[str | None]:
        """The class attributes, but those of links and list items, which are alike everywhere."""
        return [node.attrs.get("class") for node in self._tree.css(CLASSED)[:MOST_NODES]]

    @cached_property
    def ids(self) -> list[str | None]:
        """The ids."""
        return [node.id for node in self._with_id[:MOST_NODES]]

    @cached_property
    def names(self) -> "Names":
        """The tags of what is named, each with its itemprop, property and name."""
        named = self._named[:MOST_NODES]
        said = tuple(
            [
                (
                    one.tag,
                    (its := one.attributes).get("itemprop"),
                    its.get("property"),
                    its.get("name"),
                )
                for one in named
            ]
        )
        return _names_met(said) if len(said) <= WORTH_REMEMBERING else _names_in(said)

    @cached_property
    def types(self) -> list[tuple[str | None, str | None]]:
        """The tags of what is of a type of schema.org's, each with that."""
        return [
            (node.tag, node.attributes.get("itemtype"))
            for node in self._tree.css("[itemtype]")[:MOST_NODES]
        ]

    @cached_property
    def headings(self) -> list[LexborNode]:
        """The first headings of the highest rank."""
        return self._tree.css("h1")[:MOST_HEADINGS]

    @cached_property
    def _with_id(self) -> list[LexborNode]:
        return self._tree.css("[id]")

    @cached_property
    def _named(self) -> list[LexborNode]:
        return self._tree.css(NAMED_CSS)

    def first(self, css: str) -> tuple[bool, LexborNode | None]:
        """Whether it is known which element a selector finds first, and that element.

        Ids are known where the gate has asked for them: a rule or two that ask for one find it sooner by themselves.
        """
        name = _asked(css)
        if name is None:
            return False, None
        if name[1] == "id":
            return self._of_id(name)
        if len(self._named) > MOST_NODES:
            return False, None
        place = self.names.places.get(name)
        return True, None if place is None else self._named[place]

    def _of_id(self, name: Named) -> tuple[bool, LexborNode | None]:
        if "ids" not in vars(self) or len(self._with_id) > MOST_NODES:
            return False, None
        node = self._by_id.get(name[2])
        return node is None or node.tag == (name[0] or node.tag), node

    @cached_property
    def _by_id(self) -> dict[str | None, LexborNode]:
        """The first element of each id."""
        return dict(zip(reversed(self.ids), reversed(self._with_id), strict=True))


@dataclass(frozen=True, eq=False)
class Names:
    """What the named elements of a page say, and where the first is that has an attribute of that value."""

    said: frozenset[Said]
    places: dict[Named, int]


def _names_in(said: tuple[Said, ...]) -> Names:
    """What was met is remembered, since a shop's pages name mostly the same elements in the same order."""
    places = {name: place for place in range(len(said) - 1, -1, -1) for name in _names(said[place])}
    return Names(frozenset(said), places)


_names_met = lru_cache(maxsize=64)(_names_in)


def _names(said: Said) -> tuple[Named, ...]:
    """The names that an element can be asked for by."""
    tag = said[0] or ""
    told = zip(NAMED, said[1:], strict=True)
    return tuple(
        (tag, name, value) for name, value in told if value is not None and _holds_all(tag, name)
    )


def _holds_all(tag: str, name: str) -> bool:
    """Whether all elements of that tag with that attribute are among those looked at."""
    return bool(tag) and (name == "itemprop" or tag == "meta")


def is_noted(css: str) -> bool:
    """Whether a selector asks for a name that is looked up on each page anyway.

    >>> is_noted('meta[itemprop="sku"]'), is_noted('[id="sku"]')
    (True, False)
    """
    name = _asked(css)
    return name is not None and name[1] != "id"


@lru_cache(maxsize=16_384)
def _asked(css: str) -> Named | None:
    """The tag, attribute and value that a selector asks for; None where it asks for anything else.

    >>> _asked('meta[itemprop="sku"]'), _asked('div.a > meta[itemprop="sku"]')
    (('meta', 'itemprop', 'sku'), None)
    """
    asked = NAME.fullmatch(css)
    if asked is None:
        return None
    tag, name, value = asked[1] or "", asked[2], asked[3]
    return (tag, name, value) if name == "id" or _holds_all(tag, name) else None
