"""Fixtures of Scout's tests: `scout` called as from a shell, and stages that only record calls."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient
from sqlmodel import Session, col, delete, select, update

from catalog.models import KnownOffer, Match, Page, PageKind, PageState, Role, Shop, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.cli import main
from scout.job_queue.queue_schema import require_queue
from scout.web.access.accounts import add_account, list_accounts
from scout.web.access.api_tokens import add_token
from scout.web.app import create_app
from tests.catalog.storage.postgresql import fresh_database
from tests.made_once import make_once


@dataclass
class CommandResult:
    """The result of a call of `scout`: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that an error has to be, without its prefix."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("error: ")


Scout = Callable[..., CommandResult]


@pytest.fixture
def scout(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Scout:
    """`scout ARGUMENT...` on the data folder of this test."""

    def call(*arguments: str) -> CommandResult:
        code = main(["--data-dir", str(settings.data_dir), *arguments])
        captured = capsys.readouterr()
        return CommandResult(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session", autouse=True)
def _event_loop() -> Iterator[None]:
    """Answer the requests of all test clients in one event loop.

    By default each request starts a thread with a loop, which takes longer than to answer it.
    """
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        yield


def web_client(settings: Settings, store: Store, role: Role = Role.VIEWER) -> TestClient:
    """Return a client of the web application on this machine, with an API token of that role."""
    app = create_app(settings, store, ["127.0.0.1"])
    name = f"test-{role}-{len(list_accounts(store))}"
    add_account(store, name, role, None)
    token = add_token(store, name, "tests")
    return TestClient(
        app,
        base_url="http://127.0.0.1",
        raise_server_exceptions=False,
        headers={"authorization": f"Bearer {token}"},
    )


@dataclass
class FakeStages:
    """Stages that record their calls; an error in `fail[stage]` is raised once instead."""

    calls: list[str] = field(default_factory=list)
    fail: dict[str, BaseException] = field(default_factory=dict)

    def make_stage(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Make the function of a stage, which does `work` after recording the call."""

        def run(settings: Settings, store: Store, shop: Shop, run_id: int, **options: Any) -> Any:
            self.calls.append(stage)
            if stage in self.fail:
                raise self.fail.pop(stage)
            return work(settings, store, shop, run_id)

        return run

    def reset(self, session: Session, shop_id: int, *, full: bool = False) -> None:
        """Make all pages due again."""
        self.calls.append("reset")
        session.exec(
            update(Page).where(col(Page.shop_id) == shop_id).values(state=PageState.PENDING)
        )


def _crawl(settings: Settings, store: Store, shop: Shop, run_id: int) -> dict[str, Any]:
    with store.write() as session:
        if session.exec(select(Page)).first() is None:
            for number in range(3):
                session.add(Page(shop_id=shop.id, url=f"{shop.url}p/{number}", kind=PageKind.OFFER))
            session.flush()
        session.exec(update(Page).values(state=PageState.FETCHED))
    return {"pages": {"fetched": 3}, "requests": 4}


def _match(settings: Settings, store: Store, shop: Shop, run_id: int) -> dict[str, Any]:
    with store.write() as session:
        session.exec(delete(Match).where(col(Match.run_id) == run_id))
        for number, verdict in enumerate(Verdict):
            offer = {
                "title": f"Mug \x1b[31m{number}",
                "price": str(Decimal(number) + 5),
                "currency": "EUR",
            }
            url = f"{shop.url}p/{number}"
            session.add(
                Match(
                    run_id=run_id,
                    shop_id=shop.id,
                    url=url,
                    urls=[url],
                    verdict=verdict,
                    offer=offer,
                )
            )
    return {"listed": 1, "missing": 1, "unsure": 1}


def _report(settings: Settings, store: Store, shop: Shop, run_id: int) -> dict[str, Path]:
    path = settings.data_dir / "reports" / f"{run_id}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("<!doctype html><title>A report</title>", encoding="utf-8")
    return {"html": path}


@pytest.fixture
def fake_stages(monkeypatch: pytest.MonkeyPatch) -> FakeStages:
    """The five stages of a run, replaced: no package but `scout` and `catalog` does any work."""
    stages = FakeStages()
    for module, name, function in (
        ("crawler.crawl", "crawl_shop", stages.make_stage("crawl", _crawl)),
        (
            "rules_generator.learn_job",
            "learn_shop",
            stages.make_stage("learn", lambda *_: {"version": 1}),
        ),
        ("parser.parse_job", "parse_shop", stages.make_stage("parse", lambda *_: {"offers": 3})),
        ("matcher.match_job", "match_shop", stages.make_stage("match", _match)),
        ("reports.write.report_files", "report_shop", stages.make_stage("report", _report)),
        ("crawler.frontier.revisit", "reset_for_revisit", stages.reset),
    ):
        fake = ModuleType(module)
        setattr(fake, name, function)
        monkeypatch.setitem(sys.modules, module, fake)
        package, _, attribute = module.partition(".")
        parent = sys.modules[package] if package in sys.modules else __import__(package)
        monkeypatch.setattr(parent, attribute, fake, False)
    return stages


@pytest.fixture
def known_shop(store: Store, shop: Shop) -> Shop:
    """The stored shop, with an offer that the catalog lists."""
    with store.write() as session:
        session.add(KnownOffer(shop_id=shop.id or 0, ref="1", title="Mug 0", url=f"{shop.url}p/0"))
    return shop


@pytest.fixture
def queue_settings(tmp_path: Path) -> Iterator[Settings]:
    """Settings with a fresh PostgreSQL database, in which queues can be, and short leases."""
    pytest.importorskip("procrastinate", reason="pip install 'scout-offer-gaps[workers]'")
    with fresh_database() as url:
        yield Settings.load(
            data_dir=tmp_path / "var",
            database_url=url,
            use_workers=True,
            lease_seconds=2,
            job_attempts=2,
        )


@pytest.fixture
def queue_store(queue_settings: Settings) -> Iterator[Store]:
    """The store of `queue_settings`, with three shops: a, b, c."""
    store = Store.open(queue_settings)
    require_queue(store)
    with store.write() as session:
        for name in "abc":
            session.add(Shop(name=name, url=f"http://127.0.0.1/{name}/", allow_private=True))
    yield store
    store.engine.dispose()


@pytest.fixture(scope="session")
def demo(fresh_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The object printed by `scout demo --json`, with its standard error and working folder.

    Run once, from the wheel in a fresh environment. Tests only read the folder.
    """

    def run(folder: Path) -> None:
        command = [fresh_python, "-P", "-m", "scout", "--data-dir", "var", "demo", "--json"]
        with (
            (folder / "printed.json").open("wb") as printed,
            (folder / "progress.txt").open("wb") as progress,
        ):
            process = subprocess.run(
                command, stdout=printed, stderr=progress, check=False, cwd=folder, timeout=290
            )
        assert process.returncode == 0, (folder / "progress.txt").read_text()

    folder = make_once(tmp_path_factory, "demo", run)
    result: dict[str, Any] = json.loads((folder / "printed.json").read_text(encoding="utf-8"))
    progress = (folder / "progress.txt").read_text(encoding="utf-8")
    return result | {"stderr": progress, "folder": folder}
