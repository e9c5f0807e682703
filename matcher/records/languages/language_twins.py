"""Language twins: pages that show one offer in different languages or markets.

Three kinds of evidence, the strongest first:

1. Addresses that differ in their language only (`/product/lamp`, `/en/product/lamp`, `?lang=en`).
   The pages must not look different: one of image, price, identifier and title has to agree.
2. Pages that name each other as versions (hreflang). Where only one of two pages names the other,
   both have to look alike as well: a page cannot claim the offers of others.
3. Pages in different languages with the same last segment or number in their addresses, the same
   first image and the same price. Pages that fit several pages of one language fit none.

Pages with different EANs, SKUs or amounts are never joined.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from matcher.records.languages.language_address import page_keys, primary_language, split_language
from matcher.records.languages.localized_page import LocalizedPage
from matcher.records.offer_groups import OfferGroups
from matcher.records.record import Record
from matcher.records.url_keys import LinkKeys

# Pages of one key; more of them share a name that identifies nothing. Also bounds time.
MAX_MARKETS = 40
# Earlier pages of one address that a page is compared with; bounds time.
MAX_COMPARED = 8
# Kinds of evidence that two pages must share if only one of them names the other.
MIN_SHARED = 2


def join_language_twins(pages: Sequence[LocalizedPage], groups: OfferGroups) -> None:
    """Join the groups of pages that show one offer in different languages or markets."""
    _join_equal_addresses(pages, groups)
    _join_alternates(pages, groups)
    # Whole segments first: a page joined by one is no partner for pages with a similar one.
    _join_similar_pages(pages, groups, max_keys=1)
    _join_similar_pages(pages, groups)


def find_claimed_links(
    pages: Sequence[LocalizedPage],
    groups: Sequence[Sequence[int]],
    catalog: Sequence[LocalizedPage],
) -> dict[int, list[LinkKeys]]:
    """Find catalog links to versions of an offer that are no pages of the shop's crawl.

    Such a version is on another host, or was not fetched. It counts where the pages of one offer
    only name it (hreflang), and one of them looks like the catalog's offer. Returns {position of
    the group: links}.
    """
    crawled = {address for page in pages for address in page.addresses}
    claimants: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, members in enumerate(groups):
        for index in members:
            if pages[index].record.variant_page:
                continue
            for _, address in _claims(pages[index]):
                if address not in crawled:
                    claimants[address][position].append(index)
    links: dict[int, list[LinkKeys]] = defaultdict(list)
    for offer in catalog:
        by_group = claimants.get(offer.record.link.address, {})
        if len(by_group) != 1:
            continue
        [(position, indices)] = by_group.items()
        if any(_is_version(pages[index], offer) for index in indices):
            links[position].append(offer.record.link)
    return dict(links)


def has_different_quantity(first: Record, second: Record) -> bool:
    """Return True if the titles name different amounts.

    One identifier and one image may stand for all sizes of a product.
    """
    shared_units = first.quantities.keys() & second.quantities.keys()
    return any(first.quantities[unit] != second.quantities[unit] for unit in shared_units)


def _join_equal_addresses(pages: Sequence[LocalizedPage], groups: OfferGroups) -> None:
    """Join pages whose addresses differ in their language only."""
    by_neutral: dict[str, list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        for address in sorted(page.addresses):
            neutral = split_language(address).neutral
            # The home page of each language has an empty path.
            if neutral.partition("/")[2]:
                by_neutral[neutral].append(index)
    for indices in by_neutral.values():
        members = list(dict.fromkeys(indices))
        for position, index in enumerate(members):
            for earlier in members[max(0, position - MAX_COMPARED) : position]:
                if _may_be_one_offer(pages[earlier], pages[index]):
                    groups.join(earlier, index)
                    break


def _join_alternates(pages: Sequence[LocalizedPage], groups: OfferGroups) -> None:
    """Join pages that name each other, and similar pages of which one names the other."""
    by_address: dict[str, set[int]] = defaultdict(set)
    for index, page in enumerate(pages):
        # All variants of a page have its alternates, which identify none of them.
        if not page.record.variant_page:
            for address in page.addresses:
                by_address[address].add(index)
    for index, page in enumerate(pages):
        if page.record.variant_page:
            continue
        for code, address in _claims(page):
            claimed = sorted(by_address.get(address, ()))
            if len({groups.root(row) for row in claimed}) != 1:
                continue
            for row in claimed[:MAX_COMPARED]:
                if row != index and _confirms_claim(page, pages[row], code):
                    groups.join(index, row)
                    break


def _claims(page: LocalizedPage) -> Iterator[tuple[str, str]]:
    """Yield the code and address of each page that a page names as a version of itself."""
    for code, address in page.alternates.items():
        if address not in page.addresses:
            yield code, address
    if page.canonical and page.canonical not in page.addresses:
        yield "", page.canonical


def _confirms_claim(claimant: LocalizedPage, claimed: LocalizedPage, code: str) -> bool:
    """Return True if a page that another one names as its version is one."""
    if _have_conflict(claimant, claimed):
        return False
    addresses = claimant.addresses
    back = {name for name, address in claimed.alternates.items() if address in addresses}
    if code and back and _fits(claimed, {code}) and _fits(claimant, back):
        return True
    # The claimed page may name another page as its version in the claimant's language.
    rivals = {primary_language(name) for name in claimed.alternates} - {""}
    if not back and claimant.language in rivals:
        return False
    return _count_shared(claimant, claimed) >= MIN_SHARED


def _fits(page: LocalizedPage, codes: Iterable[str]) -> bool:
    """Return True if one of the codes may be the page's language."""
    languages = {primary_language(code) for code in codes}
    return not page.language or "" in languages or page.language in languages


