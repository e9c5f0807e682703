"""Learn the rules that read an item, from items that are known offers: counted as rules of whole
pages are.

Besides identifiers, price and picture, a variant has words that distinguish it from its siblings,
which the known titles add to the page's, and an address, mostly by its own number or its options in
the query.
"""

import os.path
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, eq, itemgetter

from catalog.models import IDENTIFIERS, Attribute
from catalog.values import value_key
from parser.rules.model import Form, Rule, VariantLayout
from parser.rules.selector import AnySelector, TextAt
from parser.voting.votes import normalised_value
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.trimming import Surroundings, learn_trims, surroundings
from rules_generator.locate.value_matcher import ValueMatcher
from rules_generator.scoring.ranking import selector_features, weighted_sum
from rules_generator.scoring.tally import wilson_lower_bound
from rules_generator.variants.item_lists import ItemTexts
from rules_generator.variants.same_page_offers import OfferFamily, Sibling, word_set

ITEM_ATTRIBUTES = (
    Attribute.SKU,
    Attribute.EAN,
    Attribute.HAN,
    Attribute.PRICE,
    Attribute.IMAGE,
    Attribute.TITLE,
    Attribute.AVAILABILITY,
)
# Share of values that have to be right; prices and titles of the catalog may be stale.
MIN_SHARES = {Attribute.PRICE: 0.35, Attribute.TITLE: 0.5}
MIN_SHARE = 0.55
# Items that a rule has to be right on, and different values among them.
MIN_SUPPORT = 2
MAX_RULES = 3
MAX_OPTIONS = 3
# Rules kept, relative to the best score.
MIN_RELATIVE_SCORE = 0.8
# Share of items that have to agree on the place of a link or a parameter.
LINK_SHARE = 0.8
# Score of the rule that reads items on which all others abstain.
FALLBACK_SCORE = 0.3
# A shorter text is no address.
MIN_LINK_CHARS = 9


@dataclass(frozen=True)
class ItemMatch:
    """An item and the known offer that it is."""

    texts: ItemTexts
    sibling: Sibling
    base: str
    family: OfferFamily


@dataclass(frozen=True)
class ItemTally:
    """Counts of one candidate over items: right values, wrong ones, and the distinct right ones."""

    candidate: Candidate
    correct: int
    wrong: int
    distinct: int

    @property
    def bound(self) -> float:
        """The Wilson bound of the share of right values."""
        return wilson_lower_bound(self.correct, self.correct + self.wrong)

    @property
    def is_whole_element(self) -> bool:
        """Whether it trims a value out of the item's whole text, as out of a table's head."""
        selector = self.candidate.selector
        return isinstance(selector, TextAt) and not selector.css


def learn_item_rules(selector: AnySelector, matches: Sequence[ItemMatch]) -> VariantLayout | None:
    """Learn how an item is read; None if it has no number, address or words of its own."""
    rules: list[Rule] = []
    for attribute in ITEM_ATTRIBUTES:
        rules += _attribute_rules(attribute, matches)
    has_title = any(rule.attribute is Attribute.TITLE for rule in rules)
    options = () if has_title else tuple(_options(matches))
    query = _query(matches)
    # Either the page's URL with a query, or a URL of the item's own.
    link = None
    if not query:
        link = _usual_selector([(match, match.sibling.url) for match in matches], _is_link_to)
    is_numbered = any(rule.attribute in IDENTIFIERS for rule in rules)
    if not (is_numbered or options or link or query):
        return None
    return VariantLayout(
        items=selector,
        rules=tuple(rules),
        options=options,
        link=link,
        query=query,
        support=len(matches),
    )


def _attribute_rules(attribute: Attribute, matches: Sequence[ItemMatch]) -> list[Rule]:
    """Return the best rules of an attribute, scored relative to the best of them."""
    candidates = _candidates(attribute, matches)
    supported, within = [], []
    for candidate in candidates:
        tally = _tally(candidate, matches)
        if _has_support(attribute, tally):
            supported.append(tally)
            if not tally.is_whole_element:
                within.append(tally)
    best = max(map(attrgetter("bound"), supported), default=1.0)
    if best in map(attrgetter("bound"), within):
        supported = within

    def rank(tally: ItemTally) -> float:
        return -(tally.bound / best + weighted_sum(selector_features(tally.candidate)))

    chosen = []
    for tally in sorted(supported, key=rank)[:MAX_RULES]:
        if tally.bound >= MIN_RELATIVE_SCORE * best:
            score = round(tally.bound / best, 4)
            chosen.append(tally.candidate.rule(score, tally.correct))
    return [*chosen, *_fallback(chosen, candidates, matches)]


def _has_support(attribute: Attribute, tally: ItemTally) -> bool:
    total = tally.correct + tally.wrong
    if tally.correct < MIN_SUPPORT or tally.correct <= MIN_SHARES.get(attribute, MIN_SHARE) * total:
        return False
    # All variants may be in stock.
    return tally.distinct >= MIN_SUPPORT or attribute is Attribute.AVAILABILITY


def _fallback(
    chosen: Sequence[Rule], candidates: Sequence[Candidate], matches: Sequence[ItemMatch]
) -> list[Rule]:
    """Return a rule that is never wrong on the items on which all chosen rules abstain."""
    abstained = []
    for match in matches:
        if chosen and all(_value(rule, match) is None for rule in chosen):
            abstained.append(match)
    right = []
    for candidate in candidates:
        tally = _tally(candidate, abstained)
        if min(tally.correct, tally.distinct) >= MIN_SUPPORT and not tally.wrong:
            fitness = weighted_sum(selector_features(candidate))
            rank = tally.correct, not tally.is_whole_element, fitness
            right.append((rank, tally))
    if not right:
        return []
    _, best = max(right, key=itemgetter(0))
    return [best.candidate.rule(FALLBACK_SCORE, best.correct)]


