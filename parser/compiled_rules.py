"""A rule set compiled once, so that a page costs one parse, one look at its marks, and what its rules ask for.

`Plan.read` gives what `read` gives by the votes that are needed, and is frugal on the way. An element that several
rules point at is looked up once, equal texts are normalised once, and of scripts only what is asked for is decoded
(`parser.scripts.block_lookup`).
"""

from collections.abc import Callable, Container, Hashable, Sequence

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.document import Document, first_scalar
from parser.page.texts import text_at
from parser.read import PageReading, by_likest
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import AnySelector, JsonAt, is_of_one
from parser.rules.trim import Trim
from parser.scripts.block_lookup import Met, Wanted, wanted
from parser.scripts.syntax.jsonpath import compile_path
from parser.templates.template_match import Gate
from parser.voting.confidence import confidence
from parser.voting.early_stopping import hearings
from parser.voting.votes import Vote, base_of, value_of, way_of
from parser.voting.winner import Reading, decide

LONGEST_REMEMBERED = 100
MOST_REMEMBERED = 500
OFTEN_SAID = frozenset(
    {
        Attribute.BRAND,
        Attribute.CATEGORY,
        Attribute.CURRENCY,
        Attribute.PRICE,
        Attribute.AVAILABILITY,
    }
)


class Plan:
    """The rules of one shop, ready to read its pages. Raises RuleError where one of their JSONPaths is none."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._gate = Gate(rules.templates)
        self._readers = {id(template): _Reader(template) for template in rules.templates}

    def read(self, document: Document) -> PageReading:
        """Read a page by the rules of its template, as `parser.read.read` does."""
        ranked = self._gate.ranked(document)
        return by_likest(
            ranked,
            document,
            self._rules,
            lambda one, names: self._readers[id(one)].read(document, names),
        )


class _Reader:
    """One template's rules, each attribute's in the order in which they are asked."""

    def __init__(self, template: Template) -> None:
        values: dict[tuple[Hashable, ...], dict[str, str | None]] = {}
        self._sure: dict[tuple[float, ...], float] = {}
        self._hearings = [
            (one, [_Voter(rule, values.setdefault(way_of(rule), {})) for rule in one.rules])
            for one in hearings(template.rules)
        ]
        self._values = list(values.values())

    def read(self, document: Document, names: Container[Attribute]) -> dict[Attribute, Reading]:
        """What `read_attributes` gives, with the votes that were heard."""
        for values in self._values:
            values.clear()
        page = _Page(document)
        heard = [
            (one.attribute, one.votes(voters, page.vote))
            for one, voters in self._hearings
            if one.attribute in names
        ]
        return {attribute: decide(attribute, votes, self._sure_of) for attribute, votes in heard}

    def _sure_of(self, share: float, rules: Sequence[Rule]) -> float:
        """What `confidence` says; the same rules agree on most pages."""
        case = (share, *map(id, rules))
        sure = self._sure.get(case)
        if sure is None:
            if len(self._sure) >= MOST_REMEMBERED:
                self._sure.clear()
            sure = self._sure[case] = confidence(share, rules)
        return sure


class _Page:
    """A page that rules are asked about; an element or data that several point at is looked up once."""

    __slots__ = ("_data", "document", "nodes")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes: dict[str, LexborNode | None] = {}
        self._data: dict[Wanted, Met] = {}

    def vote(self, voter: "_Voter") -> Vote:
        """The vote of a rule."""
        raw = voter.find(self)
        return voter.silent if raw is None else voter.vote(raw, self.document)

    def data(self, what: Wanted) -> Met:
        """The page's own data of what a selector wants."""
        found = self._data.get(what)
        if found is None:
            found = self._data[what] = Met(self.document.owner.own(self.document.sought.of(what)))
        return found

    def node(self, css: str) -> LexborNode | None:
        """The first element that a selector finds."""
        if css not in self.nodes:
            self.nodes[css] = self.document.first(css)
        return self.nodes[css]


def _finder(selector: AnySelector) -> Callable[[_Page], str | None]:
    """What finds a selector's text, with all that is the same on each page settled before."""
    if isinstance(selector, JsonAt) and not (selector.in_place or selector.join):
        what, values = (
            wanted(selector.css, selector.block, selector.path),
            compile_path(selector.path),
        )
        return lambda page: first_scalar(page.data(what), values)
    if not is_of_one(selector):
        return lambda page: page.document.find(selector)
    css = selector.css
    return lambda page: None if (node := page.node(css)) is None else text_at(node, selector)


class _Voter:
    """A rule, ready to vote as `vote` does. Most rules cut nothing off, and shops say brands and the like often."""

    __slots__ = ("_cuts", "_remembered", "_rule", "_values", "find", "silent")

    def __init__(self, rule: Rule, values: dict[str, str | None]) -> None:
        """`values` are those of texts on the page that is read, shared by the rules that take texts for the same."""
        self.find = _finder(rule.selector)
        self.silent = Vote(rule, None, None, None)
        self._rule = rule
        self._cuts = rule.trim.apply if rule.trim != Trim() else None
        self._values = values
        self._remembered: dict[str, Vote] | None = {} if rule.attribute in OFTEN_SAID else None

    def vote(self, raw: str, document: Document) -> Vote:
        """The vote for a text."""
        known = self._remembered
        if known is None or len(raw) > LONGEST_REMEMBERED:
            return self._vote(raw, document)
        vote = known.get(raw)
        if vote is None:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            vote = known[raw] = self._vote(raw, document)
        return vote

    def _vote(self, raw: str, document: Document) -> Vote:
        cut = self._cuts(raw) if self._cuts else raw.strip() or None
        if cut is None:
            return Vote(self._rule, raw, None, None)
        if cut not in self._values:
            self._values[cut] = value_of(self._rule, cut, base_of(self._rule, cut, document))
        return Vote(self._rule, raw, cut, self._values[cut])
