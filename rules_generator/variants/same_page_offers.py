"""Known offers that share a page: evidence that a shop's pages keep several offers each.

Only the catalog can give it. Most shops list the sizes and colours of one offer, and a catalog with
one offer a page means it that way; a catalog with several known offers for one page takes variants
for offers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

from catalog.models import Attribute, OfferFields
from parser.crawled_pages import CrawledPage
from rules_generator.training.examples import known_values, page_finder

WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Sibling:
    """A known offer that shares its page: its values, and its link's query parameters."""

    known: Mapping[Attribute, Sequence[str]]
    url: str
    query: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """Its title; empty where it has none."""
        return next(iter(self.known.get(Attribute.TITLE, ())), "")

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its title."""
        return word_set(self.title)

    def words_named_by(self, text: str) -> frozenset[str]:
        """Return a text's words if the title has all of them: `30 ml`, not `30 ml, refill`."""
        words = word_set(text)
        return words if words <= self.words else frozenset()


@dataclass(frozen=True)
class OfferFamily:
    """A page with its known offers, one or more."""

    page: CrawledPage
    siblings: tuple[Sibling, ...]

    @cached_property
    def shared_words(self) -> frozenset[str]:
        """The words that all titles have in common."""
        return frozenset.intersection(*(sibling.words for sibling in self.siblings))

    @cached_property
    def name(self) -> frozenset[str]:
        """The first shared word, mostly the product's name: no option has it."""
        title_words = WORD.findall(self.siblings[0].title.casefold())
        return frozenset([word for word in title_words if word in self.shared_words][:1])

    def distinctive_words(self, sibling: Sibling) -> frozenset[str]:
        """Return the words of a sibling's title that not all titles have: none if it is alone."""
        return sibling.words - self.shared_words


def group_by_page(
    offers: Iterable[OfferFields],
    pages: Iterable[CrawledPage],
    redirects: Mapping[str, str],
) -> list[OfferFamily]:
    """Group known offers by the page that their links lead to, the largest group first."""
    find_page = page_finder(pages, redirects)
    groups: dict[str, tuple[CrawledPage, dict[tuple[object, ...], Sibling]]] = {}
    for offer in offers:
        page = find_page(offer.url)
        if page is not None:
            members = groups.setdefault(page.address, (page, {}))[1]
            identity = (offer.sku, offer.ean, offer.title, offer.price, offer.url)
            query = tuple(parse_qsl(urlsplit(offer.url or "").query))
            members.setdefault(identity, Sibling(known_values(offer), offer.url or "", query))
    families = [OfferFamily(page, tuple(members.values())) for page, members in groups.values()]
    return sorted(families, key=lambda family: -len(family.siblings))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    >>> sorted(word_set("Red / 42-M"))
    ['42', 'm', 'red']
    """
    return frozenset(WORD.findall(text.casefold()))
