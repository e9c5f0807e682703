"""The text of an element as a reader sees it: without hidden parts, white space folded."""

from collections.abc import Container

from selectolax.lexbor import LexborNode

from parser.page.ancestors import ancestors_or_self
from parser.page.raised_cents import MAX_CENTS_CHARS, MAY_BE_RAISED, raise_adjacent_cents, raised
from parser.rules.selector import AttributeAt, TextAt

# Characters of an element that are read: a bound against hostile input.
MAX_TEXT_CHARS = 50_000
# Inner elements and texts that are walked through for each character that is read at most, and at
# least. Bound against hostile input: of thousands of nested elements, each is asked for its text.
NODES_PER_CHAR = 4
MIN_NODES = 100
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


def element_text(
    node: LexborNode, max_chars: int = MAX_TEXT_CHARS, skipped: Container[int] = ()
) -> str | None:
    """Return the visible text of an element; None where it has none, or is built of very many
    elements for so short a text.

    Reading stops after the text node that exceeds `max_chars`. The content of inner elements whose
    memory ids are `skipped` is left out. Cents in an element of their own are raised digits.
    """
    only_child = node.first_child
    if only_child is None:
        return None
    # Most elements hold a single text: no need to walk through a subtree.
    if only_child.next is None and only_child.is_text_node and node.tag not in HIDDEN_TAGS:
        return _fold_space(only_child.text_content or "")
    parts: list[str] = []
    # Positions of texts that may be cents: two digits directly behind another element's number.
    adjacent: list[int] = []
    size, has_hidden = 0, node.tag in HIDDEN_TAGS
    max_nodes = NODES_PER_CHAR * max_chars + MIN_NODES
    for count, inner in enumerate(node.traverse(include_text=True)):
        if count > max_nodes:
            return None
        tag = inner.tag
        if tag == TEXT_NODE:
            # The parent is looked up only once a hidden tag was met: each look-up costs.
            if has_hidden and inner.parent is not None and inner.parent.tag in HIDDEN_TAGS:
                continue
            if skipped and any(outer.mem_id in skipped for outer in ancestors_or_self(inner)):
                continue
            text = inner.text_content or ""
            if (
                len(text) <= MAX_CENTS_CHARS
                and parts
                and inner.prev is None
                and MAY_BE_RAISED(text)
            ):
                cents = raised(inner, parts)
                if cents is not None:
                    text = cents
                elif text[0].isdigit() and parts[-1][-1:].isdigit():
                    adjacent.append(len(parts))
            parts.append(text)
            size += len(text)
            if size > max_chars:
                break
        elif tag not in INLINE_TAGS:
            parts.append(" ")
            has_hidden = has_hidden or tag in HIDDEN_TAGS
    return _fold_space(raise_adjacent_cents(parts, adjacent) if adjacent else "".join(parts))


def own_text(node: LexborNode) -> str | None:
    """Return the text that stands in an element itself, without the text of its descendants."""
    children = node.iter(include_text=True)
    texts = [child.text_content or "" for child in children if child.tag == TEXT_NODE]
    return _fold_space(" ".join(texts))


def _fold_space(text: str) -> str | None:
    return " ".join(text.split()) or None