def _join_similar_pages(
    pages: Sequence[LocalizedPage], groups: OfferGroups, max_keys: int | None = None
) -> None:
    """Join similar pages of different languages that share one of their addresses' first keys."""
    by_key: dict[str, list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        keys: dict[str, None] = {}
        for link in page.record.links:
            keys.update(dict.fromkeys(page_keys(link.address)[:max_keys]))
        for key in keys:
            by_key[key].append(index)
    for members in by_key.values():
        if 1 < len(members) <= MAX_MARKETS:
            _join_unambiguous(pages, groups, members)


def _join_unambiguous(
    pages: Sequence[LocalizedPage], groups: OfferGroups, members: Sequence[int]
) -> None:
    """Join the groups of similar pages, except those that fit two groups of one language."""
    partners: dict[int, set[int]] = defaultdict(set)
    for position, index in enumerate(members):
        for earlier in members[:position]:
            first, second = groups.root(earlier), groups.root(index)
            if groups.share_label(first, second):
                continue
            if _look_alike(pages[earlier], pages[index]):
                partners[first].add(second)
                partners[second].add(first)
    ambiguous = {
        root for root, root_partners in partners.items() if _is_ambiguous(groups, root_partners)
    }
    for root in sorted(partners.keys() - ambiguous):
        for partner in sorted(partners[root] - ambiguous):
            # An earlier join may have added a page of the same language.
            if not groups.share_label(root, partner):
                groups.join(root, partner)


def _is_ambiguous(groups: OfferGroups, partners: set[int]) -> bool:
    rows = sorted(partners)
    for position, row in enumerate(rows):
        if any(groups.share_label(row, earlier) for earlier in rows[:position]):
            return True
    return False


def _may_be_one_offer(first: LocalizedPage, second: LocalizedPage) -> bool:
    """Return True unless the pages of one address in two languages look like different offers.

    One difference is usual: shops translate pictures, and prices differ between markets.
    """
    if _have_conflict(first, second):
        return False
    if _count_shared(first, second):
        return True
    differences = 0
    if first.image and second.image:
        differences += 1
    if _have_comparable_prices(first, second):
        differences += 1
    has_name = bool(first.record.link.slug and second.record.link.slug)
    return has_name and differences < 2


def _is_version(page: LocalizedPage, offer: LocalizedPage) -> bool:
    return not _have_conflict(page, offer) and _count_shared(page, offer) > 0


def _look_alike(first: LocalizedPage, second: LocalizedPage) -> bool:
    """Return True if image and price agree, or an identifier and one of both."""
    if _have_conflict(first, second):
        return False
    same_image = _have_same_image(first, second)
    same_price = _have_same_price(first, second)
    if _share_identifier(first, second):
        return same_image or same_price
    if same_image:
        return same_price or not _have_comparable_prices(first, second)
    return False


def _have_conflict(first: LocalizedPage, second: LocalizedPage) -> bool:
    """Return True if identifiers or amounts tell two offers apart.

    Some shops append the language to the SKU, but then the image is the same.
    """
    first_record, second_record = first.record, second.record
    if first_record.ean and second_record.ean:
        if first_record.ean != second_record.ean:
            return True
    elif (
        first_record.sku
        and second_record.sku
        and first_record.sku != second_record.sku
        and not _have_same_image(first, second)
    ):
        return True
    return has_different_quantity(first_record, second_record)


def _count_shared(first: LocalizedPage, second: LocalizedPage) -> int:
    """Count the kinds of evidence that two pages share."""
    first_record, second_record = first.record, second.record
    return sum(
        (
            _have_same_image(first, second),
            _have_same_price(first, second),
            _share_identifier(first, second),
            bool(first_record.title) and first_record.title == second_record.title,
        )
    )


def _have_same_image(first: LocalizedPage, second: LocalizedPage) -> bool:
    if first.image and first.image == second.image:
        return True
    number = first.image_folder_number
    return bool(number) and number == second.image_folder_number


def _have_comparable_prices(first: LocalizedPage, second: LocalizedPage) -> bool:
    if first.record.price is None or second.record.price is None:
        return False
    return not (first.currency and second.currency and first.currency != second.currency)


def _have_same_price(first: LocalizedPage, second: LocalizedPage) -> bool:
    return _have_comparable_prices(first, second) and first.record.price == second.record.price


def _share_identifier(first: LocalizedPage, second: LocalizedPage) -> bool:
    first_record, second_record = first.record, second.record
    pairs: tuple[tuple[Hashable, Hashable], ...] = (
        (first_record.ean, second_record.ean),
        (first_record.sku, second_record.sku),
        (first_record.han, second_record.han),
    )
    return any(value and value == other_value for value, other_value in pairs)
