"""Search of an index: the documents that share the rarest n-grams and tokens with an offer.

Each offer reads the postings of its rarest terms until it has met BUDGET documents, and keeps those
with the greatest sum of weights, as `matcher.blocking.nearest_rows` does in memory. The cost of an
offer is bounded for any size of the catalog.

Sums far below the best one are dropped: where one document has most of an offer's rare terms, those
with a few of them are not the same offer. That allows for more documents where many are equally near.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Doubles, Ints, Keys
from matcher.blocking.grams import gram_keys, unique_per_row
from matcher.blocking.vectors import hash_tokens, inverse_frequency
from matcher.known_index.keys import text_key, token_keys
from matcher.known_index.known_index import OpenIndex
from matcher.known_index.postings import KEPT_OF_FREQUENT, MAX_POSTINGS, Documents
from matcher.known_index.terms import SEARCHED_LENGTH, TOKEN_WIDTH, index_keys
from matcher.records.record import Record

# Documents that an offer meets by its n-grams, and by its tokens.
BUDGET = 50_000
# Documents of an offer whose titles are compared: at most so many of the greatest sums of n-grams,
# and of tokens, and of each none below this share of the best. Of 3,466 true pairs in a catalog of
# 1,000,000, 128 without a least share lose 21 and keep 195 documents an offer; these lose 17 and keep
# 99 (`python -m benchmarks.matching index`).
PROMISING = 400
MIN_SHARE = 0.5
# Offers whose postings are in memory at once; bounds memory.
RECORDS_PER_STEP = 256
_NO_DOCUMENTS = np.empty(0, np.int64)


def find_promising(index: OpenIndex, records: Sequence[Record]) -> Ints:
    """Return the documents that may be among the most similar of some records, each once."""
    document_lists: list[Ints] = [_NO_DOCUMENTS]
    for start in range(0, len(records), RECORDS_PER_STEP):
        step = records[start : start + RECORDS_PER_STEP]
        document_lists.append(_search_grams(index, step))
        document_lists.append(find_by_tokens(index, step, PROMISING, MIN_SHARE))
    return np.unique(np.concatenate(document_lists))


def find_by_tokens(
    index: OpenIndex, records: Sequence[Record], count: int, min_share: float = 0.0
) -> Ints:
    """Return the `count` documents that share the most token weight with each of some records.

    Those with less than `min_share` of a record's greatest weight are left out.
    """
    tokens = hash_tokens((record.spellings for record in records), TOKEN_WIDTH)
    rows = np.repeat(np.arange(len(records)), np.diff(tokens.indptr))
    counts = index.tokens.count(tokens.indices.astype(np.uint64))
    lengths = index.documents.token_counts
    return _search(index, (rows, token_keys(tokens.indices), counts), lengths, count, min_share)


def find_by_keys(index: OpenIndex, keys: Keys) -> Ints:
    """Return the documents with some identifiers or links, of frequent ones a few."""
    document_lists = [_NO_DOCUMENTS]
    for documents in index.find(np.unique(keys)).values():
        # So many show that a key identifies none of them.
        document_lists.append(documents[:KEPT_OF_FREQUENT].astype(np.int64))
    return np.unique(np.concatenate(document_lists))


def identifier_keys(records: Sequence[Record]) -> Keys:
    """Return the keys of everything that may identify some offers, with repetitions."""
    keys = [text_key(kind, value) for record in records for kind, value in index_keys(record)]
    return np.array(keys, np.uint64)


def _search_grams(index: OpenIndex, records: Sequence[Record]) -> Ints:
    texts = [record.search_text for record in records]
    rows, keys = unique_per_row(*gram_keys(texts, SEARCHED_LENGTH))
    counts = index.grams.count(keys)
    lengths = index.documents.gram_counts
    return _search(index, (rows, keys, counts), lengths, PROMISING, MIN_SHARE)


def _search(
    index: OpenIndex,
    terms: tuple[Ints, Keys, Ints],
    lengths: NDArray[np.uint16],
    count: int,
    min_share: float,
) -> Ints:
    """Return the documents of the greatest sums of weights for each row, each once.

    `terms` are row, key and number of documents of each term; `lengths` are terms per document.
    """
    rows, keys, counts = terms
    is_read = _rarest(rows, counts)
    rows, keys, counts = rows[is_read], keys[is_read], counts[is_read]
    postings = index.find(np.unique(keys))
    # Both texts have the weight of a shared term.
    weights = inverse_frequency(len(index.documents.ids), counts) ** 2
    order = np.argsort(rows, kind="stable")
    bounds = np.flatnonzero(np.diff(rows[order], prepend=-1))[1:]
    document_lists: list[Ints] = [_NO_DOCUMENTS]
    representatives = np.empty(len(lengths), np.int64)
    for members in np.split(order, bounds):
        met = _sum_weights(postings, keys[members], weights[members], representatives)
        document_lists.append(_best_documents(*met, lengths, count, min_share))
    return np.unique(np.concatenate(document_lists))


def _rarest(rows: Ints, counts: Ints) -> Bools:
    """Return which terms are read: of each row the rarest, until BUDGET documents are met."""
    usable = np.flatnonzero((counts > 0) & (counts <= MAX_POSTINGS))
    order = usable[np.lexsort((counts[usable], rows[usable]))]
    spent = np.cumsum(counts[order])
    is_first = np.diff(rows[order], prepend=-1) != 0
    starts = np.flatnonzero(is_first)
    before = np.repeat((spent - counts[order])[starts], np.diff([*starts, len(order)]))
    is_read = np.zeros(len(rows), bool)
    is_read[order[(spent - before <= BUDGET) | is_first]] = True
    return is_read


def _sum_weights(
    postings: Mapping[int, Documents],
    keys: Keys,
    weights: NDArray[np.float32],
    representatives: Ints,
) -> tuple[Ints, Doubles]:
    """Return the documents with some terms, each once, and the sum of the weights of each.

    `representatives` is memory for a place per document of the index. Sums for all of them would
    take as long as the index is large.
    """
    lists: list[Documents] = [np.empty(0, np.uint32)]
    list_weights: list[NDArray[np.float32]] = [np.empty(0, np.float32)]
    for key, weight in zip(keys.tolist(), weights, strict=True):
        documents = postings.get(key)
        if documents is not None:
            lists.append(documents)
            list_weights.append(np.full(len(documents), weight, np.float32))
    met = np.concatenate(lists)
    # The last of a document's places among all that are met stands for the others.
    places = np.arange(len(met))
    representatives[met] = places
    representative = representatives[met]
    sums = np.bincount(representative, np.concatenate(list_weights), minlength=len(met))
    is_last = representative == places
    return met[is_last].astype(np.int64), sums[is_last]


def _best_documents(
    met: Ints, sums: Doubles, lengths: NDArray[np.uint16], count: int, min_share: float
) -> Ints:
    """Return the `count` documents of the greatest sums, of equal ones those of lower numbers.

    Those below `min_share` of the greatest are left out.
    """
    # The length of a text stands for that of its vector, which depends on all frequencies.
    scores = sums / np.sqrt(np.maximum(lengths[met], 1))
    is_near = scores >= min_share * scores.max(initial=0)
    met, scores = met[is_near], scores[is_near]
    if len(met) <= count:
        return met
    least = np.partition(scores, -count)[-count]
    best = met[scores > least]
    tied = np.sort(met[scores == least])[: count - len(best)]
    return np.concatenate((best, tied))
