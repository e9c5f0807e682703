"""The elements around an element, from itself up to the body of the page."""

from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

# Elements that are looked at: a bound against hostile input.
MAX_ANCESTORS = 60
# The document's root has no tag in some trees.
ROOT_TAGS = frozenset(("html", "-undef", None))


def ancestors_or_self(node: LexborNode, count: int = MAX_ANCESTORS) -> Iterator[LexborNode]:
    """Yield an element and those around it, innermost first, at most `count`; the body is last."""
    ancestor: LexborNode | None = node
    for _ in range(count):
        if ancestor is None or ancestor.tag in ROOT_TAGS:
            return
        yield ancestor
        ancestor = ancestor.parent


def path_to_body(node: LexborNode) -> list[int]:
    """Return the ids of an element and of those around it, innermost first."""
    return [ancestor.mem_id for ancestor in ancestors_or_self(node)]


def around_any(nodes: Iterable[LexborNode]) -> set[int]:
    """Return the ids of elements and of all those around them."""
    return set[int]().union(*map(path_to_body, nodes))
