"""Self-training for the cold start: training examples for a shop of which the catalog knows no
offer.

Pages that show one offer by general rules (`parser.heuristics`) are taken as examples of the values
read there (Yarowsky 1995); the learner then finds where else these stand, which rules hold on most
pages, and how offer pages are recognised. Offers of other shops help: if a page shows the EAN of
one of them, or its manufacturer's number, and has a similar title, it is the same product, and its
attributes that do not depend on the shop are known for certain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from statistics import mean

from rapidfuzz import fuzz, utils

from catalog.models import Attribute, KnownOffer, OfferFields
from catalog.values import value_key
from parser.crawled_pages import CrawledPage
from parser.heuristics.evidence import SURE
from parser.heuristics.heuristic_reader import HeuristicValue, read_page_by_heuristics
from parser.heuristics.titles import find_site_texts
from parser.page.document import Document
from parser.page.url_paths import is_home_page
from parser.rules.model import Rule, RuleSet
from parser.templates.template_match import page_fingerprint
from rules_generator.training.examples import TrainingExample
from rules_generator.training.page_clusters import cluster_pages

# Sure pages that suffice; twice as many examples are kept.
ENOUGH_SURE = 60
# Caps: pages looked at, numbers on a page, characters of a page.
MAX_PAGES = 600
MAX_NUMBERS = 400
MAX_PAGE_CHARS = 2_000_000
# Least trust of the general rules in a value for it to be an example.
MIN_TRUST = {Attribute.DESCRIPTION: 0.9, Attribute.CURRENCY: 0.5, Attribute.AVAILABILITY: 0.7}
USUAL_MIN_TRUST = 0.35
# Share of examples (at least two) that may have the same title.
MAX_TITLE_SHARE = 0.05
# Pages from which the texts that the shop's pages share are taken.
SITE_SAMPLE = 40
# Sure pages from which on the templates without any do not teach.
MIN_SURE = 3
# Pages of a template from which on likely ones join the sure ones, if at least this share is sure:
# a few sure pages may be strays in a template of lists.
MIN_TEMPLATE_PAGES = 5
MIN_SURE_SHARE = 0.2
# Least token-set similarity (0 to 100) of titles of one product.
MIN_TITLE_SIMILARITY = 70
# Characters from which on a manufacturer's number identifies a product.
MIN_HAN_CHARS = 4
GTIN_LIKE = re.compile(r"(?<![\w.])(\d{8}|\d{12,14})(?![\w.])")
# Attributes that do not depend on the shop.
SHOP_INDEPENDENT = (Attribute.EAN, Attribute.HAN, Attribute.BRAND)


@dataclass(frozen=True)
class SelfTraining:
    """Examples from a shop's own pages: pages looked at, and examples that another shop's offer
    helped.

    `trust` is the mean trust of the general rules per attribute.
    """

    examples: Sequence[TrainingExample] = ()
    pages: int = 0
    helped: int = 0
    trust: Mapping[Attribute, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OtherShops:
    """Offers of other shops by EAN, and by manufacturer's number; the first one of each number."""

    by_ean: Mapping[str, OfferFields] = field(default_factory=dict)
    by_han: Mapping[str, OfferFields] = field(default_factory=dict)

    def find_offer(
        self, document: Document, reading: Mapping[Attribute, HeuristicValue]
    ) -> OfferFields | None:
        """Return the one offer that a page shows: by a number on it, and by a similar title."""
        if Attribute.TITLE not in reading or not (self.by_ean or self.by_han):
            return None
        title = reading[Attribute.TITLE].value
        html = (document.tree.html or "")[:MAX_PAGE_CHARS]
        numbers = islice(GTIN_LIKE.findall(html), MAX_NUMBERS)
        eans = set(map(partial(value_key, Attribute.EAN), numbers))
        offers = [self.by_ean[ean] for ean in sorted(eans) if ean in self.by_ean]
        for attribute in (Attribute.HAN, Attribute.SKU):
            if attribute in reading:
                han = value_key(Attribute.HAN, reading[attribute].value)
                if han in self.by_han:
                    offers.append(self.by_han[han])
        similar = [offer for offer in offers if offer.title and _are_similar(offer.title, title)]
        # Several numbers of one product lead to it, perhaps in several shops.
        return similar[0] if len(set(map(_product_key, similar))) == 1 else None


def index_other_shops(offers: Iterable[KnownOffer]) -> OtherShops:
    """Index offers of other shops; a manufacturer's number counts only with its brand."""
    by_ean: dict[str, OfferFields] = {}
    by_han: dict[str, OfferFields] = {}
    for offer in offers:
        if offer.ean:
            by_ean.setdefault(value_key(Attribute.EAN, offer.ean), offer)
        if offer.han and offer.brand and len(offer.han) >= MIN_HAN_CHARS:
            by_han.setdefault(value_key(Attribute.HAN, offer.han), offer)
    return OtherShops(by_ean, by_han)


