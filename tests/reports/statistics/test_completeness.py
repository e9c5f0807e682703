"""Completeness: counts in total and by group, their value, and their confidence interval."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import UsageError
from catalog.models import ReviewDecision, RunState, Shop, Verdict
from catalog.storage.store import Store
from reports.model.findings import list_findings
from reports.model.report_model import measure_completeness
from reports.statistics.completeness import Group, VerdictCounts, roll_up, wilson_interval
from reports.statistics.price_bands import choose_bands, roundest_number

PRICES = st.decimals(min_value=0, max_value=10**9, places=2)


@given(st.lists(PRICES, max_size=200), PRICES)
def test_every_price_falls_into_exactly_one_band(prices: list[Decimal], new_price: Decimal) -> None:
    """Exactly one band holds a price, whether or not the bands were chosen from it, and `index` names that band."""
    bands = choose_bands(prices)
    for price in (*prices[:5], new_price):
        holding = [index for index, band in enumerate(bands.all()) if band.holds(price)]
        assert holding == [bands.index(price)]


@given(st.lists(PRICES, max_size=200))
def test_bands_are_few_ascending_and_round(prices: list[Decimal]) -> None:
    """There are at most nine bands, with borders of at most three digits unless all prices lie close together."""
    borders = choose_bands(prices).borders
    assert len(borders) < 9
    assert list(borders) == sorted(set(borders))
    close = borders and borders[-1] < borders[0] * 2
    assert close or all(len(border.normalize().as_tuple().digits) <= 3 for border in borders)


@given(PRICES, PRICES)
def test_the_roundest_number_lies_between(left: Decimal, right: Decimal) -> None:
    """The roundest number of a range lies within the range."""
    low, high = min(left, right), max(left, right)
    assert low <= roundest_number(low, high) <= high


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(missing: int, listed: int) -> None:
    """The confidence interval lies within [0, 1] and contains the counted share."""
    total = missing + listed
    low, high = wilson_interval(missing, total)
    assert 0 <= low <= high <= 1
    assert not total or low - 1e-9 <= missing / total <= high + 1e-9


def test_totals_count_every_verdict_and_value_the_missing(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Totals are the sums over all verdicts; the value adds up the prices of the missing offers per currency."""
    run = fill.run()
    fill.listed(run, "a", price=10, brand="Kess", category="Garden > Mowers")
    fill.finding(run, "b", price=20, brand="KESS", category="Garden > Mowers")
    fill.finding(run, "c", "unsure", price=30, category="Garden > Hoses")
    fill.finding(run, "d", price=99, currency="CHF")
    fill.finding(run, "e")
    fill.save()
    figures = measure_completeness(store, shop, run)
    assert (
        figures.total.seen,
        figures.total.listed,
        figures.total.missing,
        figures.total.unsure,
    ) == (
        5,
        1,
        3,
        1,
    )
    assert figures.currency == "EUR"
    assert figures.total.value_in("EUR") == 20
    assert {group.name: group.counts.missing for group in figures.by_category} == {
        "Garden > Mowers": 1, "Garden > Hoses": 0, None: 2,
    }  # fmt: skip
    assert {group.name: group.counts.seen for group in figures.by_brand} == {"Kess": 2, None: 3}
    assert sum(group.counts.seen for group in figures.by_band) == 3
    assert [(group.name, group.counts.missing) for group in figures.other_currencies] == [
        ("CHF", 1)
    ]
    assert figures.unpriced.missing == 1
    assert figures.by_category[0].name == "Garden > Mowers"


