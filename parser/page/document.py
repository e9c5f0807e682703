"""A page that is opened once: its tree, data blocks and texts, computed when needed."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from propcache.api import cached_property
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from catalog.errors import RuleError
from catalog.html import open_html, to_utf8
from catalog.models import Attribute
from catalog.runtime.page_marker import NO_PAGE, mark_page
from catalog.values import normalise
from catalog.values.category import SEPARATOR
from parser.page.cards import Cards, base_url
from parser.page.element_index import ElementIndex
from parser.page.labels import labelled_text
from parser.page.struck_prices import MAX_OLD_PRICES, find_price, struck_near
from parser.page.texts import MAX_TEXT_CHARS, element_text, selected_text
from parser.rules.selector import CONTENT, AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.block_lookup import DataQuery, ScriptIndex, data_query
from parser.scripts.blocks import Block, Scripts, blocks_at, scripts_of
from parser.scripts.price_specifications import list_prices
from parser.scripts.schema_org import SCHEMA_ORG, thing_name
from parser.scripts.script_cache import ScriptCache
from parser.scripts.syntax.jsonpath import compile_path

# Bounds against hostile input: steps of a path, templates and labels of a page.
MAX_STEPS = 12
MAX_STEP_CHARS = 200
MAX_TEMPLATES = 50
MAX_LABELS = 3_000


class Document:
    """A page as learner, parser and inspector see it; its finders raise RuleError.

    Raises HostilePage where it is made to be slow. A `trusted` page was checked for that when it
    was crawled, and is not checked again. Pages of one shop share a `script_cache`: most of their
    code is the same. `page_id` is the row of a stored page.
    """

    def __init__(
        self,
        body: bytes | str,
        url: str,
        content_type: str | None = None,
        *,
        trusted: bool = False,
        script_cache: ScriptCache | None = None,
        page_id: int = NO_PAGE,
    ) -> None:
        self.url = url
        self._page_id = page_id
        mark_page(page_id)
        if isinstance(body, bytes):
            body = to_utf8(body, content_type)
        self._tree = open_html(body, trusted=trusted)
        self._script_cache = script_cache or ScriptCache()
        self._data_in_place: dict[tuple[str, str], list[Any]] = {}
        self._labelled_texts: dict[tuple[str, str], str | None] = {}

    @property
    def tree(self) -> LexborHTMLParser:
        """The tree of the page; whoever takes it works on the page."""
        self.mark()
        return self._tree

    def mark(self) -> None:
        """Mark the page as the one that this process works on (`catalog.runtime.page_marker`)."""
        mark_page(self._page_id)

    @cached_property
    def element_index(self) -> ElementIndex:
        """The elements by class, id and name."""
        return ElementIndex(self.tree)

    @cached_property
    def scripts(self) -> Scripts:
        """The scripts that hold text."""
        return scripts_of(self.tree)

    @cached_property
    def blocks(self) -> list[Block]:
        """All data blocks in scripts; decodes every script."""
        return self.scripts.blocks(self._script_cache.reader)

    @cached_property
    def script_index(self) -> ScriptIndex:
        """The data in scripts, looked up by name without decoding every script."""
        return ScriptIndex(self.scripts, self._script_cache)

    @cached_property
    def base(self) -> str:
        """The URL that relative URLs resolve against: `<base href>`, else the page's own URL."""
        return base_url(self.tree, self.url)

    @cached_property
    def cards(self) -> Cards:
        """The elements that belong to other pages' offers."""
        return Cards(self.tree, self.url)

    @cached_property
    def old_prices(self) -> frozenset[str]:
        """The list prices of schema.org's products, and amounts struck out near the headings."""
        amounts = set[str]()
        for data in self.script_index.lookup(DataQuery(SCHEMA_ORG, thing_name("Product"), "")):
            for price in islice(list_prices(data), MAX_OLD_PRICES):
                amounts.add(normalise(Attribute.PRICE, str(price)) or "")
        for heading in self.element_index.headings:
            amounts.update(struck_near(heading))
        return frozenset(amounts)

    def find(self, selector: AnySelector) -> str | None:
        """Return the first value at a selector, as text; None if there is none."""
        if isinstance(selector, JsonAt):
            find_scalar = join_scalars if selector.join else first_scalar
            return find_scalar(self.data_of(selector), compile_path(selector.path))
        if isinstance(selector, TextAt) and selector.behind:
            place = (selector.css, selector.behind)
            if place not in self._labelled_texts:
                nodes = self.all(selector.css)[:MAX_LABELS]
                self._labelled_texts[place] = labelled_text(nodes, selector.behind)
            return self._labelled_texts[place]
        if isinstance(selector, TextAt) and selector.join:
            return self.join_texts(selector.css)
        node = self.first(selector.css)
        return None if node is None else selected_text(node, selector)

    def price_at(self, node: LexborNode | None, selector: TextAt | AttributeAt) -> str | None:
        """Return the text of the asked price, `node` being the selector's first match."""
        return find_price(node, selector, lambda: self.all(selector.css))

    def join_texts(self, css: str) -> str | None:
        """Join the texts of all elements that match `css`, as the steps of a path."""
        texts = (element_text(node, MAX_STEP_CHARS) for node in self.all(css)[:MAX_STEPS])
        return SEPARATOR.join(text for text in texts if text) or None

    def all(self, css: str) -> list[LexborNode]:
        """Return all elements that match `css`. Raises RuleError where it is no CSS selector."""
        outer, _, inner = css.partition(CONTENT)
        try:
            if inner:
                return self._all_in_templates(outer, inner)
            return self.tree.css(css)
        except (SelectolaxError, ValueError) as error:
            raise RuleError(f"not a CSS selector: {css!r}") from error

    def first(self, css: str) -> LexborNode | None:
        """Return the first element that matches `css`. Raises RuleError for a faulty selector."""
        is_answered, node = self.element_index.first(css)
        if is_answered:
            return node
        if CONTENT in css:
            return next(iter(self.all(css)), None)
        try:
            return self.tree.css_first(css)
        except (SelectolaxError, ValueError) as error:
            raise RuleError(f"not a CSS selector: {css!r}") from error

    def _all_in_templates(self, outer: str, inner: str) -> list[LexborNode]:
        """Match `inner` in the content of templates, which is not part of the tree."""
        fragments = []
        for template in self.tree.css(outer)[:MAX_TEMPLATES]:
            fragments += template.template_fragments()
        if not fragments:
            # Raises for a faulty selector on pages without templates, too.
            self.tree.css_first(inner)
        return [node for fragment in fragments for node in fragment.css(inner)]

    def data_of(self, selector: JsonAt) -> Iterable[Any]:
        """Return the data at a selector: in place, or each block of its name in the scripts."""
        self.mark()
        if not selector.is_in_place:
            query = data_query(selector.css, selector.block, selector.path)
            return self.script_index.lookup(query)
        place = (selector.css, selector.block)
        if place not in self._data_in_place:
            self._data_in_place[place] = blocks_at(self.all(selector.css), selector.block)
        return self._data_in_place[place]


