"""A rule set compiled once, so that a page costs one parse, one look at its marks, and what its rules ask for.

`Plan.read` gives what `read` gives, by the same votes; it is only frugal on the way there. An element that several
rules point at is looked up once, equal texts are normalised once, and of scripts only what is asked for is decoded
(`parser.sought`).
"""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.document import Document, text_at
from parser.gate import Gate
from parser.read import PageReading, Reading, Vote, concluded, decide, unlike, value_of, with_variants
from parser.rules import Rule, RuleSet, Template
from parser.selector import JsonAt, TextAt
from parser.trim import Trim


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
    """One template's rules in their order, each with the place of its raw text among the template's selectors."""

    def __init__(self, template: Template) -> None:
        self._selectors = tuple(dict.fromkeys(rule.selector for rule in template.rules))
        places = {selector: place for place, selector in enumerate(self._selectors)}
        self._rules = tuple((places[rule.selector], _Voter(rule)) for rule in template.rules)

    def read(self, document: Document) -> dict[Attribute, Reading]:
        """What `read_attributes` gives."""
        raws, known = list(self._raws(document)), dict[_Said, str | None]()
        votes: dict[Attribute, list[Vote]] = {}
        for place, voter in self._rules:
            votes.setdefault(voter.rule.attribute, []).append(voter.vote(raws[place], document.url, known))
        return {attribute: decide(attribute, cast) for attribute, cast in votes.items()}

    def _raws(self, document: Document) -> Iterator[str | None]:
        """What each selector finds."""
        nodes: dict[str, LexborNode | None] = {}
        for selector in self._selectors:
            if isinstance(selector, JsonAt):
                yield document.find_data(selector)
                continue
            if isinstance(selector, TextAt) and selector.of_many:
                yield document.find(selector)
                continue
            if selector.css not in nodes:
                nodes[selector.css] = document.first(selector.css)
            node = nodes[selector.css]
            yield None if node is None else text_at(node, selector)


_Said = tuple[Attribute, str, str, tuple[str, ...]]


class _Voter:
    """A rule, ready to vote as `vote` does; most rules cut nothing off."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._silent = Vote(rule, None, None, None)
        self._cuts = rule.trim != Trim()

    def vote(self, raw: str | None, url: str, known: dict[_Said, str | None]) -> Vote:
        """The vote for a text; `known` holds the values of the texts that earlier rules found on the page."""
        if raw is None:
            return self._silent
        cut = self.rule.trim.apply(raw) if self._cuts else raw.strip() or None
        if cut is None:
            return Vote(self.rule, raw, None, None)
        said = (self.rule.attribute, self.rule.form, cut, self.rule.never)
        if said not in known:
            known[said] = value_of(self.rule, cut, url)
        return Vote(self.rule, raw, cut, known[said])
