"""Columns that discriminate related things: found by a witness, with the duplicates that differ."""

from itertools import combinations

import numpy as np
import pytest

from matcher.array_types import Doubles, Floats, Pairs
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.feature import NEVER_LOWERS, VARIANTS, Feature
from matcher.taught.features.scalars import DIGITS_AGREE
from matcher.taught.model.discriminating import (
    MIN_DIFFERING_SHARE,
    DiscriminatingColumn,
    agree_in_all,
    find_discriminating_columns,
    guess_by_values,
)
from matcher.taught.model.group_roles import GroupRoles, find_group_roles
from matcher.taught.model.similarities import group_similarities

DUPLICATES, SIBLINGS, OTHERS = 500, 1_500, 3_000
ROLES = GroupRoles(measured={"number": 0.9999, "price": 0.9999})
Similarities = dict[str, Floats]


def make_similarities(
    differing: float, witness_chance: float = 0.0, price_says_nothing: bool = False
) -> tuple[Similarities, Doubles]:
    """Return the similarities of duplicates, siblings and other pairs; and what two classes say.

    Siblings have other numbers, and so has the share `differing` of the duplicates. The price is the
    same in six of ten duplicates, whatever their number, and in some pairs by chance.
    """
    generator = np.random.default_rng(1)
    count = DUPLICATES + SIBLINGS + OTHERS
    is_duplicate = np.arange(count) < DUPLICATES
    matches = np.where(np.arange(count) < DUPLICATES + SIBLINGS, 0.9, 0.1)
    is_same_number = is_duplicate & (generator.random(count) >= differing)
    has_price_of_its_own = is_duplicate | (price_says_nothing & (matches > 0.5))
    price_share = np.where(has_price_of_its_own, 0.6, witness_chance)
    is_same_price = generator.random(count) < price_share
    return {
        "number": np.where(is_same_number, 1, 0.3).astype(np.float32),
        "price": np.where(is_same_price, 1, 0.3).astype(np.float32),
    }, matches


def unrelated(matches: Doubles) -> Pairs:
    """Return pairs of records of which none is in two pairs."""
    return np.arange(2 * len(matches)).reshape(-1, 2)