def _product_key(offer: OfferFields) -> str:
    """Return the key of an offer's product: its EAN, else the offer itself."""
    return value_key(Attribute.EAN, offer.ean) if offer.ean else str(id(offer))


def _are_similar(title: str, other_title: str) -> bool:
    score = fuzz.token_set_ratio(title, other_title, processor=utils.default_process)
    return score >= MIN_TITLE_SIMILARITY


def self_train(
    pages: Iterable[tuple[CrawledPage, Document]], other_shops: OtherShops | None = None
) -> SelfTraining:
    """Make training examples of a shop's own pages.

    Pages that state to be offers teach first. Pages that only look like it are added where they
    share the template of sure ones, or where hardly any page is sure. Pages that share a heading
    with others are left out.
    """
    looked_at, helped, sure = 0, 0, 0
    likely: dict[str, tuple[int, TrainingExample]] = {}
    trusts: dict[Attribute, list[float]] = {}
    pages = iter(pages)
    first_pages = list(islice(pages, SITE_SAMPLE))
    site = find_site_texts([document for _, document in first_pages])
    for page, document in islice(chain(first_pages, pages), MAX_PAGES):
        looked_at += 1
        if sure >= ENOUGH_SURE and len(likely) >= 2 * ENOUGH_SURE:
            break
        if page.address in likely or is_home_page(document.url):
            continue
        page_reading = read_page_by_heuristics(document, site)
        reading = page_reading.values
        offer = (other_shops or OtherShops()).find_offer(document, reading)
        certainty = SURE if offer is not None else page_reading.evidence
        if not certainty:
            continue
        example = TrainingExample(page, _values(reading, offer), document=document)
        likely[page.address] = certainty, example
        helped += offer is not None
        sure += certainty == SURE
        for attribute, value in reading.items():
            trusts.setdefault(attribute, []).append(min(1.0, value.trust))
    examples = _without_repeated_titles(_surest(list(likely.values()))[: 2 * ENOUGH_SURE])
    mean_trust = {attribute: mean(values) for attribute, values in trusts.items()}
    return SelfTraining(examples, looked_at, helped, mean_trust)


def _surest(likely: Sequence[tuple[int, TrainingExample]]) -> list[TrainingExample]:
    """Return the sure pages of each template; where these are a minority, the likely ones as well.

    Where hardly any page is sure, all likely ones.
    """
    examples = [example for _, example in likely]
    total_sure = sum(certainty == SURE for certainty, _ in likely)
    if total_sure < MIN_SURE:
        return examples
    surest: list[TrainingExample] = []
    for cluster in cluster_pages([page_fingerprint(example.document) for example in examples]):
        members, sure = [], []
        for index in cluster.members:
            certainty, example = likely[index]
            members.append(example)
            if certainty == SURE:
                sure.append(example)
        is_mixed = MIN_SURE_SHARE * len(members) <= len(sure) < 0.5 * len(members)
        if len(members) >= MIN_TEMPLATE_PAGES and is_mixed:
            surest += members
        else:
            surest += sure
    return surest


def _without_repeated_titles(examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Leave out pages whose title others have too: a heading of the layout."""
    counts = Counter[str]()
    for example in examples:
        counts.update(example.known.get(Attribute.TITLE, ()))
    limit = max(2, MAX_TITLE_SHARE * len(examples))
    remaining = []
    for example in examples:
        titles = example.known[Attribute.TITLE]
        if all(counts[title] <= limit for title in titles):
            remaining.append(example)
    return remaining


def _values(
    reading: Mapping[Attribute, HeuristicValue], offer: OfferFields | None
) -> dict[Attribute, list[str]]:
    """Return the trusted values of a page, and the certain ones of another shop's offer."""
    values = {}
    for attribute, value in reading.items():
        is_trusted = value.trust >= MIN_TRUST.get(attribute, USUAL_MIN_TRUST)
        if is_trusted or attribute is Attribute.TITLE:
            values[attribute] = [value.value]
    if offer is not None:
        for attribute in SHOP_INDEPENDENT:
            text = getattr(offer, attribute.value)
            if text:
                values[attribute] = [text]
    return values


def as_general_rules(rules: RuleSet, trust: Mapping[Attribute, float]) -> RuleSet:
    """Mark rules as self-trained, and no surer than the general rules that they come from."""
    templates = []
    for template in rules.templates:
        general = tuple(_as_general(rule, trust) for rule in template.rules)
        templates.append(template.model_copy(update={"rules": general}))
    return rules.model_copy(update={"templates": tuple(templates)})


def _as_general(rule: Rule, trust: Mapping[Attribute, float]) -> Rule:
    factor = (1 + trust.get(rule.attribute, 0.0)) / 2
    return rule.model_copy(
        update={"origin": "general", "precision": round(rule.precision * factor, 4)}
    )
