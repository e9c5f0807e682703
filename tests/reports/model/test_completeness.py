"""The figures: what counts, in which group, and how surely."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import UsageError
from catalog.models import RunState, Shop, Verdict, Word
from catalog.storage.store import Store
from reports.model.completeness import completeness
from reports.model.findings import rows
from reports.statistics.price_bands import bands, roundest
from reports.statistics.statistics import Group, Tally, rolled_up, wilson

PRICES = st.decimals(min_value=0, max_value=10**9, places=2)


@given(st.lists(PRICES, max_size=200), PRICES)
def test_every_price_falls_in_exactly_one_band(prices: list[Decimal], other: Decimal) -> None:
    """Bands divide all prices, also those they were not made from, and say so in two ways alike."""
    made = bands(prices)
    for price in (*prices[:5], other):
        holding = [place for place, band in enumerate(made.all()) if band.holds(price)]
        assert holding == [made.index(price)]


@given(st.lists(PRICES, max_size=200))
def test_bands_are_few_ascending_and_round(prices: list[Decimal]) -> None:
    """Nobody reads twenty bands, nor borders like 37.42: three digits at most, unless all prices lie close together."""
    borders = bands(prices).borders
    assert len(borders) < 9
    assert list(borders) == sorted(set(borders))
    close = borders and borders[-1] < borders[0] * 2
    assert close or all(len(border.normalize().as_tuple().digits) <= 3 for border in borders)


@given(PRICES, PRICES)
def test_the_roundest_number_lies_between(one: Decimal, other: Decimal) -> None:
    """What is said of a price range never leaves the range."""
    low, high = min(one, other), max(one, other)
    assert low <= roundest(low, high) <= high


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(missing: int, listed: int) -> None:
    """The interval stays in [0, 1] and holds what was counted."""
    total = missing + listed
    low, high = wilson(missing, total)
    assert 0 <= low <= high <= 1
    assert not total or low - 1e-9 <= missing / total <= high + 1e-9


def test_totals_count_every_verdict_and_value_the_missing(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Seen is the sum of the verdicts; the value is what the missing ones cost in the shop's main currency."""
    run = fill.run()
    fill.listed(run, "a", price=10, brand="Kess", category="Garden > Mowers")
    fill.found(run, "b", price=20, brand="KESS", category="Garden > Mowers")
    fill.found(run, "c", "unsure", price=30, category="Garden > Hoses")
    fill.found(run, "d", price=99, currency="CHF")
    fill.found(run, "e")
    fill.save()
    found = completeness(store, shop, run)
    assert (found.total.seen, found.total.listed, found.total.missing, found.total.unsure) == (
        5,
        1,
        3,
        1,
    )
    assert found.currency == "EUR"
    assert found.total.worth("EUR") == 20
    assert {one.name: one.tally.missing for one in found.by_category} == {
        "Garden > Mowers": 1, "Garden > Hoses": 0, None: 2,
    }  # fmt: skip
    assert {one.name: one.tally.seen for one in found.by_brand} == {"Kess": 2, None: 3}
    assert sum(one.tally.seen for one in found.by_band) == 3
    assert [(one.name, one.tally.missing) for one in found.elsewhere] == [("CHF", 1)]
    assert found.unpriced.missing == 1
    assert found.by_category[0].name == "Garden > Mowers"


