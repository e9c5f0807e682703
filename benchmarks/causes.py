"""Benchmark the causes of missing offers on made-up shops with planted causes.

    python benchmarks/causes.py planted [--cases 400] [--misses]
    python benchmarks/causes.py random [--cases 400]
    python benchmarks/causes.py scale [--offers 60000] [--missing 50000]

`planted` makes one shop per seed and takes offers out of its catalog for one or two planted causes.
A case is right if the planted causes are the first ones of the report, in any order. `random` takes
offers out at random: a case is right if no cause is named. `scale` prints the processor time of one
large shop.

The recipe of a shop, each case with its own seed:

1. 300 to 5,000 offers, log-uniform. 15 % of the products have 2 to 5 variants.
2. A tree of categories with 3 levels: 4 to 8 top ones, each with 2 to 5 children and each of these
   with 1 to 4; sizes fall by Zipf's law. Every child's name recurs below other parents.
3. 10 to 60 brands, Zipf again. Four in five offers have a brand of the three or more that their top
   category prefers. A brand has one or two company prefixes; one prefix in ten is shared.
4. Prices are lognormal around a level of the category. One shop in three sells a third of its
   categories in a second currency.
5. 5 % of the pages state no EAN, 3 % an invalid one, 8 % are out of stock, 2 % have no picture, 5 %
   are new. One shop in two has folders in its URLs by top category, and two page templates.
6. The article numbers follow the categories in half of the shops, and are random in the others.

Planting a cause at 5 % or 40 % of the offers:

- category, brand, EAN prefix: the group whose size is nearest to that share; if it is not within a
  quarter of it, whole products move into the group, or out of it to others;
- prices: an interval of that share of one currency, open above, open below or closed, in turn;
- stopped import: the last offers by article number; newer offers, missing EANs and lost rows: random
  products get the attribute (lost rows: the previous import had them);
- all offers of the group are missing, but with exceptions 2 % of them are listed.

Of the other offers 0 to 10 % are missing at random, by product. Half of the cases have two causes,
of any two kinds; half have exceptions.
"""

import argparse
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations
from typing import Any

from reports.causes.cause_kinds import CauseKind
from reports.causes.groups.group_causes import GroupCause, GroupCauses, infer_group_causes
from reports.causes.offer_columns import OfferRecord

SHARES = (0.05, 0.4)
EXCEPTION_SHARE = 0.02
MAX_BACKGROUND = 0.1
KINDS = (
    "category",
    "brand",
    "price",
    "ean prefix",
    "stopped import",
    "newer",
    "lost rows",
    "no ean",
)
PAIRS = tuple(combinations(KINDS, 2))
"""Kinds of planted causes, and all pairs of two."""

# Share of its offers by which a group may be smaller or larger than asked for.
SIZE_TOLERANCE = 0.25
# Jaccard similarity of the named and the planted offers from which an interval is right: its
# borders are fitted to the offers.
SAME_INTERVAL = 0.85
SAME_GROUP = 0.95


@dataclass
class MadeOffer:
    """One offer of a made-up shop, before it becomes a record."""

    number: int
    product: int
    path: tuple[str, str, str]
    brand: str
    company: str
    price: Decimal
    currency: str
    ean: str
    out_of_stock: bool
    has_picture: bool
    is_new: bool
    position: float = 0.0
    is_missing: bool = False
    is_lost: bool = False

    @property
    def category(self) -> str:
        """The path as text."""
        return " > ".join(self.path)


@dataclass(frozen=True)
class Planted:
    """A planted cause: its kind, the value that names it, and the numbers of its offers."""

    kind: str
    value: str
    offers: frozenset[int]


@dataclass
class Case:
    """One made-up shop with its planted causes."""

    seed: int
    offers: list[MadeOffer]
    planted: list[Planted] = field(default_factory=list)
    has_folders: bool = False
    has_exceptions: bool = False
    background: float = 0.0


def zipf_choice(count: int, generator: random.Random) -> int:
    """Draw a number below `count`, n with a weight of 1 / (n + 1)."""
    return generator.choices(range(count), [1 / (n + 1) for n in range(count)])[0]


