"""Rules that look inside an item, from items that are known offers: counted as rules of whole pages are.

Besides its numbers, price and picture, a variant has words that tell it from its siblings, which the known titles add
to the page's, and an address, mostly by its own number or its options in the query.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from catalog.models import NUMBERS, Attribute
from catalog.values import key
from parser.rules.model import Form, Rule, Variants
from parser.rules.selector import AnySelector, TextAt
from parser.rules.trim import Trim
from parser.voting.votes import value_of
from rules_generator.candidates import trimming
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import plausibility
from rules_generator.locate.known_values import Wanted
from rules_generator.scoring.tally import lower_bound
from rules_generator.variants.item_lists import Facts
from rules_generator.variants.same_page_offers import Family, Sibling, words_of

READ = (
    Attribute.SKU, Attribute.EAN, Attribute.HAN, Attribute.PRICE, Attribute.IMAGE, Attribute.TITLE,
    Attribute.AVAILABILITY,
)  # fmt: skip
LEAST = {Attribute.PRICE: 0.35, Attribute.TITLE: 0.5}
USUAL = 0.55
FEW = 2
MOST_RULES = 3
MOST_OPTIONS = 3
SURELY = 0.8
IN_SILENCE = 0.3

Way = tuple[AnySelector, Form, Trim]


@dataclass(frozen=True)
class Pair:
    """An item and the known offer that it is."""

    facts: Facts
    sibling: Sibling
    base: str
    family: Family

    @property
    def own_words(self) -> frozenset[str]:
        """The words of the known title that not all titles of its page have."""
        several = len(self.family.siblings) > 1
        return self.sibling.words - self.family.shared_words if several else frozenset()


def rules_of(way: AnySelector, pairs: Sequence[Pair]) -> Variants | None:
    """How an item is read; None where it has no number, address or words of its own."""
    rules = tuple(rule for attribute in READ for rule in _rules(attribute, pairs))
    named = any(rule.attribute is Attribute.TITLE for rule in rules)
    options = () if named else tuple(_options(pairs))
    query = _query(pairs)
    link = None if query else _link(pairs)
    numbered = any(rule.attribute in NUMBERS for rule in rules)
    if not (numbered or options or link or query):
        return None
    return Variants(
        items=way, rules=rules, options=options, link=link, query=query, support=len(pairs)
    )


def _rules(attribute: Attribute, pairs: Sequence[Pair]) -> list[Rule]:
    """The best ways to an attribute, scored relative to the best of them."""
    ways = _ways(attribute, pairs)
    counts = [(_tally(attribute, way, pairs), way) for way in ways]
    sound = [(lower_bound(right, right + wrong), right, way) for (right, wrong, keys), way in counts
             if right >= FEW and right > LEAST.get(attribute, USUAL) * (right + wrong)
             and (len(keys) >= FEW or attribute is Attribute.AVAILABILITY)]  # fmt: skip
    best = max((score for score, _, _ in sound), default=1.0)
    if any(score == best and not _is_all(way) for score, _, way in sound):
        sound = [one for one in sound if not _is_all(one[2])]
    ranked = sorted(
        sound, key=lambda one: -(one[0] / best + 0.02 * plausibility(_candidate(attribute, one[2])))
    )
    chosen = [
        _candidate(attribute, way).rule(round(score / best, 4), right)
        for score, right, way in ranked[:MOST_RULES]
        if score >= 0.8 * best
    ]
    return [*chosen, *_where_silent(attribute, chosen, ways, pairs)]


def _where_silent(
    attribute: Attribute, chosen: Sequence[Rule], ways: Sequence[Way], pairs: Sequence[Pair]
) -> list[Rule]:
    """A way that is never wrong where these rules are silent; where they speak, it has less to say than they have."""
    silent = (
        [pair for pair in pairs if all(_value(rule, pair) is None for rule in chosen)]
        if chosen
        else []
    )
    counts = [(*_tally(attribute, way, silent), way) for way in ways]
    sound = [
        (right, way)
        for right, wrong, keys, way in counts
        if min(right, len(keys)) >= FEW and not wrong
    ]
    best = max(
        sound,
        key=lambda one: (one[0], not _is_all(one[1]), plausibility(_candidate(attribute, one[1]))),
        default=None,
    )
    return [] if best is None else [_candidate(attribute, best[1]).rule(IN_SILENCE, best[0])]


def _is_all(way: Way) -> bool:
    """Whether it cuts a value out of all that an element says, as it would out of a table's head."""
    return isinstance(way[0], TextAt) and not way[0].css


def _candidate(attribute: Attribute, way: Way) -> Candidate:
    selector, form, trim = way
    return Candidate(attribute, selector, trim, form)


