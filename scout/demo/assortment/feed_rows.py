"""The rows of the demo catalog's feed, with the faults of real feeds.

The feed lacks one category, everything above a price, and some single offers. Some of its rows are
out of date, some are unusable, and some belong to offers that have left the shop since.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scout.demo.assortment.offers import Offer
from scout.demo.assortment.random_values import make_ean, seeded_random, slug

LACKS_CATEGORY = "board-games"
"""The category that the feed lacks."""

LACKS_ABOVE = Decimal(1000)
"""The price above which the feed lacks all offers."""

SHARE_LACKING_ELSEWHERE = 0.22
"""Share of the other offers that the feed lacks at random."""

REJECTED = 3
"""Missing offers with a row that has neither title nor link."""

MISCOUNTED = 3
"""Rows with a wrong check digit in the GTIN."""

GONE = 6
"""Rows of offers that the shop no longer has."""

FIRST_GONE_NUMBER = 70_000
"""First article number of the offers that are gone, above all others."""

GONE_NUMBER_STEP = 31
"""Distance of their article numbers."""

GONE_COMPANY = 9_001
"""Company number in their GTINs, above all others."""

FORM_CYCLE = [
    *["plain"] * 15,
    *["campaign"] * 11,
    *["click"] * 8,
    *["awin"] * 6,
    *["redir"] * 5,
    *["portal"] * 2,
    *["out"] * 2,
    "short",
]
"""Forms of links (`merchant_links.FORMS`) in the proportions of the rows that have them."""


@dataclass(frozen=True)
class FeedRow:
    """One row of the merchant's feed. `path` is the target of its link, `form` the link's form.

    `fault` describes why the catalog cannot use the row; None for a usable one.
    """

    ref: str
    offer: Offer
    form: str
    path: str | None
    title: str | None
    price: str | None
    sale_price: str | None
    gtin: str | None
    mpn: str | None
    brand: str | None
    fault: str | None = None


@dataclass(frozen=True)
class FeedContents:
    """All rows of the feed, and the offers among them that are gone from the shop."""

    rows: tuple[FeedRow, ...]
    gone: tuple[Offer, ...]


def make_feed_contents(seed: int, offers: Sequence[Offer], former: Sequence[Offer]) -> FeedContents:
    """Make the feed of a shop that sells `offers` and once sold some of `former`."""
    generator = seeded_random(seed, "listing")
    listed, lacking = _split_offers(offers, generator)
    gone = _draw_gone_offers(former, generator)
    rows = [_make_row(offer, index, generator) for index, offer in enumerate(listed)]
    rows += [replace(_make_row(offer, 0, generator), form="plain") for offer in gone]
    rows += _faulty_rows(lacking, listed, gone)
    generator.shuffle(rows)
    return FeedContents(tuple(rows), tuple(gone))


def _split_offers(
    offers: Sequence[Offer], generator: random.Random
) -> tuple[list[Offer], list[Offer]]:
    """Split the offers, shuffled, into the listed ones and a random share that the feed lacks."""
    eligible = []
    for offer in offers:
        if offer.category.slug != LACKS_CATEGORY and offer.price <= LACKS_ABOVE:
            eligible.append(offer)
    generator.shuffle(eligible)
    cut = round(len(eligible) * SHARE_LACKING_ELSEWHERE)
    return eligible[cut:], eligible[:cut]


def _draw_gone_offers(former: Sequence[Offer], generator: random.Random) -> list[Offer]:
    single = [
        offer for offer in former if not offer.variants and not offer.family and not offer.parts
    ]
    german = generator.sample([offer for offer in single if offer.locale == "de"], GONE // 2)
    english = generator.sample(
        [offer for offer in single if offer.locale == "en"], GONE - GONE // 2
    )
    gone = []
    for index, offer in enumerate(german + english):
        gone.append(_make_unmistakable(offer, FIRST_GONE_NUMBER + GONE_NUMBER_STEP * index))
    return gone


def _make_unmistakable(offer: Offer, number: int) -> Offer:
    """Give an offer title, path and identifiers that no offer of the shop has."""
    title = offer.title.replace(offer.model, f"{offer.model} Classic")
    path = offer.category.offer_path(slug(title), number)
    sku, ean = f"{offer.category.prefix}-{number}", make_ean(GONE_COMPANY, number)
    return replace(
        offer, number=number, title=title, path=path, sku=sku, ean=ean, han=None, alternates=()
    )


def _make_row(offer: Offer, index: int, generator: random.Random) -> FeedRow:
    """Make a usable row; `index` decides its link's form and its outdated or absent values."""
    variant = offer.variants[index % 2] if offer.variants else None
    source = variant or offer
    price, title = source.price, offer.title
    path, form = offer.path, FORM_CYCLE[index % len(FORM_CYCLE)]
    if variant and index % 2:
        path, title = f"{path}?variant={variant.id}", f"{title} - {variant.label}"
    elif offer.alternates and index % 4 == 1:
        path = offer.alternates[0]
    if form == "portal" and "?" in path:
        # The malformed second question mark of that form would need a third here.
        form = "campaign"
    if index % 10 == 3:
        price = _draw_outdated_price(price, generator)
    regular_price = None
    if offer.old_price and offer.old_price > price and index % 2:
        regular_price = offer.old_price
    return FeedRow(
        ref=source.sku,
        offer=offer,
        form=form,
        path=path,
        title=_draw_rewritten_title(title, offer, generator) if index % 14 == 5 else title,
        price=f"{regular_price or price} {offer.currency}",
        sale_price=f"{price} {offer.currency}" if regular_price else None,
        gtin=source.ean if index % 9 else None,
        mpn=offer.han if index % 3 else None,
        brand=offer.brand if index % 12 else None,
    )


