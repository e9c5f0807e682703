"""A run: its stages in order, its stored figures, and its resumption."""

import json

import pytest
from sqlmodel import select

from catalog.errors import (
    BlockedShop,
    Busy,
    LearnError,
    NoKnownOffers,
    StorageFull,
    UnknownShop,
    UnreachableShop,
)
from catalog.models import Page, Review, ReviewDecision, Run, RunState, Shop, ShopOffer, Stage
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.maintenance.shop_removal import remove_shop
from scout.pipeline import run_records, shop_run
from scout.work_status import read_work_status
from tests.scout.conftest import FakeStages, Scout

pytestmark = pytest.mark.both_databases

STAGES = ["crawl", "learn", "parse", "match", "report"]


def _newest_run(store: Store) -> Run:
    with store.read() as session:
        return session.exec(select(Run).order_by(Run.id.desc())).first()


def test_order(settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages) -> None:
    """A run resets the pages, executes the five stages in order, and stores figures for each."""
    summary = shop_run.run_shop(settings, store, known_shop)
    run = _newest_run(store)
    assert fake_stages.calls == ["reset", *STAGES]
    assert (run.state, run.finished_at is not None) == (RunState.DONE, True)
    assert set(run.figures) == {*STAGES, "coverage"}
    assert summary.offers == {"listed": 1, "missing": 1, "unsure": 1}
    assert summary.pages == {"fetched": 3}
    assert set(summary.seconds) == set(STAGES)
    assert list(summary.reports) == ["html"]


def test_a_shop_removed_meanwhile(settings: Settings, store: Store, known_shop: Shop) -> None:
    """A shop that is removed between its loading and its locking is unknown; nothing is stored."""
    remove_shop(settings, store, known_shop)
    with pytest.raises(UnknownShop, match="no shop is called"):
        shop_run.run_shop(settings, store, known_shop)
    assert _newest_run(store) is None


@pytest.mark.parametrize("stage", STAGES[1:])
@pytest.mark.parametrize(
    "error", [LearnError("nothing to learn from"), StorageFull("no space left"), RuntimeError("x")]
)
def test_resumes(
    settings: Settings,
    store: Store,
    known_shop: Shop,
    fake_stages: FakeStages,
    stage: str,
    error: Exception,
) -> None:
    """A run that failed in a stage resumes with that stage, not with an earlier one."""
    fake_stages.fail[stage] = error
    with pytest.raises(type(error)):
        shop_run.run_shop(settings, store, known_shop)
    stopped = _newest_run(store)
    assert (stopped.state, stopped.stage) == (RunState.RUNNING, Stage(stage))
    fake_stages.calls.clear()
    summary = shop_run.run_shop(settings, store, known_shop)
    assert fake_stages.calls == STAGES[STAGES.index(stage) :]
    assert (summary.run, _newest_run(store).state, _newest_run(store).reason) == (
        stopped.id,
        RunState.DONE,
        None,
    )


@pytest.mark.parametrize("error", [UnreachableShop("no connection"), BlockedShop("captchas only")])
def test_fruitless_crawl(
    settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages, error: Exception
) -> None:
    """A crawl without any page ends its run as failed; the next run crawls anew."""
    fake_stages.fail["crawl"] = error
    with pytest.raises(type(error)):
        shop_run.run_shop(settings, store, known_shop)
    assert (_newest_run(store).state, _newest_run(store).reason) == (RunState.FAILED, str(error))
    fake_stages.calls.clear()
    assert shop_run.run_shop(settings, store, known_shop).run == 2
    assert fake_stages.calls == ["reset", *STAGES]


def test_fresh(settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages) -> None:
    """A fresh run abandons the unfinished one; it deletes pages and offers, no review decision."""
    fake_stages.fail["match"] = StorageFull("no space left")
    with pytest.raises(StorageFull):
        shop_run.run_shop(settings, store, known_shop)
    with store.write() as session:
        page = session.exec(select(Page)).first()
        session.add(ShopOffer(shop_id=known_shop.id, page_id=page.id, title="Mug"))
        session.add(Review(shop_id=known_shop.id, url=page.url, decision=ReviewDecision.IGNORE))
    summary = shop_run.run_shop(settings, store, known_shop, fresh=True)
    with store.read() as session:
        assert [run.state for run in session.exec(select(Run).order_by(Run.id))] == [
            RunState.ABANDONED,
            RunState.DONE,
        ]
        assert session.exec(select(ShopOffer)).all() == []
        assert len(session.exec(select(Review)).all()) == 1
    assert (summary.run, fake_stages.calls[-5:]) == (2, STAGES)


