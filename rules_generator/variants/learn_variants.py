"""Learn where a shop's pages keep several offers, from pages of which the catalog knows several.

On such a page each list and each row of elements is tried: which of its items is which known offer? The list in which
most known offers find an item of their own is the one, if it does so on several pages, and not on a small part of those
that have such a list: a catalog with one offer a page does not take variants for offers.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.models import Attribute
from parser.crawled_pages import Opener
from parser.page.document import Document
from parser.rules.model import Variants
from parser.rules.selector import AnySelector, JsonAt
from parser.variants import LONGEST_OPTION
from rules_generator.locate.known_values import Wanted
from rules_generator.training.examples import Example
from rules_generator.training.training_example import Taught
from rules_generator.variants.item_lists import Facts, Listing, listing, listings
from rules_generator.variants.same_page_offers import Family, Sibling
from rules_generator.variants.variant_rules import Pair, rules_of, shared_title, without_options

LOOKED_AT = 8
COUNTED = 30
LEAST_PAGES = 2
LEAST_SHARE = 0.15
SURE = 2.0
WEIGHTS = {
    **{Attribute.SKU: 3.0, Attribute.EAN: 3.0, Attribute.HAN: 2.0, Attribute.TITLE: 2.0},
    **{Attribute.PRICE: 0.5, Attribute.IMAGE: 0.5},
}


@dataclass(frozen=True)
class Opened:
    """A page with its known offers, open."""

    family: Family
    document: Document


def learn_variants(found: Sequence[Family], opener: Opener) -> Variants | None:
    """The way in which the shop's pages keep several offers; None where the known offers do not show that they do."""
    several = [family for family in found if len(family.siblings) > 1]
    if len(several) < LEAST_PAGES:
        return None
    spread = several[:: max(1, len(several) // LOOKED_AT)][:LOOKED_AT]
    way = _best_way(list(_opened(spread, opener)))
    if way is None:
        return None
    rest = [family for family in found if family not in spread]
    counted = [*spread, *rest[:: max(1, len(rest) // COUNTED)][:COUNTED]]
    pairs, known = [], []
    for page in _opened(counted, opener):
        items = listing(page.document, way)
        mine = assign(items, page.family.siblings, page.document.base)
        pairs += [
            Pair(items.items[item], sibling, page.document.base, page.family)
            for item, sibling in mine.items()
        ]
        known += [len(mine)] if len(items.items) > 1 else []
    return rules_of(way, pairs) if _keeps_offers(known) else None


def _keeps_offers(known: Sequence[int]) -> bool:
    """Whether pages with several items keep offers in them, by how many known ones of its own each has there.

    Where half of them have none, they show other offers: those that are like the page's, or those of a category.
    """
    some, several = sum(map(bool, known)), sum(one > 1 for one in known)
    return several >= LEAST_PAGES and several >= LEAST_SHARE * some and 2 * some >= len(known)


def as_whole(one: Taught, family: Family, way: Variants) -> Taught:
    """A page as a teacher of what it says as a whole: any known offer's values, the title without the options."""
    found = listing(one.document, way.items)
    mine = assign(found, family.siblings, one.document.base)
    options = {id(sibling): _said(found.items[item], way.options) for item, sibling in mine.items()}
    known: dict[Attribute, list[str]] = {}
    for sibling in family.siblings:
        for attribute, values in sibling.known.items():
            known.setdefault(attribute, []).extend(values)
    titles = known.pop(Attribute.TITLE, [])
    common = shared_title(titles)
    if way.options:
        titles = [
            without_options(sibling.title, options.get(id(sibling), ()))
            for sibling in family.siblings
        ]
    elif common and not any(rule.attribute is Attribute.TITLE for rule in way.rules):
        titles = []
    known[Attribute.TITLE] = [*([common] if common else []), *titles]
    distinct = {
        attribute: list(dict.fromkeys(values)) for attribute, values in known.items() if values
    }
    return Taught(Example(one.example.page, distinct), one.document)


def _said(facts: Facts, options: Sequence[AnySelector]) -> list[str]:
    return [facts[selector] for selector in options if selector in facts]


def _opened(found: Sequence[Family], opener: Opener) -> Iterator[Opened]:
    by_page = {family.page: family for family in found}
    for page, document in opener.open_all(by_page):
        yield Opened(by_page[page], document)


def _best_way(pages: Sequence[Opened]) -> AnySelector | None:
    """The way by which most known offers find an item of their own, and most of what they say; then few other items."""
    found: dict[AnySelector, list[tuple[float, int]]] = defaultdict(list)
    for page in pages:
        known = [sibling.known for sibling in page.family.siblings]
        for one in listings(page.document, known):
            found[one.selector].append((_worth(one, page), -len(one.items)))
    sure = [
        way for way, told in found.items() if sum(worth > 0 for worth, _ in told) >= LEAST_PAGES
    ]
    return max(
        sure,
        key=lambda way: (*map(sum, zip(*found[way], strict=True)), -len(str(way))),
        default=None,
    )


def _worth(one: Listing, page: Opened) -> float:
    """How much its items say of a page's known offers; nothing where only one has an item of its own."""
    scores = _scores(one, page.family.siblings, page.document.base)
    mine = _one_each(scores)
    said = sum(2 + scores[item, sibling] for item, sibling in mine.items())
    return said + 0.1 * isinstance(one.selector, JsonAt) if len(mine) > 1 else 0.0


def assign(found: Listing, siblings: Sequence[Sibling], base: str) -> dict[int, Sibling]:
    """The items that are known offers."""
    return {
        item: siblings[number] for item, number in _one_each(_scores(found, siblings, base)).items()
    }


def _scores(found: Listing, siblings: Sequence[Sibling], base: str) -> dict[tuple[int, int], float]:
    """How much each item (by its number) says of each known offer."""
    wanted = [Wanted(one.known, base) for one in siblings]
    common = frozenset.intersection(*(one.words for one in siblings))
    own = [one.words - common for one in siblings]
    scores = {}
    for item, facts in enumerate(found.items):
        for number, one in enumerate(siblings):
            score = _score(
                facts, one, wanted[number], own[number] if len(siblings) > 1 else frozenset()
            )
            if score >= SURE:
                scores[item, number] = score
    return scores


def _score(facts: Facts, one: Sibling, wanted: Wanted, own: frozenset[str]) -> float:
    said: set[Attribute] = set()
    linked, named = False, set[str]()
    values = {value for _, value in one.query if len(value) > 1}
    for text in facts.values():
        said.update(attribute for attribute, _, whole in wanted.matches(text) if whole)
        linked = linked or text in values
        named |= one.names(text) & own if own and len(text) <= LONGEST_OPTION else frozenset()
    return (
        sum(WEIGHTS.get(attribute, 0.0) for attribute in said)
        + 3.0 * linked
        + 2.0 * (bool(own) and named == own)
    )


def _one_each(scores: Mapping[tuple[int, int], float]) -> dict[int, int]:
    """One item for one known offer, the surest first; an offer of which two items say as much has none."""
    made: dict[int, int] = {}
    taken: set[int] = set()
    for (item, number), score in sorted(scores.items(), key=lambda pair: -pair[1]):
        rivals = [other for (at, whose), other in scores.items() if whose == number and at != item]
        if item not in made and number not in taken and all(other < score for other in rivals):
            made[item] = number
            taken.add(number)
    return made
