"""Items of an XML feed: cut out of its text one by one, so that a slip costs no more than its item.

An XML parser stops at the first slip, and a recovering one drops an unknown amount behind it: the
rest of the feed, or every later reference. Here the end of each item is searched for by its tags
alone, with comments, CDATA sections and processing instructions skipped. An item whose end cannot
be trusted becomes an `UnreadableRow`, and reading goes on with the next start of an item. Each
start of an item outside another one therefore gives exactly one result.

A comment or CDATA section that is not closed would hide all items up to the end of the next one. It
counts as not closed where another one begins in it behind the end or start of an item.
"""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from catalog.errors import UnreadableFeed
from catalog.feeds.rows import RepairNotice, Row, Rows, UnreadableRow

ITEM_NAMES = ("item", "entry", "product", "offer", "article")
# Characters that are read at once.
CHUNK_SIZE = 1 << 18
# Characters of an item, a comment or a CDATA section. Bound against hostile input.
MAX_ITEM_LENGTH = 8_000_000
# Items of the same name in one item. Behind more, the outer one counts as not closed.
MAX_INNER_ITEMS = 200
# That number behind many items that are not closed. It keeps the work linear.
MIN_INNER_ITEMS = 2
# Different names of items, with their prefixes. Bound against hostile input.
MAX_NAMES = 100
# Characters in which the root element must stand.
MAX_PROLOGUE_LENGTH = 1 << 16
# Characters of a tag's name with its prefix, and of the start of a tag.
MAX_TAG_NAME_LENGTH = 200
# Characters of an unreadable item that are kept.
RAW_LENGTH = 1_000

_NAME = r"[^\W\d][\w.-]{0,80}"
_QNAME = rf"(?:{_NAME}:)?{_NAME}"
_ITEM_NAME = rf"(?:{_NAME}:)?(?:{'|'.join(ITEM_NAMES)})(?=[\s/<>])"
_SECTION = r"!--|!\[CDATA\[|\?"
# A quoted `<` is a slip, but a clear one where no tag begins with it.
_ATTRIBUTES = (
    r"""(?:[^<>"'/]++|/(?!>)|"(?:[^"<]++|<(?![\w/!?]))*+"|'(?:[^'<]++|<(?![\w/!?]))*+')*+"""
)
_ROOT = re.compile(rf"<(?P<name>{_QNAME})(?=[\s/>]){_ATTRIBUTES}(?P<empty>/)?>")
_DECLARATION = re.compile(r"<\?xml\s[^<>]{0,500}\?>")
_DOCUMENT_TYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_IS_ITEM_NAME = re.compile(rf"(?:{_NAME}:)?(?:{'|'.join(ITEM_NAMES)})", re.IGNORECASE)
_ANY_ITEM_TAG = re.compile(rf"</?{_ITEM_NAME}", re.IGNORECASE)
_ANY_ITEM_START = re.compile(rf"<{_ITEM_NAME}", re.IGNORECASE)
_COMMENT_START = "!--"
_TERMINATORS = {_COMMENT_START: "-->", "![CDATA[": "]]>", "?": "?>"}
_SECTION_NAMES = {
    _COMMENT_START: "a comment",
    "![CDATA[": "a CDATA section",
    "?": "a processing instruction",
}


@dataclass(frozen=True)
class Item:
    """An item's source text; `attributes` is the text of its start tag behind the name, `content`
    the text between its tags.
    """

    line: int
    attributes: str
    content: str
    raw: str


@dataclass(frozen=True)
class _End:
    """The end of an item or a section, as a position; `reason` says why it cannot be trusted.

    `first_inner` is the position of the first item of the same name inside an item.
    """

    position: int
    reason: str = ""
    first_inner: int | None = None


@dataclass(frozen=True)
class _ItemPatterns:
    """Patterns for the tags of one item name: its whole start tag, its end tag, the beginnings of
    its start tag and of any of its tags, and these with sections.
    """

    start: re.Pattern[str]
    end: re.Pattern[str]
    open: re.Pattern[str]
    tag: re.Pattern[str]
    markup: re.Pattern[str]


