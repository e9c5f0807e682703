"""The text of an element as a reader sees it: without hidden parts, white space folded."""

from selectolax.lexbor import LexborNode

from parser.rules.selector import AttributeAt, TextAt

# Characters of an element that are read: a bound against hostile input.
MAX_TEXT_CHARS = 50_000
HIDDEN_TAGS = frozenset({"script", "style", "template", "noscript"})
# Elements that a browser renders without a break (HTML Standard, phrasing content): no blank is
# inserted around them.
INLINE_TAGS = frozenset(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark "
    "q s samp small span strong sub sup u var".split()
)
TEXT_NODE = "-text"


def selected_text(node: LexborNode, selector: TextAt | AttributeAt) -> str | None:
    """Return the text that a selector reads from the element it has matched."""
    if isinstance(selector, AttributeAt):
        value = node.attributes.get(selector.name)
        return value.strip() or None if value else None
    if selector.own:
        return own_text(node)
    return element_text(node)


def element_text(node: LexborNode, max_chars: int = MAX_TEXT_CHARS) -> str | None:
    """Return the visible text of an element; None where it has none.

    Reading stops after the text node that exceeds `max_chars`.
    """
    only_child = node.first_child
    if only_child is None:
        return None
    # Most elements hold a single text: no need to walk through a subtree.
    if only_child.next is None and only_child.is_text_node and node.tag not in HIDDEN_TAGS:
        return _fold_space(only_child.text_content or "")
    parts: list[str] = []
    size, has_hidden = 0, node.tag in HIDDEN_TAGS
    for inner in node.traverse(include_text=True):
        tag = inner.tag
        if tag == TEXT_NODE:
            # The parent is looked up only once a hidden tag was met: each look-up costs.
            if has_hidden and inner.parent is not None and inner.parent.tag in HIDDEN_TAGS:
                continue
            text = inner.text_content or ""
            parts.append(text)
            size += len(text)
            if size > max_chars:
                break
        elif tag not in INLINE_TAGS:
            parts.append(" ")
            has_hidden = has_hidden or tag in HIDDEN_TAGS
    return _fold_space("".join(parts))


def own_text(node: LexborNode) -> str | None:
    """Return the text that stands in an element itself, without the text of its descendants."""
    children = node.iter(include_text=True)
    texts = [child.text_content or "" for child in children if child.tag == TEXT_NODE]
    return _fold_space(" ".join(texts))


def _fold_space(text: str) -> str | None:
    return " ".join(text.split()) or None
