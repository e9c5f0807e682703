"""The shop's side of a match: the offers of its pages, with their URLs and languages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from sqlmodel import Session, col, select

from catalog.models import OfferFields, Page, PageState, Shop, ShopOffer
from matcher.records.languages.localized_page import PageVersions
from matcher.records.text import fold
from matcher.records.url_keys import LinkKeys, parse_link
from url_cleaner.urls.url import url_rank

# Token-set similarity, 0 to 100, below which two titles name unrelated products.
UNRELATED_TITLES = 50
# Redirects that are followed from one address; bound against loops.
MAX_REDIRECTS = 8


@dataclass(frozen=True)
class ShopSide:
    """The shop's offers, and for each its page, its further URLs, its page of variants, and the
    versions of its page in other languages.
    """

    offers: list[OfferFields]
    pages: list[str]
    alternate_urls: list[list[str]]
    variant_pages: list[str | None]
    page_versions: list[PageVersions]

    def linked_urls(self) -> list[list[str]]:
        """Return for each offer all URLs that a known offer of it may have besides its own one:
        its page, redirects, and versions in other languages.
        """
        linked = []
        for urls, versions in zip(self.alternate_urls, self.page_versions, strict=True):
            page_urls = [versions.canonical, *versions.alternates.values()]
            linked.append([*urls, *filter(None, page_urls)])
        return linked


@dataclass(frozen=True)
class _Claim:
    """An offer whose page names a canonical address that other pages name as well."""

    index: int
    offer: OfferFields
    page: LinkKeys


def read_shop_side(session: Session, shop: Shop) -> ShopSide:
    """Read the offers of the pages that the shop still has, in the order of their URLs.

    Row ids tell only the order in which pages were fetched, which depends on timing. Sorted here
    and not by the database, because collations differ.
    """
    query = (
        select(  # type: ignore[call-overload]
            ShopOffer,
            Page.url,
            Page.canonical,
            Page.language,
            Page.alternates,
            Page.sitemap_alternates,
        )
        .join(Page, col(Page.id) == col(ShopOffer.page_id))
        .where(
            ShopOffer.shop_id == shop.id,
            col(Page.state).not_in((PageState.GONE, PageState.REDIRECTED)),
        )
    )
    rows = sorted(session.exec(query), key=lambda row: (*url_rank(row[1]), row[0].variant))
    pages: list[str] = []
    variant_pages: list[str | None] = []
    parsed_offers: list[OfferFields] = []
    page_versions: list[PageVersions] = []
    for offer, url, canonical, language, alternates, sitemap_alternates in rows:
        pages.append(url)
        # What a page names itself goes before its sitemap's entry.
        alternates_by_code = {**(sitemap_alternates or {}), **(alternates or {})}
        page_versions.append(PageVersions(language or "", alternates_by_code, canonical or ""))
        variant_pages.append(offer.variant_of)
        parsed_offers.append(to_offer_fields(offer))
    offers = resolve_offer_urls(parsed_offers, pages)
    redirects = _read_redirects(session, shop)
    alternate_urls = []
    for resolved, page, variant_page in zip(offers, pages, variant_pages, strict=True):
        urls: list[str] = []
        # The address of a page with several variants identifies none of them.
        if not variant_page:
            urls += [page, *redirects[page]]
        urls += redirects[resolved.url or page]
        alternate_urls.append(urls)
    return ShopSide(offers, pages, alternate_urls, variant_pages, page_versions)


def _read_redirects(session: Session, shop: Shop) -> Mapping[str, list[str]]:
    """Return {final address: the addresses that redirect to it, shortest first}; else empty."""
    query = select(Page.url, Page.canonical).where(
        Page.shop_id == shop.id, Page.state == PageState.REDIRECTED
    )
    target_of = {url: target for url, target in session.exec(query) if target}
    redirects: dict[str, list[str]] = defaultdict(list)
    for url, target in target_of.items():
        final = target
        for _ in range(MAX_REDIRECTS):
            final = target_of.get(final, final)
        redirects[final].append(url)
    for urls in redirects.values():
        urls.sort(key=url_rank)
    return redirects


def resolve_offer_urls(offers: Sequence[OfferFields], pages: Sequence[str]) -> list[OfferFields]:
    """Give each offer a URL: its canonical one, or its page's if that is absent or not credible.

    Some templates name one address (a category, or the page without its query) as canonical for
    every offer. Offers of unrelated titles that claim one address get their own pages back. So do
    similar offers with different identifiers whose paths differ from it, unless one of the pages is
    that address: its variants may name it.
    """
    claims: dict[str, list[_Claim]] = defaultdict(list)
    for index, (offer, page) in enumerate(zip(offers, pages, strict=True)):
        if offer.url:
            claims[offer.url].append(_Claim(index, offer, parse_link(page)))
    doubtful: set[int] = set()
    for url, claims_of_url in claims.items():
        if len(claims_of_url) > 1:
            doubtful.update(_doubtful_claims(parse_link(url), claims_of_url))
    resolved = list(offers)
    for index, (offer, page) in enumerate(zip(offers, pages, strict=True)):
        if index in doubtful or not offer.url:
            resolved[index] = offer.model_copy(update={"url": page})
    return resolved


def _doubtful_claims(canonical: LinkKeys, claims: Sequence[_Claim]) -> Iterator[int]:
    """Yield the indices of the claims to one address that are not credible."""
    elsewhere = [claim for claim in claims if claim.page.address != canonical.address]
    if _have_unrelated_titles(claims):
        for claim in elsewhere:
            yield claim.index
    elif _have_different_identifiers(claims) and len(elsewhere) == len(claims):
        for claim in claims:
            if claim.page.path != canonical.path:
                yield claim.index


def _have_unrelated_titles(claims: Sequence[_Claim]) -> bool:
    first, *further = sorted({fold(claim.offer.title) for claim in claims})
    return any(fuzz.token_set_ratio(first, title) < UNRELATED_TITLES for title in further)


def _have_different_identifiers(claims: Sequence[_Claim]) -> bool:
    """Return True if the offers carry different EANs, or different SKUs if none has an EAN."""
    eans = {claim.offer.ean for claim in claims} - {None, ""}
    skus = {claim.offer.sku for claim in claims} - {None, ""}
    return len(eans or skus) > 1


def to_offer_fields(offer: OfferFields) -> OfferFields:
    """Return the offer's fields without the columns of its table."""
    return OfferFields(**{name: getattr(offer, name) for name in OfferFields.model_fields})
