"""Examples: known offers joined with the pages that show them.

A known offer's cleaned link leads to its page, or to one that names it as canonical. Where the link is opaque or broken
no click is spent: the page is found among the crawled ones by its headings, and has to show something else of the
offer too - an identifier, its picture, its price.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from rapidfuzz import fuzz, process, utils

from catalog.models import Attribute, OfferFields
from catalog.values import is_dash, key, normalise, same, values_of
from parser.crawled_pages import CrawledPage, Opener
from parser.page.document import Document
from parser.page.texts import text_of
from url_cleaner.urls.link import bare_url

HEADINGS = ("h1", 'meta[property="og:title"]', 'meta[name="twitter:title"]', "title")
ALIKE = 88
ENOUGH_ALIKE = 3
NOWHERE: Mapping[str, str] = {}
MOST_PAGES = 5_000
LONGEST_PAGE = 2_000_000


@dataclass(frozen=True)
class Example:
    """A known offer and the page that shows it; `known` are its canonical texts per attribute.

    An article number that is only a dash stands at many places and leads to none: it teaches nothing, but `dashed`
    tells that the catalog lists one (`rules_generator.induction.placeholder_skus`).
    """

    page: CrawledPage
    known: Mapping[Attribute, Sequence[str]]
    dashed: bool = False

    @classmethod
    def of(cls, page: CrawledPage, offer: OfferFields) -> "Example":
        """The example that an offer's page is."""
        return cls(page, known_of(offer), is_dash(offer.sku))

    def agrees(self, attribute: Attribute, value: str | None) -> bool | None:
        """Whether a canonical text, or that there is none, is what is known of it; None where nothing is known."""
        known = self.known.get(attribute)
        return (
            (value is not None and any(same(attribute, value, one) for one in known))
            if known
            else None
        )


def known_of(offer: OfferFields) -> Mapping[Attribute, Sequence[str]]:
    """The canonical texts of an offer that lead to something on its page."""
    texts = values_of(offer)
    if is_dash(offer.sku):
        del texts[Attribute.SKU]
    return texts


def join(
    offers: Sequence[OfferFields],
    pages: Sequence[CrawledPage],
    opener: Opener,
    enough: int,
    leads_to: Mapping[str, str] = NOWHERE,
) -> list[Example]:
    """Examples for as many offers as have a page; pages of offers without a link are looked for below `enough`.

    `leads_to` says where URLs that redirect, or that only repeat another page, lead.
    """
    linked = by_link(offers, pages, leads_to)
    if len(linked) >= enough:
        return linked
    taken = {example.page.address for example in linked}
    linkless = [offer for offer in offers if not offer.url]
    return linked + by_content(
        linkless, [page for page in pages if page.address not in taken], opener
    )


def by_link(
    offers: Iterable[OfferFields],
    pages: Iterable[CrawledPage],
    leads_to: Mapping[str, str] = NOWHERE,
) -> list[Example]:
    """Offers whose cleaned link is a page's address or canonical address, or leads there; one example a page."""
    find = finder(pages, leads_to)
    one_a_page: dict[int, Example] = {}
    for offer in offers:
        found = find(offer.url)
        if found is not None:
            one_a_page[found.page_id] = Example.of(found, offer)
    return list(one_a_page.values())


def finder(
    pages: Iterable[CrawledPage], leads_to: Mapping[str, str]
) -> Callable[[str | None], CrawledPage | None]:
    """A function from a cleaned link to the page that it leads to.

    A query that no page was crawled with, such as `?variant=7`, chooses something on the page without it.
    """
    known = list(pages)
    by_place: dict[str, CrawledPage] = {}
    for page in known:
        by_place.setdefault(bare_url(page.address), page)
    for page in known:
        by_place.setdefault(bare_url(page.url), page)
    ways = {bare_url(url): bare_url(target) for url, target in leads_to.items()}

    def find(url: str | None) -> CrawledPage | None:
        place = bare_url(url or "")
        bare = place.partition("?")[0].rstrip("/")
        found = by_place.get(place) or by_place.get(ways.get(place, ""))
        return found or (by_place.get(bare) if "/" in bare else None)

    return find


