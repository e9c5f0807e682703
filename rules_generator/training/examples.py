"""Examples: known offers joined with the pages that show them.

A known offer's cleaned link leads to its page, or to a page that names that link as canonical.
Where the link is opaque or broken no click is spent: the page is searched among the crawled ones by
its headings, and has to show further evidence of the offer - an identifier, its picture or its
price.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from rapidfuzz import fuzz, process, utils

from catalog.models import Attribute, OfferFields
from catalog.values import is_dash, is_same_as_any, normalise, offer_values, value_key
from parser.crawled_pages import CrawledPage, PageOpener, unique_pages
from parser.page.document import Document
from parser.page.texts import element_text
from url_cleaner.urls.url import url_key

# Places that name a page, from the most to the least specific to the offer.
TITLE_SELECTORS = ("h1", 'meta[property="og:title"]', 'meta[name="twitter:title"]', "title")
# Least token-set similarity (0 to 100) of a heading to be looked at as an offer's title.
MIN_TITLE_SIMILARITY = 88
# Least score of a page: an equal title (2 to 3) alone does not suffice, see `_evidence`.
MIN_EVIDENCE = 3
# Weight of an identifier or picture, and of a price, beside the title.
IDENTIFIER_WEIGHT = 1.5
PRICE_WEIGHT = 0.5
# Least characters of an identifier that no page shows by chance.
MIN_IDENTIFIER_CHARS = 3
NO_REDIRECTS: Mapping[str, str] = {}
# Caps against very large shops and pages.
MAX_PAGES_SEARCHED = 5_000
MAX_PAGE_CHARS = 2_000_000
MAX_TITLE_CHARS = 400
MAX_NEAR_TITLES = 12
MAX_IMAGES = 3


@dataclass(frozen=True)
class Example:
    """A known offer and the page that shows it; `known` are its canonical texts per attribute.

    A SKU that is only a dash stands at many places and leads to none, so it is not among `known`:
    `has_dash_sku` records that the catalog lists one
    (`rules_generator.induction.placeholder_skus`).
    """

    page: CrawledPage
    known: Mapping[Attribute, Sequence[str]]
    has_dash_sku: bool = False

    @classmethod
    def of(cls, page: CrawledPage, offer: OfferFields) -> "Example":
        """Make the example of an offer and its page."""
        return cls(page, known_values(offer), is_dash(offer.sku))

    @property
    def address(self) -> str:
        """The URL that stands for its page."""
        return self.page.address

    def with_document(self, document: Document) -> "TrainingExample":
        """Return the example with its page open."""
        return TrainingExample(self.page, self.known, self.has_dash_sku, document=document)

    def agrees(self, attribute: Attribute, value: str | None) -> bool | None:
        """Return True if a canonical text equals a known value; None where none is known."""
        accepted = self.known.get(attribute)
        if not accepted:
            return None
        return value is not None and is_same_as_any(attribute, value, accepted)


@dataclass(frozen=True)
class TrainingExample(Example):
    """An example with its page open."""

    document: Document = field(kw_only=True)


def first_known_values(examples: Iterable[Example], attribute: Attribute) -> list[str]:
    """Return the first known value of an attribute, of each example that has one."""
    first_values = []
    for example in examples:
        values = example.known.get(attribute)
        if values:
            first_values.append(values[0])
    return first_values


def known_values(offer: OfferFields) -> Mapping[Attribute, Sequence[str]]:
    """Return the canonical texts of an offer that can be located on its page."""
    texts = offer_values(offer)
    if is_dash(offer.sku):
        del texts[Attribute.SKU]
    return texts


def join_offers(
    offers: Sequence[OfferFields],
    pages: Sequence[CrawledPage],
    opener: PageOpener,
    enough: int,
    redirects: Mapping[str, str] = NO_REDIRECTS,
) -> list[Example]:
    """Join offers with pages by link; if that gives fewer than `enough`, by content as well.

    By link: an offer's cleaned link is a page's address or canonical address, or leads there; one
    example a page. `redirects` maps URLs that redirect, or that repeat another page, to their
    target.
    """
    find_page = page_finder(pages, redirects)
    by_page: dict[int, Example] = {}
    for offer in offers:
        page = find_page(offer.url)
        if page is not None:
            by_page[page.page_id] = Example.of(page, offer)
    linked = list(by_page.values())
    if len(linked) >= enough:
        return linked
    unlinked = [offer for offer in offers if not offer.url]
    if not unlinked:
        return linked
    taken = {example.address for example in linked}
    free_pages = [page for page in pages if page.address not in taken]
    return linked + join_by_content(unlinked, free_pages, opener)


def page_finder(
    pages: Iterable[CrawledPage], redirects: Mapping[str, str]
) -> Callable[[str | None], CrawledPage | None]:
    """Return a function from a cleaned link to the page that it leads to.

    A query that no page was crawled with, such as `?variant=7`, selects an option of the page
    without it.
    """
    crawled = list(pages)
    by_url: dict[str, CrawledPage] = {}
    # Canonical addresses come first: two pages may share a plain URL's spelling.
    for page in crawled:
        by_url.setdefault(url_key(page.address), page)
    for page in crawled:
        by_url.setdefault(url_key(page.url), page)
    targets = {url_key(url): url_key(target) for url, target in redirects.items()}

    def find_page(url: str | None) -> CrawledPage | None:
        link = url_key(url or "")
        page = by_url.get(link) or by_url.get(targets.get(link, ""))
        if page is not None:
            return page
        without_query = link.partition("?")[0].rstrip("/")
        return by_url.get(without_query) if "/" in without_query else None

    return find_page


def join_by_content(
    offers: Sequence[OfferFields], pages: Iterable[CrawledPage], opener: PageOpener
) -> list[Example]:
    """Join offers with the pages that show their title and further evidence."""
    titles: list[str] = []
    titled_pages: list[CrawledPage] = []
    for page, document in opener.open_all(unique_pages(pages)[:MAX_PAGES_SEARCHED]):
        for title in _page_titles(document):
            titles.append(title)
            titled_pages.append(page)

    @lru_cache(maxsize=256)
    def page_text(page: CrawledPage) -> str:
        return (opener.open(page).tree.html or "")[:MAX_PAGE_CHARS].casefold()

    best: dict[CrawledPage, tuple[float, Example]] = {}
    for offer in offers:
        scores: dict[CrawledPage, float] = {}
        for similarity, index in _similar_titles(offer, titles):
            page = titled_pages[index]
            score = similarity + _evidence(offer, page_text(page))
            scores[page] = max(score, scores.get(page, 0.0))
        match = _clearly_best(scores)
        if match and match[1] > best.get(match[0], (0.0, None))[0]:
            best[match[0]] = match[1], Example.of(match[0], offer)
    return [example for _, example in best.values()]


def _page_titles(document: Document) -> tuple[str, ...]:
    titles = []
    for css in TITLE_SELECTORS:
        node = document.first(css)
        if node is None:
            continue
        text = node.attributes.get("content") or element_text(node, MAX_TITLE_CHARS)
        title = normalise(Attribute.TITLE, text) if text else None
        if title:
            titles.append(utils.default_process(title))
    return tuple(dict.fromkeys(titles))


def _similar_titles(offer: OfferFields, titles: Sequence[str]) -> list[tuple[float, int]]:
    """Return (similarity in [0, 3], index) of titles like the offer's; equal ones have 2."""
    if not offer.title:
        return []
    offer_title = utils.default_process(offer.title)
    near = process.extract(
        offer_title,
        titles,
        scorer=fuzz.token_set_ratio,
        score_cutoff=MIN_TITLE_SIMILARITY,
        limit=MAX_NEAR_TITLES,
    )
    similar = []
    for title, _, index in near:
        similarity = fuzz.ratio(offer_title, title) / 100 + 2 * (offer_title == title)
        similar.append((similarity, index))
    return similar


