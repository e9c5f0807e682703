"""Brands that go by several names: what one side calls HP, the other may call Hewlett-Packard.

No list of brands is kept. Two names are one where offers that are known to be one product - of one catalog product, of
one GTIN, under one link - carry both: twice at least, and in half of such cases. Where one name is the other's initials
or its beginning, once will do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from matcher.records.record import Record

FEWEST = 2
SHARE = 0.5
MOST_NAMES = 6


def brand_names(shop: Sequence[Record], known: Sequence[Record]) -> Mapping[str, str]:
    """Each name of a brand that has several, with the one that stands for all of them: the most frequent one."""
    cases: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for names in _cases([*shop, *known]):
        if 1 < len(names) <= MOST_NAMES:
            cases.update(names)
            both.update(combinations(sorted(names), 2))
    counts = Counter(record.brand for record in (*shop, *known))
    found: dict[str, str] = {}
    for (a, b), count in sorted(both.items()):
        if count >= (1 if shortened(a, b) else FEWEST) and count >= SHARE * min(cases[a], cases[b]):
            least, most = sorted(
                (found.get(a, a), found.get(b, b)), key=lambda name: (counts[name], name)
            )
            found |= dict.fromkeys(
                (*(n for n, of in found.items() if of == least), a, b, least), most
            )
    return {name: of for name, of in found.items() if name != of}


def with_one_name(items: Sequence[Record], names: Mapping[str, str]) -> list[Record]:
    """The records with each brand under the one name that stands for all of its names."""
    return [
        replace(item, brand=names[item.brand]) if item.brand in names else item for item in items
    ]


def shortened(a: str, b: str) -> bool:
    """Whether one name is short for the other.

    >>> shortened("hp", "hewlett-packard"), shortened("bosch", "bosch home"), shortened("lumo", "luma")
    (True, True, False)
    """
    short, long = sorted((a, b), key=len)
    words = long.replace("-", " ").split()
    return long.startswith(short + " ") or (
        len(short) > 1 and short == "".join(word[0] for word in words)
    )


def _cases(items: Iterable[Record]) -> Iterable[set[str]]:
    """The brands of the offers that are one product, product by product."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in items:
        if item.brand:
            for key in (("product", item.product), ("ean", item.ean), ("link", item.address.whole)):
                if key[1]:
                    found[key].add(item.brand)
    return found.values()
