"""Cold start: teachers for a shop of which the catalog knows no offer.

Pages that say by general rules that they show one offer (`parser.heuristics.visible_text`) teach what they say, as known offers would;
the learner then finds where else it stands, which rules hold on most pages, and how offer pages are recognised. Offers
that other shops have given the catalog help: where a page shows the EAN of one of them, or its manufacturer's number,
and bears a like title, it is the same thing, and what does not depend on the shop is known for certain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import mean

from rapidfuzz import fuzz, utils

from catalog.models import Attribute, KnownOffer, OfferFields
from catalog.values import key
from parser.crawled_pages import CrawledPage
from parser.heuristics.visible_text import General, general_reading, offer_likeness
from parser.page.document import Document
from parser.rules.model import Rule, RuleSet, Template
from parser.templates.template_match import is_front_door, marks_of
from rules_generator.training import page_clusters
from rules_generator.training.examples import Example
from rules_generator.training.training_example import Taught

ENOUGH = 60
MOST_LOOKED_AT = 600
LEAST_TRUST = {Attribute.DESCRIPTION: 0.9, Attribute.CURRENCY: 0.5, Attribute.AVAILABILITY: 0.7}
USUAL_TRUST = 0.35
REPEATED = 0.05
SURE = 2
FEW = 5
ALIKE = 70
NUMBER = re.compile(r"(?<![\w.])(\d{8}|\d{12,14})(?![\w.])")
MOST_NUMBERS = 400
LONGEST_PAGE = 2_000_000
ANYWHERE = (Attribute.EAN, Attribute.HAN, Attribute.BRAND)


@dataclass(frozen=True)
class Cold:
    """Teachers without known offers: pages that teach themselves, and how many of them another shop's offer helped.

    `trust` is how far, on average, what pages say of each attribute is to be trusted.
    """

    taught: Sequence[Taught] = ()
    looked_at: int = 0
    helped: int = 0
    trust: Mapping[Attribute, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Elsewhere:
    """Offers of other shops, by what is the same in every shop: their EAN; their number where no EAN is known."""

    by_ean: Mapping[str, OfferFields] = field(default_factory=dict)
    by_han: Mapping[str, OfferFields] = field(default_factory=dict)

    def of(self, document: Document, read: Mapping[Attribute, General]) -> OfferFields | None:
        """The one offer that a page shows: by a number on it, and by a like title."""
        title = read[Attribute.TITLE].value if Attribute.TITLE in read else None
        if title is None or not (self.by_ean or self.by_han):
            return None
        page = (document.tree.html or "")[:LONGEST_PAGE]
        eans = {key(Attribute.EAN, one) for one in islice(NUMBER.findall(page), MOST_NUMBERS)}
        found = [self.by_ean[ean] for ean in eans if ean in self.by_ean]
        hans = [read[name].value for name in (Attribute.HAN, Attribute.SKU) if name in read]
        found += [
            self.by_han[han] for one in hans if (han := key(Attribute.HAN, one)) in self.by_han
        ]
        alike = [one for one in found if one.title and _alike(one.title, title)]
        return alike[0] if len(alike) == 1 else None


def elsewhere(offers: Iterable[KnownOffer]) -> Elsewhere:
    """Offers of other shops by their numbers; a manufacturer's number counts only with its brand."""
    by_ean: dict[str, OfferFields] = {}
    by_han: dict[str, OfferFields] = {}
    for offer in offers:
        if offer.ean:
            by_ean.setdefault(key(Attribute.EAN, offer.ean), offer)
        if offer.han and offer.brand and len(offer.han) >= 4:
            by_han.setdefault(key(Attribute.HAN, offer.han), offer)
    return Elsewhere(by_ean, by_han)


def _alike(one: str, other: str) -> bool:
    return fuzz.token_set_ratio(one, other, processor=utils.default_process) >= ALIKE


def teach_cold(
    pages: Iterable[tuple[CrawledPage, Document]], others: Elsewhere | None = None
) -> Cold:
    """Teachers out of a shop's own pages, at most sixty.

    Where pages of a template say themselves that they show an offer, those that only look like it are left out, and so
    are pages that share a heading with others.
    """
    looked, helped, sure = 0, 0, 0
    found: dict[str, tuple[int, Taught]] = {}
    trusts: dict[Attribute, list[float]] = {}
    for page, document in islice(pages, MOST_LOOKED_AT):
        looked += 1
        if sure >= ENOUGH and len(found) >= 2 * ENOUGH:
            break
        if page.address in found or is_front_door(document.url):
            continue
        read = general_reading(document)
        offer = (others or Elsewhere()).of(document, read)
        likeness = SURE if offer is not None else offer_likeness(document, read)
        if likeness:
            found[page.address] = likeness, Taught(Example(page, _known(read, offer)), document)
            helped, sure = helped + (offer is not None), sure + (likeness == SURE)
            for attribute, one in read.items():
                trusts.setdefault(attribute, []).append(min(1.0, one.trust))
    chosen = _chosen(list(found.values()))[: 2 * ENOUGH]
    titles = Counter(
        title for one in chosen for title in one.example.known.get(Attribute.TITLE, ())
    )
    most = max(2, REPEATED * len(chosen))
    taught = [
        one
        for one in chosen
        if all(titles[title] <= most for title in one.example.known[Attribute.TITLE])
    ]
    return Cold(
        taught, looked, helped, {attribute: mean(found) for attribute, found in trusts.items()}
    )


def _chosen(found: Sequence[tuple[int, Taught]]) -> list[Taught]:
    """Of each template the pages that are sure; where those are the fewer, also those that only look like it."""
    kept: list[Taught] = []
    for group in page_clusters.cluster([marks_of(one.document) for _, one in found]):
        members = [found[place] for place in group.members]
        sure = [one for likeness, one in members if likeness == SURE]
        whole = len(members) >= FEW and 2 * len(sure) < len(members)
        kept += [one for _, one in members] if whole else sure
    return kept or [one for _, one in found]


def _known(
    read: Mapping[Attribute, General], offer: OfferFields | None
) -> dict[Attribute, list[str]]:
    """What a page teaches of itself: values sure enough, and those that another shop's offer knows better."""
    known = {
        attribute: [one.value]
        for attribute, one in read.items()
        if attribute is Attribute.TITLE or one.trust >= LEAST_TRUST.get(attribute, USUAL_TRUST)
    }
    for attribute in ANYWHERE if offer is not None else ():
        value = getattr(offer, attribute.value)
        if value:
            known[attribute] = [value]
    return known


def as_general(rules: RuleSet, trust: Mapping[Attribute, float]) -> RuleSet:
    """The rules as what they are: not learnt from known offers, and no surer than what taught them.

    Spares are left out: they would be asked with the others, as none of these comes before a general one.
    """

    def general(template: Template) -> Template:
        kept = (rule for rule in template.rules if rule.origin != "spare")
        return template.model_copy(update={"rules": tuple(_general(rule, trust) for rule in kept)})

    return rules.model_copy(update={"templates": tuple(map(general, rules.templates))})


def _general(rule: Rule, trust: Mapping[Attribute, float]) -> Rule:
    sure = (1 + trust.get(rule.attribute, 0.0)) / 2
    return rule.model_copy(update={"origin": "general", "agreed": round(rule.agreed * sure, 4)})
