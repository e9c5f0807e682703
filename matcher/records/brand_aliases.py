"""Brand aliases: one side may write HP where the other writes Hewlett-Packard.

Aliases are learnt, not listed. Two names are one brand if offers of the same catalog product, GTIN
or link carry both: in two such groups at least, and in half of the groups of the rarer name. If one
name abbreviates the other, one group is enough.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from matcher.catalog_statistics import CatalogStatistics
from matcher.records.record import Record

# Groups of offers that have to carry both names; a single one may be a wrong entry.
MIN_GROUPS = 2
# Share of the groups of the rarer name that have to carry both.
MIN_SHARE = 0.5
# Brands in a group; a group with more is no evidence of aliases.
MAX_BRANDS = 6


def learn_brand_aliases(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    statistics: CatalogStatistics | None = None,
) -> Mapping[str, str]:
    """Return {alias: the most frequent name of its brand}; other names are absent.

    With `statistics`, they stand for the offers that `catalog` lacks.
    """
    groups_of_name: Counter[str] = Counter()
    groups_of_pair: Counter[tuple[str, str]] = Counter()
    groups = _brands_of_same_offers([*shop, *catalog])
    if statistics:
        groups = _add_groups(groups, statistics)
    for brands in groups.values():
        if 1 < len(brands) <= MAX_BRANDS:
            groups_of_name.update(brands)
            groups_of_pair.update(combinations(sorted(brands), 2))
    frequency = Counter(record.brand for record in shop)
    frequency.update(statistics.brands if statistics else (record.brand for record in catalog))
    canonical: dict[str, str] = {}
    for (first, second), count in sorted(groups_of_pair.items()):
        min_groups = 1 if is_abbreviation(first, second) else MIN_GROUPS
        rarer = min(groups_of_name[first], groups_of_name[second])
        if count < min_groups or count < MIN_SHARE * rarer:
            continue
        merged, name = sorted(
            (canonical.get(first, first), canonical.get(second, second)),
            key=lambda brand: (frequency[brand], brand),
        )
        # Names that were merged into the rarer one before follow it.
        for alias, target in canonical.items():
            if target == merged:
                canonical[alias] = name
        canonical |= dict.fromkeys((first, second, merged), name)
    return {alias: name for alias, name in canonical.items() if alias != name}


def apply_brand_aliases(records: Sequence[Record], aliases: Mapping[str, str]) -> list[Record]:
    """Replace each brand by the one name that stands for all its aliases."""
    renamed = list(records)
    for index, record in enumerate(records):
        if record.brand in aliases:
            renamed[index] = replace(record, brand=aliases[record.brand])
    return renamed


def is_abbreviation(first: str, second: str) -> bool:
    """Return True if the shorter name is the initials or the first words of the longer one.

    >>> is_abbreviation("hp", "hewlett-packard"), is_abbreviation("bosch", "bosch home")
    (True, True)
    >>> is_abbreviation("lumo", "luma")
    False
    """
    short, long = sorted((first, second), key=len)
    if long.startswith(short + " "):
        return True
    initials = "".join(word[0] for word in long.replace("-", " ").split())
    return len(short) > 1 and short == initials


def _brands_of_same_offers(records: Iterable[Record]) -> dict[tuple[str, str], set[str]]:
    """Return the brands of each group of offers by its product, EAN or link."""
    brands: dict[tuple[str, str], set[str]] = defaultdict(set)
    for record in records:
        if not record.brand:
            continue
        for group in groups_of_offer(record, record.product):
            brands[group].add(record.brand)
    return brands


def groups_of_offer(record: Record, product: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, value) of the groups of offers, all of one brand, that an offer belongs to."""
    for kind, value in (("product", product), ("ean", record.ean), ("link", record.link.address)):
        if value:
            yield kind, value


def _add_groups(
    groups: Mapping[tuple[str, str], set[str]], statistics: CatalogStatistics
) -> dict[tuple[str, str], set[str]]:
    """Add the brands of offers of the catalog that are not in memory."""
    completed = {}
    counted = set()
    for (kind, value), brands in groups.items():
        key = statistics.group_key(kind, value)
        counted.add(key)
        completed[kind, value] = brands.union(statistics.brand_groups.get(key, ()))
    for key, names in statistics.brand_groups.items():
        if key not in counted:
            completed["key", str(key)] = set(names)
    return completed
