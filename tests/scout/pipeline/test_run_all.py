"""Shops side by side: within the machine's slots and memory, each run a process of its own that can be taken up."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from sqlmodel import select

from catalog.models import KnownOffer, Run, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks, run_all
from scout.pipeline import run_pool as fleets
from scout.pipeline.run_pool import Ended, Fleet, memory_of
from tests.crawler.server import raw, serve
from tests.scout.conftest import Scout

OFFER = """<html><head><title>{name}</title><script type="application/ld+json">{data}</script></head>
<body><h1>{name}</h1><p class="price">{price} EUR</p><a href="/">all</a></body></html>"""


def _page(number: int, brand: str) -> bytes:
    name, price = f"{brand} mug number {number} with a handle", f"{number + 5}.90"
    data = {"@type": "Product", "name": name, "sku": f"SKU-{number}", "brand": brand}
    data |= {"offers": {"price": price, "priceCurrency": "EUR"}}
    return OFFER.format(name=name, price=price, data=json.dumps(data)).encode()


def _shops(store: Store, *names: str) -> list[Shop]:
    made = [Shop(name=name, url=f"https://{name}.example/") for name in names]
    with store.write() as session:
        session.add_all(made)
        session.flush()
        session.add_all(KnownOffer(shop_id=shop.id or 0, ref="1", title="Mug") for shop in made)
    return made


def _start(monkeypatch: pytest.MonkeyPatch, program: str) -> list[list[str]]:
    """Have every run be a small program; gives the commands that were started."""
    commands: list[list[str]] = []
    popen = subprocess.Popen

    def start(command: list[str], **more: object) -> "subprocess.Popen[bytes]":
        commands.append(command)
        return popen([sys.executable, "-c", program], **more)

    monkeypatch.setattr("scout.pipeline.run_pool.subprocess.Popen", start)
    monkeypatch.setattr(fleets, "LOOK", 0.05)
    return commands


def test_side_by_side(settings: Settings, store: Store, scout: Scout) -> None:
    """`scout run --all` runs every shop to its report, each in a process of its own."""
    with ExitStack() as servers:
        for brand in ("Alpha", "Beta"):
            shop = servers.enter_context(serve())
            links = "".join(f'<a href="/p/{n}">{n}</a>' for n in range(8))
            shop.routes["/"] = raw(f"<html><title>{brand}</title>{links}</html>".encode())
            shop.routes |= {f"/p/{n}": raw(_page(n, brand)) for n in range(8)}
            with store.write() as session:
                made = Shop(name=brand, url=shop.url, allow_private=True)
                session.add(made)
                session.flush()
                for n in range(6):
                    known = {
                        "title": f"{brand} mug number {n} with a handle",
                        "sku": f"SKU-{n}",
                        "price": f"{n + 5}.90",
                    }
                    session.add(
                        KnownOffer(
                            shop_id=made.id or 0, ref=str(n), url=f"{shop.url}p/{n}", **known
                        )
                    )
        said = scout("run", "--all", "--json")
    outcomes = {row["shop"]: row for row in map(json.loads, said.out.splitlines())}
    assert said.code == 0, said.out
    assert {name: (row["state"], row["missing"]) for name, row in outcomes.items()} == {
        "Alpha": ("done", 2),
        "Beta": ("done", 2),
    }
    assert "shops: 2 of 2" in said.err


def test_no_more_than_slots(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two fleets on one machine share its slots: a third run waits, and one that is stopped is not begun."""
    made = _shops(store, "a", "b", "c")
    commands = _start(monkeypatch, "import sys; sys.stdin.read(); import time; time.sleep(0.4)")
    two = settings.model_copy(update={"at_once": 2})
    first, second = Fleet(two, store, []), Fleet(two, store, [])
    with locks.held(two, "slot-0", "busy"):
        threads = [
            threading.Thread(target=fleet.run, args=(shop.id, shop.name))
            for fleet, shop in zip((first, second), made, strict=False)
        ]
        for thread in threads:
            thread.start()
        _wait(lambda: len(commands) == 1)
        time.sleep(0.2)
        assert len(commands) == 1
    for thread in threads:
        thread.join()
    assert len(commands) == 2
    first.stop()
    assert first.run(made[2].id or 0, "c") == Ended(1, "not begun")


def test_over_its_memory(settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that holds more than it may is ended with all that it has started, and its row says why."""
    made = _shops(store, "greedy")[0]
    with store.write() as session:
        session.add(Run(shop_id=made.id or 0))
    _start(
        monkeypatch,
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; x = bytearray(150_000_000); time.sleep(60)'])\n"
        "time.sleep(60)",
    )
    fleet = Fleet(settings.model_copy(update={"run_memory": 100}), store, [])
    ended = fleet.run(made.id or 0, made.name)
    assert ended.over_memory
    assert ended.seconds < 40
    with store.read() as session:
        run = session.exec(select(Run)).one()
    assert run.state == RunState.RUNNING
    assert "more than run_memory allows (100 MB)" in (run.reason or "")
    assert memory_of(2**22 + 1) == 0


class Scripted(Fleet):
    """A fleet whose runs end as they are told to."""

    def __init__(self, settings: Settings, store: Store, ends: dict[str, list[Ended]]) -> None:
        super().__init__(settings, store, [])
        self.ends, self.begun = ends, list[str]()

    def run(self, shop_id: int, name: str) -> Ended:
        self.begun.append(name)
        return self.ends[name].pop(0)


def test_goes_on_later(settings: Settings, store: Store) -> None:
    """A run that was ended for its memory has another turn after the others, and not for ever."""
    made = _shops(store, "a", "b", "c")
    over, failed = (
        Ended(143, "the run held 5000 MB", True),
        Ended(1, "error: no rules could be learnt"),
    )
    one = settings.model_copy(update={"at_once": 1})
    fleet = Scripted(one, store, {"a": [over, failed], "b": [failed], "c": [over] * 3})
    outcomes = list(run_all.run_all(one, store, fleet, made))
    assert fleet.begun == ["a", "b", "c", "a", "c", "c"]
    assert [(one.shop, one.reason) for one in outcomes] == [
        ("b", "no rules could be learnt"),
        ("a", "no rules could be learnt"),
        ("c", "the run held 5000 MB"),
    ]


def test_order(settings: Settings, store: Store) -> None:
    """Unfinished runs come first, then shops that never ran, then those that waited longest; others are left out."""
    made = {shop.name: shop.id or 0 for shop in _shops(store, "done", "new", "open")}
    with store.write() as session:
        session.add(Shop(name="unknown", url="https://unknown.example/"))
        session.add(Run(shop_id=made["done"], state=RunState.DONE))
        session.add(Run(shop_id=made["open"], state=RunState.RUNNING))
    assert [shop.name for shop in run_all.due(store)] == ["open", "new", "done"]


@pytest.mark.parametrize("words", [("run",), ("run", "demo", "--all"), ("run", "--all", "--fresh")])
def test_wrong_usage(scout: Scout, words: tuple[str, ...]) -> None:
    """A run is of one shop or of all, and only one begins anew."""
    assert scout(*words).code == 2


def test_nothing_to_run(scout: Scout, shop: Shop) -> None:
    """Where the catalog knows no offers there is nothing to run."""
    assert "scout catalog import" in scout("run", "--all").error


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
