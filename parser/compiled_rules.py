"""Compiled rules: a rule set prepared once, to read many pages with few look-ups.

`CompiledRules.read` gives the readings of `read_page`, from the votes that are needed.
`CompiledRule.run` is the fast form of `parser.voting.votes.run_rule`. Elements and data that
several rules select are looked up once, equal texts are normalised once, and only the scripts that
rules ask for are decoded (`parser.scripts.block_lookup`).
"""

from collections.abc import Callable, Container, Hashable, Sequence
from operator import methodcaller

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.document import Document, first_scalar
from parser.page.texts import selected_text
from parser.page_reader import PageReading, Readings, read_by_best_template
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import JsonAt, reads_one_element
from parser.rules.trim import Trim
from parser.scripts.block_lookup import data_query
from parser.scripts.syntax.jsonpath import compile_path
from parser.templates.template_match import TemplateMatcher
from parser.voting.confidence import estimate_confidence
from parser.voting.early_stopping import vote_orders
from parser.voting.votes import Vote, base_url_for, normalisation_key, normalised_value, skips_cards

# Votes of a rule that are cached from page to page, for texts up to a length: bounds on memory.
MAX_CACHED = 500
MAX_CACHED_CHARS = 100
# Attributes of which a shop's pages repeat few texts.
REPEATED = frozenset(map(Attribute, ("brand", "category", "currency", "price", "availability")))

NO_TRIM = Trim()

# Trimmed text to value, for rules that normalise alike.
Values = dict[str, str | None]


class CompiledRules:
    """The rules of one shop, compiled. Raises RuleError where a JSONPath of them is invalid."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._matcher = TemplateMatcher(rules.templates)
        self._templates = {
            id(template): _CompiledTemplate(template) for template in rules.templates
        }

    def read(self, document: Document) -> PageReading:
        """Read a page as `read_page` does; `all_votes` of its readings are empty."""
        ranking = self._matcher.rank(document)
        return read_by_best_template(
            ranking,
            document,
            self._rules,
            lambda template, names: self._templates[id(template)].read(document, names),
        )


class _CompiledTemplate:
    """The rules of a template, those of each attribute in the order in which they run."""

    def __init__(self, template: Template) -> None:
        values: dict[tuple[Hashable, ...], Values] = {}
        self._confidences: dict[tuple[float, ...], float] = {}
        self._orders = []
        for order in vote_orders(template.rules):
            compiled = []
            for rule in order.rules:
                shared = values.setdefault(normalisation_key(rule), {})
                compiled.append(CompiledRule(rule, shared))
            self._orders.append((order, compiled))
        self._values = list(values.values())

    def read(self, document: Document, names: Container[Attribute]) -> Readings:
        """Return the readings of `read_attributes`, with the votes that were collected."""
        # Values may depend on the page: relative URLs of pictures do.
        for values in self._values:
            values.clear()
        run = methodcaller("run", PageLookups(document))
        readings = {}
        for order, rules in self._orders:
            if order.attribute in names:
                reading = order.read(rules, run, document, self._confidence_of)
                readings[order.attribute] = reading
        return readings

    def _confidence_of(self, share: float, rules: Sequence[Rule]) -> float:
        """Return the cached confidence: the same rules agree on most pages."""
        case = (share, *map(id, rules))
        confidence = self._confidences.get(case)
        if confidence is None:
            if len(self._confidences) >= MAX_CACHED:
                self._confidences.clear()
            confidence = self._confidences[case] = estimate_confidence(share, rules)
        return confidence


class PageLookups:
    """The look-ups on a page: elements and data that several rules select are looked up once."""

    __slots__ = ("document", "nodes")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes: dict[str, LexborNode | None] = {}

    def own_node(self, css: str) -> LexborNode | None:
        """Return the first match of a CSS selector, if it is of the page's own offer."""
        node = self.node(css)
        return None if node is None or self.document.cards.contains(node) else node

    def node(self, css: str) -> LexborNode | None:
        """Return the first element that a CSS selector matches."""
        if css not in self.nodes:
            self.nodes[css] = self.document.first(css)
        return self.nodes[css]


def _compile_selector(rule: Rule) -> Callable[[PageLookups], str | None]:
    """Return the function that finds the text at a rule's selector on a page."""
    selector = rule.selector
    if isinstance(selector, JsonAt) and not (selector.is_in_place or selector.join):
        query = data_query(selector.css, selector.block, selector.path)
        values_at = compile_path(selector.path)
        return lambda page: first_scalar(page.document.script_index.lookup(query), values_at)
    if not reads_one_element(selector):
        return lambda page: page.document.find(selector)
    css = selector.css
    node_at = PageLookups.own_node if skips_cards(rule) else PageLookups.node
    if rule.attribute is Attribute.PRICE:
        return lambda page: page.document.price_at(node_at(page, css), selector)
    return lambda page: (
        None if (node := node_at(page, css)) is None else selected_text(node, selector)
    )


class CompiledRule:
    """A rule ready to run on many pages: `run` gives the vote of `run_rule`."""

    __slots__ = ("_abstention", "_cached_votes", "_find", "_rule", "_trim", "_values")

    def __init__(self, rule: Rule, values: Values) -> None:
        """`values` is shared by rules of equal `normalisation_key`, and holds one page's values."""
        self._rule = rule
        self._find = _compile_selector(rule)
        # Most rules trim nothing.
        self._trim = rule.trim.apply if rule.trim != NO_TRIM else None
        self._values = values
        self._abstention = Vote(rule, None, None, None)
        self._cached_votes: dict[str, Vote] | None = {} if rule.attribute in REPEATED else None

    def run(self, page: PageLookups) -> Vote:
        """Run the rule on a page."""
        raw = self._find(page)
        if raw is None:
            return self._abstention
        cached = self._cached_votes
        if cached is None or len(raw) > MAX_CACHED_CHARS:
            return self._vote(raw, page.document)
        vote = cached.get(raw)
        if vote is None:
            if len(cached) >= MAX_CACHED:
                cached.clear()
            vote = cached[raw] = self._vote(raw, page.document)
        return vote

    def _vote(self, raw: str, document: Document) -> Vote:
        rule = self._rule
        cut = self._trim(raw) if self._trim else raw.strip() or None
        if cut is None:
            return Vote(rule, raw, None, None)
        if cut not in self._values:
            base = base_url_for(rule, cut, document)
            self._values[cut] = normalised_value(rule, cut, base)
        return Vote(rule, raw, cut, self._values[cut])
