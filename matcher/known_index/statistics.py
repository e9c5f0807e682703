"""Statistics of a catalog that are stored with its index, and as the matcher takes them.

Those of descriptions, boilerplate and variant words come from samples of a large catalog. The
samples depend on the content of the offers alone, so that any order of imports gives the same.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from sqlmodel import Session

from catalog.models import OfferFields
from matcher.array_types import Doubles, Ints, Keys
from matcher.blocking.vectors import hash_width
from matcher.catalog_statistics import CatalogStatistics
from matcher.features.variant_words import draw_families, learn_variant_words
from matcher.known_index.frequency import FrequencyTable, fold_table
from matcher.known_index.keys import text_key, text_keys
from matcher.known_index.known_index import HAS_LINK, HAS_TITLE, DocumentTable, OpenIndex
from matcher.known_index.offer_rows import read_known_offers, read_offers
from matcher.known_index.ranking import WordWeights
from matcher.known_index.search import find_by_tokens
from matcher.known_index.terms import TOKEN_WIDTH
from matcher.mixed_bits import draw_rows
from matcher.records.boilerplate import MAX_READ, find_boilerplate, remove_boilerplate
from matcher.records.content_order import build_ordered_records
from matcher.records.record import COMMON_IMAGE, MAX_DESCRIPTION, Record, strip_brands
from matcher.records.stored_offers import to_fields
from matcher.records.text import tokenize
from matcher.training.synthetic_pairs import MIN_ROUNDS, draw_seeds, find_rivals

# Descriptions whose words are counted; bounds time.
MAX_DESCRIPTIONS = 10_000
# Words of the descriptions that are kept; cap on memory.
MAX_WORDS = 400_000
# Documents whose titles are compared with that of an offer to train on.
_PROMISING_RIVALS = 100
# Images are kept from half the number on that makes them common: the catalog may shrink.
_NEARLY_COMMON = 200
# Numbers of the draws, which the training rounds do not use.
_DESCRIPTION_DRAW = 101


def sample_texts(
    session: Session, documents: DocumentTable, families: Keys, brands: Sequence[str]
) -> tuple[dict[str, Any], FrequencyTable]:
    """Return boilerplate and variant words, ready for JSON, and the words of descriptions."""
    _, read = _read_records(session, documents, draw_rows(documents.keys, MAX_READ))
    boilerplate = find_boilerplate([record.description for record in read])
    drawn = draw_rows(documents.keys, MAX_DESCRIPTIONS, _DESCRIPTION_DRAW)
    _, drawn_records = _read_records(session, documents, drawn)
    described = remove_boilerplate(drawn_records, boilerplate)
    counts: Counter[str] = Counter()
    for record in described:
        counts.update(set(tokenize(record.description)))
    frequent = counts.most_common(MAX_WORDS)
    keys = text_keys("word", [word for word, _ in frequent])
    order = np.argsort(keys)
    table = FrequencyTable(keys[order], np.array([n for _, n in frequent], np.int64)[order])
    _, siblings = _read_titled(session, documents, draw_families(families), brands)
    variant_words = learn_variant_words(siblings).words
    sampled = {
        "boilerplate": sorted(boilerplate),
        "variant_words": sorted(variant_words),
        "descriptions": len(described),
    }
    return sampled, table


def draw_training_offers(
    session: Session, index: OpenIndex, brands: Sequence[str], words: FrequencyTable
) -> list[list[int]]:
    """Draw the offers of each training round with their nearest rivals; returns their ids.

    `words` counts the offers with each word of titles, by its hashed column.
    """
    documents = index.documents
    usable = np.flatnonzero(documents.flags & HAS_TITLE)
    width = hash_width(len(usable))
    weights = WordWeights(fold_table(words, width), width, len(usable))
    rounds: list[list[int]] = []
    for number in range(MIN_ROUNDS):
        seeds = usable[draw_seeds(documents.keys[usable], number)]
        seed_ids, records = _read_titled(session, documents, seeds, brands)
        promising = find_by_tokens(index, records, _PROMISING_RIVALS)
        rival_ids, rivals = _read_titled(session, documents, promising, brands)
        nearest = find_rivals(weights.vectors(records), weights.vectors(rivals))
        members = {rival_ids[row] for row in nearest.tolist()}
        rounds.append(sorted(members.union(seed_ids)))
    return rounds


def pack_training_offers(session: Session, rounds: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the offers of the rounds, by place, ready for JSON.

    They are stored as they are now: later imports change no example, and so no classifier.
    """
    ids = sorted(set(chain.from_iterable(rounds)))
    rows = read_known_offers(session, ids)
    offers = []
    for row in rows.values():
        fields = to_fields(row).model_dump(mode="json")
        # More is not compared.
        fields["description"] = (fields["description"] or "")[: 2 * MAX_DESCRIPTION] or None
        offers.append(fields | {"product": row.product or ""})
    place_of = {known: place for place, known in enumerate(rows)}
    places = [[place_of[known] for known in members if known in place_of] for members in rounds]
    return {"offers": offers, "rounds": places}


