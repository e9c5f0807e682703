"""A page opened once: its tree, its blocks of data, its texts - each made at most once, and only when asked for."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from catalog.errors import RuleError
from catalog.html import as_utf8, open_html
from catalog.values.category import SEPARATOR
from parser.page.element_index import Seen
from parser.page.labels import text_behind
from parser.page.product_scope import Owner
from parser.page.texts import LONGEST_TEXT, text_at, text_of
from parser.rules.selector import CONTENT, AnySelector, JsonAt, TextAt
from parser.rules.trim import named_in
from parser.scripts.block_lookup import Sought
from parser.scripts.blocks import Block, Scripts, blocks_at, scripts_of
from parser.scripts.syntax.jsonpath import compile_path
from url_cleaner.urls.link import absolute

MOST_STEPS = 12
LONGEST_STEP = 200
MOST_ENTRIES = 400
MOST_TEMPLATES = 50
MOST_LABELS = 3_000


class Document:
    """A page as learner, parser and inspector see it. Raises HostilePage where it is made to be slow.

    A page that is `trusted` was opened before, when it was crawled, and is not looked at for that again.
    """

    def __init__(
        self, body: bytes | str, url: str, content_type: str | None = None, *, trusted: bool = False
    ) -> None:
        self.url = url
        markup = body if isinstance(body, str) else as_utf8(body, content_type)
        self.tree: LexborHTMLParser = open_html(markup, trusted=trusted)
        self._in_place: dict[tuple[str, str], list[Any]] = {}
        self._behind: dict[tuple[str, str], str | None] = {}

    @cached_property
    def seen(self) -> Seen:
        """What its markup says of its elements."""
        return Seen(self.tree)

    @cached_property
    def scripts(self) -> Scripts:
        """The scripts that hold text."""
        return scripts_of(self.tree)

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks of data in scripts."""
        return self.scripts.blocks()

    @cached_property
    def sought(self) -> Sought:
        """The data in its scripts, to be asked for by name."""
        return Sought(self.scripts)

    @cached_property
    def base(self) -> str:
        """The address that relative ones on the page start from: what its head says, else its own."""
        head = self.tree.head
        said = None if head is None else head.css_first("base[href]")
        return self.url if said is None else _base(self.url, said.attrs.get("href") or "")

    @cached_property
    def owner(self) -> Owner:
        """What tells the page's own data from other products'."""
        return Owner(self.tree, self.seen, self.url)

    def find(self, selector: AnySelector) -> str | None:
        """The first value where the selector points, as text; None where there is none. Raises RuleError."""
        if isinstance(selector, JsonAt):
            return self.find_data(selector)
        if isinstance(selector, TextAt) and selector.of_many:
            return self._of_many(selector)
        node = self.first(selector.css)
        return None if node is None else text_at(node, selector)

    def _of_many(self, selector: TextAt) -> str | None:
        if selector.behind:
            return self.behind(selector.css, selector.behind)
        return self.entry(selector) if selector.named_in else self.joined(selector.css)

    def behind(self, css: str, label: str) -> str | None:
        """The text behind the first label among the elements that `css` finds; looked for once. Raises RuleError."""
        if (css, label) not in self._behind:
            self._behind[css, label] = text_behind(self.all(css)[:MOST_LABELS], label)
        return self._behind[css, label]

    def joined(self, css: str) -> str | None:
        """The texts of all elements that `css` finds, as the steps of a path. Raises RuleError."""
        texts = (text_of(node, LONGEST_STEP) for node in self.all(css)[:MOST_STEPS])
        return SEPARATOR.join(text for text in texts if text) or None

    def entry(self, selector: TextAt) -> str | None:
        """The text of the element that another one names; none that is all of the other. Raises RuleError."""
        said = self.first(selector.named_in)
        text = text_of(said, LONGEST_STEP) if said is not None else None
        if not text:
            return None
        entries = (text_of(node, LONGEST_STEP) for node in self.all(selector.css)[:MOST_ENTRIES])
        words = dict.fromkeys(entry for entry in entries if entry and 2 < len(entry) < len(text))
        return named_in(text, tuple(words))

    def all(self, css: str) -> list[LexborNode]:
        """All elements that `css` finds. Raises RuleError where it is no selector."""
        outer, _, inner = css.partition(CONTENT)
        try:
            return self._in_templates(outer, inner) if inner else self.tree.css(css)
        except (SelectolaxError, ValueError) as error:
            raise RuleError(f"not a CSS selector: {css!r}") from error

    def first(self, css: str) -> LexborNode | None:
        """The first element that `css` finds. Raises RuleError where it is no selector."""
        known, node = self.seen.first(css)
        if known:
            return node
        if CONTENT in css:
            return next(iter(self.all(css)), None)
        try:
            return self.tree.css_first(css)
        except (SelectolaxError, ValueError) as error:
            raise RuleError(f"not a CSS selector: {css!r}") from error

    def _in_templates(self, outer: str, inner: str) -> list[LexborNode]:
        """What `inner` finds in the templates that `outer` finds: their content is no part of the tree.

        What is no selector is an error on pages without templates too.
        """
        contents = [
            part
            for node in self.tree.css(outer)[:MOST_TEMPLATES]
            for part in node.template_fragments()
        ]
        if not contents:
            self.tree.css_first(inner)
        return [node for part in contents for node in part.css(inner)]

    def find_data(self, selector: JsonAt) -> str | None:
        """The first value where the selector points, in the blocks or in the attributes that it names.

        Where it joins values, those of the first block that has any.
        """
        values = compile_path(selector.path)
        return (joined_scalars if selector.join else first_scalar)(self.data_of(selector), values)

    def data_of(self, selector: JsonAt) -> Iterable[Any]:
        """The data that the selector's path starts from: in place, or of each block of that name in the scripts.

        Without other products' data, which stands there, too.
        """
        return self.owner.own(self._all_data_of(selector))

    def another_at(self, selector: AnySelector) -> str | None:
        """The name of another product whose data the selector points at; that is left out."""
        blocks = self._all_data_of(selector) if isinstance(selector, JsonAt) else ()
        return next((name for data in blocks if (name := self.owner.another(data))), None)

    def _all_data_of(self, selector: JsonAt) -> Iterable[Any]:
        return self._data_at(selector) if selector.in_place else self.sought.data(selector)

    def _data_at(self, selector: JsonAt) -> list[Any]:
        place = (selector.css, selector.block)
        if place not in self._in_place:
            self._in_place[place] = blocks_at(self.all(selector.css), selector.block)
        return self._in_place[place]


