"""What every rule of a shop finds on one page: the votes of `parser.read`, told one by one, with why a vote lost."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from sqlmodel import col, or_, select

from catalog.errors import UsageError
from catalog.models import Attribute, KnownOffer, Page, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from catalog.values import same, values_of
from crawler.pages.extract_links import page_links
from parser.crawled_pages import Opener, crawled_pages
from parser.page.document import Document
from parser.parse_job import stored_rules
from parser.read import PageReading, read, read_attributes
from parser.rules.model import RuleSet, Template
from parser.templates.template_match import likeness, marks_of, ranked
from parser.voting.vote_weights import weight_of
from parser.voting.votes import Vote
from parser.voting.winner import Reading
from rules_generator.evaluation.nearest import Missing, missing
from scout.inspect.selector_export import copies
from url_cleaner.clean import clean, same_site
from url_cleaner.errors import BadUrl

MOST_KNOWN = 50
LONGEST_NAME = 80
BESIDE_THE_BRAND = {
    Attribute.TITLE: "has the brand before the title, as no known offer does",
    Attribute.CATEGORY: "says the brand, as no known offer's category does",
}
NOT_BELIEVED = "not believed: what names all known ones names none here"


@dataclass(frozen=True)
class Line:
    """One rule on one page. `why` is empty for a vote that agrees with the winner; `css`, `xpath` are to be copied.

    `number` is the rule's among those of its attribute, as `scout rules` counts them.
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
    """A page as the parser sees it: what it was taken for, the winners, every vote, and what the catalog knows.

    `missing` are known values that the page does not show, each with the nearest text that it does. `variants` are the
    offers of a page that keeps several.
    """

    url: str
    rules_version: int
    kind: str
    reason: str
    template: str | None
    likeness: dict[str, float]
    winners: dict[str, dict[str, Any]]
    known: dict[str, list[str]]
    lines: tuple[Line, ...]
    missing: tuple[Missing, ...] = ()
    variants: tuple[dict[str, Any], ...] = ()


def inspect_page(
    settings: Settings, store: Store, shop: Shop, place: str, attribute: Attribute | None = None
) -> Inspection:
    """Inspect a crawled page, by its URL, or a saved one, by its file.

    Raises LearnError (no rules yet), UsageError (no such page), HostilePage, StoreError.
    """
    rules = stored_rules(store, shop)
    document = _open(settings, store, shop, place)
    reading = read(document, rules)
    marks = marks_of(document)
    template = _template(marks, rules, reading)
    readings = reading.readings or (read_attributes(document, template) if template else {})
    wanted = [one for name, one in readings.items() if attribute in (None, name)]
    known = _known(store, shop, document.url)
    return Inspection(
        url=document.url,
        rules_version=rules.version,
        kind=reading.kind.value,
        reason=reading.reason,
        template=template.name if template else None,
        likeness={one.name: round(likeness(marks, one.signature), 3) for one in rules.templates},
        winners={one.attribute.value: _winner(one, known) for one in wanted},
        known={name.value: values for name, values in known.items()},
        lines=tuple(
            line for one in wanted for line in _lines(document, one, _before(rules, template, one))
        ),
        missing=tuple(
            missing(document, {name: known[name] for name in known if attribute in (None, name)})
        ),
        variants=tuple(one.offer.model_dump(mode="json") for one in reading.variants),
    )


def _open(settings: Settings, store: Store, shop: Shop, place: str) -> Document:
    if Path(place).is_file():
        return _saved(Path(place), shop)
    url = _cleaned(place, shop)
    found = [page for page in crawled_pages(store, shop) if url in (page.url, page.canonical)]
    if not found:
        raise UsageError(
            f"{place} is no file and no crawled page of {shop.name!r}{_state_of(store, shop, url)}"
        )
    return Opener(settings.bodies).open(found[0])


def _saved(file: Path, shop: Shop) -> Document:
    """A saved page, at the address that it says is its own, if that is one of the shop's; else at one of its name."""
    body = file.read_bytes()
    page = Document(body, shop.url)
    told = page.first('meta[property="og:url"]')
    said = (
        page_links(page.tree, shop.url).canonical,
        told.attributes.get("content") if told is not None else None,
    )
    own = (_cleaned(one, shop) for one in said if one and same_site(one, shop.url))
    return Document(body, next(own, urljoin(shop.url, quote(file.name))))


