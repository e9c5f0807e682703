"""Synthetic pairs: labelled training pairs made from the catalog's own offers.

A new shop has no labelled pairs. Each round makes the two sides of a matching: the catalog, and a
copy of each offer as a shop page would show it. Copies have stale prices, brands added or removed,
changed words, and lack identifiers, images or descriptions. Some offers are held back from the
catalog's side, so their copies are missing offers among near rivals. Where a link identifies the
page of an offer, the page itself stands on the shop's side. Links are no features. Each other kind
of evidence is absent in some rounds, so that the classifier does not rely on it alone.

Of a large catalog, each round takes some offers with their nearest rivals. A few hundred drawn from
a million would hold no siblings: the classifier would then take the nearest sibling of a missing
offer for the offer.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matcher.array_types import Ints, Matrix
from matcher.blocking.nearest_rows import find_nearest, rank_in_row
from matcher.blocking.vectors import vectorise_titles
from matcher.mixed_bits import draw_rows
from matcher.records.record import Record

# Catalog offers of one round; bounds time.
MAX_OFFERS = 400
# Nearest rivals that come with each drawn offer of a large catalog.
RIVALS = 3
# Titles among which the nearest are chosen: siblings are often equally near.
TIED_RIVALS = 24
# Rounds: as many as give ENOUGH_OFFERS in all, within these bounds.
MIN_ROUNDS = 4
MAX_ROUNDS = 6
ENOUGH_OFFERS = 1000
# Share of the shop's copies whose offer is held back from the catalog's side.
HELD_BACK_SHARE = 0.3
# Share of the catalog's offers without a copy in the shop.
GONE_SHARE = 0.08
# Share of the offers with a known page that the page itself stands for.
REAL_PAGE_SHARE = 0.7
# Share of the catalog's titles that are cut, as careless exports do.
CUT_TITLE_SHARE = 0.04
# Share of copies that lack an optional field, and of those that lack the description.
MISSING_FIELD_SHARE = 0.3
MISSING_DESCRIPTION_SHARE = 0.2
# Kinds of evidence that a round lacks, by round.
_MASKS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"images"}),
    frozenset({"description"}),
    frozenset({"identifiers"}),
    frozenset({"images", "identifiers"}),
    frozenset(),
)
# Marks at which exports and templates cut titles.
_CUT_MARKS = "-\"'(,/&"


@dataclass(frozen=True)
class SyntheticPairs:
    """One round: both sides, and for each shop record its row in the catalog or None if missing."""

    shop: list[Record]
    catalog: list[Record]
    truth: list[int | None]


def generate_synthetic_pairs(
    catalog: Sequence[Record],
    pages: Mapping[int, Record],
    rounds: Sequence[Sequence[int]] | None = None,
) -> Iterator[SyntheticPairs]:
    """Generate the training rounds; the same input always gives the same rounds.

    `pages` gives the shop's own record of some catalog rows. `rounds` gives the catalog rows of
    each round, where they are drawn already.
    """
    if rounds is not None:
        for number, rows in enumerate(rounds):
            yield _make_round(catalog, pages, rows, _generator(number), _MASKS[number])
        return
    usable = [index for index, record in enumerate(catalog) if record.title]
    if not usable:
        return
    count = max(MIN_ROUNDS, min(MAX_ROUNDS, ENOUGH_OFFERS // len(usable)))
    generators = [_generator(number) for number in range(count)]
    draws = _draw_offers([catalog[index] for index in usable], generators)
    for generator, drawn, mask in zip(generators, draws, _MASKS, strict=False):
        yield _make_round(catalog, pages, [usable[place] for place in drawn], generator, mask)


def draw_rounds(catalog: Sequence[Record], keys: Ints) -> list[list[int]]:
    """Draw the rounds of a large catalog by the keys of its offers; returns the rows of each.

    A few offers more or less change few draws: the classifier of the last run still holds.
    """
    usable = np.array([row for row, record in enumerate(catalog) if record.title], dtype=np.int64)
    titles = vectorise_titles([catalog[row] for row in usable.tolist()])
    rounds = []
    for number in range(MIN_ROUNDS):
        drawn = draw_seeds(keys[usable], number)
        rivals = find_rivals(titles[drawn], titles)
        rounds.append(usable[np.union1d(drawn, rivals)].tolist())
    return rounds


def find_rivals(seeds: Matrix, titles: Matrix) -> Ints:
    """Return the rows of the titles nearest to some, themselves among them; ties go by row."""
    nearest = find_nearest(seeds, titles, TIED_RIVALS)
    # The nearest of a title is itself.
    return np.unique(nearest[rank_in_row(nearest[:, 0]) <= RIVALS, 1])


def draw_seeds(keys: Ints, number: int) -> Ints:
    """Draw the offers of a round of a large catalog, to which their nearest rivals come."""
    return draw_rows(keys, MAX_OFFERS // (1 + RIVALS), number)


def _generator(number: int) -> random.Random:
    # The seed's wording is part of the results: another one draws other rounds.
    return random.Random(f"rehearsal {number}")  # noqa: S311


def _draw_offers(usable: Sequence[Record], generators: Sequence[random.Random]) -> list[list[int]]:
    """Draw the offers of each round: all, or of a large catalog some with their nearest rivals."""
    is_small = len(usable) <= MAX_OFFERS
    count = len(usable) if is_small else MAX_OFFERS // (1 + RIVALS)
    # Also a small catalog draws, which leaves the generator in the state that results rest on.
    draws = [sorted(generator.sample(range(len(usable)), count)) for generator in generators]
    if is_small:
        return draws
    titles = vectorise_titles(usable)
    with_rivals = []
    for drawn in draws:
        nearest = find_nearest(titles[drawn], titles, 1 + RIVALS)[:, 1]
        with_rivals.append(np.union1d(drawn, nearest).tolist())
    return with_rivals


def _make_round(
    catalog: Sequence[Record],
    pages: Mapping[int, Record],
    drawn: Sequence[int],
    generator: random.Random,
    mask: frozenset[str],
) -> SyntheticPairs:
    vocabulary = [word for index in drawn for word in catalog[index].title.split()]
    shop_side: list[Record] = []
    catalog_side: list[Record] = []
    truth: list[int | None] = []
    for index in drawn:
        record = catalog[index]
        if generator.random() < GONE_SHARE:
            catalog_side.append(record)
            continue
        if index in pages and generator.random() < REAL_PAGE_SHARE:
            copy = _drop_fields(pages[index], generator)
        else:
            other_description = catalog[generator.choice(drawn)].description
            copy = simulate_page(record, generator, vocabulary, other_description)
        shop_side.append(_mask(copy, mask))
        if generator.random() < HELD_BACK_SHARE:
            truth.append(None)
            continue
        truth.append(len(catalog_side))
        if generator.random() < CUT_TITLE_SHARE:
            record = _cut_title(record, generator)
        catalog_side.append(record)
    return SyntheticPairs(shop_side, catalog_side, truth)


def simulate_page(
    record: Record,
    generator: random.Random,
    vocabulary: Sequence[str],
    other_description: str = "",
) -> Record:
    """Change a record as pages of real shops differ from their feeds.

    `vocabulary` are words to insert, `other_description` is the text of another offer.
    """
    title = _change_title(record, generator, vocabulary)
    changed = replace(record, title=title, price=_change_price(record.price, generator))
    if generator.random() < 0.3 and record.description:
        description_words = record.description.split()
        length = generator.randint(1, len(description_words))
        changed = replace(changed, description=" ".join(description_words[:length]))
    elif generator.random() < 0.05:
        changed = replace(changed, description=other_description)
    return _drop_fields(changed, generator)


def _change_title(record: Record, generator: random.Random, vocabulary: Sequence[str]) -> str:
    # At most one change: the bounds below are cumulated shares.
    title_words, event = record.title.split(), generator.random()
    if event < 0.12 and record.brand:
        return f"{record.brand} {record.title}"
    if event < 0.22:
        title_words.insert(generator.choice((0, len(title_words))), generator.choice(vocabulary))
    elif event < 0.32 and len(title_words) > 2:
        title_words.pop(generator.randrange(len(title_words)))
    elif event < 0.37:
        cut = generator.randrange(len(title_words))
        title_words = title_words[cut:] + title_words[:cut]
    elif event < 0.42:
        place = generator.randrange(len(title_words))
        title_words[place] = title_words[place][: max(1, len(title_words[place]) - 1)]
    elif event < 0.45:
        title_words = [*title_words[: (len(title_words) + 1) // 2], generator.choice(vocabulary)]
    elif event < 0.51:
        return _cut_title(record, generator).title
    return " ".join(title_words)


def _cut_title(record: Record, generator: random.Random) -> Record:
    """Cut a title short as careless exports do, most often at a mark such as `-` or `"`."""
    title = record.title
    places = [place for place, mark in enumerate(title) if mark in _CUT_MARKS and place > 1]
    if not places:
        places = [place for place, mark in enumerate(title) if mark == " "]
    if not places:
        return record
    return replace(record, title=title[: generator.choice(places)].strip())


def _change_price(price: float | None, generator: random.Random) -> float | None:
    event = generator.random()
    if price is None or event < 0.05:
        return None
    if event < 0.3:
        return price * generator.uniform(0.7, 1.4)
    return price


def _drop_fields(record: Record, generator: random.Random) -> Record:
    """Drop some fields, as not every page shows all of them."""
    changes: dict[str, Any] = {}
    # The order of the fields decides which random number each one gets.
    for name in ("brand", "ean", "han", "sku"):
        if generator.random() <= MISSING_FIELD_SHARE:
            changes[name] = ""
    images = _change_images(record.images, generator)
    if generator.random() <= MISSING_DESCRIPTION_SHARE:
        changes["description"] = ""
    return replace(record, images=images, **changes)


def _change_images(images: tuple[str, ...], generator: random.Random) -> tuple[str, ...]:
    """Return the images, none, or a different one: a logo, or the same image under another name."""
    event = generator.random()
    if event < 0.15:
        return ()
    if event < 0.22 and images:
        return (f"picture {generator.random()}",)
    return images


def _mask(record: Record, mask: frozenset[str]) -> Record:
    """Remove the kinds of evidence that this round lacks."""
    if "images" in mask:
        record = replace(record, images=())
    if "description" in mask:
        record = replace(record, description="")
    if "identifiers" in mask:
        record = replace(record, ean="", han="", sku="")
    return record
