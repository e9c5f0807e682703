"""What the catalog knows of the demo shop, and how it came to be wrong.

It lacks one category, everything above a price, and some single offers; some of what it has is out of date, some rows
are unusable, and some offers have left the shop since.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scout.demo.assortment.offers import Offer
from scout.demo.assortment.wordlists import chance, make_ean, slug

LACKS_CATEGORY = "board-games"
LACKS_ABOVE = Decimal(1000)
SHARE_LACKING_ELSEWHERE = 0.22
REJECTED = 3
GONE = 6
DEAL = [*["plain"] * 15, *["campaign"] * 11, *["click"] * 8, *["awin"] * 6, *["redir"] * 5]
DEAL += ["portal"] * 2 + ["out"] * 2 + ["short"]


@dataclass(frozen=True)
class Row:
    """One row of the merchant's feed. `path` is where its link leads, `form` how the link is written."""

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
class Listing:
    """All rows, and the offers that stood in them once but are gone from the shop."""

    rows: tuple[Row, ...]
    gone: tuple[Offer, ...]


def make_listing(seed: int, offers: Sequence[Offer], former: Sequence[Offer]) -> Listing:
    """The feed of a shop that sells `offers` and once sold some of `former`."""
    draw = chance(seed, "listing")
    known, lacking = _split(offers, draw)
    gone = _gone(former, draw)
    rows = [_row(offer, place, draw) for place, offer in enumerate(known)]
    rows += [replace(_row(offer, 0, draw), form="plain") for offer in gone]
    rows += _bad_rows(lacking, known, gone)
    draw.shuffle(rows)
    return Listing(tuple(rows), tuple(gone))


def _split(offers: Sequence[Offer], draw: random.Random) -> tuple[list[Offer], list[Offer]]:
    """The offers that the catalog lists, shuffled, and those that it lacks for no reason one could guess."""
    rest = [
        offer
        for offer in offers
        if offer.category.slug != LACKS_CATEGORY and offer.price <= LACKS_ABOVE
    ]
    draw.shuffle(rest)
    cut = round(len(rest) * SHARE_LACKING_ELSEWHERE)
    return rest[cut:], rest[:cut]


def _gone(former: Sequence[Offer], draw: random.Random) -> list[Offer]:
    single = [
        offer for offer in former if not offer.variants and not offer.family and not offer.parts
    ]
    german = draw.sample([offer for offer in single if offer.locale == "de"], GONE // 2)
    english = draw.sample([offer for offer in single if offer.locale == "en"], GONE - GONE // 2)
    return [_renumbered(offer, 70_000 + 31 * place) for place, offer in enumerate(german + english)]


def _renumbered(offer: Offer, number: int) -> Offer:
    title = offer.title.replace(offer.model, f"{offer.model} Classic")
    path = offer.category.offer_path(slug(title), number)
    sku, ean = f"{offer.category.prefix}-{number}", make_ean(9_001, number)
    return replace(
        offer, number=number, title=title, path=path, sku=sku, ean=ean, han=None, alternates=()
    )


def _row(offer: Offer, place: int, draw: random.Random) -> Row:
    choice = offer.variants[place % 2] if offer.variants else None
    price, title = (choice or offer).price, offer.title
    path, form = offer.path, DEAL[place % len(DEAL)]
    if choice and place % 2:
        path, title = f"{path}?variant={choice.id}", f"{title} - {choice.label}"
    elif offer.alternates and place % 4 == 1:
        path = offer.alternates[0]
    said = _stale_price(price, draw) if place % 10 == 3 else price
    before = offer.old_price if offer.old_price and offer.old_price > said and place % 2 else None
    return Row(
        ref=(choice or offer).sku,
        offer=offer,
        form="campaign" if form == "portal" and "?" in path else form,
        path=path,
        title=_rewritten(title, offer, draw) if place % 14 == 5 else title,
        price=f"{before or said} {offer.currency}",
        sale_price=f"{said} {offer.currency}" if before else None,
        gtin=(choice or offer).ean if place % 9 else None,
        mpn=offer.han if place % 3 else None,
        brand=offer.brand if place % 12 else None,
    )


def _stale_price(price: Decimal, draw: random.Random) -> Decimal:
    return (price * Decimal(draw.choice(["0.85", "0.9", "1.12", "1.3"]))).quantize(Decimal("0.01"))


def _rewritten(title: str, offer: Offer, draw: random.Random) -> str:
    words = title.replace(offer.brand, "").replace(",", " ").split()
    by, praise = (
        ("von", "*TOP* jetzt im Angebot")
        if offer.locale == "de"
        else ("by", "- Best Price, Free Shipping")
    )
    turned, praised = f"{' '.join(words[::-1])} {by} {offer.brand}", f"{' '.join(words)} {praise}"
    return draw.choice([turned, title.upper(), praised])


def _bad_rows(lacking: Sequence[Offer], known: Sequence[Offer], gone: Sequence[Offer]) -> list[Row]:
    """Rows that a catalog cannot take: their offers are lacking, listed by another row, or no longer sold."""
    blank = Row("", known[0], "plain", None, None, None, None, None, None, None, "only an id")
    rejected = [
        replace(_plain(offer), path=None, title=None, fault="neither title nor link")
        for offer in lacking[:REJECTED]
    ]
    miscounted = [
        replace(
            _plain(offer),
            ref=f"{offer.sku}-OLD",
            gtin=_broken(offer.ean),
            fault="GTIN with a wrong check digit",
        )
        for offer in [offer for offer in known if offer.ean and not offer.variants][:3]
    ]
    asked = replace(
        _plain(gone[0]), ref=f"{gone[0].sku}-ASK", price="on request", fault="price is not a number"
    )
    return [*rejected, *miscounted, replace(blank, ref="90001"), replace(blank, ref="90002"), asked]


def _plain(offer: Offer) -> Row:
    price = f"{offer.price} {offer.currency}"
    return Row(
        offer.sku,
        offer,
        "plain",
        offer.path,
        offer.title,
        price,
        None,
        offer.ean,
        offer.han,
        offer.brand,
    )


def _broken(ean: str | None) -> str:
    return f"{ean[:-1]}{(int(ean[-1]) + 3) % 10}" if ean else "0"