def by_content(
    offers: Sequence[OfferFields], pages: Iterable[CrawledPage], opener: Opener
) -> list[Example]:
    """Offers whose page is known by its headings and by something else that it shows."""
    seen = [(heading, page) for page, headings in _look(pages, opener) for heading in headings]
    titles = [heading for heading, _ in seen]

    @lru_cache(maxsize=256)
    def text(page: CrawledPage) -> str:
        return (opener.open(page).tree.html or "")[:LONGEST_PAGE].casefold()

    best: dict[str, tuple[float, Example]] = {}
    for offer in offers:
        near = _alike(offer, titles)
        found = _likeliest(offer, [(likeness, seen[place][1]) for likeness, place in near], text)
        if found and found[0] > best.get(found[1].address, (0.0, None))[0]:
            best[found[1].address] = (found[0], Example.of(found[1], offer))
    return [example for _, example in best.values()]


def _look(
    pages: Iterable[CrawledPage], opener: Opener
) -> Iterator[tuple[CrawledPage, tuple[str, ...]]]:
    distinct = {page.address: page for page in pages}
    for page, document in opener.open_all(islice(distinct.values(), MOST_PAGES)):
        yield page, _headings(document)


def _headings(document: Document) -> tuple[str, ...]:
    found = []
    for css in HEADINGS:
        node = document.first(css)
        text = (node.attributes.get("content") or text_of(node, 400)) if node else None
        title = normalise(Attribute.TITLE, text) if text else None
        if title:
            found.append(utils.default_process(title))
    return tuple(dict.fromkeys(found))


def _alike(offer: OfferFields, titles: Sequence[str]) -> list[tuple[float, int]]:
    """Places of the headings that are like the offer's title, with a likeness in [0, 3]; 2 and more is the same."""
    if not offer.title:
        return []
    wanted = utils.default_process(offer.title)
    near = process.extract(
        wanted, titles, scorer=fuzz.token_set_ratio, score_cutoff=ALIKE, limit=12
    )
    return [
        (fuzz.ratio(wanted, title) / 100 + 2 * (wanted == title), place) for title, _, place in near
    ]


def _likeliest(
    offer: OfferFields,
    near: Sequence[tuple[float, CrawledPage]],
    text: Callable[[CrawledPage], str],
) -> tuple[float, CrawledPage] | None:
    """The page that shows most of the offer; None where none shows enough, or two show the same."""
    scored: dict[str, tuple[float, CrawledPage]] = {}
    for likeness, page in near:
        score = likeness + _evidence(offer, text(page))
        if score >= ENOUGH_ALIKE and score > scored.get(page.address, (0.0, page))[0]:
            scored[page.address] = (score, page)
    ranked = sorted(scored.values(), key=lambda pair: -pair[0])
    return ranked[0] if ranked and (len(ranked) == 1 or ranked[0][0] > ranked[1][0]) else None


def _evidence(offer: OfferFields, text: str) -> float:
    """What else of the offer a page shows: identifiers and the picture weigh most."""
    marks = [mark for mark in (offer.ean, offer.sku, offer.han) if mark and len(mark) >= 3]
    score = sum(
        1.5 for mark in marks if re.search(rf"(?<!\w){re.escape(mark.casefold())}(?!\w)", text)
    )
    score += 1.5 * any(key(Attribute.IMAGE, image) in text for image in offer.images[:3])
    return score + 0.5 * (offer.price is not None and _shows_price(str(offer.price), text))


def _shows_price(price: str, text: str) -> bool:
    whole, _, cents = price.partition(".")
    forms = {f"{whole}.{cents}", f"{whole},{cents}", f"{whole}{cents}"}
    return any(re.search(rf"(?<!\d){re.escape(form)}(?!\d)", text) for form in forms)


def in_short(brands: Sequence[str]) -> list[str]:
    """Each brand by the shortest of them all that it begins with, in whole words.

    >>> in_short(["bosch professional", "bosch", "boschetti"])
    ['bosch', 'bosch', 'boschetti']
    """
    shortest_first = sorted(set(brands), key=len)
    return [
        next(one for one in shortest_first if f"{brand} ".startswith(f"{one} ")) for brand in brands
    ]