def _draw_outdated_price(price: Decimal, generator: random.Random) -> Decimal:
    return (price * Decimal(generator.choice(["0.85", "0.9", "1.12", "1.3"]))).quantize(
        Decimal("0.01")
    )


def _draw_rewritten_title(title: str, offer: Offer, generator: random.Random) -> str:
    parts = title.replace(offer.brand, "").replace(",", " ").split()
    by, praise = "by", "- Best Price, Free Shipping"
    if offer.locale == "de":
        by, praise = "von", "*TOP* jetzt im Angebot"
    reversed_title = f"{' '.join(parts[::-1])} {by} {offer.brand}"
    praised_title = f"{' '.join(parts)} {praise}"
    return generator.choice([reversed_title, title.upper(), praised_title])


def _faulty_rows(
    lacking: Sequence[Offer], listed: Sequence[Offer], gone: Sequence[Offer]
) -> list[FeedRow]:
    """Make rows that the catalog cannot use.

    Their offers are lacking, listed by another row, or gone.
    """
    rows = []
    for offer in lacking[:REJECTED]:
        fault = "neither title nor link"
        rows.append(replace(_plain_row(offer), path=None, title=None, fault=fault))
    with_gtin = [offer for offer in listed if offer.ean and not offer.variants]
    for offer in with_gtin[:MISCOUNTED]:
        rows.append(
            replace(
                _plain_row(offer),
                ref=f"{offer.sku}-OLD",
                gtin=_break_check_digit(offer.ean),
                fault="GTIN with a wrong check digit",
            )
        )
    blank = FeedRow("", listed[0], "plain", None, None, None, None, None, None, None, "only an id")
    rows += [replace(blank, ref="90001"), replace(blank, ref="90002")]
    unpriced = replace(
        _plain_row(gone[0]),
        ref=f"{gone[0].sku}-ASK",
        price="on request",
        fault="price is not a number",
    )
    return [*rows, unpriced]


def _plain_row(offer: Offer) -> FeedRow:
    return FeedRow(
        ref=offer.sku,
        offer=offer,
        form="plain",
        path=offer.path,
        title=offer.title,
        price=f"{offer.price} {offer.currency}",
        sale_price=None,
        gtin=offer.ean,
        mpn=offer.han,
        brand=offer.brand,
    )


def _break_check_digit(ean: str | None) -> str:
    return f"{ean[:-1]}{(int(ean[-1]) + 3) % 10}" if ean else "0"
