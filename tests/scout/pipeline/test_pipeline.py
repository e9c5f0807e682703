"""A run: its steps in order, what it keeps, and how it goes on."""

import json

import pytest
from sqlmodel import select

from catalog.errors import (
    BlockedShop,
    Busy,
    LearnError,
    NoKnownOffers,
    StorageFull,
    UnreachableShop,
)
from catalog.models import Page, PersonsWord, Run, RunState, Shop, ShopOffer, Stage, Word
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import pipeline
from tests.scout.conftest import Rooms, Scout

STAGES = ["crawl", "learn", "parse", "match", "report"]


def _run(store: Store) -> Run:
    with store.read() as session:
        return session.exec(select(Run).order_by(Run.id.desc())).first()


def test_order(settings: Settings, store: Store, known: Shop, rooms: Rooms) -> None:
    """A run resets the pages, takes the five steps in order, and is done with figures for each."""
    done = pipeline.run_shop(settings, store, known)
    run = _run(store)
    assert rooms.calls == ["reset", *STAGES]
    assert (run.state, run.finished_at is not None) == (RunState.DONE, True)
    assert set(run.figures) == {*STAGES, "coverage"}
    assert done.offers == {"listed": 1, "missing": 1, "unsure": 1}
    assert done.pages == {"fetched": 3}
    assert set(done.seconds) == set(STAGES)
    assert list(done.reports) == ["html"]


@pytest.mark.parametrize("stage", STAGES[1:])
@pytest.mark.parametrize(
    "error", [LearnError("nothing to learn from"), StorageFull("no space left"), RuntimeError("x")]
)
def test_goes_on(
    settings: Settings, store: Store, known: Shop, rooms: Rooms, stage: str, error: Exception
) -> None:
    """A run that failed in a step goes on with that step, and not with those before it."""
    rooms.fail[stage] = error
    with pytest.raises(type(error)):
        pipeline.run_shop(settings, store, known)
    stopped = _run(store)
    assert (stopped.state, stopped.stage) == (RunState.RUNNING, Stage(stage))
    rooms.calls.clear()
    done = pipeline.run_shop(settings, store, known)
    assert rooms.calls == STAGES[STAGES.index(stage) :]
    assert (done.run, _run(store).state, _run(store).reason) == (stopped.id, RunState.DONE, None)


@pytest.mark.parametrize("error", [UnreachableShop("no connection"), BlockedShop("captchas only")])
def test_fruitless_crawl(
    settings: Settings, store: Store, known: Shop, rooms: Rooms, error: Exception
) -> None:
    """A crawl that brought nothing ends its run as failed; the next run crawls anew."""
    rooms.fail["crawl"] = error
    with pytest.raises(type(error)):
        pipeline.run_shop(settings, store, known)
    assert (_run(store).state, _run(store).reason) == (RunState.FAILED, str(error))
    rooms.calls.clear()
    assert pipeline.run_shop(settings, store, known).run == 2
    assert rooms.calls == ["reset", *STAGES]


def test_fresh(settings: Settings, store: Store, known: Shop, rooms: Rooms) -> None:
    """A fresh run abandons the unfinished one and forgets pages and offers, but no person's word."""
    rooms.fail["match"] = StorageFull("no space left")
    with pytest.raises(StorageFull):
        pipeline.run_shop(settings, store, known)
    with store.write() as session:
        page = session.exec(select(Page)).first()
        session.add(ShopOffer(shop_id=known.id, page_id=page.id, title="Mug"))
        session.add(PersonsWord(shop_id=known.id, url=page.url, word=Word.IGNORE))
    done = pipeline.run_shop(settings, store, known, fresh=True)
    with store.read() as session:
        assert [run.state for run in session.exec(select(Run).order_by(Run.id))] == [
            RunState.ABANDONED,
            RunState.DONE,
        ]
        assert session.exec(select(ShopOffer)).all() == []
        assert len(session.exec(select(PersonsWord)).all()) == 1
    assert (done.run, rooms.calls[-5:]) == (2, STAGES)


