"""Generator of the demo shop's offers from `assortment.toml`: a seed gives always the same.

Near neighbours are made on purpose, as real assortments have them: the next size, or the model with
an S appended. They are different offers with other identifiers and another price.
"""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scout.demo.assortment.offer_groups import (
    FAMILY_SIZE,
    add_variants,
    make_bundles,
    make_families,
)
from scout.demo.assortment.offers import Category, Offer
from scout.demo.assortment.random_values import (
    make_ean,
    make_han,
    make_price,
    price_before,
    seeded_random,
    slug,
)

WORD_LISTS = Path(__file__).with_name("assortment.toml")

SHARE_WITHOUT_EAN = 0.1
SHARE_WITHOUT_HAN = 0.06
SHARE_SOLD_OUT = 0.07
SHARE_REDUCED = 0.16

SHARE_NEIGHBOURS = 0.22
"""Share of offers that are near neighbours of the offer before."""

SHARE_WITH_VARIANTS = 0.6
"""Share of offers with variants, in categories that have variants."""

FIRST_NUMBER = 10_000
"""First article number of the first category."""

CATEGORY_NUMBERS = 1_000
"""Article numbers reserved for a category."""

NUMBER_STEP = 13
"""Distance of article numbers: a random part below it keeps them unique and in order."""

ALSO_BELOW_CATEGORY = {"kaffeemaschinen", "fahrradteile", "headphones", "running-shoes"}
"""Categories whose offers have a second path below the category's."""

SPEC_LABELS = {"de": ("Farbe", "Ausführung"), "en": ("Colour", "Version")}
"""Labels of colour and size in the specification table."""

CATEGORY_FIELDS = ("slug", "name", "parent", "locale", "template", "prefix", "icon", "hue")

Entry = dict[str, Any]
"""A `[[category]]` table of `assortment.toml`."""


def generate_offers(seed: int) -> tuple[Offer, ...]:
    """Generate the whole assortment: category by category, then the bundles."""
    offers: list[Offer] = []
    entries = tomllib.loads(WORD_LISTS.read_text("utf-8"))["category"]
    for index, entry in enumerate(entries):
        offers += _category_offers(entry, index, seeded_random(seed, entry["slug"]))
    return tuple(offers + make_bundles(offers, seeded_random(seed, "bundles")))


@dataclass(frozen=True)
class _Draft:
    """The words that make up one offer's title and description."""

    brand: str
    kind: str
    series: str
    model: str
    number: int
    size: str
    colour: str

    def fill(self, pattern: str) -> str:
        return pattern.format(**vars(self))


# The order of draws below decides the assortment: any change of it gives another shop.


def _category_offers(entry: Entry, index: int, generator: random.Random) -> list[Offer]:
    category = Category(**{name: entry[name] for name in CATEGORY_FIELDS})
    has_families = bool(entry.get("families"))
    drafts = _phone_drafts(entry, generator) if has_families else _single_drafts(entry, generator)
    offers = []
    for position, draft in enumerate(drafts):
        number = FIRST_NUMBER + CATEGORY_NUMBERS * index + NUMBER_STEP * position
        number += generator.randrange(NUMBER_STEP - 1)
        offers.append(_make_offer(category, entry, draft, number, generator))
    return make_families(offers, generator) if has_families else offers


def _single_drafts(entry: Entry, generator: random.Random) -> Iterator[_Draft]:
    titles: set[str] = set()
    previous: _Draft | None = None
    while len(titles) < entry["count"]:
        if previous and generator.random() < SHARE_NEIGHBOURS:
            draft = _draw_neighbour(previous, entry, generator)
        else:
            draft = _draw_draft(entry, generator)
        title = draft.fill(entry["title"])
        if title not in titles:
            titles.add(title)
            yield draft
            previous = draft


def _phone_drafts(entry: Entry, generator: random.Random) -> Iterator[_Draft]:
    models: set[str] = set()
    while len(models) * FAMILY_SIZE < entry["count"]:
        draft = _draw_draft(entry, generator)
        if draft.model in models:
            continue
        models.add(draft.model)
        for size in entry["sizes"]:
            yield replace(draft, size=size)


def _draw_draft(entry: Entry, generator: random.Random) -> _Draft:
    kind, number = generator.choice(entry["kinds"]), generator.randrange(12, 98) * 10
    return _Draft(
        brand=generator.choice(entry["brands"]),
        kind=kind,
        series=generator.choice(entry["series"]),
        model=f"{generator.choice(entry['models'])} {number}",
        number=number,
        size=generator.choice(_sizes(entry, kind)),
        colour=generator.choice(entry["colours"]),
    )


def _sizes(entry: Entry, kind: str) -> list[str]:
    sizes: list[str] = entry.get("fits", {}).get(kind, entry["sizes"])
    return sizes


def _draw_neighbour(draft: _Draft, entry: Entry, generator: random.Random) -> _Draft:
    if generator.random() < 0.5 and not draft.model.endswith("S"):
        return replace(draft, model=f"{draft.model}S", number=draft.number + 1)
    return replace(
        draft,
        size=generator.choice(_sizes(entry, draft.kind)),
        colour=generator.choice(entry["colours"]),
    )


def _make_offer(
    category: Category, entry: Entry, draft: _Draft, number: int, generator: random.Random
) -> Offer:
    title, price = draft.fill(entry["title"]), make_price(entry["price"], generator)
    company = 100 * entry["hue"] % 9_000 + entry["brands"].index(draft.brand)
    sentences = generator.sample(
        entry["sentences"], generator.randrange(4, len(entry["sentences"]) + 1)
    )
    path = category.offer_path(slug(title), number)
    ean: str | None = make_ean(company, number)
    if generator.random() < SHARE_WITHOUT_EAN:
        ean = None
    han: str | None = make_han(draft.brand, draft.model, draft.colour, number)
    if generator.random() < SHARE_WITHOUT_HAN:
        han = None
    offer = Offer(
        number=number,
        path=path,
        title=title,
        category=category,
        brand=draft.brand,
        price=price,
        sku=f"{category.prefix}-{number}",
        ean=ean,
        han=han,
        description=" ".join(draft.fill(sentence) for sentence in sentences),
        model=draft.model,
        colour=draft.colour,
        size=draft.size,
        specs=_draw_specs(category, entry, draft, generator),
        available=generator.random() >= SHARE_SOLD_OUT,
        old_price=price_before(price, generator) if generator.random() < SHARE_REDUCED else None,
        alternates=(category.below(path),) if category.slug in ALSO_BELOW_CATEGORY else (),
    )
    variant_kind = entry.get("variants")
    if not variant_kind or generator.random() > SHARE_WITH_VARIANTS:
        return offer
    labels = entry["colours"][:3] if variant_kind == "Colour" else None
    return add_variants(offer, labels, company, generator)


def _draw_specs(
    category: Category, entry: Entry, draft: _Draft, generator: random.Random
) -> tuple[tuple[str, str], ...]:
    drawn = [(label, generator.choice(values)) for label, values in entry["specs"]]
    colour, version = SPEC_LABELS[category.locale]
    return (*drawn, (colour, draft.colour), (version, draft.size))
