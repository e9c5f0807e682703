"""Groups of missing offers: which one is named, when it overlaps others, and when chance explains all."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random

import pytest

from reports.causes.cause_kinds import CauseKind
from reports.causes.groups.group_causes import GroupCauses, infer_group_causes
from reports.causes.offer_columns import OfferRecord, Trait
from reports.causes.unpaired_offers import UnpairedOffers

K = CauseKind
VALID_EAN = "4006381333931"


def offers(number: int, is_missing: bool, start: int = 0, **fields: object) -> list[OfferRecord]:
    """Offers that differ in price only, at 10, 11, 12 ... from `start` on."""
    records = []
    for n in range(start, start + number):
        values: dict[str, object] = {
            "id": f"https://shop.example/{'missing' if is_missing else 'listed'}-{n}",
            "price": Decimal(10 + n % 50),
            "currency": "EUR",
        }
        records.append(OfferRecord(is_missing=is_missing, **{**values, **fields}))  # type: ignore[arg-type]
    return records


def named(records: Sequence[OfferRecord], **arguments: object) -> list[tuple[CauseKind, str]]:
    """Kinds and values of the causes, in their order."""
    causes = infer_group_causes(records, **arguments)  # type: ignore[arg-type]
    return [(cause.kind, cause.value) for cause in causes.ranked]


NESTED = [
    # Of nested groups the most general one that is missing as a whole.
    (
        [
            *offers(100, False, category="Garden"),
            *offers(10, True, category="Kitchen > Pans > Iron"),
            *offers(10, True, 10, category="Kitchen > Knives"),
        ],
        [(K.CATEGORY, "Kitchen")],
    ),
    # The lower level, if another of its parent is listed.
    (
        [
            *offers(60, False, category="Garden"),
            *offers(40, False, 60, category="Kitchen > Pots"),
            *offers(10, True, category="Kitchen > Pans > Iron"),
            *offers(10, True, 10, category="Kitchen > Pans > Steel"),
        ],
        [(K.CATEGORY, "Kitchen > Pans")],
    ),
    # The same last step below two parents: whole paths are compared.
    (
        [
            *offers(100, False, category="Men > Shoes"),
            *offers(100, False, 100, category="Women > Shirts"),
            *offers(30, True, category="Women > Shoes"),
        ],
        [(K.CATEGORY, "Women > Shoes")],
    ),
    # Two of three children: each is named, not a part of the parent.
    (
        [
            *offers(100, False, category="Garden"),
            *offers(60, False, 100, category="Kitchen > Pots"),
            *offers(30, True, category="Kitchen > Pans"),
            *offers(20, True, 30, category="Kitchen > Knives"),
        ],
        [(K.CATEGORY, "Kitchen > Knives"), (K.CATEGORY, "Kitchen > Pans")],
    ),
]


@pytest.mark.parametrize(("records", "causes"), NESTED, ids=["whole", "lower", "paths", "children"])
def test_the_most_general_group_that_is_missing_as_a_whole_is_named(
    records: list[OfferRecord], causes: list[tuple[CauseKind, str]]
) -> None:
    """Of nested categories the most general one is named of which nearly all is missing."""
    assert named(records) == causes


def test_a_group_that_another_one_explains_is_not_named() -> None:
    """A brand that is missing only because its category is has no cause of its own."""
    records = [
        *offers(100, False, category="Garden", brand="Kess"),
        *offers(40, False, 100, category="Garden", brand="Nova"),
        *offers(40, True, category="Kitchen", brand="Nova"),
        *offers(20, True, 40, category="Kitchen", brand="Tabor"),
    ]
    assert named(records) == [(K.CATEGORY, "Kitchen")]


def test_two_independent_causes_are_both_named() -> None:
    """A category and a brand that overlap are both named; the offers of both count for the first."""
    records = [
        *offers(200, False, category="Garden", brand="Kess"),
        *offers(60, True, category="Kitchen", brand="Kess"),
        *offers(10, True, 60, category="Kitchen", brand="Nova"),
        *offers(30, True, 70, category="Garden", brand="Nova"),
    ]
    causes = infer_group_causes(records)
    assert [(cause.kind, cause.value) for cause in causes.ranked] == [
        (K.CATEGORY, "Kitchen"),
        (K.BRAND, "Nova"),
    ]
    assert [len(cause.explained) for cause in causes.ranked] == [70, 30]
    assert len(causes.by_offer["https://shop.example/missing-65"]) == 2


def test_a_part_of_a_group_is_named_with_its_share() -> None:
    """A brand of which most is missing is named with its share, and with the share elsewhere."""
    records = [
        *offers(180, False, brand="Kess", price=Decimal(5)),
        *offers(20, True, brand="Kess", price=Decimal(5)),
        *offers(8, False, 300, brand="Nova", price=Decimal(5)),
        *offers(32, True, 300, brand="Nova", price=Decimal(5)),
    ]
    causes = infer_group_causes(records)
    (cause,) = causes.ranked
    assert cause.kind is K.BRAND_PART
    assert (cause.missing, cause.offers, cause.elsewhere) == (32, 40, 0.1)
    assert cause.sentence.template == (
        "{share} of the brand “{value}” is missing, elsewhere {elsewhere}"
    )
    assert cause.sentence.arguments == {"share": 0.8, "value": "Nova", "elsewhere": 0.1}


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_offers_missing_at_random_have_no_cause(share: float, seed: int) -> None:
    """No group is named where offers are missing at random, whatever attributes they have."""
    generator = Random(seed)
    records: list[OfferRecord] = []
    for n in range(500):
        fields = {
            "category": f"C{generator.randrange(4)} > D{generator.randrange(5)}",
            "brand": f"B{generator.randrange(30)}",
            "price": Decimal(generator.randrange(5, 900)),
            "availability": generator.choice(["in_stock", "out_of_stock"]),
            "ean": VALID_EAN if generator.random() < 0.8 else None,
            "sku": f"A-{n:05}",
            "is_new": generator.random() < 0.1,
            "has_picture": generator.random() < 0.9,
        }
        fields["is_valid_ean"] = fields["ean"] is not None
        records += offers(1, generator.random() < share, n, **fields)
    assert infer_group_causes(records) == GroupCauses()


def test_variants_of_one_product_prove_no_more_than_one_offer() -> None:
    """Thirty missing variants of two products are no cause; those of thirty products are."""
    listed = offers(100, False, category="Garden")
    few: list[OfferRecord] = []
    many: list[OfferRecord] = []
    for n in range(30):
        few += offers(1, True, n, category="Kitchen", product=f"p{n % 2}")
        many += offers(1, True, n, category="Kitchen", product=f"p{n}")
    assert named([*listed, *few]) == []
    assert named([*listed, *many]) == [(K.CATEGORY, "Kitchen")]


def test_an_interval_of_prices_tolerates_exceptions_and_has_round_borders() -> None:
    """Prices above 1,000 are a cause though one of them is listed; each currency has its own."""
    records = [
        *offers(100, False),
        *[
            OfferRecord(f"m{n}", True, price=Decimal(1003 + 40 * n), currency="EUR")
            for n in range(40)
        ],
        OfferRecord("exception", False, price=Decimal(1849), currency="EUR"),
        *[
            OfferRecord(f"u{n}", False, price=Decimal(1003 + 40 * n), currency="USD")
            for n in range(40)
        ],
    ]
    (cause,) = infer_group_causes(records).ranked
    assert cause.kind is K.PRICE
    assert cause.sentence.text == (
        "nearly no offer from €1,000 upwards is listed (1 of 41 offers listed)"
    )


def test_causes_are_ranked_by_value_in_any_currency() -> None:
    """The greater value comes first; by default the mean price counts alike in every currency."""
    records = [
        *offers(200, False, category="Garden"),
        *offers(10, True, category="Rings", price=Decimal(900)),
        *offers(30, True, 10, category="Socks", price=Decimal(5)),
        *offers(20, True, 40, price=Decimal(90_000), currency="JPY"),
    ]
    causes = infer_group_causes(records).ranked
    assert [cause.value for cause in causes] == ["Rings", "JPY", "Socks"]
    assert causes[1].values == {"JPY": Decimal(1_800_000)}
    rates = {"EUR": Decimal(1), "JPY": Decimal("0.006")}
    causes = infer_group_causes(records, currency_weights=rates).ranked
    assert [cause.value for cause in causes] == ["JPY", "Rings", "Socks"]


def test_causes_on_record_need_no_test() -> None:
    """Offers with a cause on record are counted under it, and do not make a group a cause."""
    records = [*offers(100, False, category="Garden"), *offers(10, True, category="Kitchen")]
    recorded = {record.id: K.LOST for record in records if record.is_missing}
    (cause,) = infer_group_causes(records, recorded=recorded).ranked
    assert (cause.kind, cause.trait, len(cause.explained)) == (K.LOST, None, 10)


TRAITS = [
    ("picture", {"has_picture": False}, {"has_picture": True}, K.PICTURE),
    ("no price", {"price": None}, {}, K.NO_PRICE),
    ("zero price", {"price": Decimal(0)}, {}, K.NO_PRICE),
    ("implausible price", {"price": Decimal(99_999_999)}, {}, K.NO_PRICE),
    ("stock", {"availability": "out_of_stock"}, {"availability": "in_stock"}, K.OUT_OF_STOCK),
    ("preorder", {"availability": "preorder"}, {"availability": "in_stock"}, K.AVAILABILITY),
    ("language", {"language": "fr"}, {"language": "de"}, K.LANGUAGE),
    ("currency", {"currency": "CHF"}, {}, K.CURRENCY),
    ("template", {"template": "template 2"}, {"template": "template 1"}, K.TEMPLATE),
    ("new", {"is_new": True}, {"is_new": False}, K.NEWER),
]


@pytest.mark.parametrize(
    ("missing", "listed", "kind"), [case[1:] for case in TRAITS], ids=[case[0] for case in TRAITS]
)
def test_every_trait_can_be_a_cause(
    missing: dict[str, object], listed: dict[str, object], kind: CauseKind
) -> None:
    """A group of any trait is named, as long as it alone tells the missing offers apart."""
    records = [*offers(100, False, **listed), *offers(20, True, **missing)]
    assert [cause.kind for cause in infer_group_causes(records).ranked] == [kind]


def test_folders_of_urls_are_a_cause() -> None:
    """Offers below one folder of the website are named by it where no category tells them apart."""
    records = [
        *[OfferRecord(f"https://shop.example/de/p/{n}x.html", False) for n in range(100)],
        *[OfferRecord(f"https://shop.example/outlet/p/{n}x.html", True) for n in range(30)],
    ]
    (cause,) = infer_group_causes(records).ranked
    assert (cause.kind, cause.value) == (K.FOLDER, "/outlet")


def test_offers_that_the_feed_may_hold_prove_nothing() -> None:
    """As many missing offers as the feed has unpaired ones of a category do not count."""
    records = [
        *offers(100, False, category="Garden", price=Decimal(5)),
        *offers(20, True, category="Kitchen", price=Decimal(5)),
    ]
    unpaired = UnpairedOffers()
    for _ in range(20):
        unpaired.add(None, "Household > Kitchen", Decimal(5), "EUR")
    assert named(records, unpaired=unpaired) == []
    assert named(records) == [(K.CATEGORY, "Kitchen")]


@pytest.mark.parametrize(
    ("of_feed", "of_shop", "count"),
    [
        ("Men > Shoes", "Women > Shoes", 0),
        ("Men > Shoes", "Men > Shoes", 1),
        ("Shop > Men > Shoes > Boots", "Men > Shoes", 1),
        ("Men", "Men > Shoes", 1),
        ("Shoes", "Women > Shoes", 1),
        ("Men > Shoes", "Shoes", 1),
        ("Women > Shirts", "Women > Shoes", 0),
        (None, "Shoes", 0),
        ("MEN > SHOES", "Men > Shoes", 1),
    ],
)
def test_categories_of_the_feed_are_compared_by_whole_paths(
    of_feed: str | None, of_shop: str, count: int
) -> None:
    """A feed may name steps above, or nothing below; another branch is another category."""
    unpaired = UnpairedOffers()
    unpaired.add(None, of_feed, None, None)
    assert unpaired.count(Trait.CATEGORY, of_shop) == count


def test_a_shop_without_listed_or_without_missing_offers_has_no_cause() -> None:
    """Without offers of both kinds there is nothing to compare."""
    assert infer_group_causes([]) == GroupCauses()
    assert infer_group_causes(offers(50, True, category="Kitchen")) == GroupCauses()
    assert infer_group_causes(offers(50, False, category="Kitchen")) == GroupCauses()