def _cleaned(place: str, shop: Shop) -> str:
    try:
        return clean(place, home=shop.url).url or place
    except BadUrl as error:
        raise UsageError(f"{place} is neither a file nor a URL: {error}") from error


def _state_of(store: Store, shop: Shop, url: str) -> str:
    with store.read() as session:
        page = session.exec(select(Page).where(Page.shop_id == shop.id, Page.url == url)).first()
    return (
        f": it is {page.state}" + (f" ({page.reason})" if page.reason else "")
        if page
        else ": it was never seen"
    )


def _template(marks: Collection[str], rules: RuleSet, reading: PageReading) -> Template | None:
    """The template that read the page; for a page taken for none, the one it is likest to."""
    named = next((one for one in rules.templates if one.name == reading.template), None)
    return named or next((one.template for one in ranked(marks, rules.templates)), None)


def _known(store: Store, shop: Shop, url: str) -> dict[Attribute, list[str]]:
    """What the catalog knows of a page: of the offer of that link, or of all whose links choose something on it."""
    at_page = or_(col(KnownOffer.url) == url, col(KnownOffer.link) == url)
    on_page = col(KnownOffer.url).startswith(f"{url}?", autoescape=True)
    of_shop = select(KnownOffer).where(KnownOffer.shop_id == shop.id)
    with store.read() as session:
        found = session.exec(of_shop.where(at_page).limit(MOST_KNOWN)).all()
        found = found or session.exec(of_shop.where(on_page).limit(MOST_KNOWN)).all()
    known: dict[Attribute, list[str]] = {}
    for offer in found:
        for attribute, values in values_of(offer).items():
            known[attribute] = list(dict.fromkeys([*known.get(attribute, []), *values]))
    return known


def _winner(reading: Reading, known: dict[Attribute, list[str]]) -> dict[str, Any]:
    values = known.get(reading.attribute)
    value = reading.value
    agrees = (
        any(same(reading.attribute, value, one) for one in values)
        if values and value is not None
        else None
    )
    told = {
        "weight": round(reading.weight, 3),
        "share": round(reading.share, 3),
        "votes": reading.cast,
    }
    return {"value": value, **told, "agrees": agrees}


def _before(rules: RuleSet, template: Template | None, reading: Reading) -> int:
    """How many rules of an attribute the templates before the one that read it have: mostly that is the page's own."""
    asked = {vote.rule for vote in reading.all_votes}
    of_each = [(one.name, one.of(reading.attribute)) for one in rules.templates]
    readers = [name for name, own in of_each if asked == set(own)]
    reader = template.name if template and template.name in readers else next(iter(readers), None)
    return sum(len(own) for _, own in takewhile(lambda one: one[0] != reader, of_each))


def _lines(document: Document, reading: Reading, before: int) -> Iterator[Line]:
    for number, vote in enumerate(reading.all_votes, start=before + 1):
        heard = vote in reading.votes
        agrees = (
            vote.value is not None
            and reading.value is not None
            and same(reading.attribute, vote.value, reading.value)
        )
        won = agrees and heard
        copied = copies(vote.rule.selector)
        yield Line(
            attribute=reading.attribute.value,
            number=number,
            selector=str(vote.rule.selector),
            trim=str(vote.rule.trim),
            score=vote.rule.score,
            weight=round(weight_of(vote.rule), 3),
            raw=vote.raw,
            cut=vote.cut,
            value=vote.value,
            won=won,
            why="" if won else _why(document, vote, reading, agrees, heard),
            css=copied.css,
            xpath=copied.xpath,
            form=vote.rule.form,
            origin=vote.rule.origin,
            locked=vote.rule.locked,
        )


def _why(document: Document, vote: Vote, reading: Reading, agrees: bool, heard: bool) -> str:
    if vote.raw is None:
        return _why_silent(document.another_at(vote.rule.selector))
    if vote.cut is None:
        return "the cut does not fit"
    if vote.value is None:
        return f"no {vote.rule.attribute.value} as it stands"
    if vote in reading.left_out:
        return BESIDE_THE_BRAND[reading.attribute]
    if heard and reading.value is None:
        return NOT_BELIEVED
    return "outvoted" if heard else f"not needed: it says {'the same' if agrees else 'otherwise'}"


def _why_silent(another: str | None) -> str:
    return (
        f"finds only another product's data, {another[:LONGEST_NAME]!r}"
        if another
        else "finds nothing here"
    )
