"""Shops run in parallel, within the machine's slots and memory, in processes of their own."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from sqlmodel import select

from catalog.models import KnownOffer, Run, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import batch_run, locks, run_pool
from scout.pipeline.run_pool import RunPool, RunResult, process_memory
from tests.crawler.server import raw, serve
from tests.scout.conftest import Scout
from tests.scout.programs import replace_runs

OFFER = """<html><head><title>{name}</title><script type="application/ld+json">{data}</script></head>
<body><h1>{name}</h1><p class="price">{price} EUR</p><a href="/">all</a></body></html>"""


def _page(number: int, brand: str) -> bytes:
    name, price = f"{brand} mug number {number} with a handle", f"{number + 5}.90"
    data = {"@type": "Product", "name": name, "sku": f"SKU-{number}", "brand": brand}
    data |= {"offers": {"price": price, "priceCurrency": "EUR"}}
    return OFFER.format(name=name, price=price, data=json.dumps(data)).encode()


def _shops(store: Store, *names: str) -> list[Shop]:
    shops = [Shop(name=name, url=f"https://{name}.example/") for name in names]
    with store.write() as session:
        session.add_all(shops)
        session.flush()
        session.add_all(KnownOffer(shop_id=shop.id or 0, ref="1", title="Mug") for shop in shops)
    return shops


def _replace_runs(monkeypatch: pytest.MonkeyPatch, program: str) -> list[list[str]]:
    monkeypatch.setattr(run_pool, "MEMORY_CHECK_INTERVAL", 0.05)
    return replace_runs(monkeypatch, program)


def test_parallel(settings: Settings, store: Store, scout: Scout) -> None:
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
        result = scout("run", "--all", "--json")
    outcomes = {row["shop"]: row for row in map(json.loads, result.out.splitlines())}
    assert result.code == 0, result.out
    assert {name: (row["state"], row["missing"]) for name, row in outcomes.items()} == {
        "Alpha": ("done", 2),
        "Beta": ("done", 2),
    }
    assert "shops: 2 of 2" in result.err


def test_removed_shop(settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shop that is removed as its run begins fails alone, with its reason: the others are run."""
    shops = _shops(store, "gone", "stays")
    log = run_pool.run_log_path(settings, shops[0].id or 0)
    program = (
        f"import os; os.path.exists({str(log)!r}) and os.unlink({str(log)!r}); print('removed')"
    )
    _replace_runs(monkeypatch, f"{program}; raise SystemExit(1)")
    one_by_one = settings.model_copy(update={"at_once": 1})
    outcomes = batch_run.run_shops(one_by_one, store, RunPool(one_by_one, store, []), shops)
    assert [(outcome.shop, outcome.reason) for outcome in outcomes] == [
        ("gone", "removed"),
        ("stays", "removed"),
    ]


def test_slots(settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pools on one machine share its slots: a third run waits; a stopped pool starts none."""
    shops = _shops(store, "a", "b", "c")
    commands = _replace_runs(
        monkeypatch, "import sys; sys.stdin.read(); import time; time.sleep(0.4)"
    )
    limited = settings.model_copy(update={"at_once": 2})
    first, second = RunPool(limited, store, []), RunPool(limited, store, [])
    with locks.hold_lock(limited, "slot-0", "busy"):
        threads = [
            threading.Thread(target=pool.run, args=(shop.id, shop.name))
            for pool, shop in zip((first, second), shops, strict=False)
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
    assert first.run(shops[2].id or 0, "c") == RunResult(1, "not begun")


def test_memory_limit(settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run over its memory limit is ended with all its processes, and its row has the reason."""
    shop = _shops(store, "greedy")[0]
    with store.write() as session:
        session.add(Run(shop_id=shop.id or 0))
    _replace_runs(
        monkeypatch,
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; x = bytearray(150_000_000); time.sleep(60)'])\n"
        "time.sleep(60)",
    )
    pool = RunPool(settings.model_copy(update={"run_memory": 100}), store, [])
    result = pool.run(shop.id or 0, shop.name)
    assert result.over_memory
    assert result.seconds < 40
    with store.read() as session:
        run = session.exec(select(Run)).one()
    assert run.state == RunState.RUNNING
    assert "more than run_memory allows (100 MB)" in (run.reason or "")
    assert process_memory(2**22 + 1) == 0


class ScriptedPool(RunPool):
    """A pool whose runs have scripted results."""

    def __init__(
        self, settings: Settings, store: Store, results: dict[str, list[RunResult]]
    ) -> None:
        super().__init__(settings, store, [])
        self.results, self.started = results, list[str]()

    def run(self, shop_id: int, name: str) -> RunResult:
        self.started.append(name)
        return self.results[name].pop(0)


def test_memory_retries(settings: Settings, store: Store) -> None:
    """A run ended for its memory is started again after the others, up to three times in all."""
    shops = _shops(store, "a", "b", "c")
    over, failed = (
        RunResult(143, "the run held 5000 MB", True),
        RunResult(1, "error: no rules could be learnt"),
    )
    single = settings.model_copy(update={"at_once": 1})
    pool = ScriptedPool(single, store, {"a": [over, failed], "b": [failed], "c": [over] * 3})
    outcomes = list(batch_run.run_shops(single, store, pool, shops))
    assert pool.started == ["a", "b", "c", "a", "c", "c"]
    assert [(outcome.shop, outcome.reason) for outcome in outcomes] == [
        ("b", "no rules could be learnt"),
        ("a", "no rules could be learnt"),
        ("c", "the run held 5000 MB"),
    ]


def test_order(settings: Settings, store: Store) -> None:
    """Unfinished runs come first, then shops never run, then by the newest run.

    Shops without offers are left out.
    """
    ids = {shop.name: shop.id or 0 for shop in _shops(store, "done", "new", "open")}
    with store.write() as session:
        session.add(Shop(name="unknown", url="https://unknown.example/"))
        session.add(Run(shop_id=ids["done"], state=RunState.DONE))
        session.add(Run(shop_id=ids["open"], state=RunState.RUNNING))
    assert [shop.name for shop in batch_run.due_shops(store)] == ["open", "new", "done"]


@pytest.mark.parametrize(
    "arguments", [("run",), ("run", "demo", "--all"), ("run", "--all", "--fresh")]
)
def test_wrong_usage(scout: Scout, arguments: tuple[str, ...]) -> None:
    """`scout run` takes one shop or --all, and --fresh only with one shop."""
    assert scout(*arguments).code == 2


def test_nothing_to_run(scout: Scout, shop: Shop) -> None:
    """Without known offers `scout run --all` fails with the command to import some."""
    assert "scout catalog import" in scout("run", "--all").error


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
