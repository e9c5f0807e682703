"""What a page's markup says of its elements - classes, ids, schema.org names -, and the first element with a name.

One look at the elements of a kind serves twice. The gate tells templates by what is said there; and the selectors that
ask for a name only, such as `meta[itemprop="sku"]`, are answered without another walk through the tree, above all
those that find nothing on a page. What this cannot answer for sure is asked of the engine.
"""

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_NODES = 20_000
CLASSED = "[class]:not(a, li)"
NAMED = ("itemprop", "property", "name")
NAMED_CSS = "meta, [itemprop]"
NAME = re.compile(r"""([a-z][a-z\d]*)?\[(id|itemprop|property|name)="([^"\\]*)"\]""", re.ASCII)

T = TypeVar("T")
Said = tuple[str | None, ...]
Named = tuple[str, str, str]
Places = dict[T, int]


class Seen:
    """What is said on a page; of very large pages only what stands in their first part, which answers no selector.

    `classes`, `ids` and `names` lead from what is said to the place of the first element that says it.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    @cached_property
    def classes(self) -> Places[str | None]:
        """The class attributes, but those of links and list items, which are alike everywhere."""
        return _said(self._tree.css(CLASSED), lambda node: node.attrs.get("class"))

    @cached_property
    def ids(self) -> Places[str | None]:
        """The ids."""
        return _said(self._with_id, lambda node: node.id)

    @cached_property
    def names(self) -> Places[Said]:
        """The tags of what is named, each with its itemprop, property and name."""
        return _said(self._named, _names_of)

    @cached_property
    def types(self) -> Places[tuple[str | None, str | None]]:
        """The tags of what is of a type of schema.org's, each with that."""
        return _said(self._tree.css("[itemtype]"), lambda node: (node.tag, node.attributes.get("itemtype")))

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
        of_id = name[1] == "id"
        if of_id and "ids" not in vars(self):
            return False, None
        nodes = self._with_id if of_id else self._named
        if len(nodes) > MOST_NODES:
            return False, None
        place = self.ids.get(name[2]) if of_id else self._places.get(name)
        if place is None:
            return True, None
        node = nodes[place]
        return not of_id or node.tag == (name[0] or node.tag), node

    @cached_property
    def _places(self) -> Places[Named]:
        """Where the first element of a tag is that has an attribute of that value."""
        return {name: place for said, place in self.names.items() for name in _names(said)}


def _said(nodes: list[LexborNode], says: Callable[[LexborNode], T]) -> Places[T]:
    """Where each thing was said first; what was said last comes first."""
    said = [says(node) for node in nodes[:MOST_NODES]]
    return dict(zip(reversed(said), range(len(said) - 1, -1, -1), strict=True))


def _names_of(node: LexborNode) -> Said:
    said = node.attributes
    return node.tag, said.get("itemprop"), said.get("property"), said.get("name")


@lru_cache(maxsize=16_384)
def _names(said: Said) -> tuple[Named, ...]:
    """The names that an element can be asked for by."""
    tag = said[0] or ""
    told = zip(NAMED, said[1:], strict=True)
    return tuple((tag, name, value) for name, value in told if value is not None and _holds_all(tag, name))


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
