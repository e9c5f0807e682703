"""Rehearsals: the matching played with offers whose counterpart is known, so that the classifier can learn from it.

Nobody labels pairs for a new shop. But the catalog's own offers can play both parts: each is set against a copy as a
shop page would show it - price stale, brand put before the title or left out, identifiers, images or description
missing, words changed - and some are kept out of the catalog's part, so that their copies are missing offers among near
rivals. Where a page is known to be an offer's own (its link says so), the page itself plays the shop's part. Links
play no part, and every other kind of evidence is absent in some rehearsals, so that none becomes the only one believed.

A catalog too large to play whole sends some offers, each with its nearest rivals: hundreds drawn from a million would
be strangers to each other, and who learns among strangers takes the nearest sibling of a missing offer for the offer.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matcher.blocking.nearest_rows import nearest
from matcher.blocking.vectors import title_words
from matcher.records.record import Record

MOST_OFFERS = 400
RIVALS = 3
MOST_ROUNDS = 6
ENOUGH_OFFERS = 1000
HELD_BACK = 0.3
GONE = 0.08
_MASKS = ("", "images", "description", "identifiers", "images identifiers", "")


@dataclass(frozen=True)
class Rehearsal:
    """A shop's part, a catalog's part, and for each of the shop's offers its row in the catalog's part, if any."""

    shop: list[Record]
    known: list[Record]
    truth: list[int | None]


def rehearsals(known: Sequence[Record], pages: Mapping[int, Record]) -> Iterator[Rehearsal]:
    """The rounds to learn from; `pages` gives the shop's own record of some known offers. Always the same rounds."""
    usable = [index for index, record in enumerate(known) if record.title]
    if not usable:
        return
    rounds = max(4, min(MOST_ROUNDS, ENOUGH_OFFERS // len(usable)))
    chances = [random.Random(f"rehearsal {number}") for number in range(rounds)]  # noqa: S311
    casts = _casts([known[index] for index in usable], chances)
    for chance, cast, mask in zip(chances, casts, _MASKS, strict=False):
        yield _round(known, pages, [usable[place] for place in cast], chance, mask)


def _casts(usable: Sequence[Record], chances: Sequence[random.Random]) -> list[list[int]]:
    """Who plays in each round: all, or of too many some with their nearest rivals."""
    whole = len(usable) <= MOST_OFFERS
    drawn = [
        sorted(
            one.sample(range(len(usable)), len(usable) if whole else MOST_OFFERS // (1 + RIVALS))
        )
        for one in chances
    ]
    if whole:
        return drawn
    words = title_words(usable)
    return [
        np.union1d(some, nearest(words[some], words, 1 + RIVALS)[:, 1]).tolist() for some in drawn
    ]


def _round(
    known: Sequence[Record],
    pages: Mapping[int, Record],
    cast: Sequence[int],
    chance: random.Random,
    mask: str,
) -> Rehearsal:
    vocabulary = [word for index in cast for word in known[index].title.split()]
    shop: list[Record] = []
    catalog: list[Record] = []
    truth: list[int | None] = []
    for index in cast:
        if chance.random() < GONE:
            catalog.append(known[index])
            continue
        own = index in pages and chance.random() < 0.7
        shop.append(
            _masked(
                _forgetful(pages[index], chance)
                if own
                else copy(known[index], chance, vocabulary, known[chance.choice(cast)].description),
                mask,
            )
        )
        truth.append(None if chance.random() < HELD_BACK else len(catalog))
        if truth[-1] is not None:
            catalog.append(_cut(known[index], chance) if chance.random() < 0.04 else known[index])
    return Rehearsal(shop, catalog, truth)


def copy(
    record: Record, chance: random.Random, vocabulary: Sequence[str], other: str = ""
) -> Record:
    """The offer as a page might show it: what a feed and a page say differently in real shops."""
    changed = replace(
        record, title=_retitled(record, chance, vocabulary), price=_repriced(record.price, chance)
    )
    if chance.random() < 0.3 and record.description:
        words = record.description.split()
        changed = replace(changed, description=" ".join(words[: chance.randint(1, len(words))]))
    elif chance.random() < 0.05:
        changed = replace(changed, description=other)
    return _forgetful(changed, chance)


def _retitled(record: Record, chance: random.Random, vocabulary: Sequence[str]) -> str:
    words, event = record.title.split(), chance.random()
    if event < 0.12 and record.brand:
        return f"{record.brand} {record.title}"
    if event < 0.22:
        words.insert(chance.choice((0, len(words))), chance.choice(vocabulary))
    elif event < 0.32 and len(words) > 2:
        words.pop(chance.randrange(len(words)))
    elif event < 0.37:
        cut = chance.randrange(len(words))
        words = words[cut:] + words[:cut]
    elif event < 0.42:
        place = chance.randrange(len(words))
        words[place] = words[place][: max(1, len(words[place]) - 1)]
    elif event < 0.45:
        words = [*words[: (len(words) + 1) // 2], chance.choice(vocabulary)]
    elif event < 0.51:
        return _cut(record, chance).title
    return " ".join(words)


def _cut(record: Record, chance: random.Random) -> Record:
    """A title that ends early, as careless exports and templates leave it, most often at a mark such as `-` or `"`."""
    marks = [place for place, mark in enumerate(record.title) if mark in "-\"'(,/&" and place > 1]
    places = marks or [place for place, mark in enumerate(record.title) if mark == " "]
    return (
        replace(record, title=record.title[: chance.choice(places)].strip()) if places else record
    )


def _repriced(price: float | None, chance: random.Random) -> float | None:
    event = chance.random()
    if price is None or event < 0.05:
        return None
    return price * chance.uniform(0.7, 1.4) if event < 0.3 else price


def _forgetful(record: Record, chance: random.Random) -> Record:
    """Some of what tells an offer apart is not on every page."""
    return replace(
        record,
        brand=record.brand if chance.random() > 0.3 else "",
        ean=record.ean if chance.random() > 0.3 else "",
        han=record.han if chance.random() > 0.3 else "",
        sku=record.sku if chance.random() > 0.3 else "",
        images=_pictured(record.images, chance),
        description=record.description if chance.random() > 0.2 else "",
    )


def _pictured(images: tuple[str, ...], chance: random.Random) -> tuple[str, ...]:
    """The images, or none, or another one: a shop's logo, the same picture under another name."""
    event = chance.random()
    if event < 0.15:
        return ()
    return (f"picture {chance.random()}",) if event < 0.22 and images else images


def _masked(record: Record, mask: str) -> Record:
    if "images" in mask:
        record = replace(record, images=())
    if "description" in mask:
        record = replace(record, description="")
    return replace(record, ean="", han="", sku="") if "identifiers" in mask else record