def _base(url: str, href: str) -> str:
    """The base that a page names, where addresses can start from it."""
    base = absolute(url, href.strip()) or ""
    return base if base.startswith(("https://", "http://")) else url


def refuse_unusable(selectors: Iterable[AnySelector]) -> None:
    """Raises RuleError where one of these is no CSS selector or no JSONPath."""
    page = Document("", "")
    for one in selectors:
        page.all(one.css)
        page.find(one)


def first_scalar(blocks: Iterable[Any], values: Callable[[Any], Iterable[Any]]) -> str | None:
    """The first text among the values that a path leads to in blocks of data; none where a block before is empty there.

    Pages hold a block of that name for each product beside theirs, and what theirs leaves empty is not the next one's.
    """
    for data in blocks:
        is_empty = False
        for value in values(data):
            text = scalar(value)
            if text:
                return text
            is_empty = is_empty or not value or isinstance(value, str)
        if is_empty:
            return None
    return None


def joined_scalars(blocks: Iterable[Any], values: Callable[[Any], Iterable[Any]]) -> str | None:
    """The texts among the values that a path leads to in the first block that has any, as the steps of a path."""
    for data in blocks:
        texts = (scalar(value) for value in islice(values(data), MOST_STEPS))
        steps = [text[:LONGEST_STEP] for text in texts if text]
        if steps:
            return SEPARATOR.join(steps)
    return None


def scalar(value: Any) -> str | None:
    """A value of JSON as text; the first of a list of values; None for objects, null and nothing.

    Half of a sign, as JavaScript leaves where it cuts an emoji, is dropped: no store takes it.

    >>> scalar(12.5), scalar(["a", "b"]), scalar({}), scalar(True), scalar("Blue \\ud83d")
    ('12.5', 'a', None, 'true', 'Blue')
    """
    if not isinstance(value, str):
        if isinstance(value, list):
            value = value[0] if value else None
        if value is None or isinstance(value, dict | list):
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
    text = str(value).strip()[:LONGEST_TEXT]
    return (
        text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8").strip()
    ) or None