@lru_cache(maxsize=64)
def _item_patterns(name: str) -> _ItemPatterns:
    escaped = re.escape(name)
    return _ItemPatterns(
        start=re.compile(rf"<{escaped}(?P<attributes>{_ATTRIBUTES})(?P<empty>/)?>", re.IGNORECASE),
        end=re.compile(rf"</{escaped}\s*>", re.IGNORECASE),
        markup=re.compile(
            rf"<(?:(?P<section>{_SECTION})|(?P<close>/)?{escaped}(?=[\s/<>]))", re.IGNORECASE
        ),
        open=re.compile(rf"<{escaped}(?=[\s/<>])", re.IGNORECASE),
        tag=re.compile(rf"</?{escaped}(?=[\s/<>])", re.IGNORECASE),
    )


class _ForwardSearch:
    """Searches in a text for its own words and patterns, from positions that mostly grow.

    The last result of each is kept: markup that lacks an end would else be searched for that end
    again and again, in quadratic time.
    """

    def __init__(self) -> None:
        # By word or pattern: where the last search began, and what it found (-1: nothing).
        self._results: dict[str | re.Pattern[str], tuple[int, int]] = {}

    def forget(self) -> None:
        """Forget all results: positions have changed."""
        self._results.clear()

    def forget_failures(self) -> None:
        """Forget that something was not found: the text has grown."""
        successes = {key: result for key, result in self._results.items() if result[1] >= 0}
        self._results = successes

    def find(self, sought: str | re.Pattern[str], text: str, position: int) -> int:
        """Return the position of a word or pattern from a position on; -1 where there is none."""
        begin, result = self._results.get(sought, (-1, -2))
        if 0 <= begin <= position and (result == -1 or position <= result):
            return result
        if isinstance(sought, str):
            result = text.find(sought, position)
        else:
            match = sought.search(text, position)
            result = match.start() if match else -1
        self._results[sought] = (position, result)
        return result


