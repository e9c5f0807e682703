"""Known offers that share a page: the sign that a shop's pages keep several offers each.

Only the catalog can say so. Most shops show sizes and colours of one offer in a list, and a catalog that has one offer
for each page means it that way; where it has several known offers for one page, it takes variants for offers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

from catalog.models import Attribute, OfferFields
from parser.crawled_pages import CrawledPage
from rules_generator.training.examples import NOWHERE, finder, known_of

WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Sibling:
    """One of the known offers of a page: its values, and the names and values of its link's query."""

    known: Mapping[Attribute, Sequence[str]]
    url: str
    query: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """Its title; nothing where it has none."""
        return next(iter(self.known.get(Attribute.TITLE, ())), "")

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its title."""
        return words_of(self.title)

    def names(self, text: str) -> frozenset[str]:
        """The words of a text that is part of its title, as `30 ml` is also where all variants have the `ml`."""
        said = words_of(text)
        return said if said <= self.words else frozenset()


@dataclass(frozen=True)
class Family:
    """A page with its known offers, one or more."""

    page: CrawledPage
    siblings: tuple[Sibling, ...]

    @cached_property
    def shared_words(self) -> frozenset[str]:
        """The words that the titles of all its known offers have."""
        return frozenset.intersection(*(one.words for one in self.siblings))

    @cached_property
    def name(self) -> frozenset[str]:
        """The word with which what they share begins, mostly the product's name: no option has it."""
        said = WORD.findall(self.siblings[0].title.casefold())
        return frozenset([word for word in said if word in self.shared_words][:1])


def families(
    offers: Iterable[OfferFields],
    pages: Iterable[CrawledPage],
    leads_to: Mapping[str, str] = NOWHERE,
) -> list[Family]:
    """The pages with the known offers whose links lead to each, those with most first."""
    find = finder(pages, leads_to)
    found: dict[str, tuple[CrawledPage, dict[tuple[object, ...], Sibling]]] = {}
    for offer in offers:
        page = find(offer.url)
        if page is not None:
            members = found.setdefault(page.address, (page, {}))[1]
            members.setdefault(
                (offer.sku, offer.ean, offer.title, offer.price, offer.url), _sibling(offer)
            )
    made = [Family(page, tuple(members.values())) for page, members in found.values()]
    return sorted(made, key=lambda one: -len(one.siblings))


def _sibling(offer: OfferFields) -> Sibling:
    return Sibling(
        known_of(offer), offer.url or "", tuple(parse_qsl(urlsplit(offer.url or "").query))
    )


def words_of(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(words_of("Red / 42-M"))
    ['42', 'm', 'red']
    """
    return frozenset(WORD.findall(text.casefold()))