def _ways(attribute: Attribute, pairs: Sequence[Pair]) -> list[Way]:
    whole: dict[Way, None] = {}
    around: dict[AnySelector, list[trimming.Around]] = {}
    for pair in pairs:
        known = pair.sibling.known.get(attribute)
        if not known:
            continue
        wanted = Wanted({attribute: known}, pair.base)
        for selector, text in pair.facts.items():
            for _, form, is_whole in wanted.matches(text):
                if is_whole:
                    whole[selector, form, trimming.NO_CUT] = None
                elif (found := trimming.around(text, known)) is not None:
                    around.setdefault(selector, []).append(found)
    cut = {
        (at, "plain", trim): None
        for at, found in around.items()
        for trim in trimming.trims(attribute, found)
    }
    return [*whole, *cut]  # type: ignore[list-item]


def _tally(attribute: Attribute, way: Way, pairs: Iterable[Pair]) -> tuple[int, int, set[str]]:
    """How often a way finds the known value, how often another, and the values that it was right on."""
    rule = _candidate(attribute, way).rule()
    right, wrong, keys = 0, 0, set[str]()
    for pair in pairs:
        known, value = pair.sibling.known.get(attribute), _value(rule, pair)
        if value is None or not known:
            continue
        if key(attribute, value) in {key(attribute, one) for one in known}:
            right += 1
            keys.add(key(attribute, value))
        else:
            wrong += 1
    return right, wrong, keys


def _value(rule: Rule, pair: Pair) -> str | None:
    raw = pair.facts.get(rule.selector)
    cut = rule.trim.apply(raw) if raw is not None else None
    return value_of(rule, cut, pair.base) if cut is not None else None


def _options(pairs: Sequence[Pair]) -> list[AnySelector]:
    """The texts that together say what the known titles add: the most telling first, each with something new."""
    told = [(pair, pair.own_words) for pair in pairs if pair.own_words]
    chosen: list[AnySelector] = []
    while len(told) >= FEW and len(chosen) < MOST_OPTIONS:
        gain: Counter[AnySelector] = Counter()
        for pair, words in told:
            for selector, text in pair.facts.items():
                said = pair.sibling.names(text)
                gain[selector] += len(said & words) if not said & pair.family.name else 0
        best = max(gain, key=lambda at: (gain[at], -len(str(at))), default=None)
        if best is None or gain[best] * 2 < sum(len(words) for _, words in told):
            break
        chosen.append(best)
        left = [(pair, words - words_of(pair.facts.get(best, ""))) for pair, words in told]
        told = [(pair, words) for pair, words in left if words]
    return chosen


def _query(pairs: Sequence[Pair]) -> tuple[tuple[str, AnySelector], ...]:
    """The parameters that tell variants apart in the known links, and where an item keeps the value of each."""
    asked: dict[str, list[tuple[Pair, str]]] = {}
    for pair in pairs:
        for name, value in dict(pair.sibling.query).items():
            asked.setdefault(name, []).append((pair, value))
    telling = {
        name: said for name, said in asked.items() if len({value for _, value in said}) >= FEW
    }
    found = ((name, _value_at(said)) for name, said in telling.items())
    return tuple((name, at) for name, at in found if at is not None)


def _value_at(said: Sequence[tuple[Pair, str]]) -> AnySelector | None:
    found = Counter(at for pair, value in said for at, text in pair.facts.items() if text == value)
    best = max(found, key=lambda at: (found[at], -len(str(at))), default=None)
    return best if best is not None and found[best] >= max(FEW, SURELY * len(said)) else None


def _link(pairs: Sequence[Pair]) -> AnySelector | None:
    """Where an item keeps its address."""
    whole = Counter(
        at for pair in pairs for at, text in pair.facts.items() if _leads_to(text, pair.sibling.url)
    )
    usual = max(whole, key=lambda at: whole[at], default=None)
    return usual if usual is not None and whole[usual] >= max(FEW, SURELY * len(pairs)) else None


def _leads_to(text: str, url: str) -> bool:
    """Whether a text is a URL, or the end of it."""
    return (
        bool(url)
        and "/" in text
        and len(text) > 8
        and url.endswith(text.removeprefix("https:").removeprefix("http:"))
    )


def shared_title(titles: Sequence[str]) -> str | None:
    """The words with which all of several titles begin.

    >>> shared_title(["Shirt - Red / M", "Shirt - Blue / M"])
    'Shirt'
    """
    if len(set(titles)) < FEW:
        return None
    words = takewhile(
        lambda column: len(set(column)) == 1,
        zip(*(title.split() for title in titles), strict=False),
    )
    return " ".join(column[0] for column in words).rstrip(" -–|/,(:") or None


def without_options(title: str, options: Iterable[str]) -> str:
    """A variant's title without the words that tell it from its siblings, where it ends with them.

    >>> without_options("Shirt - Red / M", ["M", "Red"])
    'Shirt'
    """
    left, words = title, {word for option in options for word in words_of(option)}
    while (
        words
        and (last := left.rstrip(" -–|/,()").rsplit(" ", 1))[-1]
        and words_of(last[-1]) <= words
        and len(last) > 1
    ):
        left = last[0]
    return left.rstrip(" -–|/,(") or title
