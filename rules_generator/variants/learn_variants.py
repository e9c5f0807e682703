"""Learn where a shop's pages keep several offers, from pages for which the catalog knows several.

On such a page every list and every row of elements is tried: which item is which known offer? The
list in which most known offers have an item of their own is taken if it holds on several pages, and
not on a small part of the pages that have such a list: a catalog with one offer a page does not
take variants for offers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.models import Attribute
from parser.crawled_pages import PageOpener
from parser.page.document import Document
from parser.rules.model import VariantLayout
from parser.rules.selector import AnySelector, JsonAt
from parser.variants import MAX_OPTION_CHARS
from rules_generator.locate.value_matcher import ValueMatcher
from rules_generator.training.examples import TrainingExample
from rules_generator.training.sampling import spread_evenly
from rules_generator.variants.item_lists import (
    ItemList,
    ItemTexts,
    find_item_lists,
    read_item_list,
)
from rules_generator.variants.same_page_offers import OfferFamily, Sibling
from rules_generator.variants.variant_rules import (
    ItemMatch,
    learn_item_rules,
    shared_title,
    without_options,
)

# Pages on which lists are searched, and on which the chosen one is counted.
PAGES_SEARCHED = 8
PAGES_COUNTED = 30
# Pages that have to keep several known offers, and their least share of those with such a list.
MIN_PAGES = 2
MIN_SHARE = 0.15
# Least score of an item to be a known offer.
MIN_SCORE = 2.0
# Score of a value that an item shares with a known offer.
WEIGHTS = {
    Attribute.SKU: 3.0,
    Attribute.EAN: 3.0,
    Attribute.HAN: 2.0,
    Attribute.TITLE: 2.0,
    Attribute.PRICE: 0.5,
    Attribute.IMAGE: 0.5,
}
# Score of a parameter of the known link, and of all words that tell the known title from its
# siblings'.
LINK_WEIGHT = 3.0
WORDS_WEIGHT = 2.0
# Score of each item that is assigned, and the preference for data over elements.
ITEM_WEIGHT = 2
DATA_WEIGHT = 0.1


@dataclass(frozen=True)
class OpenFamily:
    """A page with its known offers, open."""

    family: OfferFamily
    document: Document


def learn_variants(families: Sequence[OfferFamily], opener: PageOpener) -> VariantLayout | None:
    """Learn the list that holds a page's several offers; None if known offers show none."""
    several = [family for family in families if len(family.siblings) > 1]
    searched = spread_evenly(several, PAGES_SEARCHED)
    selector = _best_list(_open(searched, opener))
    if selector is None:
        return None
    remaining = [family for family in families if family not in searched]
    matches: list[ItemMatch] = []
    offers_per_page: list[int] = []
    for page in _open([*searched, *spread_evenly(remaining, PAGES_COUNTED)], opener):
        item_list = read_item_list(page.document, selector)
        assigned = assign_items(item_list, page.family, page.document.base)
        for item, sibling in assigned.items():
            texts = item_list.items[item]
            matches.append(ItemMatch(texts, sibling, page.document.base, page.family))
        if len(item_list.items) > 1:
            offers_per_page.append(len(assigned))
    return learn_item_rules(selector, matches) if _keeps_offers(offers_per_page) else None


def _keeps_offers(offers_per_page: Sequence[int]) -> bool:
    """Return True if lists hold the page's offers; `offers_per_page` counts known offers with an
    item of their own.

    If half of the lists hold none, they show other offers: similar ones, or those of a category.
    """
    some = sum(count > 0 for count in offers_per_page)
    several = sum(count > 1 for count in offers_per_page)
    if several < MIN_PAGES or several < MIN_SHARE * some:
        return False
    return 2 * some >= len(offers_per_page)


def as_whole_page(
    example: TrainingExample, family: OfferFamily, layout: VariantLayout
) -> TrainingExample:
    """Return the example of a whole page: values of any of its offers, plain titles."""
    item_list = read_item_list(example.document, layout.items)
    options = defaultdict[int, list[str]](list)
    for item, sibling in assign_items(item_list, family, example.document.base).items():
        item_texts = item_list.items[item]
        for option in layout.options:
            if option in item_texts:
                options[id(sibling)].append(item_texts[option])
    values = defaultdict[Attribute, list[str]](list)
    for sibling in family.siblings:
        for attribute, texts in sibling.known.items():
            values[attribute] += texts
    titles = values.pop(Attribute.TITLE, [])
    common = shared_title(titles)
    if layout.options:
        titles = []
        for sibling in family.siblings:
            titles.append(without_options(sibling.title, options[id(sibling)]))
    elif common and not any(rule.attribute is Attribute.TITLE for rule in layout.rules):
        titles = []
    values[Attribute.TITLE] = [common, *titles] if common else titles
    distinct = {name: list(dict.fromkeys(texts)) for name, texts in values.items() if texts}
    return TrainingExample(example.page, distinct, document=example.document)


