"""Identifier evidence: pairs with the same link, or with an identifier that no other offer carries.

Identifiers contain errors: a SKU on many offers says nothing, and the same SKU under clashing
titles proves nothing. The same cleaned link is the strongest evidence, even if title and price have
changed. It is doubted only if all other evidence contradicts it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Floats, Pairs
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.features.table import COLUMN
from matcher.records.record import Record

# Evidence of links that agree, and of links that differ. The names are stored with the match.
SAME_ADDRESS = "link"
SAME_PATH = "path"
SAME_SLUG = "last"
DIFFERENT_LINK = "other"
SAME_LINK_KINDS = (SAME_ADDRESS, SAME_PATH, SAME_SLUG)
NO_EVIDENCE = ""
# Title similarity, 0 to 100, from which on an identifier is believed.
MIN_TITLE_SIMILARITY = 50


@dataclass(frozen=True)
class IdentifierEvidence:
    """Per pair: the evidence of its links, and the identifier that only its two offers carry.

    `link_trust` is the share of the catalog's links that the shop has.
    """

    links: list[str]
    identifiers: list[str]
    link_trust: float

    def has_link(self, kind: str) -> Bools:
        """Return where the links of a pair give this evidence."""
        return np.fromiter((link == kind for link in self.links), bool, len(self.links))


def find_identifier_evidence(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    pairs: Pairs,
    linked_count: int | None = None,
) -> IdentifierEvidence:
    """Find the evidence of links and identifiers of each pair.

    `linked_count` is the number of the catalog's offers with a link, where `catalog` lacks some.
    """
    if linked_count is None:
        linked_count = sum(bool(record.link.address) for record in catalog)
    unique: dict[str, set[str]] = {}
    for kind, keys in (_LINK_KEYS | _IDENTIFIER_KEYS).items():
        unique[kind] = _unique_keys(shop, keys) & _unique_keys(catalog, keys)
    links = []
    identifiers = []
    for i, j in pairs.tolist():
        links.append(_compare_links(shop[i], catalog[j], unique))
        identifiers.append(_shared_identifier(shop[i], catalog[j], unique))
    return IdentifierEvidence(links, identifiers, _link_trust(linked_count, pairs, links))


def _link_trust(linked_count: int, pairs: Pairs, links: Sequence[str]) -> float:
    """Return the share of the catalog's links that the shop has; 0 without links."""
    if not linked_count:
        return 0.0
    confirmed: set[int] = set()
    for link, row in zip(links, pairs[:, 1].tolist(), strict=True):
        if link in SAME_LINK_KINDS:
            confirmed.add(row)
    return len(confirmed) / linked_count


def apply_identifier_evidence(
    probability: Floats,
    evidence: IdentifierEvidence,
    table: Floats,
    config: MatcherConfig = DEFAULT_CONFIG,
) -> Floats:
    """Return the probabilities with links and identifiers taken into account."""
    weighed = probability.astype(np.float64)
    titles_clash = _titles_clash(table)
    is_contradicted = _contradict_link(table)
    same_amounts = _column(table, "quantities_differ") == 0
    for kind, same in (
        (SAME_ADDRESS, config.same_link),
        (SAME_PATH, config.same_path),
        (SAME_SLUG, config.same_slug),
    ):
        has_link = evidence.has_link(kind)
        if kind != SAME_ADDRESS:
            # Sizes of one product often share path or slug.
            has_link &= same_amounts
        weighed[has_link] = same + (1 - same) * weighed[has_link]
        weighed[has_link & is_contradicted] = config.contradicted_link
    has_identifier = np.fromiter(map(bool, evidence.identifiers), bool, len(weighed))
    has_identifier &= ~titles_clash
    weighed[has_identifier] = np.maximum(weighed[has_identifier], config.same_identifier)
    logit = np.log(np.clip(weighed, 1e-6, 1 - 1e-6) / np.clip(1 - weighed, 1e-6, 1))
    logit[evidence.has_link(DIFFERENT_LINK)] -= config.different_link_penalty * evidence.link_trust
    return (1 / (1 + np.exp(-logit))).astype(np.float32)


KeysOfRecord = Callable[[Record], Iterable[str]]
_LINK_KEYS: dict[str, KeysOfRecord] = {
    SAME_ADDRESS: lambda record: {link.address for link in record.links} - {""},
    SAME_PATH: lambda record: {link.path for link in record.links} - {""},
    SAME_SLUG: lambda record: {link.slug for link in record.links} - {""},
}
_IDENTIFIER_KEYS: dict[str, KeysOfRecord] = {
    "ean": lambda record: {record.ean} - {""},
    "sku": lambda record: {record.sku} - {""},
    # A part number identifies an offer within its brand only.
    "han": lambda record: {f"{record.brand}\n{record.han}"} if record.han else (),
}


def _unique_keys(records: Sequence[Record], keys: KeysOfRecord) -> set[str]:
    """Return the keys that one record only has."""
    counts = Counter(key for record in records for key in keys(record))
    return {key for key, count in counts.items() if count == 1}


def _compare_links(shop: Record, catalog: Record, unique: Mapping[str, set[str]]) -> str:
    if not shop.link.address or not catalog.link.address:
        return NO_EVIDENCE
    if _share_key(shop, catalog, _LINK_KEYS[SAME_ADDRESS]):
        return SAME_ADDRESS
    # The catalog links the page of all variants: no evidence for or against one of them.
    if shop.variant_page and catalog.link.address == shop.variant_page:
        return NO_EVIDENCE
    # Two queries that differ may name two products of one path.
    if shop.link.has_query and catalog.link.has_query:
        return DIFFERENT_LINK
    for kind in (SAME_PATH, SAME_SLUG):
        if _share_key(shop, catalog, _LINK_KEYS[kind], unique[kind]):
            return kind
    return DIFFERENT_LINK


def _shared_identifier(shop: Record, catalog: Record, unique: Mapping[str, set[str]]) -> str:
    """Return the kind of the first identifier that only these two offers carry."""
    for kind, keys in _IDENTIFIER_KEYS.items():
        if _share_key(shop, catalog, keys, unique[kind]):
            return kind
    return NO_EVIDENCE


def _share_key(
    shop: Record, catalog: Record, keys: KeysOfRecord, among: set[str] | None = None
) -> bool:
    shared = set(keys(shop)).intersection(keys(catalog))
    if among is not None:
        shared &= among
    return bool(shared)


def _titles_clash(table: Floats) -> Bools:
    """Return where titles or quantities are too different to believe an identifier alone."""
    similarity = np.maximum(_column(table, "token_set"), _column(table, "grams") * 100)
    clash: Bools = ~((similarity >= MIN_TITLE_SIMILARITY) | _look_the_same(table))
    return clash | (_column(table, "quantities_differ") > 0)


def _contradict_link(table: Floats) -> Bools:
    """Return where two offers share no word, image or price and have different identifiers."""
    identifiers_differ = (_column(table, "ean") == 0) | (_column(table, "sku") == 0)
    contradicted: Bools = identifiers_differ & (_column(table, "shared") == 0)
    return contradicted & ~_look_the_same(table)


def _look_the_same(table: Floats) -> Bools:
    """Return where the offers share an image or have the same price."""
    same: Bools = (_column(table, "image") == 1) | (_column(table, "price_gap") == 0)
    return same


def _column(table: Floats, name: str) -> Floats:
    return table[:, COLUMN[name]]