def make_shop(seed: int) -> tuple[Case, random.Random]:
    """Make a shop without missing offers."""
    generator = random.Random(seed)
    size = round(math.exp(generator.uniform(math.log(300), math.log(5000))))
    tree = make_tree(generator)
    brands = [f"Brand {n}" for n in range(generator.randint(10, 60))]
    companies = make_companies(brands, generator)
    preferred = {top: generator.sample(brands, max(3, len(brands) // 6)) for top in tree}
    levels = {top: generator.uniform(2, 6) for top in tree}
    second = set(generator.sample(sorted(tree), len(tree) // 3))
    has_second_currency = generator.random() < 1 / 3
    offers: list[MadeOffer] = []
    product = 0
    while len(offers) < size:
        path = draw_path(tree, generator)
        top = path[0]
        brand = brands[zipf_choice(len(brands), generator)]
        if generator.random() < 0.8:
            brand = generator.choice(preferred[top])
        company = generator.choice(companies[brand])
        price = Decimal(round(math.exp(generator.gauss(levels[top], 0.8)) + 1, 2)).quantize(
            Decimal("0.01")
        )
        variants = generator.randint(2, 5) if generator.random() < 0.15 else 1
        for _ in range(variants):
            ean = draw_ean(company, generator)
            state = generator.random()
            if state < 0.05:
                ean = ""
            elif state < 0.08:
                ean = ean[:-1] + str((int(ean[-1]) + 1) % 10)
            offers.append(
                MadeOffer(
                    number=len(offers),
                    product=product,
                    path=path,
                    brand=brand,
                    company=company,
                    price=price,
                    currency="USD" if has_second_currency and top in second else "EUR",
                    ean=ean,
                    out_of_stock=generator.random() < 0.08,
                    has_picture=generator.random() >= 0.02,
                    is_new=generator.random() < 0.05,
                )
            )
        product += 1
    place(offers, generator)
    return Case(seed, offers, has_folders=generator.random() < 0.5), generator


def make_tree(generator: random.Random) -> dict[str, dict[str, list[str]]]:
    """Make a tree of categories; the names of lower levels recur below other parents."""
    tree: dict[str, dict[str, list[str]]] = {}
    for top in range(generator.randint(4, 8)):
        children = {}
        for child in range(generator.randint(2, 5)):
            leaves = [f"Leaf {leaf}" for leaf in range(generator.randint(1, 4))]
            children[f"Child {child}"] = leaves
        tree[f"Top {top}"] = children
    return tree


def draw_path(
    tree: dict[str, dict[str, list[str]]], generator: random.Random
) -> tuple[str, str, str]:
    """Draw a category."""
    top = list(tree)[zipf_choice(len(tree), generator)]
    child = list(tree[top])[zipf_choice(len(tree[top]), generator)]
    leaf = generator.choice(tree[top][child])
    return top, child, leaf


def make_companies(brands: Sequence[str], generator: random.Random) -> dict[str, list[str]]:
    """Give every brand one or two company prefixes of 7 digits."""
    companies: dict[str, list[str]] = {}
    former: list[str] = []
    for brand in brands:
        prefixes = []
        for _ in range(generator.randint(1, 2)):
            if former and generator.random() < 0.1:
                prefixes.append(generator.choice(former))
                continue
            country = generator.choice(("400", "401", "590", "871", "544"))
            prefixes.append(f"{country}{generator.randrange(10_000):04}")
        former += prefixes
        companies[brand] = prefixes
    return companies


def draw_ean(company: str, generator: random.Random) -> str:
    """Draw a valid GTIN-13 of a company."""
    digits = f"{company}{generator.randrange(10**5):05}"
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def place(offers: Sequence[MadeOffer], generator: random.Random) -> None:
    """Give every offer its position in the shop's sequence."""
    by_category = generator.random() < 0.5
    order = list(offers)
    generator.shuffle(order)
    if by_category:
        order.sort(key=lambda offer: offer.path)
    for position, offer in enumerate(order):
        offer.position = float(position)


def plant(case: Case, kind: str, share: float, generator: random.Random) -> None:
    """Plant a cause: mark its offers as missing."""
    target_size = max(5, round(share * len(case.offers)))
    makers: dict[str, Callable[[], Planted]] = {
        "category": lambda: plant_category(case, target_size, generator),
        "brand": lambda: plant_group(case, kind, "brand", target_size, generator),
        "ean prefix": lambda: plant_group(case, kind, "company", target_size, generator),
        "price": lambda: plant_price(case, target_size, generator),
        "stopped import": lambda: plant_suffix(case, target_size),
        "newer": lambda: plant_flag(case, kind, "is_new", True, target_size, generator),
        "lost rows": lambda: plant_flag(case, kind, "is_lost", True, target_size, generator),
        "no ean": lambda: plant_flag(case, kind, "ean", "", target_size, generator),
    }
    case.planted.append(makers[kind]())


def plant_category(case: Case, target_size: int, generator: random.Random) -> Planted:
    """Plant a category of any level; the level is drawn, too."""
    depth = generator.randint(1, 3)
    groups: dict[tuple[str, ...], list[MadeOffer]] = defaultdict(list)
    for offer in case.offers:
        groups[offer.path[:depth]].append(offer)
    prefix = nearest_size(groups, target_size)
    inner = sorted({offer.path for offer in groups[prefix]})
    outer = sorted({offer.path for offer in case.offers} - set(inner))

    def move(offer: MadeOffer, into: bool) -> None:
        offer.path = generator.choice(inner if into else outer)

    members = resize(case, groups[prefix], target_size, move, generator)
    return Planted("category", " > ".join(prefix), members)


def plant_group(
    case: Case, kind: str, attribute: str, target_size: int, generator: random.Random
) -> Planted:
    """Plant a brand or a company prefix."""
    groups: dict[str, list[MadeOffer]] = defaultdict(list)
    for offer in case.offers:
        if attribute == "brand" or (offer.ean and is_valid(offer.ean)):
            groups[getattr(offer, attribute)].append(offer)
    value = nearest_size(groups, target_size)
    other_values = sorted(set(groups) - {value})

    def move(offer: MadeOffer, into: bool) -> None:
        setattr(offer, attribute, value if into else generator.choice(other_values))
        if attribute == "company":
            offer.ean = draw_ean(offer.company, generator)

    members = resize(case, groups[value], target_size, move, generator)
    return Planted(kind, value, members)


def nearest_size(groups: dict[Any, list[MadeOffer]], target_size: int) -> Any:
    """Return the group whose size is nearest to the wanted one."""
    return min(groups, key=lambda key: (abs(math.log(len(groups[key]) / target_size)), str(key)))


def resize(
    case: Case,
    group: Sequence[MadeOffer],
    target_size: int,
    move: Callable[[MadeOffer, bool], None],
    generator: random.Random,
) -> frozenset[int]:
    """Move whole products into a group, or out of it, until it has about the wanted size."""
    members = {offer.number for offer in group}
    products: dict[int, list[MadeOffer]] = defaultdict(list)
    for offer in case.offers:
        products[offer.product].append(offer)
    order = list(products.values())
    generator.shuffle(order)
    for offers in order:
        is_inside = any(offer.number in members for offer in offers)
        if len(members) < target_size * (1 - SIZE_TOLERANCE) and not is_inside:
            for offer in offers:
                move(offer, True)
                members.add(offer.number)
        elif len(members) > target_size * (1 + SIZE_TOLERANCE) and is_inside:
            for offer in offers:
                move(offer, False)
                members.discard(offer.number)
    return frozenset(members)


def plant_price(case: Case, target_size: int, generator: random.Random) -> Planted:
    """Plant an interval of prices in the currency with the most offers."""
    currency = Counter(offer.currency for offer in case.offers).most_common(1)[0][0]
    ordered = sorted(
        (offer for offer in case.offers if offer.currency == currency),
        key=lambda offer: offer.price,
    )
    target_size = min(target_size, len(ordered) - 1)
    start = generator.choice(
        (0, len(ordered) - target_size, generator.randrange(len(ordered) - target_size))
    )
    low, high = ordered[start].price, ordered[start + target_size - 1].price
    members = frozenset(offer.number for offer in ordered if low <= offer.price <= high)
    return Planted("price", f"{low} to {high} {currency}", members)


def plant_suffix(case: Case, target_size: int) -> Planted:
    """Plant an import that stopped: the last offers of the sequence."""
    first = sorted(offer.position for offer in case.offers)[-target_size]
    members = frozenset(offer.number for offer in case.offers if offer.position >= first)
    return Planted("stopped import", f"from {first:.0f}", members)


def plant_flag(
    case: Case, kind: str, attribute: str, value: object, target_size: int, generator: random.Random
) -> Planted:
    """Plant an attribute that random products have."""
    neutral: dict[str, object] = {"is_new": False, "is_lost": False}
    for offer in case.offers:
        if getattr(offer, attribute) == value:
            setattr(offer, attribute, neutral.get(attribute) or "")
            if attribute == "ean":
                offer.ean = draw_ean(offer.company, generator)
            if attribute in neutral:
                setattr(offer, attribute, False)
    products: dict[int, list[MadeOffer]] = defaultdict(list)
    for offer in case.offers:
        products[offer.product].append(offer)
    members: set[int] = set()
    for product in generator.sample(sorted(products), len(products)):
        if len(members) >= target_size:
            break
        for offer in products[product]:
            setattr(offer, attribute, value)
            members.add(offer.number)
    return Planted(kind, str(value), frozenset(members))


def is_valid(ean: str) -> bool:
    """Return True if the check digit is right."""
    if not ean:
        return False
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(ean))
    return total % 10 == 0


def take_out(case: Case, generator: random.Random) -> None:
    """Take the planted offers out of the catalog, and some others at random, by product."""
    case.background = generator.uniform(0, MAX_BACKGROUND)
    background = {
        product: generator.random() < case.background
        for product in sorted({offer.product for offer in case.offers})
    }
    planted = frozenset[int]().union(*(cause.offers for cause in case.planted))
    for offer in case.offers:
        offer.is_missing = background[offer.product]
        if offer.number in planted:
            is_exception = case.has_exceptions and generator.random() < EXCEPTION_SHARE
            offer.is_missing = not is_exception


def make_case(number: int) -> Case:
    """Make one planted case: alone and in pairs, all kinds, shares and exceptions in turn."""
    case, generator = make_shop(number)
    kinds: Sequence[str] = (KINDS[number // 2 % len(KINDS)],)
    if number % 2:
        kinds = PAIRS[number // 2 % len(PAIRS)]
    case.has_exceptions = generator.random() < 0.5
    # A category or brand is filled first: a later move of offers would change an earlier cause.
    for kind in sorted(kinds, key=KINDS.index):
        plant(case, kind, generator.choice(SHARES), generator)
    case.planted = [refresh(case, planted) for planted in case.planted]
    take_out(case, generator)
    return case


def refresh(case: Case, planted: Planted) -> Planted:
    """Collect the offers of a planted value again, for a later cause may have changed some."""
    members = {
        "category": lambda offer: f"{offer.category} > ".startswith(f"{planted.value} > "),
        "brand": lambda offer: offer.brand == planted.value,
        "ean prefix": lambda offer: is_valid(offer.ean) and offer.ean.startswith(planted.value),
        "newer": lambda offer: offer.is_new,
        "lost rows": lambda offer: offer.is_lost,
        "no ean": lambda offer: not offer.ean,
    }
    if planted.kind not in members:
        return planted
    is_member = members[planted.kind]
    numbers = frozenset(offer.number for offer in case.offers if is_member(offer))
    return replace(planted, offers=numbers)


def make_random_case(number: int) -> Case:
    """Make a case with 5 or 40 % of the products missing at random."""
    case, generator = make_shop(number)
    share = generator.choice(SHARES)
    is_out = {
        product: generator.random() < share
        for product in sorted({offer.product for offer in case.offers})
    }
    for offer in case.offers:
        offer.is_missing = is_out[offer.product]
    return case


def records_of(case: Case) -> list[OfferRecord]:
    """Return the records of a case, as a report makes them of a run."""
    records = []
    for offer in case.offers:
        folder = f"/{offer.path[0].replace(' ', '-')}" if case.has_folders else ""
        records.append(
            OfferRecord(
                id=f"https://shop.example{folder}/{offer.number}",
                is_missing=offer.is_missing,
                product=str(offer.product),
                category=offer.category,
                brand=offer.brand,
                price=offer.price,
                currency=offer.currency,
                ean=offer.ean or None,
                is_valid_ean=is_valid(offer.ean),
                availability="out_of_stock" if offer.out_of_stock else "in_stock",
                has_picture=offer.has_picture,
                template=f"template {int(offer.path[0][-1]) % 2}" if case.has_folders else None,
                is_new=offer.is_new,
                sku=f"A-{offer.position:06.0f}",
            )
        )
    return records


def infer(case: Case) -> GroupCauses:
    """Infer the causes of a case; the import before is on record."""
    records = records_of(case)
    lost = {
        record.id: CauseKind.LOST
        for record, offer in zip(records, case.offers, strict=True)
        if offer.is_lost
    }
    return infer_group_causes(records, recorded=lost)


KIND_NAMES = {
    "category": (CauseKind.CATEGORY, CauseKind.CATEGORY_PART),
    "brand": (CauseKind.BRAND, CauseKind.BRAND_PART),
    "price": (CauseKind.PRICE, CauseKind.PRICE_PART),
    "ean prefix": (CauseKind.EAN_PREFIX,),
    "stopped import": (CauseKind.STOPPED,),
    "newer": (CauseKind.NEWER,),
    "lost rows": (CauseKind.LOST,),
    "no ean": (CauseKind.EAN,),
}
INTERVALS = ("price", "stopped import")


def is_named(planted: Planted, cause: GroupCause, case: Case, causes: GroupCauses) -> bool:
    """Return True if a cause names the planted one: its kind, and its value or its offers."""
    if cause.kind not in KIND_NAMES[planted.kind]:
        return False
    if cause.value == planted.value and planted.kind not in INTERVALS:
        return True
    named = {
        int(offer_id.rsplit("/", 1)[1])
        for offer_id, offer_causes in causes.by_offer.items()
        if cause in offer_causes
    }
    truth = {number for number in planted.offers if case.offers[number].is_missing}
    if planted.kind != "lost rows":
        truth = {number for number in truth if not case.offers[number].is_lost}
    similarity = len(named & truth) / max(1, len(named | truth))
    return similarity >= (SAME_INTERVAL if planted.kind in INTERVALS else SAME_GROUP)


def is_right(case: Case, causes: GroupCauses) -> bool:
    """Return True if the first causes are the planted ones, in any order."""
    first = causes.ranked[: len(case.planted)]
    return all(
        any(is_named(planted, cause, case, causes) for cause in first) for planted in case.planted
    )


def measure_planted(numbers: Iterable[int], shows_misses: bool) -> None:
    """Print the share of cases in which the planted causes are the first ones."""
    right: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    extra = 0
    for number in numbers:
        case = make_case(number)
        causes = infer(case)
        names = [planted.kind for planted in case.planted]
        groups = ["all", "alone" if len(names) == 1 else "two together", *names]
        is_case_right = is_right(case, causes)
        extra += len(causes.ranked) > len(names)
        for group in groups:
            cases[group] += 1
            right[group] += is_case_right
        if shows_misses and not is_case_right:
            print_miss(case, causes)
    for group, count in cases.items():
        print(f"{group:16}{count:6}{right[group] / count:8.3f}")
    print(f"{'further causes':16}{extra:6}")


def print_miss(case: Case, causes: GroupCauses) -> None:
    """Print the planted and the named causes of a case."""
    print(f"case {case.seed}: {len(case.offers)} offers, background {case.background:.3f}")
    for planted in case.planted:
        print(f"    planted {planted.kind} {planted.value}: {len(planted.offers)} offers")
    for cause in causes.ranked:
        print(f"    named {cause.kind}: {cause.sentence.text} (p {cause.p_value:.2g})")


def measure_random(numbers: Iterable[int], shows_misses: bool) -> None:
    """Print the share of cases with offers missing at random in which no cause is named."""
    right = count = 0
    for number in numbers:
        case = make_random_case(number)
        causes = infer(case)
        count += 1
        right += not causes.ranked
        if shows_misses and causes.ranked:
            print_miss(case, causes)
    print(f"no cause named: {right / count:.3f} of {count} cases")


def measure_scale(offers: int, missing: int) -> None:
    """Print the processor time of a large shop of which most is missing."""
    generator = random.Random(1)
    shops: list[MadeOffer] = []
    seed = 0
    while len(shops) < offers:
        case, _ = make_shop(seed)
        for offer in case.offers:
            offer.path = (f"{offer.path[0]} of {seed}", *offer.path[1:])
            offer.product += len(shops)
            offer.position += len(shops)
        shops += case.offers
        seed += 1
    del shops[offers:]
    for number, offer in enumerate(shops):
        offer.number = number
        offer.is_missing = False
    for offer in generator.sample(shops, missing):
        offer.is_missing = True
    case = Case(0, shops)
    tops = sorted({offer.path[0] for offer in shops})
    for offer in shops:
        if offer.path[0] in tops[:5] or offer.price > 500:
            offer.is_missing = True
    records = records_of(case)
    begin = time.process_time()
    causes = infer_group_causes(records)
    seconds = time.process_time() - begin
    print(f"{offers} offers, {len(causes.ranked)} causes: {seconds:.2f} s of processor time")
    for cause in causes.ranked:
        print(f"    {cause.kind}: {cause.sentence.text}")


def main() -> None:
    """Run one part of the benchmark."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else ""
    )
    argument_parser.add_argument("part", choices=("planted", "random", "scale"))
    argument_parser.add_argument("--cases", type=int, default=400)
    argument_parser.add_argument("--first", type=int, default=0)
    argument_parser.add_argument("--misses", action="store_true")
    argument_parser.add_argument("--offers", type=int, default=60_000)
    argument_parser.add_argument("--missing", type=int, default=50_000)
    arguments = argument_parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.cases)
    if arguments.part == "planted":
        measure_planted(numbers, arguments.misses)
    elif arguments.part == "random":
        measure_random(numbers, arguments.misses)
    else:
        measure_scale(arguments.offers, arguments.missing)


if __name__ == "__main__":
    main()