def _open(families: Sequence[OfferFamily], opener: PageOpener) -> Iterator[OpenFamily]:
    by_page = {family.page: family for family in families}
    for page, document in opener.open_all(by_page):
        yield OpenFamily(by_page[page], document)


def _best_list(pages: Iterable[OpenFamily]) -> AnySelector | None:
    """Return the list with items for most known offers and their values, and few others."""
    pages_with_score = Counter[AnySelector]()
    total_scores = defaultdict[AnySelector, float](float)
    item_counts = Counter[AnySelector]()
    for page in pages:
        offers = [sibling.known for sibling in page.family.siblings]
        for item_list in find_item_lists(page.document, offers):
            score = _list_score(item_list, page)
            pages_with_score[item_list.selector] += score > 0
            total_scores[item_list.selector] += score
            item_counts[item_list.selector] += len(item_list.items)
    supported = [selector for selector, count in pages_with_score.items() if count >= MIN_PAGES]

    def rank(selector: AnySelector) -> tuple[float, int, int]:
        return total_scores[selector], -item_counts[selector], -len(str(selector))

    return max(supported, key=rank, default=None)


def _list_score(item_list: ItemList, page: OpenFamily) -> float:
    """Score a list by the values it shows of known offers; 0 if only one has an item."""
    scores = _scores(item_list, page.family, page.document.base)
    assigned = _assignment(scores)
    if len(assigned) <= 1:
        return 0.0
    total = sum(ITEM_WEIGHT + scores[item, sibling] for item, sibling in assigned.items())
    return total + DATA_WEIGHT * isinstance(item_list.selector, JsonAt)


def assign_items(item_list: ItemList, family: OfferFamily, base: str) -> dict[int, Sibling]:
    """Assign items to known offers, one to one. Returns {item index: known offer}."""
    assigned = _assignment(_scores(item_list, family, base))
    return {item: family.siblings[index] for item, index in assigned.items()}


def _scores(item_list: ItemList, family: OfferFamily, base: str) -> dict[tuple[int, int], float]:
    """Return {(item index, sibling index): score}, without low scores."""
    matchers = [ValueMatcher(sibling.known, base) for sibling in family.siblings]
    scores = {}
    for item, texts in enumerate(item_list.items):
        for index, sibling in enumerate(family.siblings):
            score = _score(texts, sibling, matchers[index], family.distinctive_words(sibling))
            if score >= MIN_SCORE:
                scores[item, index] = score
    return scores


def _score(
    texts: ItemTexts, sibling: Sibling, matcher: ValueMatcher, distinctive: frozenset[str]
) -> float:
    """Score the values of a known offer in an item; its siblings lack `distinctive` words."""
    matched: set[Attribute] = set()
    is_linked, named = False, set[str]()
    parameters = {value for _, value in sibling.query if len(value) > 1}
    for text in texts.values():
        for attribute, _, is_complete in matcher.matches(text):
            if is_complete:
                matched.add(attribute)
        is_linked = is_linked or text in parameters
        if distinctive and len(text) <= MAX_OPTION_CHARS:
            named |= sibling.words_named_by(text) & distinctive
    score = sum(WEIGHTS.get(attribute, 0.0) for attribute in matched)
    score += LINK_WEIGHT * is_linked
    return score + WORDS_WEIGHT * (bool(distinctive) and named == distinctive)


def _assignment(scores: Mapping[tuple[int, int], float]) -> dict[int, int]:
    """Assign greedily by score; an offer for which two items score the same gets none."""
    assigned: dict[int, int] = {}
    taken: set[int] = set()
    scores_of = defaultdict[int, list[float]](list)
    for (_, index), score in scores.items():
        scores_of[index].append(score)
    for (item, index), score in sorted(scores.items(), key=lambda pair: -pair[1]):
        is_best = score >= max(scores_of[index]) and scores_of[index].count(score) == 1
        if is_best and item not in assigned and index not in taken:
            assigned[item] = index
            taken.add(index)
    return assigned
