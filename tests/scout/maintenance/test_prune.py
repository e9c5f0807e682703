"""Old runs go with all that is theirs; what a stored finding refers to stays."""

import os
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, col, func, select

from catalog.errors import StoreError
from catalog.models import (
    Match,
    Page,
    PageState,
    Run,
    RunCounts,
    RunState,
    Shop,
    StoredFinding,
    Verdict,
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore, StoredBody
from catalog.storage.runs import is_pruned
from catalog.storage.store import Store
from reports.model.finding_storage import backfill_findings
from scout.maintenance import prune as prune_module
from scout.maintenance.file_retention import PresentIds, old_logs
from scout.maintenance.prune import prune_store
from scout.maintenance.run_retention import Retention, count_rows
from scout.maintenance.shop_removal import remove_shop
from scout.pipeline import shop_run
from tests.scout.conftest import Scout, web_client

DAY = 24 * 3600


def add_run(
    store: Store, shop: Shop, age: int, state: RunState = RunState.DONE, since: int | None = None
) -> int:
    """Store a run of some days ago with one finding, which has its verdict since another run."""
    at = utc_now() - timedelta(days=age)
    finished = at if state != RunState.RUNNING else None
    with store.write() as session:
        run = Run(shop_id=shop.id, state=state, started_at=at, finished_at=finished)
        session.add(run)
        session.flush()
        match = Match(run_id=run.id, shop_id=shop.id, url="u", verdict=Verdict.MISSING)
        session.add(match)
        session.flush()
        session.add(
            StoredFinding(
                run_id=run.id,
                shop_id=shop.id,
                match_id=match.id,
                url="u",
                rank=1,
                verdict=Verdict.MISSING,
                first_seen_at=at,
                first_seen_run_id=since or run.id,
                last_seen_at=at,
                since_at=at,
                since_run_id=since or run.id,
            )
        )
        session.add(RunCounts(run_id=run.id, shop_id=shop.id, missing=1))
    return run.id or 0


def run_ids(store: Store, *, with_findings: bool) -> list[int]:
    """Return the runs that are stored, or that have findings."""
    column = StoredFinding.run_id if with_findings else Run.id
    with store.read() as session:
        return sorted(number or 0 for number in session.exec(select(column)))


def prune(
    settings: Settings, store: Store, *, is_trial: bool = False, **limits: int
) -> dict[str, int]:
    """Prune, and return the numbers by kind."""
    results = prune_store(settings, store, Retention(**limits), is_trial=is_trial)
    return {result.kind: result.removed for result in results}


def test_old_runs_go(settings: Settings, store: Store, shop: Shop) -> None:
    """Runs beyond a number or an age go; the two that are compared, and what is under way, stay."""
    oldest = add_run(store, shop, 50)
    failed = add_run(store, shop, 45, RunState.FAILED)
    add_run(store, shop, 40)
    compared = add_run(store, shop, 35)
    last = add_run(store, shop, 30)
    running = add_run(store, shop, 1, RunState.RUNNING)
    counted = prune(settings, store, is_trial=True, runs=3)
    assert (counted["runs"], counted["rows of runs"]) == (3, 6)
    assert len(run_ids(store, with_findings=True)) == 6
    assert prune(settings, store, days=42)["runs"] == 2
    assert {oldest, failed}.isdisjoint(run_ids(store, with_findings=False))
    assert prune(settings, store, days=1, runs=1)["runs"] == 1
    assert run_ids(store, with_findings=True) == [compared, last, running]
    assert prune(settings, store, days=1, runs=1)["runs"] == 0


def test_a_run_that_a_finding_names_keeps_its_row(
    settings: Settings, store: Store, shop: Shop, scout: Scout
) -> None:
    """So does its count, whoever looks at it; its findings are gone, which commands and API tell.

    Later it may go as well.
    """
    first = add_run(store, shop, 50)
    add_run(store, shop, 40, since=first)
    add_run(store, shop, 30, since=first)
    prune(settings, store, runs=1)
    assert first in run_ids(store, with_findings=False)
    assert first not in run_ids(store, with_findings=True)
    with store.read() as session:
        assert is_pruned(session.get_one(Run, first))
    assert "were removed" in scout("report", shop.name, "--run", str(first)).error
    viewer = web_client(settings, store)
    assert viewer.get(f"/runs/{first}").status_code == 200
    assert viewer.get(f"/api/v1/runs/{first}").status_code == 200
    answer = viewer.get(f"/api/v1/shops/demo/findings?run={first}")
    assert (answer.status_code, "were removed" in answer.text) == (404, True)
    backfill_findings(store, shop)
    with store.read() as session:
        assert session.get_one(RunCounts, first).missing == 1
    for age in (3, 2, 1):
        add_run(store, shop, age)
    prune(settings, store, runs=1)
    assert first not in run_ids(store, with_findings=False)


def test_a_shop_that_is_run_is_left_out(settings: Settings, store: Store, shop: Shop) -> None:
    """Its old runs go the next time."""
    for age in (9, 8, 7):
        add_run(store, shop, age)
    with shop_run.lock_shop(settings, store, shop, "a run"):
        counted = prune(settings, store, runs=1)
    assert counted["shops left out: they are in use"] == 1
    assert counted["runs"] == 0
    assert prune(settings, store, runs=1)["runs"] == 1


def test_a_shop_that_is_added_meanwhile_keeps_its_files(
    settings: Settings, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first run may be over before the files are looked at."""
    files = [
        settings.data_dir / name
        for name in ("logs/shop-2.log", "logs/crawl-2-2.log", "reports/2-new/2/report.html")
    ]
    add_run(store, shop, 9)
    prune_shop = prune_module._prune_shop

    def add_shop_and_prune(*arguments: Any) -> Any:
        with store.write() as session:
            session.add(new := Shop(name="new", url="http://127.0.0.1:9/"))
        add_run(store, new, 0)
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("new")
        return prune_shop(*arguments)

    monkeypatch.setattr(prune_module, "_prune_shop", add_shop_and_prune)
    counted = prune(settings, store, runs=1)
    assert (counted["logs"], counted["reports"]) == (0, 0)
    assert all(file.exists() for file in files)


def test_files_that_go_meanwhile(settings: Settings, store: Store, shop: Shop) -> None:
    """A shop may be removed, with its files, after they were listed."""
    log = settings.data_dir / "logs" / f"shop-{shop.id}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("line")

    def read_ids() -> PresentIds:
        log.unlink()
        return PresentIds({1}, {1})

    assert list(old_logs(settings, read_ids, days=1)) == []
    log.write_text("line")
    (gone,) = old_logs(settings, lambda: PresentIds(log.unlink() or (), ()), days=1)
    assert gone.size == 0
    gone.remove()


def make_old(path: Path, days: int = 2) -> None:
    """Set the time of a file back, by an hour at least."""
    then = time.time() - days * DAY - 3600
    os.utime(path, (then, then))


def body_file(settings: Settings, name: str) -> Path:
    """Return the file of a body."""
    return Path(settings.bodies) / name[:2] / f"{name[2:]}.zst"


def test_bodies_without_a_page_go(settings: Settings, store: Store, shop: Shop) -> None:
    """Not those that a page of any shop has, and none that was written within a day."""
    bodies = BodyStore(settings.bodies)
    used, unused, fresh, again = (bodies.put(word) for word in (b"used", b"unused", b"new", b"x"))
    part = body_file(settings, unused).with_suffix(".zst.a.part")
    part.write_bytes(b"cut short")
    for path in (part, *(body_file(settings, name) for name in (used, unused, again))):
        make_old(path)
    with store.write() as session:
        session.add(Page(shop_id=shop.id, url="p", state=PageState.FETCHED, body=used))
    # A crawl that stores the same content again makes it new.
    bodies.put(b"x")
    assert prune(settings, store, is_trial=True)["page bodies"] == 2
    assert prune(settings, store)["page bodies"] == 2
    assert not part.exists()
    held = {name: bodies.holds(name) for name in (used, unused, fresh, again)}
    assert held == {used: True, unused: False, fresh: True, again: True}


def test_files_of_what_is_gone_go(settings: Settings, store: Store, shop: Shop) -> None:
    """Logs and reports of old runs, files of shops that are gone, uploads of the day before."""
    gone, compared, last = (add_run(store, shop, age) for age in (9, 8, 7))
    data = settings.data_dir
    kept = [
        data / "logs" / f"crawl-{shop.id}-{last}.log",
        data / "logs" / f"shop-{shop.id}.log",
        data / "logs" / "other.log",
        data / "reports" / f"{shop.id}-demo" / str(compared) / "report.html",
        data / "matching" / f"{shop.id}.npz",
        data / "uploads" / str(shop.id) / "token" / "feed.csv",
    ]
    surplus = [
        data / "logs" / f"crawl-{shop.id}-{gone}.log",
        data / "logs" / "shop-999.log",
        data / "reports" / f"{shop.id}-demo" / str(gone) / "report.html",
        data / "reports" / "999-old" / "1" / "report.html",
        data / "matching" / "999.npz",
        data / "uploads" / str(shop.id) / "old" / "feed.csv",
    ]
    for path in (*kept, *surplus):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    make_old(surplus[-1].parent)
    prune(settings, store, runs=1)
    assert [path for path in kept if not path.exists()] == []
    assert [path for path in surplus if path.exists()] == []


def test_the_command_counts(scout: Scout, store: Store, shop: Shop) -> None:
    """A dry run removes nothing; without limits runs stay."""
    for age in (9, 8, 7):
        add_run(store, shop, age)
    assert "would be removed" in scout("db", "prune", "--runs", "1", "--dry-run").out
    assert len(run_ids(store, with_findings=True)) == 3
    assert scout("db", "prune", "--json").code == 0
    assert len(run_ids(store, with_findings=True)) == 3
    scout("db", "prune", "--runs", "1")
    assert len(run_ids(store, with_findings=True)) == 2


def test_a_shop_removed_meanwhile_is_left_out(
    settings: Settings, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shop that is removed while runs are pruned has none to prune: the others are pruned."""
    with store.write() as session:
        other = Shop(name="other", url="http://127.0.0.1:9/")
        session.add(other)
    for pruned in (shop, other):
        for age in (40, 35, 30):
            add_run(store, pruned, age)

    def remove_first(session: Session, run_ids: Sequence[int]) -> int:
        monkeypatch.undo()
        remove_shop(settings, store, shop)
        return count_rows(session, run_ids)

    monkeypatch.setattr(prune_module, "count_rows", remove_first)
    assert prune(settings, store, runs=1)["runs"] == 1
    with store.read() as session:
        assert len(session.exec(select(StoredFinding)).all()) == 2


@pytest.mark.parametrize("shares", [False, True])
def test_a_removed_shop_takes_its_files(
    scout: Scout, settings: Settings, store: Store, shop: Shop, shares: bool
) -> None:
    """Bodies, logs, reports and caches; a body that another shop has as well stays."""
    name = BodyStore(settings.bodies).put(b"page")
    make_old(body_file(settings, name), 0)
    with store.write() as session:
        session.add(Page(shop_id=shop.id, url="p", state=PageState.FETCHED, body=name))
        if shares:
            other = Shop(name="other", url="http://127.0.0.1:9/")
            session.add(other)
            session.flush()
            session.add(Page(shop_id=other.id, url="p", state=PageState.FETCHED, body=name))
    log = settings.data_dir / "logs" / f"crawl-{shop.id}-1.log"
    report = settings.data_dir / "reports" / f"{shop.id}-demo" / "1" / "report.html"
    cache = settings.data_dir / "matching" / f"{shop.id}.npz"
    part = cache.with_suffix(".part")
    others = settings.data_dir / "logs" / f"crawl-{shop.id}1-1.log"
    for path in (log, report, cache, part, others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert scout("shop", "remove", shop.name, "--yes").code == 0
    assert [path.exists() for path in (log, report, cache, part)] == [False] * 4
    assert others.exists()
    assert body_file(settings, name).exists() == shares
    with store.read() as session:
        pages = select(func.count()).select_from(Page).where(col(Page.shop_id) == shop.id)
        assert session.exec(pages).one() == 0


@pytest.mark.both_databases
def test_an_interrupted_removal_is_made_again(
    scout: Scout, settings: Settings, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A removal that ends among the files leaves the shop listed; the same command completes it."""
    bodies = BodyStore(settings.bodies)
    names = [bodies.put(content) for content in (b"a", b"b", b"c")]
    with store.write() as session:
        other = Shop(name="other", url="http://127.0.0.1:9/")
        session.add(other)
        session.flush()
        session.add(Page(shop_id=other.id, url="p", state=PageState.FETCHED, body=names[2]))
        for name in names:
            session.add(Page(shop_id=shop.id, url=name, state=PageState.FETCHED, body=name))
    for name in names:
        make_old(body_file(settings, name), 0)
    removed: list[str] = []

    def remove_one(self: BodyStore, body: StoredBody, _unless_newer_than: float) -> bool:
        if removed:
            raise StoreError("the disk does not answer")
        removed.append(body.name)
        Path(body.path).unlink()
        return True

    with monkeypatch.context() as patch:
        patch.setattr(BodyStore, "remove", remove_one)
        assert scout("shop", "remove", shop.name, "--yes").error == "the disk does not answer"
    completed = scout("shop", "remove", shop.name, "--yes")
    assert completed.code == 0, completed.err
    assert [bodies.holds(name) for name in names] == [False, False, True]
    with store.read() as session:
        assert session.exec(select(Shop.name)).all() == ["other"]
