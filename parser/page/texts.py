"""The text of an element, as a reader sees it: what is hidden left out, blocks apart, white space folded."""

from selectolax.lexbor import LexborNode

from parser.rules.selector import STRUCK, UNSTRUCK, AttributeAt, TextAt

LONGEST_TEXT = 50_000
MOST_STRUCK = 100
UNSEEN = frozenset({"script", "style", "template", "noscript"})
INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strong sub sup u var".split()
)


def text_at(node: LexborNode, selector: TextAt | AttributeAt) -> str | None:
    """The text that a selector means at the element that it has found."""
    if isinstance(selector, AttributeAt):
        value = node.attributes.get(selector.name)
        return value.strip() or None if value else None
    if selector.own:
        return own_text(node)
    return text_of(node, unstruck=True) if selector.css.endswith(UNSTRUCK) else text_of(node)


def text_of(node: LexborNode, longest: int = LONGEST_TEXT, *, unstruck: bool = False) -> str | None:
    """The text a reader sees in an element: blocks apart, inline parts joined, white space folded.

    With `unstruck`, without what is struck through.
    """
    alone = node.first_child
    if alone is None:
        return None
    if alone.next is None and alone.is_text_node and node.tag not in UNSEEN:
        return _folded(alone.text_content or "")
    parts: list[str] = []
    gone = _struck(node) if unstruck else ()
    size, hides = 0, node.tag in UNSEEN
    for inner in node.traverse(include_text=True):
        tag = inner.tag
        if tag == "-text":
            if hides and inner.parent is not None and inner.parent.tag in UNSEEN:
                continue
            if gone and inner.mem_id in gone:
                continue
            text = inner.text_content or ""
            parts.append(text)
            size += len(text)
            if size > longest:
                break
        elif tag not in INLINE:
            parts.append(" ")
            hides = hides or tag in UNSEEN
    return _folded("".join(parts))


def _struck(node: LexborNode) -> set[int]:
    """The texts within an element that are struck through."""
    parts = node.css(STRUCK)[:MOST_STRUCK]
    return {
        inner.mem_id
        for part in parts
        for inner in part.traverse(include_text=True)
        if inner.tag == "-text"
    }


def own_text(node: LexborNode) -> str | None:
    """The text that stands in an element itself, not in the elements within it."""
    return _folded(
        " ".join(
            inner.text_content or ""
            for inner in node.iter(include_text=True)
            if inner.tag == "-text"
        )
    )


def _folded(text: str) -> str | None:
    return " ".join(text.split()) or None