def test_no_known_offers(
    settings: Settings, store: Store, shop: Shop, fake_stages: FakeStages
) -> None:
    """A shop without known offers is run like any other.

    If nothing can be learnt, the reason is stored.
    """
    fake_stages.fail["learn"] = NoKnownOffers("the catalog has no offer of 'demo'")
    with pytest.raises(NoKnownOffers):
        shop_run.run_shop(settings, store, shop)
    assert (_newest_run(store).state, _newest_run(store).reason) == (
        RunState.RUNNING,
        "the catalog has no offer of 'demo'",
    )
    assert shop_run.run_shop(settings, store, shop).state == RunState.DONE


@pytest.mark.parametrize("purpose", ["a run", "an import"])
def test_one_at_a_time(
    settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages, purpose: str
) -> None:
    """While a shop is in use, a run is refused with the process that uses it, and what for."""
    refusal = rf"'demo' is in use already by process \d+ .* UTC, for {purpose}: wait for that"
    with shop_run.lock_shop(settings, store, known_shop, purpose):
        [in_use] = read_work_status(settings, store).running
        with pytest.raises(Busy, match=refusal):
            shop_run.run_shop(settings, store, known_shop)
    assert (in_use.shop, in_use.purpose) == ("demo", purpose)
    assert not read_work_status(settings, store).running
    shop_run.run_shop(settings, store, known_shop)


@pytest.mark.parametrize(
    ("due", "executed", "next_due"),
    [
        ("crawl", "crawl", "learn"),
        ("crawl", "learn", "crawl"),
        ("match", "learn", "parse"),
        ("report", "parse", "match"),
        ("parse", "parse", "match"),
    ],
)
def test_stage_out_of_order(
    store: Store, known_shop: Shop, due: str, executed: str, next_due: str
) -> None:
    """After a stage executed by hand the next one is due, and no stage still due is skipped."""
    with store.write() as session:
        run = Run(shop_id=known_shop.id, stage=Stage(due))
        session.add(run)
    run_records.record_stage(store, run.id, Stage(executed), lambda run_id: {})
    assert _newest_run(store).stage == Stage(next_due)


def test_run_json(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """`scout run --json` prints one object and nothing else on standard output."""
    result = scout("run", "demo", "--json")
    value = json.loads(result.out)
    assert result.code == 0
    assert value["run"] == 1
    assert value["missing"] == 1
    assert value["coverage"]["fetched"] == 3
    assert set(value) >= {"pages", "offers", "reports", "seconds"}


def test_run_tables(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """`scout run` prints missing offers and the report's path, without control characters."""
    result = scout("run", "demo")
    assert result.code == 0
    assert "lacks 1" in result.out
    assert "html: /" in result.out
    assert "\x1b" not in result.out


def test_stages_by_hand(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """The stages one by one make the same run as `scout run`."""
    for stage in STAGES:
        assert scout(stage, "demo").code == 0
    assert fake_stages.calls == ["reset", *STAGES]
    assert "done" in scout("shop", "list").out


def test_a_later_report_keeps_other_formats(
    store: Store, known_shop: Shop, fake_stages: FakeStages
) -> None:
    """When only some report formats are written again, the files of the others stay recorded."""
    with store.write() as session:
        session.add(Run(id=7, shop_id=known_shop.id or 0))
    run_records.record_stage(store, 7, Stage.REPORT, lambda _: {"html": "a.html", "csv": "a.csv"})
    run_records.record_stage(store, 7, Stage.REPORT, lambda _: {"csv": "b.csv"})
    with store.read() as session:
        figures = session.get_one(Run, 7).figures["report"]
    assert (figures["html"], figures["csv"]) == ("a.html", "b.csv")


def test_stage_without_run(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """A stage other than the crawl needs a run, and the error has the command to start one."""
    result = scout("learn", "demo")
    assert (result.code, result.error) == (2, "shop 'demo' has not been run yet: 'scout run demo'")