def _candidates(attribute: Attribute, matches: Sequence[ItemMatch]) -> list[Candidate]:
    complete: dict[tuple[AnySelector, Form], None] = {}
    around = defaultdict[AnySelector, list[Surroundings]](list)
    for match in matches:
        values = match.sibling.known.get(attribute)
        if not values:
            continue
        matcher = ValueMatcher({attribute: values}, match.base)
        for selector, text in match.texts.items():
            for _, form, is_complete in matcher.matches(text):
                if is_complete:
                    complete[selector, form] = None
                elif (sides := surroundings(text, values)) is not None:
                    around[selector].append(sides)
    candidates = [Candidate(attribute, selector, form=form) for selector, form in complete]
    for selector, sides_seen in around.items():
        for trim in learn_trims(sides_seen):
            candidates.append(Candidate(attribute, selector, trim))
    return list(dict.fromkeys(candidates))


def _tally(candidate: Candidate, matches: Iterable[ItemMatch]) -> ItemTally:
    """Count how often a candidate finds the known value, and how often another."""
    attribute, rule = candidate.attribute, candidate.rule()
    correct, wrong, distinct = 0, 0, set[str]()
    for match in matches:
        accepted, value = match.sibling.known.get(attribute), _value(rule, match)
        if value is None or not accepted:
            continue
        key = value_key(attribute, value)
        if any(value_key(attribute, text) == key for text in accepted):
            correct += 1
            distinct.add(key)
        else:
            wrong += 1
    return ItemTally(candidate, correct, wrong, len(distinct))


def _value(rule: Rule, match: ItemMatch) -> str | None:
    raw = match.texts.get(rule.selector)
    trimmed = rule.trim.apply(raw) if raw is not None else None
    return normalised_value(rule, trimmed, match.base) if trimmed is not None else None


def _options(matches: Sequence[ItemMatch]) -> list[AnySelector]:
    """Return the texts that together give the words that the known titles add, most words first."""
    open_words = []
    for match in matches:
        if added_words := match.family.distinctive_words(match.sibling):
            open_words.append((match, added_words))
    chosen: list[AnySelector] = []
    while len(open_words) >= MIN_SUPPORT and len(chosen) < MAX_OPTIONS:
        gain = _words_gained(open_words)
        best = max(gain, key=lambda selector: (gain[selector], -len(str(selector))), default=None)
        total = sum(len(added_words) for _, added_words in open_words)
        if best is None or gain[best] * 2 < total:
            break
        chosen.append(best)
        remaining = []
        for match, added_words in open_words:
            still_open = added_words - word_set(match.texts.get(best, ""))
            if still_open:
                remaining.append((match, still_open))
        open_words = remaining
    return chosen


def _words_gained(
    open_words: Sequence[tuple[ItemMatch, frozenset[str]]],
) -> Counter[AnySelector]:
    """Count missing words that each selector's texts give, but for the product's name."""
    gain: Counter[AnySelector] = Counter()
    for match, added_words in open_words:
        for selector, text in match.texts.items():
            named = match.sibling.words_named_by(text)
            gain[selector] += 0 if named & match.family.name else len(named & added_words)
    return gain


def _query(matches: Sequence[ItemMatch]) -> tuple[tuple[str, AnySelector], ...]:
    """Return the link parameters that distinguish variants, with a selector of each value."""
    by_name = defaultdict[str, list[tuple[ItemMatch, str]]](list)
    for match in matches:
        for name, value in dict(match.sibling.query).items():
            by_name[name].append((match, value))
    parameters = []
    for name, pairs in by_name.items():
        selector = _usual_selector(pairs, eq)
        if selector is not None and len({value for _, value in pairs}) >= MIN_SUPPORT:
            parameters.append((name, selector))
    return tuple(parameters)


def _usual_selector(
    pairs: Sequence[tuple[ItemMatch, str]], fits: Callable[[str, str], bool]
) -> AnySelector | None:
    """Return the selector whose text fits the value in most items, if these are nearly all."""
    counts = Counter[AnySelector]()
    for match, value in pairs:
        for selector, text in match.texts.items():
            counts[selector] += fits(text, value)
    best = max(counts, key=lambda selector: (counts[selector], -len(str(selector))), default=None)
    if best is None or counts[best] < max(MIN_SUPPORT, LINK_SHARE * len(pairs)):
        return None
    return best


def _is_link_to(text: str, url: str) -> bool:
    """Return True if a text is a URL, or the end of it."""
    if not url or "/" not in text or len(text) < MIN_LINK_CHARS:
        return False
    return url.endswith(text.removeprefix("https:").removeprefix("http:"))


def shared_title(titles: Sequence[str]) -> str | None:
    """Return the words with which all of several titles begin.

    >>> shared_title(["Shirt - Red / M", "Shirt - Blue / M"])
    'Shirt'
    """
    if len(set(titles)) < MIN_SUPPORT:
        return None
    shared = os.path.commonprefix(list(map(str.split, titles)))  # noqa: RUF071
    return " ".join(shared).rstrip(" -–|/,(:") or None


def without_options(title: str, options: Iterable[str]) -> str:
    """Return a variant's title without the words of its options at the end.

    >>> without_options("Shirt - Red / M", ["M", "Red"])
    'Shirt'
    """
    added_words = word_set(" ".join(options))
    remaining = title
    while added_words:
        before, _, last_word = remaining.rstrip(" -–|/,()").rpartition(" ")
        if not before or not last_word or not word_set(last_word) <= added_words:
            break
        remaining = before
    return remaining.rstrip(" -–|/,(") or title
