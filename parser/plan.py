"""A rule set compiled once, so that a page costs one parse, one look at its marks, and what its rules ask for.

`Plan.read` gives what `read` gives, by the same votes; it is only frugal on the way there. An element or a block that
several rules point at is looked up once, equal texts are normalised once, and a script is decoded only where it can
hold a block that some rule names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.blocks import CODE, SCHEMA_ORG, Block, Script
from parser.code import NAME_LENGTH
from parser.document import Document, by_name, text_at
from parser.gate import Gate
from parser.paths import keys_of
from parser.read import PageReading, Reading, Vote, concluded, decide, unlike, value_of
from parser.rules import Rule, RuleSet, Template
from parser.selector import JsonAt
from parser.trim import Trim

ESCAPED = re.compile(r"\\(?:[ux]0*(?:3\d|[46][1-9a-f]|[57][\da]|5f)|[^\"\\/bfnrtux])", re.IGNORECASE)
FOLDED = re.compile(r"[0\s]+")
WORD = re.compile(r"\w+", re.ASCII)
PAIRED = r"[\"']?\s*[:=]"
PAIRS = "pairs"
TYPED = "ld+json"


class Plan:
    """The rules of one shop, ready to read its pages."""

    def __init__(self, rules: RuleSet) -> None:
        self._currency = rules.currency
        self._gate = Gate(rules.templates)
        self._readers = {id(template): _Reader(template) for template in rules.templates}

    def read(self, document: Document) -> PageReading:
        """Read a page by the rules of its template."""
        template, likest = self._gate.template_of(document)
        if template is None:
            return unlike(likest)
        readings = self._readers[id(template)].read(document)
        return concluded(readings, document.url, self._currency, template, likest)


class _Reader:
    """One template's rules in their order, each with the place of its raw text among the template's selectors."""

    def __init__(self, template: Template) -> None:
        self._selectors = tuple(dict.fromkeys(rule.selector for rule in template.rules))
        places = {selector: place for place, selector in enumerate(self._selectors)}
        self._rules = tuple((places[rule.selector], _Voter(rule)) for rule in template.rules)
        self._wanted = Wanted([one for one in self._selectors if isinstance(one, JsonAt)])

    def read(self, document: Document) -> dict[Attribute, Reading]:
        """What `read_attributes` gives."""
        raws, known = list(self._raws(document)), dict[_Said, str | None]()
        votes: dict[Attribute, list[Vote]] = {}
        for place, voter in self._rules:
            votes.setdefault(voter.rule.attribute, []).append(voter.vote(raws[place], document.url, known))
        return {attribute: decide(attribute, cast) for attribute, cast in votes.items()}

    def _raws(self, document: Document) -> Iterator[str | None]:
        """What each selector finds."""
        named = by_name(self._wanted.blocks_in(document.scripts))
        nodes: dict[str, LexborNode | None] = {}
        for selector in self._selectors:
            if isinstance(selector, JsonAt):
                yield document.find_data(selector, None if selector.block.startswith("@") else named)
                continue
            if selector.css not in nodes:
                nodes[selector.css] = document.first(selector.css)
            node = nodes[selector.css]
            yield None if node is None else text_at(node, selector)


_Said = tuple[Attribute, str, str]


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
        said = (self.rule.attribute, self.rule.form, cut)
        if said not in known:
            known[said] = value_of(self.rule, cut, url)
        return Vote(self.rule, raw, cut, known[said])


class Wanted:
    """The blocks that some selectors read, and which scripts can hold one: a script that cannot is not decoded."""

    def __init__(self, selectors: Sequence[JsonAt]) -> None:
        code = [one for one in selectors if one.css == CODE]
        self._css = frozenset(one.css for one in selectors)
        self._types = [one.block.removeprefix(TYPED).strip() for one in selectors if one.css == SCHEMA_ORG]
        named = {one.block: [other.path for other in code if other.block == one.block] for one in code}
        self._pairs = [_Opens(next(iter(keys_of(path)), ""), PAIRED) for path in named.pop(PAIRS, ())]
        self._code = [_InCode(name, paths) for name, paths in named.items()]

    def blocks_in(self, scripts: Iterable[Script]) -> Iterator[Block]:
        """The blocks of those scripts that can hold one that is read, in document order."""
        for script in scripts:
            if script.css == CODE:
                pairs = any(key.may_stand_in(script.text) for key in self._pairs)
                if pairs or any(one.may_stand_in(script.text) for one in self._code):
                    yield from script.blocks(pairs)
            elif script.css in self._css and (script.css != SCHEMA_ORG or self._may_be_typed(script.text)):
                yield from script.blocks()

    def _may_be_typed(self, text: str) -> bool:
        plain = all(kind.isalpha() for kind in self._types)
        return not plain or any(kind in text for kind in self._types) or ESCAPED.search(text) is not None


class _InCode:
    """Values in blocks of one name in code, looked for by the name and by a word of each value's path."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        words = ([word for key in keys_of(path) for word in WORD.findall(key)] for path in paths)
        self._words = frozenset(max(found, key=len, default="") for found in words)
        self._name = _Opens(name, r"\s*[{\[]")

    def may_stand_in(self, text: str) -> bool:
        """False only where no block of that name opens, or none with one of those words."""
        if not self._name.may_stand_in(text):
            return False
        return any(word in text for word in self._words) or ESCAPED.search(text) is not None


class _Opens:
    """A folded name and what follows it, looked for by the longest word of the name."""

    def __init__(self, name: str, then: str) -> None:
        self._word = max(FOLDED.split(name), key=len)
        begins = name.find(self._word)
        self._before = re.compile(_unfolded(name[:begins]) + r"\Z") if begins else None
        self._rest = re.compile(_unfolded(name[begins:]) + then)

    def may_stand_in(self, text: str) -> bool:
        """False only where the name never stands before what is to follow; a name without a word may stand anywhere."""
        place = text.find(self._word)
        while self._word and place >= 0 and not self._stands_at(text, place):
            place = text.find(self._word, place + 1)
        return place >= 0

    def _stands_at(self, text: str, place: int) -> bool:
        if not self._rest.match(text, place):
            return False
        return self._before is None or self._before.search(text, max(0, place - NAME_LENGTH), place) is not None


def _unfolded(name: str) -> str:
    folds = {"0": r"\d+", " ": r"\s+"}
    return "".join(folds.get(char, re.escape(char)) for char in name)