class ItemReader:
    """Reader of the items of one feed: `parse` makes a row of each, `notice` is called where the
    reader steps over a slip.
    """

    def __init__(
        self,
        stream: io.TextIOBase,
        path: Path,
        parse: Callable[[Item], Row | UnreadableRow],
        notice: RepairNotice,
    ) -> None:
        self._stream = stream
        self._path = path
        self._parse = parse
        self._notice = notice
        self._text = ""
        self._at_end = False
        self._search_memory = _ForwardSearch()
        self._names = set[str]()
        self._root_name = ""
        self._max_inner_items = MAX_INNER_ITEMS
        # Line of the position up to which lines are counted.
        self._line = 1
        self._counted = 0
        # Position behind the last item: the text from there on belongs to none.
        self._gap_start = 0

    def __iter__(self) -> Rows:
        position = self._skip_prologue()
        root = self._match_root(position)
        root_name = self._root_name = root["name"]
        if _IS_ITEM_NAME.fullmatch(root_name):
            # The whole feed is one item.
            result, end = self._read_item(position, root_name)
            yield result
            if isinstance(result, UnreadableRow) and end >= len(self._text):
                raise self._cut_short(root_name)
            return
        yield from self._read_items(root.end(), root_name, is_open=not root["empty"])

    def _match_root(self, position: int) -> re.Match[str]:
        while True:
            root = _ROOT.match(self._text, position)
            if root is not None:
                return root
            if self._at_end or len(self._text) > MAX_ITEM_LENGTH:
                raise UnreadableFeed(f"{self._path} is no XML: it has no root element")
            self._read_more()

    def _skip_prologue(self) -> int:
        """Skip all that stands before the root element. Raises UnreadableFeed for a document
        type.
        """
        while len(self._text) < MAX_PROLOGUE_LENGTH and not self._at_end:
            self._read_more()
        first_item = _ANY_ITEM_TAG.search(self._text, 0, MAX_PROLOGUE_LENGTH)
        limit = first_item.start() if first_item else MAX_PROLOGUE_LENGTH
        declaration = _DECLARATION.search(self._text, 0, limit)
        position = declaration.end() if declaration else 0
        if declaration and self._text[: declaration.start()].strip(" \t\r\n\ufeff"):
            self._notice("XML repaired: text before the declaration")
        while True:
            start = self._text.find("<", position, MAX_PROLOGUE_LENGTH)
            if start < 0:
                return position
            if _DOCUMENT_TYPE.match(self._text, start):
                raise UnreadableFeed(
                    f"{self._path} declares a document type or entities, which no feed needs: "
                    f"remove the declaration"
                )
            section = _section_at(self._text, start)
            if section is None:
                return start
            end = self._text.find(_TERMINATORS[section], start + 1 + len(section))
            if end < 0:
                return start
            position = end + len(_TERMINATORS[section])

    def _read_items(self, position: int, root_name: str, *, is_open: bool) -> Rows:
        tag = re.compile(
            rf"<(?:(?P<section>{_SECTION})|(?P<close>/)?(?:(?P<item>{_ITEM_NAME})"
            rf"|(?P<root>{re.escape(root_name)}(?=[\s/<>]))))",
            re.IGNORECASE,
        )
        self._gap_start = position
        while True:
            match = tag.search(self._text, position)
            # A tag at the end of what is read may go on behind it.
            is_cut = match is None or match.end() + MAX_TAG_NAME_LENGTH > len(self._text)
            if is_cut and not self._at_end:
                position = match.start() if match else self._last_possible_start(position)
                position = self._drop(position)
                self._read_more()
                continue
            if match is None:
                break
            if match["section"]:
                end = self._find_section_end(match.start(), match["section"], _ANY_ITEM_TAG)
                if end.reason:
                    self._notice(f"XML repaired: {_SECTION_NAMES[match['section']]} not closed")
                position = end.position
            elif match["root"]:
                is_open = not match["close"]
                position = match.end()
            elif match["close"]:
                yield from self._refuse_gap(match)
                position = self._gap_start = match.end()
            else:
                result, position = self._read_item(match.start(), match["item"])
                yield result
                position = self._gap_start = self._drop(position)
        if is_open:
            raise self._cut_short(root_name)

    def _last_possible_start(self, position: int) -> int:
        return max(position, len(self._text) - MAX_TAG_NAME_LENGTH)

    def _refuse_gap(self, match: re.Match[str]) -> Iterator[UnreadableRow]:
        """Refuse what stands between two items if it ends as an item: its start tag is broken."""
        gap = self._text[max(self._gap_start, 0) : match.start()]
        if not gap.strip():
            self._notice(f"XML repaired: {match[0]}> without a start")
            return
        line = self._line_of(match.start())
        yield UnreadableRow(line, f"has {match[0]}> without a start", gap.strip()[-RAW_LENGTH:])

    def _read_item(self, start: int, name: str) -> tuple[Row | UnreadableRow, int]:
        """Read the item that starts at a position; returns it and the position behind it."""
        self._add_name(name)
        patterns = _item_patterns(name)
        end = self._find_item_end(start, name, patterns)
        line = self._line_of(start)
        raw = self._text[start : end.position]
        if end.reason:
            return UnreadableRow(line, end.reason, raw[:RAW_LENGTH]), end.position
        tag = patterns.start.match(raw)
        if tag is None:
            reason = f"has a start tag <{name}> that is not well-formed"
            return UnreadableRow(line, reason, raw[:RAW_LENGTH]), end.position
        content_end = len(raw) if tag["empty"] else raw.rindex("</")
        content = raw[tag.end() : content_end]
        row = self._parse(Item(line, tag["attributes"], content, raw[:RAW_LENGTH]))
        if isinstance(row, Row) or end.first_inner is None:
            return row, end.position
        # The items inside may be others behind one that is not closed: they are read too.
        self._expect_fewer_inner_items()
        raw = self._text[start : end.first_inner]
        return UnreadableRow(line, row.reason, raw[:RAW_LENGTH]), end.first_inner

    def _add_name(self, name: str) -> None:
        self._names.add(name)
        if len(self._names) > MAX_NAMES:
            raise UnreadableFeed(f"{self._path} has items of more than {MAX_NAMES} names")

    def _find_item_end(self, start: int, name: str, patterns: _ItemPatterns) -> _End:
        plain_end = f"</{name}>"
        while True:
            end = self._find_next(plain_end, start)
            if end >= 0:
                break
            if self._at_end or len(self._text) - start > MAX_ITEM_LENGTH:
                return self._walk_to_item_end(start, name, patterns)
            self._read_more()
        end += len(plain_end)
        if self._is_simple(start, end, name, patterns):
            return _End(end)
        return self._walk_to_item_end(start, name, patterns)

    def _is_simple(self, start: int, end: int, name: str, patterns: _ItemPatterns) -> bool:
        """Return True if no other item and no unfinished section stands in a range of the text."""
        text = self._text
        if 0 <= self._find_next("<?", start) < end or 0 <= self._find_next("<!--", start) < end:
            return False
        if 0 <= self._find_next("<!", start) < end and not self._are_cdata_closed(start, end):
            return False
        first = text.find(f"<{name}", start + 1, end)
        if first >= 0 and patterns.open.search(text, first, end):
            return False
        tag = patterns.start.match(text, start, end)
        return tag is not None and not tag["empty"]

    def _are_cdata_closed(self, start: int, end: int) -> bool:
        """Return True if each CDATA section of a range is closed in it."""
        position = start
        while True:
            position = self._text.find("<!", position, end)
            if position < 0:
                return True
            if not self._text.startswith("<![CDATA[", position):
                position += 2
                continue
            position = self._find_next("]]>", position)
            if not 0 <= position < end:
                return False

    def _walk_to_item_end(self, start: int, name: str, patterns: _ItemPatterns) -> _End:
        """Find the end of an item by walking over all its markup."""
        tag = patterns.start.match(self._text, start)
        if tag is None:
            reason = f"has a start tag <{name}> that is not well-formed"
            return _End(self._start_of_next(start + 1, patterns), reason)
        if tag["empty"]:
            return _End(tag.end())
        end = self._walk(start, tag.end(), name, patterns)
        # Behind items that are not closed, the next one is likely not closed either.
        if end.reason:
            self._expect_fewer_inner_items()
        else:
            self._max_inner_items = min(self._max_inner_items * 2, MAX_INNER_ITEMS)
        return end

    def _expect_fewer_inner_items(self) -> None:
        self._max_inner_items = max(self._max_inner_items // 2, MIN_INNER_ITEMS)

    def _walk(self, start: int, position: int, name: str, patterns: _ItemPatterns) -> _End:
        depth = 1
        first_inner: int | None = None
        inner_items = 0
        while True:
            match = self._search(patterns.markup, position, start)
            if match is None:
                too_long = not self._at_end
                return self._give_up(start, name, first_inner, patterns, too_long=too_long)
            if match["section"]:
                section = self._find_section_end(match.start(), match["section"], patterns.tag)
                if section.reason:
                    end = first_inner or self._start_of_next(match.end(), patterns)
                    return _End(end, section.reason)
                position = section.position
                continue
            position = match.end()
            if match["close"]:
                depth -= 1
                if depth == 0:
                    close = patterns.end.match(self._text, match.start())
                    end = close.end() if close else position
                    return _End(end, first_inner=first_inner)
                continue
            inner = patterns.start.match(self._text, match.start())
            if inner and inner["empty"]:
                position = inner.end()
                continue
            depth += 1
            inner_items += 1
            first_inner = first_inner or match.start()
            if inner_items > self._max_inner_items:
                return self._give_up(start, name, first_inner, patterns, too_long=False)

    def _give_up(
        self,
        start: int,
        name: str,
        first_inner: int | None,
        patterns: _ItemPatterns,
        *,
        too_long: bool,
    ) -> _End:
        """Refuse an item without an end: it goes to the next start of one."""
        reason = f"has no end: <{name}> is not closed"
        if first_inner is not None:
            return _End(first_inner, reason)
        if too_long:
            end = self._start_of_next(start + 1, patterns)
            return _End(end, f"is longer than {MAX_ITEM_LENGTH:,} characters")
        next_start = self._find_next(_ANY_ITEM_START, start + 1)
        if next_start >= 0:
            return _End(next_start, reason)
        return _End(self._end_of_root(start), reason)

    def _end_of_root(self, start: int) -> int:
        """Return the position of the root's end tag, or of the text's end where it has none."""
        position = self._text.rfind(f"</{self._root_name}", start)
        return position if position >= 0 else len(self._text)

    def _start_of_next(self, position: int, patterns: _ItemPatterns) -> int:
        """Return the position of the next start of an item, or behind its next end if that comes
        first.
        """
        while True:
            start = self._find_next(patterns.open, position)
            end = self._find_next(patterns.end, position)
            if end >= 0 and not 0 <= start < end:
                return self._text.index(">", end) + 1
            if start >= 0:
                return start
            if self._at_end:
                return self._end_of_root(position)
            position = self._last_possible_start(position)
            self._read_more()

    def _find_section_end(self, start: int, section: str, boundary: re.Pattern[str]) -> _End:
        """Find the end of a comment, CDATA section or processing instruction.

        With a reason where it is not closed; the position is then right behind its start.
        """
        section = section.upper()
        terminator = _TERMINATORS[section]
        inside = start + 1 + len(section)
        end = self._find(terminator, inside, start)
        if end is None:
            return _End(inside, f"has {_SECTION_NAMES[section]} that is not closed")
        # `<!-->` begins a comment and ends one. An instruction never runs over an item's tag.
        again = end if section == "?" else self._text.rfind(f"<{section}", inside, end + 2)
        if again >= 0 and 0 <= self._find_next(boundary, inside) < again:
            return _End(inside, f"has {_SECTION_NAMES[section]} that is not closed")
        return _End(end + len(terminator))

    def _search(self, pattern: re.Pattern[str], position: int, start: int) -> re.Match[str] | None:
        """Search in the text, reading on where needed; None at its end, or where the item gets too
        long.
        """
        while True:
            match = pattern.search(self._text, position)
            is_cut = match is None or match.end() + MAX_TAG_NAME_LENGTH > len(self._text)
            if not is_cut or self._at_end:
                return match
            if len(self._text) - start > MAX_ITEM_LENGTH:
                return None
            position = match.start() if match else self._last_possible_start(position)
            self._read_more()

    def _find(self, terminator: str, position: int, start: int) -> int | None:
        while True:
            end = self._find_next(terminator, position)
            if end >= 0:
                return end
            if self._at_end or len(self._text) - start > MAX_ITEM_LENGTH:
                return None
            position = max(position, len(self._text) - len(terminator))
            self._read_more()

    def _find_next(self, sought: str | re.Pattern[str], position: int) -> int:
        return self._search_memory.find(sought, self._text, position)

    def _read_more(self) -> None:
        # Reading as much again as there is keeps the work for a long item linear.
        chunk = self._stream.read(max(CHUNK_SIZE, len(self._text)))
        self._at_end = not chunk
        self._text += chunk
        self._search_memory.forget_failures()

    def _drop(self, position: int) -> int:
        """Drop the text before a position once it is long; returns the position after the cut."""
        if position < CHUNK_SIZE // 2:
            return position
        self._line_of(position)
        self._text = self._text[position:]
        self._counted -= position
        self._gap_start -= position
        self._search_memory.forget()
        return 0

    def _line_of(self, position: int) -> int:
        if position > self._counted:
            self._line += self._text.count("\n", self._counted, position)
            self._counted = position
        return self._line

    def _cut_short(self, root_name: str) -> UnreadableFeed:
        line = self._line_of(len(self._text))
        return UnreadableFeed(
            f"{self._path} is cut short at line {line}: <{root_name}> is not closed; fetch it again"
        )


def _section_at(text: str, position: int) -> str | None:
    for section in _TERMINATORS:
        if text.startswith(section, position + 1):
            return section
    return None
