"""Inspection of one page: the vote of every rule, with the reason why a vote lost.

The votes are those of `parser.page_reader`, so the inspector shows exactly what the parser does.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from sqlmodel import col, or_, select

from catalog.errors import UsageError
from catalog.models import Attribute, KnownOffer, Page, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from catalog.values import is_same_as_any, is_same_value, offer_values
from crawler.pages.link_extraction import extract_links
from parser.crawled_pages import PageOpener, list_crawled_pages
from parser.page.document import Document
from parser.page_reader import PageReading, read_attributes, read_page
from parser.parse_job import stored_rules
from parser.rules.model import RuleSet, Template
from parser.templates.template_match import page_fingerprint, rank_templates, signature_similarity
from parser.voting.vote_weights import weight_of
from parser.voting.votes import Vote
from parser.voting.winner import Reading
from rules_generator.evaluation.nearest import Missing, missing
from scout.inspect.selector_export import export_selector
from url_cleaner.cleaner import clean_url, is_same_site
from url_cleaner.errors import BadUrl

_MAX_KNOWN_OFFERS = 50  # catalog offers of one page that are compared with it


@dataclass(frozen=True)
class InspectedVote:
    """Vote of one rule on one page.

    `number` counts the rules of an attribute through all templates, as `scout rules` does. `raw` is
    the text found, `cut` the same after the rule's trim. `why` is empty for a vote that agrees with
    the winner. `css` and `xpath` are forms of the selector for other tools.
    """

    attribute: str
    number: int
    selector: str
    trim: str
    score: float
    weight: float
    raw: str | None
    cut: str | None
    value: str | None
    won: bool
    why: str
    css: str | None = None
    xpath: str | None = None
    form: str = "plain"
    origin: str = "learnt"
    locked: bool = False


@dataclass(frozen=True)
class Inspection:
    """Page as the parser sees it: class, winning values, every vote, and the catalog's values.

    `missing` are known values that the page does not show, each with the most similar text on it.
    `variants` are the offers of a page with several. `likeness` is the similarity of the page to
    each template, 0 to 1.
    """

    url: str
    rules_version: int
    kind: str
    reason: str
    template: str | None
    likeness: dict[str, float]
    winners: dict[str, dict[str, Any]]
    known: dict[str, list[str]]
    lines: tuple[InspectedVote, ...]
    missing: tuple[Missing, ...] = ()
    variants: tuple[dict[str, Any], ...] = ()


def inspect_page(
    settings: Settings, store: Store, shop: Shop, page: str, attribute: Attribute | None = None
) -> Inspection:
    """Inspect a crawled page, given by its URL, or a saved one, given by its file.

    `attribute` limits the result.

    Raises LearnError (no rules yet), UsageError (no such page), HostilePage, StoreError.
    """
    rules = stored_rules(store, shop)
    document = _open_page(settings, store, shop, page)
    page_reading = read_page(document, rules)
    marks = page_fingerprint(document)
    template = _choose_template(marks, rules, page_reading)
    readings = page_reading.readings
    if not readings and template:
        readings = read_attributes(document, template)
    known_values = _known_values(store, shop, document.url)
    selected = list(readings.values())
    selected_values = known_values
    if attribute is not None:
        selected = [reading for name, reading in readings.items() if name == attribute]
        selected_values = {
            name: values for name, values in known_values.items() if name == attribute
        }
    votes: list[InspectedVote] = []
    for reading in selected:
        first_number = 1 + _rules_before(rules, template, reading)
        votes += _inspected_votes(reading, first_number)
    return Inspection(
        url=document.url,
        rules_version=rules.version,
        kind=page_reading.kind.value,
        reason=page_reading.reason,
        template=template.name if template else None,
        likeness={
            candidate.name: round(signature_similarity(marks, candidate.signature), 3)
            for candidate in rules.templates
        },
        winners={reading.attribute.value: _winner(reading, known_values) for reading in selected},
        known={name.value: values for name, values in known_values.items()},
        lines=tuple(votes),
        missing=tuple(missing(document, selected_values)),
        variants=tuple(variant.offer.model_dump(mode="json") for variant in page_reading.variants),
    )


def _open_page(settings: Settings, store: Store, shop: Shop, page: str) -> Document:
    if Path(page).is_file():
        return _open_saved_page(Path(page), shop)
    url = _clean_url(page, shop)
    for crawled in list_crawled_pages(store, shop):
        if url in (crawled.url, crawled.canonical):
            return PageOpener(settings.bodies).open(crawled)
    state = _describe_state(store, shop, url)
    raise UsageError(f"{page} is neither a file nor a crawled page of {shop.name!r}: {state}")


def _open_saved_page(file: Path, shop: Shop) -> Document:
    """Open a saved page under the URL that it states.

    A page that states no URL of the shop is opened under its file name.
    """
    body = file.read_bytes()
    page = Document(body, shop.url)
    stated = [extract_links(page.tree, shop.url).canonical]
    og_url = page.first('meta[property="og:url"]')
    if og_url is not None:
        stated.append(og_url.attributes.get("content"))
    for url in stated:
        if url and is_same_site(url, shop.url):
            return Document(body, _clean_url(url, shop))
    return Document(body, urljoin(shop.url, quote(file.name)))


def _clean_url(url: str, shop: Shop) -> str:
    try:
        return clean_url(url, home=shop.url).url or url
    except BadUrl as error:
        raise UsageError(f"{url} is neither a file nor a URL: {error}") from error


def _describe_state(store: Store, shop: Shop, url: str) -> str:
    """Describe the state of a page that cannot be inspected."""
    with store.read() as session:
        page = session.exec(select(Page).where(Page.shop_id == shop.id, Page.url == url)).first()
    if page is None:
        return "it was never seen"
    if page.reason:
        return f"it is {page.state} ({page.reason})"
    return f"it is {page.state}"


def _choose_template(
    marks: Collection[str], rules: RuleSet, page_reading: PageReading
) -> Template | None:
    """Return the template that read the page, else the most similar one.

    None if the shop has no templates.
    """
    for template in rules.templates:
        if template.name == page_reading.template:
            return template
    for match in rank_templates(marks, rules.templates):
        return match.template
    return None


def _known_values(store: Store, shop: Shop, url: str) -> dict[Attribute, list[str]]:
    """Return the catalog's values of the offer at a URL, else of the variants on that page."""
    of_shop = select(KnownOffer).where(KnownOffer.shop_id == shop.id).limit(_MAX_KNOWN_OFFERS)
    at_page = or_(col(KnownOffer.url) == url, col(KnownOffer.link) == url)
    on_page = col(KnownOffer.url).startswith(f"{url}?", autoescape=True)
    with store.read() as session:
        offers = session.exec(of_shop.where(at_page)).all()
        if not offers:
            offers = session.exec(of_shop.where(on_page)).all()
    values_by_attribute: dict[Attribute, list[str]] = {}
    for offer in offers:
        for attribute, values in offer_values(offer).items():
            # A dict keeps the order and drops repeated values.
            earlier = values_by_attribute.get(attribute, [])
            values_by_attribute[attribute] = list(dict.fromkeys([*earlier, *values]))
    return values_by_attribute


