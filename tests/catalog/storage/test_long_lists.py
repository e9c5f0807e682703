"""Long lists page by page: every row once, in the order of one page, on SQLite and PostgreSQL."""

from datetime import timedelta

import pytest

from catalog.models import (
    KnownOffer,
    Review,
    ReviewDecision,
    Run,
    RunCounts,
    RunState,
    Shop,
    StoredFinding,
    Verdict,
    utc_now,
)
from catalog.storage.decisions.reviews import read_reviews_page
from catalog.storage.finding_facets import count_facet
from catalog.storage.findings import SORT_NAMES, FindingFilter, page_key, read_findings_page
from catalog.storage.shop_list import (
    NEVER_RUN,
    ShopFilter,
    ShopSort,
    count_shops,
    read_shop_list,
    read_shop_rows,
    shop_key,
)
from catalog.storage.store import Store

FINDINGS = 23
NOW = utc_now()

pytestmark = pytest.mark.both_databases


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with one run of findings that share values or have none, and several shops."""
    with store.write() as session:
        for number in range(1, 8):
            session.add(
                Shop(id=number, name=f"Shop {number % 3}{number}", url="https://a.example/")
            )
        session.flush()
        for run_id, shop_id, state in (
            (1, 1, "done"),
            (2, 2, "done"),
            (3, 1, "failed"),
            (4, 5, "done"),
        ):
            session.add(Run(id=run_id, shop_id=shop_id, state=RunState(state)))
        session.flush()
        for run_id, shop_id in ((1, 1), (2, 2), (4, 5)):
            session.add(
                RunCounts(
                    run_id=run_id,
                    shop_id=shop_id,
                    missing=5 if run_id < 4 else 0,
                    pages={"fetched": 9},
                )
            )
        session.add(KnownOffer(shop_id=3, ref="a"))
        for number in range(1, FINDINGS + 1):
            session.add(_finding(number))
            url_ = f"https://a.example/{number}"
            moment = NOW - timedelta(seconds=number // 4)
            session.add(
                Review(shop_id=1, url=url_, decision=ReviewDecision.IGNORE, reviewed_at=moment)
            )
    return store


def _finding(number: int) -> StoredFinding:
    group = number % 4
    return StoredFinding(
        run_id=1,
        shop_id=1,
        url=f"https://a.example/{number % 5}",
        rank=number,
        verdict=list(Verdict)[number % 3],
        amount=None if group == 0 else group * 1.1,
        title=None if group == 1 else f"Title {group}",
        brand=f"Brand {group}",
        brand_key=f"brand {group}",
        category="Garden > Hoses",
        category_key="garden > hoses",
        score=number % 2 / 3,
        cause=None if group == 2 else f"cause {group}",
        first_seen_at=NOW - timedelta(days=group),
        first_seen_run_id=1,
        last_seen_at=NOW,
        since_at=NOW - timedelta(microseconds=group),
        since_run_id=1,
    )


def test_findings(filled: Store) -> None:
    """Findings come once each, in every order and direction, with equal and with absent values."""
    where = FindingFilter(includes_ignored=True)
    for name in SORT_NAMES:
        for sort in (name, f"-{name}"):
            with filled.read() as session:
                whole = [row.rank for row in read_findings_page(session, 1, where, sort)]
                ranks: list[int] = []
                after = None
                while page := read_findings_page(session, 1, where, sort, 4, after=after):
                    ranks += [row.rank for row in page]
                    after = page_key(page[-1], sort)
            assert ranks == whole, sort
            assert len(set(ranks)) == FINDINGS, sort


def test_shops(filled: Store) -> None:
    """Shops come once each in every order, and filtered by text and state."""
    for sort in ShopSort:
        with filled.read() as session:
            whole = [row.shop.name for row in read_shop_list(session, ShopFilter(), sort)]
            names: list[str] = []
            after = None
            while page := read_shop_list(session, ShopFilter(), sort, after, 2):
                names += [row.shop.name for row in page]
                after = shop_key(page[-1], sort)
        assert names == whole, sort
        assert len(set(names)) == 7, sort
    with filled.write() as session:
        session.get_one(Shop, 1).name = "Äpfel 1"
    with filled.read() as session:
        for where, number in (
            (ShopFilter(text="sHOP 1"), 2),
            (ShopFilter(text="Äpfel"), 1),
            (ShopFilter(text="%"), 0),
            (ShopFilter(state="failed"), 1),
            (ShopFilter(state="done"), 2),
            (ShopFilter(state=NEVER_RUN), 4),
        ):
            assert count_shops(session, where) == number, where
            assert len(read_shop_list(session, where)) == number, where
        if session.get_bind().dialect.name == "sqlite":
            assert count_shops(session, ShopFilter(text="äPFEL")) == 1
        rows = {row.shop.id: row for row in read_shop_list(session, ShopFilter())}
    with filled.read() as session:
        assert [row.shop.id for row in read_shop_rows(session, [3, 99, 1])] == [3, 1]
    assert rows[1].newest is not None
    assert rows[1].finished is not None
    assert (rows[1].newest.id, rows[1].finished.id, rows[1].pages) == (3, 1, 9)
    assert (rows[3].newest, rows[3].counts, rows[3].known) == (None, None, 1)


def test_decisions(filled: Store) -> None:
    """Decisions come once each, the newest first."""
    urls: list[str] = []
    after = None
    with filled.read() as session:
        while page := read_reviews_page(session, 1, 4, after):
            urls += [review.url for review in page]
            after = (page[-1].reviewed_at, page[-1].url)
        whole = [review.url for review in read_reviews_page(session, 1, 100)]
    assert urls == whole
    assert len(set(urls)) == FINDINGS


def test_facets(filled: Store) -> None:
    """Facets count by each value, leave out their own condition, and keep the others."""
    everything = FindingFilter(includes_ignored=True)
    with filled.read() as session:
        brands = count_facet(session, 1, everything, "brand", 10)
        assert sum(value.count for value in brands) == FINDINGS
        assert {value.value for value in brands} == {f"Brand {number}" for number in range(4)}
        of_brand = FindingFilter(includes_ignored=True, brand="BRAND 2")
        assert count_facet(session, 1, of_brand, "brand", 10) == brands
        assert count_facet(session, 1, of_brand, "cause", 10) == []
        assert len(count_facet(session, 1, everything, "brand", 2)) == 2
        (category,) = count_facet(session, 1, everything, "category", 10)
        assert (category.value, category.count) == ("Garden > Hoses", FINDINGS)