@pytest.mark.parametrize(
    ("verdict", "word", "missing", "listed", "unsure"),
    [
        ("missing", Word.REJECT, 0, 1, 0),
        ("missing", Word.ACCEPT, 1, 0, 0),
        ("missing", Word.IGNORE, 0, 0, 0),
        ("unsure", Word.ACCEPT, 1, 0, 0),
        ("unsure", Word.REJECT, 0, 1, 0),
        ("unsure", Word.IGNORE, 0, 0, 0),
    ],
)
def test_a_persons_word_is_followed(
    fill: Any,
    store: Store,
    shop: Shop,
    verdict: str,
    word: Word,
    missing: int,
    listed: int,
    unsure: int,
) -> None:
    """Rejected findings count as listed, accepted ones as missing, ignored ones not at all; the word is shown."""
    run = fill.run()
    fill.found(run, "a", verdict, urls=[fill.url("a"), fill.url("a?again")])
    fill.word("a?again", word, "asked the shop")
    fill.save()
    found = completeness(store, shop, run)
    assert (found.total.missing, found.total.listed, found.total.unsure) == (
        missing,
        listed,
        unsure,
    )
    assert found.words == {word: 1}
    (row,) = rows(store, shop, run)
    assert (row.word, row.note) == (word, "asked the shop")
    assert len(rows(store, shop, run, {Verdict.MISSING})) == missing


def test_rows_come_by_value_with_hostile_values_tamed(fill: Any, store: Store, shop: Shop) -> None:
    """The dearest offer comes first; control characters, surrogates and absurd prices do not get through."""
    run = fill.run()
    fill.found(run, "cheap", price=5)
    fill.found(run, "dear", price=500, title="A\x00B\n\x1b[31m C")
    fill.found(run, "none", title="x" * 9000)
    fill.save()
    with store.write() as session:
        from sqlmodel import select

        from catalog.models import Match

        broken = session.exec(select(Match).where(Match.url == fill.url("none"))).one()
        broken.offer = broken.offer | {"price": "1e9999", "brand": "\ud800", "currency": 7}
        session.add(broken)
    found = rows(store, shop, run)
    assert [one.url for one in found] == [fill.url("dear"), fill.url("cheap"), fill.url("none")]
    assert found[0].title == "A B [31m C"
    assert (found[2].price, found[2].brand, len(found[2].title or "")) == (None, None, 500)
    assert found[0].as_row()["price"] == "500"


def test_categories_are_rolled_up_until_they_fit() -> None:
    """A hundred leaf categories become their parents, and nothing is lost."""
    groups = [Group(f"Top {n % 3} > Leaf {n}", Tally(missing=1)) for n in range(100)]
    rolled = rolled_up(groups, None)
    assert [one.name for one in rolled] == ["Top 0", "Top 1", "Top 2"]
    assert sum(one.tally.missing for one in rolled) == 100


def test_a_run_of_another_shop_is_refused(fill: Any, store: Store, shop: Shop) -> None:
    """A run that the shop does not have is a clear error, not an empty report."""
    with pytest.raises(UsageError, match="has no run 9"):
        completeness(store, shop, 9)


def test_an_empty_run_has_figures_too(fill: Any, store: Store, shop: Shop) -> None:
    """Nothing found is nothing missing, in all groups."""
    found = completeness(store, shop, fill.run(RunState.RUNNING))
    assert found.total.seen == 0
    assert found.as_json()["totals"]["interval"] == [0.0, 1.0]


def test_currencies_are_ranked_together_but_never_mixed(
    fill: Any, store: Store, shop: Shop
) -> None:
    """A shop with two currencies has bands for each; dear offers of both come first, and no sum mixes them."""
    run = fill.run()
    for n in range(30):
        fill.found(run, f"e{n}", price=10 + n, category="Euro")
    for n in range(25):
        fill.found(run, f"y{n}", price=1000 + 100 * n, currency="JPY", category="Yen")
    fill.save()
    found = completeness(store, shop, run)
    assert [
        (name, sum(one.tally.seen for one in groups)) for name, groups in found.bands_elsewhere
    ] == [("JPY", 25)]
    assert sum(one.tally.seen for one in found.by_band) == 30
    assert found.by_category[0].name == "Euro"
    assert [dict(one.tally.value) for one in found.by_category] == [{"EUR": 735}, {"JPY": 55000}]
    first = [one.currency for one in rows(store, shop, run)[:10]]
    assert {"EUR", "JPY"} == set(first)
