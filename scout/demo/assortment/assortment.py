"""The demo shop's offers, drawn from the words of `assortment.toml`: the same seed gives the same shop.

Near neighbours are made on purpose, as real assortments have them: the next size, the model with an S behind it. They
have other identifiers and another price, and are other offers.
"""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scout.demo.assortment.offers import Category, Offer
from scout.demo.assortment.ranges import STORAGES, bundles, families, with_variants
from scout.demo.assortment.wordlists import (
    chance,
    make_ean,
    make_han,
    make_price,
    price_before,
    slug,
)

WORDS = Path(__file__).with_name("assortment.toml")
SHARE_WITHOUT_EAN = 0.1
SHARE_WITHOUT_HAN = 0.06
SHARE_SOLD_OUT = 0.07
SHARE_REDUCED = 0.16
ALSO_BELOW_CATEGORY = {"kaffeemaschinen", "fahrradteile", "headphones", "running-shoes"}
LABELS = {"de": ("Farbe", "Ausführung"), "en": ("Colour", "Version")}

Entry = dict[str, Any]


def make_offers(seed: int) -> tuple[Offer, ...]:
    """The whole assortment: category by category, then the bundles."""
    made: list[Offer] = []
    for place, entry in enumerate(tomllib.loads(WORDS.read_text("utf-8"))["category"]):
        made += _category_offers(entry, place, chance(seed, entry["slug"]))
    return tuple(made + bundles(made, chance(seed, "bundles")))


@dataclass(frozen=True)
class _Draft:
    """The words that make one offer's title."""

    brand: str
    kind: str
    series: str
    model: str
    number: int
    size: str
    colour: str

    def fill(self, pattern: str) -> str:
        return pattern.format(**vars(self))


def _category_offers(entry: Entry, place: int, draw: random.Random) -> list[Offer]:
    names = ("slug", "name", "parent", "locale", "template", "prefix", "icon", "hue")
    category = Category(**{name: entry[name] for name in names})
    drafts = _phones(entry, draw) if entry.get("families") else _singles(entry, draw)
    made = [
        _offer(category, entry, draft, 10_000 + 1_000 * place + 13 * row + draw.randrange(12), draw)
        for row, draft in enumerate(drafts)
    ]
    return families(made, draw) if entry.get("families") else made


def _singles(entry: Entry, draw: random.Random) -> Iterator[_Draft]:
    seen: set[str] = set()
    last: _Draft | None = None
    while len(seen) < entry["count"]:
        draft = (
            _neighbour(last, entry, draw) if last and draw.random() < 0.22 else _fresh(entry, draw)
        )
        if (title := draft.fill(entry["title"])) not in seen:
            seen.add(title)
            yield draft
            last = draft


def _phones(entry: Entry, draw: random.Random) -> Iterator[_Draft]:
    models: set[str] = set()
    while len(models) * STORAGES < entry["count"]:
        draft = _fresh(entry, draw)
        if draft.model not in models:
            models.add(draft.model)
            yield from (replace(draft, size=size) for size in entry["sizes"])


def _fresh(entry: Entry, draw: random.Random) -> _Draft:
    kind, number = draw.choice(entry["kinds"]), draw.randrange(12, 98) * 10
    return _Draft(
        brand=draw.choice(entry["brands"]),
        kind=kind,
        series=draw.choice(entry["series"]),
        model=f"{draw.choice(entry['models'])} {number}",
        number=number,
        size=draw.choice(_sizes(entry, kind)),
        colour=draw.choice(entry["colours"]),
    )


def _sizes(entry: Entry, kind: str) -> list[str]:
    sizes: list[str] = entry.get("fits", {}).get(kind, entry["sizes"])
    return sizes


def _neighbour(last: _Draft, entry: Entry, draw: random.Random) -> _Draft:
    if draw.random() < 0.5 and not last.model.endswith("S"):
        return replace(last, model=f"{last.model}S", number=last.number + 1)
    return replace(
        last, size=draw.choice(_sizes(entry, last.kind)), colour=draw.choice(entry["colours"])
    )


def _offer(
    category: Category, entry: Entry, draft: _Draft, number: int, draw: random.Random
) -> Offer:
    title, price = draft.fill(entry["title"]), make_price(entry["price"], draw)
    company = 100 * entry["hue"] % 9_000 + entry["brands"].index(draft.brand)
    sentences = draw.sample(entry["sentences"], draw.randrange(4, len(entry["sentences"]) + 1))
    path = category.offer_path(slug(title), number)
    offer = Offer(
        number=number,
        path=path,
        title=title,
        category=category,
        brand=draft.brand,
        price=price,
        sku=f"{category.prefix}-{number}",
        ean=None if draw.random() < SHARE_WITHOUT_EAN else make_ean(company, number),
        han=None
        if draw.random() < SHARE_WITHOUT_HAN
        else make_han(draft.brand, draft.model, draft.colour, number),
        description=" ".join(draft.fill(sentence) for sentence in sentences),
        model=draft.model,
        colour=draft.colour,
        size=draft.size,
        specs=_specs(category, entry, draft, draw),
        available=draw.random() >= SHARE_SOLD_OUT,
        old_price=price_before(price, draw) if draw.random() < SHARE_REDUCED else None,
        alternates=(category.below(path),) if category.slug in ALSO_BELOW_CATEGORY else (),
    )
    choice = entry.get("variants")
    if not choice or draw.random() > 0.6:
        return offer
    return with_variants(offer, entry["colours"][:3] if choice == "Colour" else None, company, draw)


def _specs(
    category: Category, entry: Entry, draft: _Draft, draw: random.Random
) -> tuple[tuple[str, str], ...]:
    drawn = [(label, draw.choice(values)) for label, values in entry["specs"]]
    colour, version = LABELS[category.locale]
    return (*drawn, (colour, draft.colour), (version, draft.size))