def _winner(reading: Reading, known_values: dict[Attribute, list[str]]) -> dict[str, Any]:
    """Return the winning value; `agrees` is None if the catalog has none to compare with."""
    values, value = known_values.get(reading.attribute), reading.value
    agrees = None
    if values and value is not None:
        agrees = is_same_as_any(reading.attribute, value, values)
    return {
        "value": value,
        "weight": round(reading.confidence, 3),
        "share": round(reading.share, 3),
        "votes": reading.vote_count,
        "agrees": agrees,
    }


def _rules_before(rules: RuleSet, template: Template | None, reading: Reading) -> int:
    """Count an attribute's rules in the templates before the one whose rules have voted.

    Usually that is the page's own template; without a match the parser may ask another one.
    """
    voting_rules = {vote.rule for vote in reading.all_votes}
    readers = []
    for candidate in rules.templates:
        if voting_rules == set(candidate.rules_for(reading.attribute)):
            readers.append(candidate.name)
    reader = readers[0] if readers else None
    if template is not None and template.name in readers:
        reader = template.name
    count = 0
    for candidate in rules.templates:
        if candidate.name == reader:
            break
        count += len(candidate.rules_for(reading.attribute))
    return count


def _inspected_votes(reading: Reading, first_number: int) -> Iterator[InspectedVote]:
    for number, vote in enumerate(reading.all_votes, start=first_number):
        rule = vote.rule
        agrees = _agrees_with_winner(vote, reading)
        won = agrees and vote in reading.votes
        exported = export_selector(rule.selector)
        yield InspectedVote(
            attribute=reading.attribute.value,
            number=number,
            selector=str(rule.selector),
            trim=str(rule.trim),
            score=rule.score,
            weight=round(weight_of(rule), 3),
            raw=vote.raw,
            cut=vote.cut,
            value=vote.value,
            won=won,
            why="" if won else _explain_loss(vote, reading),
            css=exported.css,
            xpath=exported.xpath,
            form=rule.form,
            origin=rule.origin,
            locked=rule.locked,
        )


def _agrees_with_winner(vote: Vote, reading: Reading) -> bool:
    if vote.value is None or reading.value is None:
        return False
    return is_same_value(reading.attribute, vote.value, reading.value)


def _explain_loss(vote: Vote, reading: Reading) -> str:
    """Return the reason why a vote is not one for the winning value."""
    if vote.value is None:
        return _explain_abstention(vote)
    if vote in reading.votes:
        return "outvoted"
    # The parser stops asking rules as soon as the winner is certain.
    if _agrees_with_winner(vote, reading):
        return "not needed: same value as the winner"
    return "not needed: different value"


def _explain_abstention(vote: Vote) -> str:
    """Return the reason why a rule has no value for this page."""
    if vote.cut is not None:
        return f"the text is not a valid {vote.rule.attribute.value}"
    if vote.raw is not None:
        return "the trim does not fit the text"
    return "finds nothing on this page"
