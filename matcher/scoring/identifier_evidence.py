"""What settles a pair beyond its texts: the same link, or an identifier that nobody else carries.

Identifiers err too: a sku shared by many offers says nothing, the same sku under clashing titles proves nothing. A link
that the catalog has cleaned and the shop answers on is the strongest evidence there is, whatever has become of title
and price; only where everything else names another product is it doubted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs
from matcher.features.pair_features import TRENDS
from matcher.records.record import Record
from matcher.training.classifier import Floats

SAME_LINK = 0.998
SAME_PATH = 0.98
SAME_LAST = 0.97
SAME_KEY = 0.96
DOUBTED = 0.5
OTHER_LINK = 5.0
Bools = NDArray[np.bool_]
_AT = {name: place for place, name in enumerate(TRENDS)}


@dataclass(frozen=True)
class Evidence:
    """Per pair: what its links say ("link", "path", "last", "other" or ""), and the key that both alone carry."""

    links: list[str]
    keys: list[str]
    trust: float


def evidence(shop: Sequence[Record], known: Sequence[Record], pairs: Pairs) -> Evidence:
    """What links and identifiers say of each pair. `trust` is the share of the catalog's links found in the shop."""
    lone = {name: _lone(shop, of) & _lone(known, of) for name, of in {**_LINKS, **_KEYS}.items()}
    links = [_link(shop[i], known[j], lone) for i, j in pairs.tolist()]
    keys = [_key(shop[i], known[j], lone) for i, j in pairs.tolist()]
    linked = sum(bool(record.address.whole) for record in known)
    found = len(
        {
            j
            for link, (_, j) in zip(links, pairs.tolist(), strict=True)
            if link in {"link", "path", "last"}
        }
    )
    return Evidence(links, keys, found / linked if linked else 0.0)


def weigh(probability: Floats, said: Evidence, table: Floats) -> Floats:
    """The probabilities with links and identifiers taken into account."""
    weighed = probability.astype(np.float64)
    clash = _clashes(table)
    for name, sure in (("link", SAME_LINK), ("path", SAME_PATH), ("last", SAME_LAST)):
        here = np.fromiter((link == name for link in said.links), bool, len(weighed))
        here &= (name == "link") | (_column(table, "quantities_differ") == 0)
        weighed[here] = sure + (1 - sure) * weighed[here]
        weighed[here & _another(table)] = DOUBTED
    other = np.fromiter((link == "other" for link in said.links), bool, len(weighed))
    keyed = np.fromiter(map(bool, said.keys), bool, len(weighed)) & ~clash
    weighed[keyed] = np.maximum(weighed[keyed], SAME_KEY)
    logit = np.log(np.clip(weighed, 1e-6, 1 - 1e-6) / np.clip(1 - weighed, 1e-6, 1))
    logit[other] -= OTHER_LINK * said.trust
    return (1 / (1 + np.exp(-logit))).astype(np.float32)


_LINKS: dict[str, Callable[[Record], Iterable[str]]] = {
    "link": lambda record: {a.whole for a in record.addresses} - {""},
    "path": lambda record: {a.path for a in record.addresses} - {""},
    "last": lambda record: {a.last for a in record.addresses} - {""},
}
_KEYS: dict[str, Callable[[Record], Iterable[str]]] = {
    "ean": lambda record: {record.ean} - {""},
    "sku": lambda record: {record.sku} - {""},
    "han": lambda record: {f"{record.brand}\n{record.han}"} if record.han else (),
}


def _lone(items: Sequence[Record], keys: Callable[[Record], Iterable[str]]) -> set[str]:
    counts = Counter(key for item in items for key in keys(item))
    return {key for key, count in counts.items() if count == 1}


def _link(a: Record, b: Record, lone: dict[str, set[str]]) -> str:
    if not a.address.whole or not b.address.whole:
        return ""
    if set(_LINKS["link"](a)) & set(_LINKS["link"](b)):
        return "link"
    if a.page and b.address.whole == a.page:
        return ""
    if a.address.query and b.address.query:
        return "other"
    for name in ("path", "last"):
        if set(_LINKS[name](a)) & set(_LINKS[name](b)) & lone[name]:
            return name
    return "other"


def _key(a: Record, b: Record, lone: dict[str, set[str]]) -> str:
    return next((name for name, of in _KEYS.items() if set(of(a)) & set(of(b)) & lone[name]), "")


def _clashes(table: Floats) -> Bools:
    """Titles too different, or of another size, for an identifier to be believed alone."""
    alike = np.maximum(_column(table, "token_set"), _column(table, "grams") * 100) >= 50
    shown = (_column(table, "image") == 1) | (_column(table, "price_gap") == 0)
    clashes: Bools = ~(alike | shown) | (_column(table, "quantities_differ") > 0)
    return clashes


def _another(table: Floats) -> Bools:
    """An offer under the same link that shares nothing with the known one and carries another identifier."""
    identifiers = (_column(table, "ean") == 0) | (_column(table, "sku") == 0)
    shown = (_column(table, "image") == 1) | (_column(table, "price_gap") == 0)
    another: Bools = identifiers & (_column(table, "shared") == 0) & ~shown
    return another


def _column(table: Floats, name: str) -> Floats:
    return table[:, _AT[name]]
