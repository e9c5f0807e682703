"""Trial of a rule before it is saved: its values on sampled pages and on those of known offers.

A trial reads each page twice, by the stored rules of the attribute and by the rules after the
change, and compares both values with the catalog's where it lists the offer.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlmodel import col, select

from catalog.errors import NoKnownOffers, RuleError
from catalog.models import Attribute, Page, PageKind, Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.crawled_pages import (
    CrawledPage,
    PageOpener,
    list_crawled_pages,
    redirect_targets,
    shuffle_pages,
)
from parser.page.document import Document, check_selectors
from parser.page_reader import read_attributes
from parser.rules.model import Rule, RuleSet, Template
from parser.templates.template_match import page_fingerprint, rank_templates
from rules_generator.training.examples import Example, join_offers
from rules_generator.training.training_set import known_offers
from scout.inspect.rule_admin import load_rules, set_manual_rule

# Pages without a known offer that a trial reads.
SAMPLE_SIZE = 20


@dataclass(frozen=True)
class TriedPage:
    """Values of one attribute on one page, before and after the change, and the catalog's.

    `known` is empty where the catalog lists no offer of this page, or not this attribute.
    `was_right` and `is_right` are then None.
    """

    url: str
    before: str | None
    after: str | None
    known: tuple[str, ...] = ()
    was_right: bool | None = None
    is_right: bool | None = None


@dataclass(frozen=True)
class RuleTrial:
    """Result of a trial: pages of known offers first, then sampled pages of others."""

    attribute: str
    pages: tuple[TriedPage, ...]

    @property
    def known(self) -> int:
        """Number of pages with a known value."""
        return sum(page.is_right is not None for page in self.pages)

    @property
    def found(self) -> int:
        """Number of pages on which the changed rules read a value."""
        return sum(page.after is not None for page in self.pages)

    @property
    def right_before(self) -> int:
        """Number of known values that the stored rules read."""
        return sum(page.was_right is True for page in self.pages)

    @property
    def right_after(self) -> int:
        """Number of known values that the changed rules read."""
        return sum(page.is_right is True for page in self.pages)

    @property
    def wrong_after(self) -> int:
        """Number of known values in whose place the changed rules read another."""
        return sum(page.is_right is False and page.after is not None for page in self.pages)

    def check(self) -> None:
        """Raise RuleError where the changed rules read nothing, or no known value."""
        if self.known and not self.right_after:
            raise RuleError(
                f"this rule reads none of the {self.known} known values of {self.attribute!r}: "
                "'scout rules test' shows its values; --force stores it anyway"
            )
        if self.pages and not self.found:
            raise RuleError(
                f"this rule reads nothing on any of {len(self.pages)} pages: "
                "'scout rules test' shows them; --force stores it anyway"
            )


def try_manual_rule(
    settings: Settings,
    store: Store,
    shop: Shop,
    rule: Rule,
    template_name: str | None,
    *,
    sample_size: int = SAMPLE_SIZE,
    progress: Progress = no_progress,
) -> RuleTrial:
    """Read an attribute by the stored rules, and with a manual rule in one template or (None) in
    all.

    Read are the pages of all known offers, and sampled ones. A page is read by the rules of the
    template it is most similar to, recognised or not; one that cannot be opened is left out.
    Raises UsageError (no rules yet), RuleError (no such template, a selector that cannot be used).
    """
    before = load_rules(store, shop)
    after = set_manual_rule(before, rule, template_name)
    attribute = rule.attribute
    check_selectors(list(after.selectors()))
    crawled = list_crawled_pages(store, shop)
    opener = PageOpener(settings.bodies)
    examples = _known_examples(store, shop, crawled, opener, attribute)
    known_pages = {example.page.page_id for example in examples}
    offer_pages = _offer_page_ids(store, shop)
    sampled_pages = [
        page
        for page in shuffle_pages(crawled)
        if page.page_id in offer_pages and page.page_id not in known_pages
    ]
    example_of = {example.page: example for example in examples}
    selected = [*example_of, *sampled_pages[:sample_size]]
    read_before = _reader(before, attribute)
    read_after = _reader(after, attribute)
    tried = []
    for page, document in opener.open_all(selected):
        values = read_before(document), read_after(document)
        tried.append(_tried_page(page, values, example_of.get(page), attribute))
        progress("pages tried", len(tried), len(selected))
    return RuleTrial(attribute.value, tuple(tried))


def _known_examples(
    store: Store,
    shop: Shop,
    pages: list[CrawledPage],
    opener: PageOpener,
    attribute: Attribute,
) -> list[Example]:
    """Return the known offers that have a page and a value of the attribute."""
    try:
        offers = known_offers(store, shop)
    except NoKnownOffers:
        return []
    examples = join_offers(offers, pages, opener, 1, redirect_targets(store, shop))
    return [example for example in examples if example.known.get(attribute)]


def _offer_page_ids(store: Store, shop: Shop) -> Collection[int | None]:
    """Return the ids of the pages that were read as offers; of all pages where none was parsed."""
    query = select(Page.id).where(Page.shop_id == shop.id)
    with store.read() as session:
        ids = set(session.exec(query.where(col(Page.kind) == PageKind.OFFER)))
        return ids or set(session.exec(query))


def _reader(rules: RuleSet, attribute: Attribute) -> Callable[[Document], str | None]:
    """Return a function that reads the attribute of a page."""
    templates = [_only(template, attribute) for template in rules.templates]

    def read(document: Document) -> str | None:
        for match in rank_templates(page_fingerprint(document), templates):
            reading = read_attributes(document, match.template).get(attribute)
            return reading.value if reading else None
        return None

    return read


def _only(template: Template, attribute: Attribute) -> Template:
    return template.model_copy(update={"rules": template.rules_for(attribute)})


def _tried_page(
    page: CrawledPage,
    values: tuple[str | None, str | None],
    example: Example | None,
    attribute: Attribute,
) -> TriedPage:
    before, after = values
    if example is None:
        return TriedPage(page.address, before, after)
    return TriedPage(
        page.address,
        before,
        after,
        tuple(example.known[attribute]),
        example.agrees(attribute, before),
        example.agrees(attribute, after),
    )


def measured_rule(rule: Rule, trial: RuleTrial) -> Rule:
    """Return a rule with its support and precision on the known offers of a trial."""
    decided = trial.right_after + trial.wrong_after
    if not decided:
        return rule
    measured = {"support": trial.right_after, "precision": trial.right_after / decided}
    return rule.model_copy(update=measured)
