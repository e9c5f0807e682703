"""The pages of a labelled shop, opened in one view: examples to learn from, pages to test on."""

import random
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

from catalog.errors import HostilePage
from catalog.html import decode_html
from catalog.models import Attribute
from catalog.values import Hint, make_offer
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.page.url_paths import is_home_page
from parser.page_reader import read_by_templates
from parser.rules.model import Rule, RuleSet, Template
from parser.templates.template_match import (
    TemplateMatch,
    page_fingerprint,
    rank_templates,
)
from parser.voting.early_stopping import collect_readings
from parser.voting.votes import Vote, run_rule
from parser.voting.winner import Reading
from rules_generator.evaluation.ablated_pages import View, ablate_page
from rules_generator.evaluation.labelled_shop import LabelledPage, LabelledShop
from rules_generator.training.examples import Example, TrainingExample

# Factor of a price that is made stale.
STALE_FACTOR = Decimal("1.1")

# Name of each page that is made to be slow -> the reason.
Refused = dict[str, str]


@dataclass
class PageReader:
    """A page to be read by many rule sets: each selector with its trim is looked up once."""

    document: Document
    _votes: dict[Rule, Vote] = field(default_factory=dict)
    _fingerprint: frozenset[str] | None = None

    def readings(self, rules: RuleSet) -> dict[Attribute, Reading]:
        """Return what `parser.page_reader` gives by the template most similar to the page."""
        if not rules.templates:
            return {}
        return read_by_templates(self._ranked(rules), self._read)

    def is_offer_page(self, rules: RuleSet) -> bool:
        """Return True if the rules recognise an offer page: by its template, and by a title."""
        if not rules.templates or is_home_page(self.document.url):
            return False
        if not self._ranked(rules)[0].matches:
            return False
        title = self.readings(rules).get(Attribute.TITLE)
        return title is not None and title.value is not None

    def _ranked(self, rules: RuleSet) -> list[TemplateMatch]:
        has_marks = any(template.signature.marks for template in rules.templates)
        if self._fingerprint is None and has_marks:
            self._fingerprint = page_fingerprint(self.document)
        return rank_templates(self._fingerprint or frozenset(), rules.templates)

    def _read(
        self, template: Template, attributes: Container[Attribute]
    ) -> dict[Attribute, Reading]:
        rules = [rule for rule in template.rules if rule.attribute in attributes]
        return collect_readings(rules, self._vote, self.document)

    def _vote(self, rule: Rule) -> Vote:
        # Rules that differ only in their scores find the same.
        unscored = rule.model_copy(update={"score": 1.0, "support": 0, "precision": 1.0})
        if unscored not in self._votes:
            self._votes[unscored] = run_rule(self.document, unscored)
        return self._votes[unscored]._replace(rule=rule)


@dataclass(frozen=True)
class OpenShop:
    """A labelled shop in one view: examples, unlabelled pages, test pages with their readers, pages
    refused.

    A test page that is made to be slow has no reader. `unlabelled_offers` and `other_pages` test
    only whether offer pages are recognised.
    """

    name: str
    training: Sequence[TrainingExample]
    background: Sequence[Document]
    testing: Sequence[tuple[LabelledPage, PageReader | None]]
    unlabelled_offers: Sequence[PageReader]
    other_pages: Sequence[PageReader]
    refused: Refused


def open_test_shop(shop: LabelledShop, view: View) -> OpenShop:
    """Open the pages of a labelled shop in a view."""
    refused: Refused = {}
    training = []
    for page in shop.training:
        document = open_page(page, view, refused)
        if document is not None:
            training.append(_labelled_example(page).with_document(document))
    testing = []
    for page in shop.testing:
        document = open_page(page, view, refused)
        testing.append((page, None if document is None else PageReader(document)))
    return OpenShop(
        name=shop.name,
        training=training,
        background=_open_all(shop.background, view),
        testing=testing,
        unlabelled_offers=[*map(PageReader, _open_all(shop.unlabelled_offers, view))],
        other_pages=[*map(PageReader, _open_all(shop.unseen_other_pages, view))],
        refused=refused,
    )


def _open_all(pages: Iterable[LabelledPage], view: View) -> list[Document]:
    opened = map(partial(open_page, view=view), pages)
    return [document for document in opened if document is not None]


def open_page(page: LabelledPage, view: View, refused: Refused | None = None) -> Document | None:
    """Open the page in that view; None if it is made to be slow, with the reason in `refused`."""
    try:
        return Document(ablate_page(decode_html(page.html), view), page.url)
    except HostilePage as error:
        if refused is not None:
            refused[page.name] = str(error)
        return None


def _labelled_example(page: LabelledPage) -> Example:
    """Make the example of a page's labels."""
    values: dict[Attribute, list[str]] = {}
    for attribute in Attribute:
        # The currency is a default of the shop, never an example.
        if attribute is not Attribute.CURRENCY and attribute.value in page.attributes:
            values[attribute] = _texts(page.attributes[attribute.value])
    offer = make_offer(values, Hint(base_url=page.url), url=page.url, currency=page.currency)
    return Example.of(CrawledPage(0, page.url, None, page.name), offer)


def _texts(value: Any) -> list[str]:
    """Return the texts of a label: one, several, or none."""
    labels = value if isinstance(value, list) else [value]
    return [str(label) for label in labels if label is not None]


def make_stale(examples: Sequence[TrainingExample], share: float) -> list[TrainingExample]:
    """Return the examples with a wrong price and a wrong title in a share of them."""
    chosen = random.Random(0).sample(  # noqa: S311 - not for secrecy
        range(len(examples)), round(share * len(examples))
    )
    changed = list(examples)
    for index in chosen:
        example, neighbour = examples[index], examples[(index + 1) % len(examples)]
        values = dict(example.known)
        if Attribute.PRICE in values:
            price = Decimal(values[Attribute.PRICE][0]) * STALE_FACTOR
            values[Attribute.PRICE] = [str(price.quantize(Decimal("0.01")))]
        if Attribute.TITLE in neighbour.known:
            values[Attribute.TITLE] = neighbour.known[Attribute.TITLE]
        changed[index] = replace(example, known=values)
    return changed
