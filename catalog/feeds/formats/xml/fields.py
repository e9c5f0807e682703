"""Fields of an XML item: its elements as texts by column name, read leniently.

Whatever is no tag, reference or section by XML's grammar is text: a bare `<` or `&`, `<100 cm`,
`&nbsp` without its semicolon. A tag inside a field that is never closed is text as well. An item is
refused where a field of its own is not closed, or is closed without a start, since its value could
then stand in another field.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from catalog.feeds.columns import usual_field
from catalog.feeds.formats.xml.references import (
    local_name,
    read_attributes,
    resolve_references,
)
from catalog.feeds.rows import MAX_DEPTH, MAX_TEXTS, RepairNotice, Texts, no_notice

# Characters of a tag name that a reason quotes.
MAX_QUOTED_LENGTH = 40
# Comments and sections of an item that are not closed; bound against hostile input.
MAX_UNCLOSED = 100

_NAME = r"[^\W\d][\w.-]*+(?::[\w.-]++)?+"
_ATTRIBUTE = r"""\s++[^\s=<>"'/]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')"""
# An element with nothing but text in it.
_LEAF = re.compile(
    rf"\s*+<({_NAME})>(?:([^<]*+)|\s*+<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)\]\]>\s*+)</\1\s*+>"
)
_TOKEN = re.compile(
    rf"<(?:!--(?P<comment>.*?)-->|!\[CDATA\[(?P<cdata>.*?)\]\]>|\?(?P<pi>[^<]*?)\?>"
    rf"|/(?P<end>{_NAME})\s*+>|(?P<start>{_NAME})(?P<attributes>(?:{_ATTRIBUTE})*+)\s*+"
    rf"(?P<empty>/)?>)",
    re.DOTALL,
)
_MARKUP_FIELDS = ("title", "description")
_HTML_NAMES = frozenset(
    (
        "a abbr address article b big blockquote br center code dd del div dl dt em font h1 h2 h3 "
        "h4 h5 h6 header hr i img ins li meta ol p pre s script section small span strike strong "
        "style sub sup table tbody td tfoot th thead tr tt u ul"
    ).split()
)


@dataclass(slots=True)
class _Token:
    """A piece of an item's content: a text, or a tag; `partner` is the index of a start tag's end.

    A start tag without a partner is text.
    """

    name: str
    text: str
    start: int
    end: int
    attributes: str = ""
    is_start: bool = False
    is_end: bool = False
    partner: int = -1


def read_fields(attributes: str, content: str, notice: RepairNotice = no_notice) -> Texts | str:
    """Read the texts of an item by column name; returns the reason where it cannot be trusted.

    `notice` is called with each slip that is read as text.

    >>> read_fields(' id="7"', "<name>Nut &amp; bolt <3</name><g:price>3</g:price>")
    {'id': ['7'], 'name': ['Nut & bolt <3'], 'price': ['3']}
    >>> read_fields("", "<name>Nut<price>3</price>")
    'has <name> that is not closed'
    """
    texts = read_attributes(attributes, notice)
    position = 0
    # Most items hold nothing but leaves.
    while leaf := _LEAF.match(content, position):
        name, text, cdata = leaf.groups()
        value = cdata if text is None else resolve_references(text, notice)
        _add(texts, local_name(name), value)
        position = leaf.end()
    if not content[position:].strip():
        return texts
    return _read_all(content[position:], texts, notice)


def _read_all(content: str, texts: Texts, notice: RepairNotice) -> Texts | str:
    for start, end in (("<!--", "-->"), ("<![CDATA[", "]]>")):
        # Each one that is not closed costs a look at everything behind it.
        if content.count(start, content.rfind(end) + 1) > MAX_UNCLOSED:
            return f"has more than {MAX_UNCLOSED} {start} without {end}"
    tokens = _tokenise(content, notice)
    problem = _pair_tags(tokens)
    if problem:
        return problem
    children = list(_children(tokens, 0, len(tokens)))
    if _has_broken_tag(tokens, children):
        return "has a tag that is not well-formed"
    for index in children:
        _collect(texts, local_name(tokens[index].name), tokens, index, content, MAX_DEPTH)
    return texts


def _tokenise(content: str, notice: RepairNotice) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    for match in _TOKEN.finditer(content):
        if match.start() > position:
            tokens.append(_text_token(content, position, match.start(), notice))
        position = match.end()
        start, end = match.span()
        if match["start"]:
            token = _Token(match["start"], match[0], start, end, match["attributes"], is_start=True)
            if match["empty"]:
                token.partner = len(tokens)
            tokens.append(token)
        elif match["end"]:
            tokens.append(_Token(match["end"], "", start, end, is_end=True))
        elif match["cdata"]:
            tokens.append(_Token("", match["cdata"], start, end))
    if position < len(content):
        tokens.append(_text_token(content, position, len(content), notice))
    return tokens


def _text_token(content: str, start: int, end: int, notice: RepairNotice) -> _Token:
    text = content[start:end]
    if "<" in text:
        notice("XML repaired: a bare <")
    return _Token("", resolve_references(text, notice), start, end)


def _pair_tags(tokens: list[_Token]) -> str:
    """Set the partners of all start tags that are closed; returns a problem, if there is one."""
    open_indices: list[int] = []
    open_names: Counter[str] = Counter()
    for index, token in enumerate(tokens):
        if token.is_start and token.partner < 0:
            open_indices.append(index)
            open_names[token.name] += 1
        if not token.is_end:
            continue
        if not open_names[token.name]:
            if not open_indices:
                return f"has </{token.name[:MAX_QUOTED_LENGTH]}> without a start"
            continue
        while True:
            start = open_indices.pop()
            open_names[tokens[start].name] -= 1
            if tokens[start].name == token.name:
                tokens[start].partner = index
                break
    if open_indices:
        return f"has <{tokens[open_indices[0]].name[:MAX_QUOTED_LENGTH]}> that is not closed"
    return ""


def _children(tokens: list[_Token], start: int, end: int) -> Iterator[int]:
    """Yield the indices of the elements between two indices that are not inside another one."""
    index = start
    while index < end:
        if tokens[index].partner >= 0:
            yield index
            index = tokens[index].partner
        index += 1


def _collect(
    texts: Texts, name: str, tokens: list[_Token], index: int, content: str, depth: int
) -> None:
    element = tokens[index]
    last = element.partner
    children = list(islice(_children(tokens, index + 1, last), MAX_TEXTS)) if depth else []
    if children and _is_markup(name, tokens, index, children):
        field = usual_field(name)
        if field == "description":
            value = content[element.end : tokens[last].start]
        else:
            value = _text_between(tokens, index + 1, last)
        children = []
    elif children:
        value = ""
    else:
        value = _text_between(tokens, index + 1, last)
    # Atom writes a link's URL as an attribute.
    if name == "link" and not value.strip():
        attributes = read_attributes(element.attributes)
        if attributes.get("rel", ["alternate"]) == ["alternate"]:
            value = attributes.get("href", [""])[0]
    _add(texts, name, value)
    for child in children:
        child_name = f"{name}.{local_name(tokens[child].name)}"
        _collect(texts, child_name, tokens, child, content, depth - 1)


def _has_broken_tag(tokens: list[_Token], children: list[int]) -> bool:
    """Return True if a `<` stands between the fields of an item: a field or its end is lost."""
    position = 0
    for child in [*children, len(tokens)]:
        if any("<" in token.text for token in tokens[position:child]):
            return True
        if child < len(tokens):
            position = tokens[child].partner + 1
    return False


def _is_markup(name: str, tokens: list[_Token], index: int, children: list[int]) -> bool:
    """Return True if an element holds a text with tags in it rather than fields."""
    position = index + 1
    for child in [*children, tokens[index].partner]:
        for token in tokens[position:child]:
            is_text = not token.is_end and token.partner < 0
            if is_text and token.text.strip():
                return True
        position = tokens[child].partner + 1
    if usual_field(name) not in _MARKUP_FIELDS:
        return False
    return all(tokens[child].name.lower() in _HTML_NAMES for child in children)


def _text_between(tokens: list[_Token], start: int, end: int) -> str:
    # The text of a tag that has a partner is no text.
    return "".join(token.text for token in tokens[start:end] if token.partner < 0)


def _add(texts: Texts, name: str, value: str) -> None:
    if not value.strip():
        return
    column = texts.setdefault(name, [])
    if len(column) < MAX_TEXTS:
        column.append(value)