@pytest.mark.parametrize(
    ("verdict", "decision", "missing", "listed", "unsure"),
    [
        ("missing", ReviewDecision.REJECT, 0, 1, 0),
        ("missing", ReviewDecision.ACCEPT, 1, 0, 0),
        ("missing", ReviewDecision.IGNORE, 0, 0, 0),
        ("unsure", ReviewDecision.ACCEPT, 1, 0, 0),
        ("unsure", ReviewDecision.REJECT, 0, 1, 0),
        ("unsure", ReviewDecision.IGNORE, 0, 0, 0),
    ],
)
def test_a_review_decision_is_followed(
    fill: Any,
    store: Store,
    shop: Shop,
    verdict: str,
    decision: ReviewDecision,
    missing: int,
    listed: int,
    unsure: int,
) -> None:
    """Rejected findings count as listed, accepted ones as missing, ignored ones not at all; the decision is shown."""
    run = fill.run()
    fill.finding(run, "a", verdict, urls=[fill.url("a"), fill.url("a?again")])
    fill.decide("a?again", decision, "asked the shop")
    fill.save()
    figures = measure_completeness(store, shop, run)
    assert (figures.total.missing, figures.total.listed, figures.total.unsure) == (
        missing,
        listed,
        unsure,
    )
    assert figures.decisions == {decision: 1}
    (finding,) = list_findings(store, shop, run)
    assert (finding.decision, finding.note) == (decision, "asked the shop")
    assert len(list_findings(store, shop, run, {Verdict.MISSING})) == missing


def test_findings_are_sorted_by_value_and_safe_to_print(
    fill: Any, store: Store, shop: Shop
) -> None:
    """The dearest offer comes first; control characters, surrogates and implausible prices are removed."""
    run = fill.run()
    fill.finding(run, "cheap", price=5)
    fill.finding(run, "dear", price=500, title="A\x00B\n\x1b[31m C")
    fill.finding(run, "none", title="x" * 9000)
    fill.save()
    with store.write() as session:
        from sqlmodel import select

        from catalog.models import Match

        broken = session.exec(select(Match).where(Match.url == fill.url("none"))).one()
        broken.offer = broken.offer | {"price": "1e9999", "brand": "\ud800", "currency": 7}
        session.add(broken)
    findings = list_findings(store, shop, run)
    assert [finding.url for finding in findings] == [
        fill.url("dear"),
        fill.url("cheap"),
        fill.url("none"),
    ]
    assert findings[0].title == "A B [31m C"
    assert (findings[2].price, findings[2].brand, len(findings[2].title or "")) == (None, None, 500)
    assert findings[0].as_row()["price"] == "500"


def test_categories_are_rolled_up_until_they_fit() -> None:
    """A hundred leaf categories are rolled up to their parents, and every offer stays counted."""
    groups = [Group(f"Top {n % 3} > Leaf {n}", VerdictCounts(missing=1)) for n in range(100)]
    parents = roll_up(groups, None)
    assert [group.name for group in parents] == ["Top 0", "Top 1", "Top 2"]
    assert sum(group.counts.missing for group in parents) == 100


def test_a_run_of_another_shop_is_refused(fill: Any, store: Store, shop: Shop) -> None:
    """A run that the shop does not have raises UsageError instead of giving an empty report."""
    with pytest.raises(UsageError, match="has no run 9"):
        measure_completeness(store, shop, 9)


def test_an_empty_run_has_figures_too(fill: Any, store: Store, shop: Shop) -> None:
    """A run without findings has figures of zero and the widest interval."""
    figures = measure_completeness(store, shop, fill.run(RunState.RUNNING))
    assert figures.total.seen == 0
    assert figures.as_json()["totals"]["interval"] == [0.0, 1.0]


def test_currencies_are_ranked_together_but_never_mixed(
    fill: Any, store: Store, shop: Shop
) -> None:
    """A shop with two currencies has bands for each; dear offers of both come first, and no sum mixes currencies."""
    run = fill.run()
    for n in range(30):
        fill.finding(run, f"e{n}", price=10 + n, category="Euro")
    for n in range(25):
        fill.finding(run, f"y{n}", price=1000 + 100 * n, currency="JPY", category="Yen")
    fill.save()
    figures = measure_completeness(store, shop, run)
    assert [
        (currency, sum(group.counts.seen for group in groups))
        for currency, groups in figures.other_currency_bands
    ] == [("JPY", 25)]
    assert sum(group.counts.seen for group in figures.by_band) == 30
    assert figures.by_category[0].name == "Euro"
    assert [dict(group.counts.value) for group in figures.by_category] == [
        {"EUR": 735},
        {"JPY": 55000},
    ]
    first = list_findings(store, shop, run)[:10]
    assert {finding.currency for finding in first} == {"EUR", "JPY"}
