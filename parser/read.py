"""Read a page: rules vote, the values that agree add up, the heaviest wins (Hübscher 2018, 2.11).

Only the votes that are needed are heard (`parser.voting.early_stopping`); `read` returns all of them beside, so that an inspector
shows what each rule finds. A page that keeps several offers is read
once as a whole, for what they share, and then item by item (`parser.variants`).
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.models import Attribute, OfferFields, PageKind
from parser.page.document import Document
from parser.rules.model import RuleSet, Template
from parser.templates.template_match import Gate, Likeness
from parser.variants import Variant, variants_of
from parser.voting.brand_checks import told_from_brand
from parser.voting.early_stopping import settled
from parser.voting.votes import vote
from parser.voting.winner import Reading, offer_of

ASKED_WHERE_SILENT = frozenset({Attribute.TITLE, Attribute.PRICE, Attribute.BRAND, Attribute.EAN})
EVERY = frozenset(Attribute)
Readings = dict[Attribute, Reading]
ReadBy = Callable[[Template, Container[Attribute]], Readings]


@dataclass(frozen=True)
class PageReading:
    """What a page was taken for, why, and - where it is an offer page - what was read.

    `variants` are the offers of a page that keeps several; `offer` is then what the page says as a whole.
    """

    kind: PageKind
    reason: str
    template: str | None = None
    likeness: float = 0.0
    offer: OfferFields | None = None
    readings: Mapping[Attribute, Reading] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()


def read(document: Document, rules: RuleSet) -> PageReading:
    """Read a page by the rules of its template. A page like no template, or without a title, is no offer page.

    Whoever reads many pages by the same rules compiles them first: `parser.compiled_rules`.
    """
    ranked = Gate(rules.templates).ranked(document)
    return by_likest(
        ranked, document, rules, lambda one, names: read_attributes(document, one, names)
    )


def by_likest(
    ranked: Sequence[Likeness], document: Document, rules: RuleSet, read_by: ReadBy
) -> PageReading:
    """What a page says by the likest of these templates, if that takes it; `read_by` reads some attributes by one."""
    if not ranked or not ranked[0].takes:
        share = ranked[0].share if ranked else 0.0
        return PageReading(
            PageKind.OTHER, f"unlike the shop's offer pages ({share:.2f})", likeness=share
        )
    page = concluded(completed(ranked, read_by), document.url, rules.currency, *ranked[0])
    return with_variants(page, document, rules)


def completed(ranked: Sequence[Likeness], read_by: ReadBy) -> Readings:
    """What the nearest template's rules read, and by the shop's other templates what those do not say.

    That is what they do not know how to read, and where they are silent, title, price and brand, which offers have, and
    the trade number, which nothing else looks like. Templates that have much in common are told apart by little, and
    one that few examples have shown may know few ways.
    """
    readings = read_by(ranked[0].template, EVERY)
    for other in ranked[1:]:
        more = read_by(other.template, {name for name in EVERY if _is_open(name, readings)})
        readings |= {name: one for name, one in more.items() if one.value is not None}
    readings |= told_from_brand(readings, ranked[0].template)
    return readings


def _is_open(name: Attribute, readings: Mapping[Attribute, Reading]) -> bool:
    return name not in readings or (name in ASKED_WHERE_SILENT and readings[name].value is None)


def concluded(
    readings: Mapping[Attribute, Reading],
    url: str,
    currency: str | None,
    template: Template,
    likest: float,
) -> PageReading:
    """What the readings of a page make of it."""
    offer = offer_of(readings, url, currency)
    if not offer.title:
        return PageReading(PageKind.OTHER, "no title found", template.name, likest, None, readings)
    return PageReading(
        PageKind.OFFER, f"like template {template.name}", template.name, likest, offer, readings
    )


def with_variants(page: PageReading, document: Document, rules: RuleSet) -> PageReading:
    """The reading with the offers of a page that keeps several, where known offers have shown that the shop's do."""
    if page.offer is None or not rules.variants:
        return page
    return replace(
        page, variants=variants_of(document, rules.variants, page.readings, rules.currency)
    )


def without_doubtful(
    page: PageReading, least: Mapping[Attribute, float], currency: str | None
) -> PageReading:
    """The reading without values that are less sure than is asked for; a page without a title then is no offer page."""
    if page.offer is None or not least:
        return page
    kept, offer = _sure(page.offer, page.readings, least, currency)
    if not offer.title:
        reason = f"the title is only {page.readings[Attribute.TITLE].weight:.0%} sure"
        return replace(page, kind=PageKind.OTHER, reason=reason, offer=None, variants=())
    of_items = [(one, *_sure(one.offer, one.readings, least, currency)) for one in page.variants]
    variants = tuple(Variant(found, readings) for _, readings, found in of_items)
    return replace(page, offer=offer, readings=kept, variants=variants)


def _sure(
    offer: OfferFields,
    readings: Mapping[Attribute, Reading],
    least: Mapping[Attribute, float],
    currency: str | None,
) -> tuple[dict[Attribute, Reading], OfferFields]:
    kept = {name: one for name, one in readings.items() if one.weight >= least.get(name, 0.0)}
    made = offer_of(kept, offer.url or "", currency)
    return kept, made.model_copy(update={"title": offer.title}) if made.title else made


def read_attributes(
    document: Document, template: Template, names: Container[Attribute] = EVERY
) -> Readings:
    """All readings of a page by one template's rules for these attributes, with the votes of all of them."""
    votes = {rule: vote(document, rule) for rule in template.rules if rule.attribute in names}
    readings = settled(tuple(votes), votes.__getitem__)
    every = {name: tuple(votes[rule] for rule in template.of(name)) for name in readings}
    return {name: one._replace(all_votes=every[name]) for name, one in readings.items()}
