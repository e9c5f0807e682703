"""Read a page: rules vote, and the heaviest value wins (Hübscher 2018, section 2.11).

`read_page` runs all rules, so that an inspector can show what each one found; the outcome is that
of the votes that were needed (`parser.voting.early_stopping`). A page that lists several offers is
read once as a whole, for the values that they share, and then item by item (`parser.variants`).
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.models import Attribute, OfferFields, PageKind
from parser.page.document import Document
from parser.rules.model import RuleSet, Template
from parser.templates.template_match import TemplateMatch, TemplateMatcher
from parser.variants import Variant, read_variants
from parser.voting.early_stopping import collect_readings
from parser.voting.votes import run_rule
from parser.voting.winner import Reading, offer_from, with_values

NO_PRICE = "no price found, and no known offer to learn from"
# Attributes that other templates may fill in: those that all offers have, and the EAN, which is
# recognised by itself.
FILLED_BY_OTHERS = frozenset({Attribute.TITLE, Attribute.PRICE, Attribute.BRAND, Attribute.EAN})
ALL_ATTRIBUTES = frozenset(Attribute)
Readings = dict[Attribute, Reading]
# Reads some attributes of a page by the rules of a template.
TemplateReader = Callable[[Template, Container[Attribute]], Readings]


@dataclass(frozen=True)
class PageReading:
    """The kind of a page with the reason, and the readings and the offer of an offer page.

    `similarity` is that of the template that was chosen. `variants` are the offers of a page that
    lists several; `offer` then holds the values of the page as a whole.
    """

    kind: PageKind
    reason: str
    template: str | None = None
    similarity: float = 0.0
    offer: OfferFields | None = None
    readings: Mapping[Attribute, Reading] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()


def read_page(page: Document | str | bytes, rules: RuleSet, url: str = "") -> PageReading:
    """Read a page by the rules of the template that it matches.

    A page that matches no template, or has no title, is no offer page. `url` is that of a page
    passed as text; a `Document` has its own. To read many pages by the same rules, compile them
    first: `parser.compiled_rules`.
    """
    document = page if isinstance(page, Document) else Document(page, url)
    ranking = TemplateMatcher(rules.templates).rank(document)
    return read_by_best_template(
        ranking, document, rules, lambda template, names: read_attributes(document, template, names)
    )


def read_by_best_template(
    ranking: Sequence[TemplateMatch], document: Document, rules: RuleSet, read_by: TemplateReader
) -> PageReading:
    """Read a page by the first template of a ranking, if the page matches it."""
    if not ranking or not ranking[0].matches:
        similarity = ranking[0].similarity if ranking else 0.0
        reason = f"unlike the shop's offer pages ({similarity:.2f})"
        return PageReading(PageKind.OTHER, reason, similarity=similarity)
    readings = read_by_templates(ranking, read_by)
    template, similarity = ranking[0]
    offer = offer_from(readings, document.url, rules.currency)
    if not offer.title:
        reason = "no title found"
        return PageReading(PageKind.OTHER, reason, template.name, similarity, None, readings)
    variants = read_variants(document, rules.variants, readings, rules.currency)
    prices = {offer.price, *(variant.offer.price for variant in variants)}
    if prices == {None} and _needs_price(template):
        return PageReading(PageKind.OTHER, NO_PRICE, template.name, similarity, None, readings)
    reason = f"like template {template.name}"
    return PageReading(PageKind.OFFER, reason, template.name, similarity, offer, readings, variants)


def read_by_templates(ranking: Sequence[TemplateMatch], read_by: TemplateReader) -> Readings:
    """Read a page by the best template's rules, and fill gaps by those of other templates.

    Filled are attributes for which the best template has no rules; and title, price, brand and EAN
    where its rules abstain. Similar templates are distinguished by few features, and one learnt
    from few examples has few rules.
    """
    readings = read_by(ranking[0].template, ALL_ATTRIBUTES)
    for match in ranking[1:]:
        gaps = ALL_ATTRIBUTES - readings.keys() | FILLED_BY_OTHERS - with_values(readings).keys()
        readings |= with_values(read_by(match.template, gaps))
    return readings


def _needs_price(template: Template) -> bool:
    """Return True if a page of the template without a price is no offer page.

    That is so in a cold start, where the template's pages have prices: no known offer shows that
    the shop sells offers without one, and articles and product presentations look alike.
    """
    if any(rule.is_learnt for rule in template.rules_for(Attribute.TITLE)):
        return False
    return bool(template.rules_for(Attribute.PRICE))


def drop_uncertain(
    page: PageReading, thresholds: Mapping[Attribute, float], currency: str | None
) -> PageReading:
    """Drop values of a confidence below the threshold; without a title a page is no offer page."""
    if page.offer is None or not thresholds:
        return page
    readings = _certain(page.readings, thresholds)
    offer = _offer_of(page.offer, readings, currency)
    if not offer.title:
        reason = f"the title is only {page.readings[Attribute.TITLE].confidence:.0%} sure"
        return replace(page, kind=PageKind.OTHER, reason=reason, offer=None, variants=())
    variants = []
    for variant in page.variants:
        certain = _certain(variant.readings, thresholds)
        variants.append(Variant(_offer_of(variant.offer, certain, currency), certain))
    return replace(page, offer=offer, readings=readings, variants=tuple(variants))


def _certain(
    readings: Mapping[Attribute, Reading], thresholds: Mapping[Attribute, float]
) -> Readings:
    return {
        name: reading
        for name, reading in readings.items()
        if reading.confidence >= thresholds.get(name, 0.0)
    }


def _offer_of(
    offer: OfferFields, readings: Mapping[Attribute, Reading], currency: str | None
) -> OfferFields:
    """Make the offer of fewer readings; it keeps its title, which may have a variant's options."""
    reduced = offer_from(readings, offer.url or "", currency)
    return reduced.model_copy(update={"title": offer.title}) if reduced.title else reduced


def read_attributes(
    document: Document, template: Template, names: Container[Attribute] = ALL_ATTRIBUTES
) -> Readings:
    """Return the readings of a page by one template's rules, with the votes of all rules."""
    rules = [rule for rule in template.rules if rule.attribute in names]
    votes = {rule: run_rule(document, rule) for rule in rules}
    readings = collect_readings(tuple(votes), votes.__getitem__, document)
    for name, reading in readings.items():
        all_votes = tuple(votes[rule] for rule in template.rules_for(name))
        readings[name] = reading._replace(all_votes=all_votes)
    return readings
