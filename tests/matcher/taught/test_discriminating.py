"""Columns that discriminate related things: found by a witness, with the duplicates that differ."""

import numpy as np
import pytest

from matcher.array_types import Doubles, Floats
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


@pytest.mark.parametrize("differing", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("witness_chance", [0.0, 0.02])
def test_a_witness_knows_how_many_duplicates_differ(
    differing: float, witness_chance: float
) -> None:
    """The share comes out nearly as it is, also where the witness agrees by chance now and then."""
    similarities, matches = make_similarities(differing, witness_chance)
    columns = find_discriminating_columns(similarities, ROLES, matches)
    assert columns["number"].max_differing == pytest.approx(
        max(differing, MIN_DIFFERING_SHARE), abs=0.06
    )


def test_wrong_numbers_do_not_discriminate() -> None:
    """Where prices agree as often in pairs of other numbers, these are duplicates, too."""
    similarities, matches = make_similarities(0.1, price_says_nothing=True)
    assert find_discriminating_columns(similarities, ROLES, matches) == {}


def test_few_matches_do_not_discriminate() -> None:
    """A few pairs may be so by chance."""
    similarities, matches = make_similarities(0.1)
    few = np.r_[0:15, DUPLICATES : DUPLICATES + 15]
    few_similarities = {group: value[few] for group, value in similarities.items()}
    assert find_discriminating_columns(few_similarities, ROLES, matches[few]) == {}


def test_a_column_that_hardly_ever_differs_does_not_discriminate() -> None:
    """Related pairs have other values in it now and then only."""
    similarities, matches = make_similarities(0.0)
    kept = np.r_[0 : DUPLICATES + 20, DUPLICATES + SIBLINGS : len(matches)]
    few_differ = {group: value[kept] for group, value in similarities.items()}
    assert find_discriminating_columns(few_differ, ROLES, matches[kept]) == {}


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
            ("year", "years apart"),
            ("title", "3-grams"),
        )
    ]
    names = dict.fromkeys(("phone", "zip", "price", "born", "year", "title"), ColumnKind.NUMBER)
    roles = find_group_roles(features, names | {"home": ColumnKind.ADDRESS})
    assert roles.measured == {"variants, size": 0.9, "price": 0.9, "born": 0.9999, "year": 0.5}
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
    assert [*find_discriminating_columns(similarities, roles, matches)] == expected


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