def check_selectors(selectors: Iterable[AnySelector]) -> None:
    """Raise RuleError where one of the selectors is not valid CSS or JSONPath."""
    page = Document("", "")
    for selector in selectors:
        page.all(selector.css)
        page.find(selector)


def first_scalar(blocks: Iterable[Any], values_at: Callable[[Any], Iterable[Any]]) -> str | None:
    """Return the first text among the values that a path finds in data blocks.

    None where an earlier block has the key without a value: a page holds a block of that name for
    each product beside its own, and the next product's value must not fill the gap.
    """
    for data in blocks:
        is_empty = False
        for value in values_at(data):
            text = scalar_text(value)
            if text:
                return text
            is_empty = is_empty or not value or isinstance(value, str)
        if is_empty:
            return None
    return None


def join_scalars(blocks: Iterable[Any], values_at: Callable[[Any], Iterable[Any]]) -> str | None:
    """Join the texts that a path finds in the first block with any, as the steps of a path."""
    for data in blocks:
        texts = map(scalar_text, islice(values_at(data), MAX_STEPS))
        steps = [text[:MAX_STEP_CHARS] for text in texts if text]
        if steps:
            return SEPARATOR.join(steps)
    return None


def scalar_text(value: Any) -> str | None:
    """Return a JSON value as text.

    The first of a list of values; None for objects, null and empty values. Lone surrogates, as
    JavaScript leaves where it cuts an emoji, are dropped: they cannot be encoded as UTF-8.

    >>> [scalar_text(value) for value in (12.5, ["a", "b"], {}, True, "Blue \\ud83d")]
    ['12.5', 'a', None, 'true', 'Blue']
    """
    if not isinstance(value, str):
        if isinstance(value, list):
            value = value[0] if value else None
        if value is None or isinstance(value, dict | list):
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
    text = str(value).strip()[:MAX_TEXT_CHARS]
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode("utf-8").strip()
    return text or None
