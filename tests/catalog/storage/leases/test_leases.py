"""A lease has one holder at a time, expires without renewals, and fences the writes of a lost one."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.errors import Busy, LeaseLost, StoreError
from catalog.models import Lease, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.leases.fence import Fence
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store
from tests.catalog.storage import postgresql
from tests.empty_store import open_empty_store

SECONDS = 30.0
SHORT = 0.2
"""Seconds of a lease that expires within a test."""


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """The same database opened by two machines, each with a data folder of its own."""
    with ExitStack() as stack:
        database = f"sqlite:///{tmp_path / 'shared.db'}"
        if request.param == "postgresql":
            database = stack.enter_context(postgresql.fresh_database())
        folders = [
            Settings.load(data_dir=tmp_path / machine, database_url=database) for machine in "ab"
        ]
        is_sqlite = request.param == "sqlite"
        opened = open_empty_store(folders[0]) if is_sqlite else Store.open(folders[0])
        pair = opened, Store.open(folders[1])
        for store in pair:
            stack.callback(store.engine.dispose)
        yield pair


def _acquire(store: Store, seconds: float = SECONDS, lock_file: str = "") -> Fence:
    lock_file = lock_file or str(store.data_dir)
    return lease_table.acquire(store, "shop-1", "shop 'demo'", seconds, lock_file)


def test_one_holder(stores: tuple[Store, Store]) -> None:
    """A held lease is refused with its holder; a released one is free, with the next token."""
    first, second = stores
    fence = _acquire(first)
    with pytest.raises(Busy, match=r"'demo' is in use already by process \d+ on .+ since 2"):
        _acquire(second)
    assert lease_table.renew(first, fence).is_held
    lease_table.release(first, fence)
    assert lease_table.find_lease(second, "shop-1") is None
    assert _acquire(second).token == fence.token + 1


def test_atomic(stores: tuple[Store, Store]) -> None:
    """Of many that ask at once, one gets the lease."""
    winners: list[int] = []

    def ask(store: Store, number: int) -> None:
        try:
            winners.append(_acquire(store, lock_file=str(number)).token)
        except Busy:
            return

    threads = [threading.Thread(target=ask, args=(stores[n % 2], n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert winners == [1]


def test_expiry(stores: tuple[Store, Store]) -> None:
    """A lease that is not renewed is taken over; one that is renewed lasts."""
    first, second = stores
    fence = _acquire(first, SHORT)
    with HeldLease(first, fence) as held:
        time.sleep(2 * SHORT)
        with pytest.raises(Busy):
            _acquire(second)
        assert not held.is_lost
    _acquire(first, SHORT)
    time.sleep(1.5 * SHORT)
    assert _acquire(second).token == fence.token + 2


def test_dead_holder(stores: tuple[Store, Store]) -> None:
    """Who has locked the file of the holder takes its lease over at once: the holder is dead."""
    first, second = stores
    fence = _acquire(first)
    assert _acquire(second, lock_file=str(first.data_dir)).token == fence.token + 1


def test_lost_lease_refuses_to_write(stores: tuple[Store, Store]) -> None:
    """A holder that was stopped writes nothing after it was replaced, and learns by whom."""
    first, second = stores
    held = first.fenced(_acquire(first, SHORT))
    with held.write() as session:
        session.add(Shop(name="before", url="http://a.example/"))
    time.sleep(1.5 * SHORT)
    # Nobody has replaced it yet: it may go on.
    with held.write() as session:
        session.add(Shop(name="late", url="http://a.example/"))
    taken = second.fenced(_acquire(second))
    message = r"^shop 'demo' was taken over by process \d+ on .+ since"
    with pytest.raises(LeaseLost, match=message), held.write() as session:
        session.add(Shop(name="after", url="http://a.example/"))
    with taken.write() as session:
        session.add(Run(shop_id=1))
    with first.read() as session:
        assert [shop.name for shop in session.exec(select(Shop).order_by(Shop.id))] == [
            "before",
            "late",
        ]


def test_notices_the_loss(stores: tuple[Store, Store]) -> None:
    """The thread that renews a lease notices that it is lost; the next progress ends the work."""
    first, second = stores
    with HeldLease(first, _acquire(first, SHORT)) as held:
        _acquire(second, lock_file=str(first.data_dir))
        deadline = time.monotonic() + 10
        while not held.is_lost and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(LeaseLost):
            held.watch(lambda *_, **__: None)("pages", 1)
    # The release of a lost lease is none.
    assert lease_table.find_lease(first, "shop-1") is not None


def test_end_request(stores: tuple[Store, Store]) -> None:
    """Any machine may ask the holder to end; the next holder is not asked."""
    first, second = stores
    assert not lease_table.request_end(second, "shop-1")
    asked = threading.Event()
    with HeldLease(first, _acquire(first, SHORT), on_end=asked.set):
        assert lease_table.request_end(second, "shop-1")
        assert asked.wait(10)
    assert lease_table.was_end_requested(second, "shop-1")
    _acquire(second)
    assert not lease_table.was_end_requested(second, "shop-1")


def test_stopped_in_a_transaction(stores: tuple[Store, Store]) -> None:
    """A holder that is stopped within a transaction holds nothing up: its session is ended."""
    first, second = stores
    if first.engine.dialect.name == "sqlite":
        pytest.skip("on SQLite, a process that is stopped while it writes stops all other writers")
    held, taken = first.fenced(_acquire(first, SHORT)), []

    def write_while_stopped() -> None:
        with held.write() as session:
            session.add(Shop(name="open", url="http://a.example/"))
            session.flush()
            time.sleep(1.5 * SHORT)
            began = time.monotonic()
            taken.append(_acquire(second))
            assert time.monotonic() - began < 2
            session.add(Shop(name="more", url="http://a.example/"))

    with pytest.raises(LeaseLost):
        write_while_stopped()
    with second.read() as session:
        assert session.exec(select(Shop)).all() == []
        assert session.exec(select(Lease)).one().token == taken[0].token


def test_long_transaction_on_sqlite(tmp_path: Path) -> None:
    """A transaction longer than the lease renews it at its end: nothing else could meanwhile."""
    store = open_empty_store(Settings.load(data_dir=tmp_path))
    held = store.fenced(_acquire(store, SHORT))
    with held.write() as session:
        time.sleep(1.5 * SHORT)
        session.add(Shop(name="a", url="http://a.example/"))
    assert lease_table.find_lease(store, "shop-1") is not None


def test_unreachable_database(tmp_path: Path) -> None:
    """A database that fails is no lost lease."""
    store = open_empty_store(Settings.load(data_dir=tmp_path))
    held = store.fenced(_acquire(store))
    with pytest.raises(StoreError, match="no space left"), held.write():
        raise StoreError("no space left")
