"""A rule set compiled once, so that a page costs one parse, one look at its marks, and what its rules ask for.

`Plan.read` gives what `read` gives by the votes that are needed, and is frugal on the way. An element that several
rules point at is looked up once, equal texts are normalised once, and of scripts only what is asked for is decoded
(`parser.sought`).
"""

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.confidence import confidence
from parser.document import Document, text_at
from parser.gate import Gate
from parser.hearing import hearings
from parser.read import PageReading, Reading, Vote, concluded, decide, unlike, value_of, with_variants
from parser.rules import Rule, RuleSet, Template
from parser.selector import AnySelector, JsonAt, TextAt
from parser.trim import Trim

LONGEST_REMEMBERED, MOST_REMEMBERED = 100, 500
OFTEN_SAID = frozenset(
    {Attribute.BRAND, Attribute.CATEGORY, Attribute.CURRENCY, Attribute.PRICE, Attribute.AVAILABILITY}
)


class Plan:
    """The rules of one shop, ready to read its pages."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._gate = Gate(rules.templates)
        self._readers = {id(template): _Reader(template) for template in rules.templates}

    def read(self, document: Document) -> PageReading:
        """Read a page by the rules of its template."""
        template, likest = self._gate.template_of(document)
        if template is None:
            return unlike(likest)
        readings = self._readers[id(template)].read(document)
        page = concluded(readings, document.url, self._rules.currency, template, likest)
        return with_variants(page, document, self._rules)


class _Reader:
    """One template's rules, each attribute's in the order in which they are asked."""

    def __init__(self, template: Template) -> None:
        self._values: dict[tuple[Attribute, str, tuple[str, ...]], dict[str, str | None]] = {}
        self._sure: dict[tuple[float, ...], float] = {}
        self._hearings = [(one, [self._voter(rule) for rule in one.rules]) for one in hearings(template.rules)]

    def _voter(self, rule: Rule) -> "_Voter":
        return _Voter(rule, self._values.setdefault((rule.attribute, rule.form, rule.never), {}))

    def read(self, document: Document) -> dict[Attribute, Reading]:
        """What `read_attributes` gives, with the votes that were heard."""
        for values in self._values.values():
            values.clear()
        ask = _Asked(document).vote
        return {
            hearing.attribute: decide(hearing.attribute, hearing.votes(voters, ask), self._sure_of)
            for hearing, voters in self._hearings
        }

    def _sure_of(self, share: float, rules: Sequence[Rule]) -> float:
        """What `confidence` says; the same rules agree on most pages."""
        case = (share, *map(id, rules))
        sure = self._sure.get(case)
        if sure is None:
            if len(self._sure) >= MOST_REMEMBERED:
                self._sure.clear()
            sure = self._sure[case] = confidence(share, rules)
        return sure


class _Asked:
    """A page that rules are asked about; an element that several point at is looked up once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes: dict[str, LexborNode | None] = {}

    def vote(self, voter: "_Voter") -> Vote:
        """The vote of a rule."""
        return voter.vote(self._raw_at(voter.rule.selector), self._document.url)

    def _raw_at(self, selector: AnySelector) -> str | None:
        if isinstance(selector, JsonAt):
            return self._document.find_data(selector)
        if isinstance(selector, TextAt) and selector.of_many:
            return self._document.find(selector)
        if selector.css not in self._nodes:
            self._nodes[selector.css] = self._document.first(selector.css)
        node = self._nodes[selector.css]
        return None if node is None else text_at(node, selector)


class _Voter:
    """A rule, ready to vote as `vote` does. Most rules cut nothing off, and shops say brands and the like often."""

    def __init__(self, rule: Rule, values: dict[str, str | None]) -> None:
        """`values` are those of texts on the page that is read, shared by the rules that take texts for the same."""
        self.rule = rule
        self._silent = Vote(rule, None, None, None)
        self._cuts = rule.trim != Trim()
        self._values = values
        self._remembered: dict[str, Vote] = {}
        self._remembers = rule.attribute in OFTEN_SAID

    def vote(self, raw: str | None, url: str) -> Vote:
        """The vote for a text."""
        if raw is None:
            return self._silent
        if not self._remembers or len(raw) > LONGEST_REMEMBERED:
            return self._vote(raw, url)
        vote = self._remembered.get(raw)
        if vote is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            vote = self._remembered[raw] = self._vote(raw, url)
        return vote

    def _vote(self, raw: str, url: str) -> Vote:
        cut = self.rule.trim.apply(raw) if self._cuts else raw.strip() or None
        if cut is None:
            return Vote(self.rule, raw, None, None)
        if cut not in self._values:
            self._values[cut] = value_of(self.rule, cut, url)
        return Vote(self.rule, raw, cut, self._values[cut])