def common_images(images: FrequencyTable, size: int) -> dict[str, int]:
    """Return the numbers of offers of images that may be logos, by key as text."""
    is_common = images.counts > COMMON_IMAGE + size // _NEARLY_COMMON
    keys, counts = images.keys[is_common].tolist(), images.counts[is_common].tolist()
    return {str(key): count for key, count in zip(keys, counts, strict=True)}


def catalog_statistics(index: OpenIndex) -> CatalogStatistics:
    """Return the statistics of an index as the matcher takes them."""
    stored = index.statistics
    training = stored["training"]
    size = index.size
    flags = index.documents.flags[index.alive]
    # Read now, as the session may be closed when they are used.
    grams, words = index.grams, index.words
    folded: dict[int, FrequencyTable] = {TOKEN_WIDTH: index.tokens}

    def count_tokens(columns: Ints, width: int) -> Ints:
        if width not in folded:
            folded[width] = fold_table(index.tokens, width)
        return folded[width].count(columns.astype(np.uint64))

    def count_words(terms: Sequence[str]) -> Doubles:
        # Extrapolated from the sample; a word that it lacks is in the offer at hand at least.
        share = size / max(1, stored["descriptions"])
        counts: Doubles = words.count(text_keys("word", terms)) * share
        return np.maximum(counts, 1.0)

    images: Mapping[str, int] = stored["images"]
    return CatalogStatistics(
        size=size,
        linked=int(np.count_nonzero(flags & HAS_LINK)),
        brands=stored["brands"],
        brand_groups={int(key): names for key, names in stored["brand_groups"].items()},
        group_key=text_key,
        boilerplate=frozenset(stored["boilerplate"]),
        variant_words=frozenset(stored["variant_words"]),
        image_count=lambda image: images.get(str(text_key("image", image)), 0),
        gram_counts=grams.count,
        token_counts=count_tokens,
        min_token_count=index.tokens.smallest_count(len(index.documents.ids)),
        word_counts=count_words,
        training_offers=[OfferFields.model_validate(fields) for fields in training["offers"]],
        training_products=[fields["product"] for fields in training["offers"]],
        training_rounds=training["rounds"],
    )


def _read_titled(
    session: Session, documents: DocumentTable, rows: Ints, brands: Sequence[str]
) -> tuple[list[int], list[Record]]:
    """Return ids and records of some documents, without brands, in the order of their content."""
    ids, records = _read_records(session, documents, rows)
    return ids, strip_brands(records, brands)


def _read_records(
    session: Session, documents: DocumentTable, rows: Ints
) -> tuple[list[int], list[Record]]:
    """Return ids and records of some documents, in the order of their content."""
    offers = list(read_offers(session, documents.ids[rows].tolist()).values())
    order, records = build_ordered_records(
        [to_fields(row) for row in offers], [row.product for row in offers]
    )
    return [offers[place].id for place in order], records