def _clearly_best(scores: Mapping[CrawledPage, float]) -> tuple[CrawledPage, float] | None:
    """Return the page with most evidence, and its score; None if too little, or a tie."""
    ranked = sorted(scores.items(), key=itemgetter(1), reverse=True)
    if not ranked or ranked[0][1] < MIN_EVIDENCE:
        return None
    return ranked[0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else None


def _evidence(offer: OfferFields, text: str) -> float:
    """Score the identifiers, the picture and the price of an offer that a page's text shows."""
    score = 0.0
    for number in (offer.ean, offer.sku, offer.han):
        if not number or len(number) < MIN_IDENTIFIER_CHARS:
            continue
        if re.search(rf"(?<!\w){re.escape(number.casefold())}(?!\w)", text):
            score += IDENTIFIER_WEIGHT
    if any(value_key(Attribute.IMAGE, image) in text for image in offer.images[:MAX_IMAGES]):
        score += IDENTIFIER_WEIGHT
    if offer.price is not None and _shows_price(str(offer.price), text):
        score += PRICE_WEIGHT
    return score


def _shows_price(price: str, text: str) -> bool:
    units, _, cents = price.partition(".")
    spelling = f"{re.escape(units)}[.,]?{re.escape(cents)}"
    return re.search(rf"(?<!\d){spelling}(?!\d)", text) is not None