@pytest.mark.parametrize("differing", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("witness_chance", [0.0, 0.02])
def test_a_witness_knows_how_many_duplicates_differ(
    differing: float, witness_chance: float
) -> None:
    """The share comes out nearly as it is, also where the witness agrees by chance now and then."""
    similarities, matches = make_similarities(differing, witness_chance)
    columns = find_discriminating_columns(similarities, ROLES, unrelated(matches), matches)
    assert columns["number"].max_differing == pytest.approx(
        max(differing, MIN_DIFFERING_SHARE), abs=0.06
    )


def test_wrong_numbers_do_not_discriminate() -> None:
    """Where prices agree as often in pairs of other numbers, these are duplicates, too."""
    similarities, matches = make_similarities(0.1, price_says_nothing=True)
    assert find_discriminating_columns(similarities, ROLES, unrelated(matches), matches) == {}


def test_few_matches_do_not_discriminate() -> None:
    """A few pairs may be so by chance."""
    similarities, matches = make_similarities(0.1)
    few = np.r_[0:15, DUPLICATES : DUPLICATES + 15]
    few_similarities = {group: value[few] for group, value in similarities.items()}
    assert (
        find_discriminating_columns(few_similarities, ROLES, unrelated(matches[few]), matches[few])
        == {}
    )


def test_a_column_that_hardly_ever_differs_does_not_discriminate() -> None:
    """Related pairs have other values in it now and then only."""
    similarities, matches = make_similarities(0.0)
    kept = np.r_[0 : DUPLICATES + 20, DUPLICATES + SIBLINGS : len(matches)]
    few_differ = {group: value[kept] for group, value in similarities.items()}
    assert (
        find_discriminating_columns(few_differ, ROLES, unrelated(matches[kept]), matches[kept])
        == {}
    )


# Days of the records of each thing, and whether days are told to be of other things.
DAYS = [
    ("two visits, each on two records", [1, 1, 2, 2], True),
    ("visits of which many are on one record", [1, 1, 2, 2, 3], True),
    ("one wrong day", [1, 1, 1, 2], False),
    ("a day of its own for each record", [1, 2, 3, 4], False),
    ("one visit", [1, 1, 1, 1], False),
]


@pytest.mark.parametrize(("name", "days", "expected"), DAYS, ids=[case[0] for case in DAYS])
@pytest.mark.parametrize("same_by_chance", [0.0, 0.2])
def test_repeated_dates_discriminate_without_a_witness(
    name: str, days: list[int], expected: bool, same_by_chance: float
) -> None:
    """Each of two dates of things that agree in all else is on two records."""
    pairs, similarity = list[tuple[int, int]](), list[float]()
    for thing in range(30):
        for left, right in combinations(range(len(days)), 2):
            pairs.append((thing * len(days) + left, thing * len(days) + right))
            similarity.append(1.0 if days[left] == days[right] else 0.8)
    matches = np.r_[np.full(len(pairs), 0.9), np.full(100, 0.1)]
    others = np.where(np.arange(100) < 100 * same_by_chance, 1.0, 0.3)
    all_pairs = np.r_[np.array(pairs), np.arange(200).reshape(-1, 2)]
    columns = find_discriminating_columns(
        {"visit": np.r_[similarity, others].astype(np.float32)},
        GroupRoles(measured={"visit": 0.9999}, dates=frozenset({"visit"})),
        all_pairs,
        matches,
    )
    assert [*columns] == (["visit"] if expected else [])


def test_dates_that_are_repeated_by_chance_do_not_discriminate() -> None:
    """Records were exported on four days, whatever they are about."""
    generator = np.random.default_rng(1)
    days = generator.integers(0, 4, 600)
    things = np.arange(600) // 4
    pairs = np.array([*combinations(range(600), 2)])
    is_match = things[pairs[:, 0]] == things[pairs[:, 1]]
    kept = is_match | (generator.random(len(pairs)) < 0.01)
    is_same = days[pairs[:, 0]] == days[pairs[:, 1]]
    columns = find_discriminating_columns(
        {"day": np.where(is_same, 1, 0.8).astype(np.float32)[kept]},
        GroupRoles(measured={"day": 0.9999}, dates=frozenset({"day"})),
        pairs[kept],
        is_match[kept].astype(float),
    )
    assert columns == {}


def test_pairs_of_other_values_start_as_related() -> None:
    """Unknown values leave a match what it was."""
    similarities = {"number": np.array([1, 0.3, np.nan], np.float32)}
    starting, related = guess_by_values(
        similarities, {"number": DiscriminatingColumn(0.9999)}, np.full(3, 0.8)
    )
    assert starting == pytest.approx([0.72, 0.08, 0.8])
    assert related == pytest.approx([0.08, 0.72, 0])


def test_pairs_agree_in_all_known_columns() -> None:
    """What is unknown does not matter, unless nothing is known."""
    similarities = {
        "number": np.array([1, 1, 0.3, np.nan, np.nan], np.float32),
        "price": np.array([1, 0.3, np.nan, 1, np.nan], np.float32),
    }
    columns = dict.fromkeys(similarities, DiscriminatingColumn(0.9))
    np.testing.assert_array_equal(agree_in_all(similarities, columns), [1, 0, 0, 1, np.nan])


@pytest.mark.parametrize(
    ("differing", "expected"), [(0.1, [10, 90]), (0.5, [50, 90]), (1.0, [50, 90])]
)
def test_matches_of_other_values_are_limited(differing: float, expected: list[float]) -> None:
    """No more of them count than may have them."""
    counts, are_same = np.array([50.0, 90.0]), np.array([False, True])
    column = DiscriminatingColumn(0.9, differing)
    assert column.limit_matches(counts, are_same) == pytest.approx(expected)


def test_roles_of_columns() -> None:
    """Values and digits may discriminate; texts are written in one way or another."""
    features = [
        Feature(group, name, NEVER_LOWERS)
        for group, name in (
            ("phone", DIGITS_AGREE),
            ("zip", DIGITS_AGREE),
            ("price", "ratio apart"),
            ("born", "days apart"),
            ("Geändert am", "days apart"),
            ("year", "years apart"),
            ("title", "3-grams"),
        )
    ]
    names = dict.fromkeys(("phone", "zip", "price", "born", "year", "title"), ColumnKind.NUMBER)
    roles = find_group_roles(features, names | {"home": ColumnKind.ADDRESS})
    assert roles.measured == {
        "variants, size": 0.9,
        "price": 0.9,
        "born": 0.9999,
        "Geändert am": 0.9999,
        "year": 0.5,
    }
    assert roles.dates == {"born", "year"}
    assert roles.numbers == {"phone, digits": "phone", "zip, digits": "zip"}
    assert roles.contacts == {"phone", "zip", "home"}
    assert roles.postal_codes == {"zip"}


@pytest.mark.parametrize(
    ("witness", "is_measured", "expected"),
    [
        ("name", False, ["phone, digits"]),
        ("street", False, []),
        ("name", True, ["price"]),
    ],
)
def test_digits_discriminate_where_no_value_does(
    witness: str, is_measured: bool, expected: list[str]
) -> None:
    """Addresses are no witnesses: whoever moves has another telephone number as well."""
    similarities, matches = make_similarities(0.0)
    similarities = {
        "phone, digits": (similarities["number"] == 1).astype(np.float32),
        "price": similarities["number"] if is_measured else np.full(len(matches), np.float32(1)),
        witness: similarities["price"],
    }
    roles = GroupRoles(
        measured={"price": 0.9},
        numbers={"phone, digits": "phone"},
        contacts=frozenset({"phone", "street"}),
    )
    assert [
        *find_discriminating_columns(similarities, roles, unrelated(matches), matches)
    ] == expected


def test_a_column_of_sizes_is_no_witness_of_itself() -> None:
    """The sizes read from a column called size are not compared beside that column."""
    table = np.array([[0.0, 1.0, 1.0, 1.0, 0.0]], np.float32)
    for column, has_marker in (("size", False), ("dimension", True)):
        features = [
            Feature(VARIANTS, "size", NEVER_LOWERS),
            Feature(column, "equal", NEVER_LOWERS),
            Feature(column, "rarity of the equal value", NEVER_LOWERS),
            Feature(column, "similarity", NEVER_LOWERS),
            Feature(column, "ratio apart", NEVER_LOWERS),
        ]
        assert ("variants, size" in group_similarities(table, features)) == has_marker