def test_no_known_offers(settings: Settings, store: Store, shop: Shop, rooms: Rooms) -> None:
    """A shop without known offers is run like any other; where its pages say too little, the reason is kept."""
    rooms.fail["learn"] = NoKnownOffers("the catalog has no offer of 'demo'")
    with pytest.raises(NoKnownOffers):
        pipeline.run_shop(settings, store, shop)
    assert (_run(store).state, _run(store).reason) == (
        RunState.RUNNING,
        "the catalog has no offer of 'demo'",
    )
    assert pipeline.run_shop(settings, store, shop).state == RunState.DONE


def test_one_at_a_time(settings: Settings, store: Store, known: Shop, rooms: Rooms) -> None:
    """While a shop is being run, a second run of it is refused, and says by which process."""
    with (
        pipeline.only_one(settings, known),
        pytest.raises(Busy, match=r"'demo' is being run already.*process \d+"),
    ):
        pipeline.run_shop(settings, store, known)
    pipeline.run_shop(settings, store, known)


@pytest.mark.parametrize(
    ("at", "done", "then"),
    [
        ("crawl", "crawl", "learn"),
        ("crawl", "learn", "crawl"),
        ("match", "learn", "parse"),
        ("report", "parse", "match"),
        ("parse", "parse", "match"),
    ],
)
def test_step_out_of_turn(store: Store, known: Shop, at: str, done: str, then: str) -> None:
    """After a step taken by hand the one that follows it is due, but none that is still open is left out."""
    with store.write() as session:
        run = Run(shop_id=known.id, stage=Stage(at))
        session.add(run)
    pipeline.do(store, run.id, Stage(done), lambda run_id: {})
    assert _run(store).stage == Stage(then)


def test_run_json(scout: Scout, known: Shop, rooms: Rooms) -> None:
    """`scout run --json` prints one object and nothing else on standard output."""
    said = scout("run", "demo", "--json")
    value = json.loads(said.out)
    assert said.code == 0
    assert value["run"] == 1
    assert value["missing"] == 1
    assert value["coverage"]["fetched"] == 3
    assert set(value) >= {"pages", "offers", "reports", "seconds"}


def test_run_tells(scout: Scout, known: Shop, rooms: Rooms) -> None:
    """`scout run` tells what is missing and where the report is, and no shop's control characters get through."""
    said = scout("run", "demo")
    assert said.code == 0
    assert "lacks 1" in said.out
    assert "html: /" in said.out
    assert "\x1b" not in said.out


def test_steps_by_hand(scout: Scout, known: Shop, rooms: Rooms) -> None:
    """The steps one by one make the same run as `scout run`."""
    for stage in STAGES:
        assert scout(stage, "demo").code == 0
    assert rooms.calls == ["reset", *STAGES]
    assert "done" in scout("shop", "list").out


def test_a_later_report_keeps_the_others(store: Store, known: Shop, rooms: Rooms) -> None:
    """Where only some formats are written again, the files of the others are still known."""
    with store.write() as session:
        session.add(Run(id=7, shop_id=known.id or 0))
    pipeline.do(store, 7, Stage.REPORT, lambda _: {"html": "a.html", "csv": "a.csv"})
    pipeline.do(store, 7, Stage.REPORT, lambda _: {"csv": "b.csv"})
    with store.read() as session:
        figures = session.get_one(Run, 7).figures["report"]
    assert (figures["html"], figures["csv"]) == ("a.html", "b.csv")


def test_step_without_run(scout: Scout, known: Shop, rooms: Rooms) -> None:
    """A step other than the crawl needs a run, and says how to get one."""
    said = scout("learn", "demo")
    assert (said.code, said.error) == (2, "shop 'demo' has not been run yet: 'scout run demo'")
