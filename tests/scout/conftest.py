"""The roof's tests: `scout` called as from a shell, and rooms that do nothing but leave their traces."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlmodel import Session, col, delete, select, update

from catalog.models import KnownOffer, Match, Page, PageKind, PageState, Shop, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.cli import main


@dataclass
class Said:
    """What a call of `scout` left behind."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that an error has to be."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("error: ")


Scout = Callable[..., Said]


@pytest.fixture
def scout(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Scout:
    """`scout WORD...` on this test's own data folder."""

    def call(*words: str) -> Said:
        code = main(["--data-dir", str(settings.data_dir), *words])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@dataclass
class Rooms:
    """Rooms that note that they were called; `fail[stage]` is raised instead, once."""

    calls: list[str] = field(default_factory=list)
    fail: dict[str, BaseException] = field(default_factory=dict)

    def step(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """A room's long step."""

        def run(settings: Settings, store: Store, shop: Shop, run_id: int, **more: Any) -> Any:
            self.calls.append(stage)
            if stage in self.fail:
                raise self.fail.pop(stage)
            return work(settings, store, shop, run_id)

        return run

    def recrawl(self, session: Session, shop_id: int) -> None:
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
def rooms(monkeypatch: pytest.MonkeyPatch) -> Rooms:
    """The five rooms that a run goes through, replaced."""
    made = Rooms()
    nothing = dict[str, Any]
    for module, name, step in (
        ("crawler.crawl", "crawl_shop", made.step("crawl", _crawl)),
        ("rules_generator.learn", "learn_shop", made.step("learn", lambda *_: nothing(version=1))),
        ("parser.parse_job", "parse_shop", made.step("parse", lambda *_: nothing(offers=3))),
        ("matcher.match_job", "match_shop", made.step("match", _match)),
        ("reports.write.write", "report_shop", made.step("report", _report)),
        ("crawler.frontier.revisit", "reset", made.recrawl),
    ):
        fake = ModuleType(module)
        setattr(fake, name, step)
        monkeypatch.setitem(sys.modules, module, fake)
        parent, _, last = module.partition(".")
        monkeypatch.setattr(
            sys.modules[parent] if parent in sys.modules else __import__(parent), last, fake, False
        )
    return made


@pytest.fixture
def known(store: Store, shop: Shop) -> Shop:
    """The stored shop, with an offer that the catalog lists."""
    with store.write() as session:
        session.add(KnownOffer(shop_id=shop.id or 0, ref="1", title="Mug 0", url=f"{shop.url}p/0"))
    return shop


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `scout demo --json` printed, what it said beside that, and the folder it was called in; made once."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "scout", "--data-dir", str(folder / "var"), "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value | {"stderr": done.stderr, "folder": folder}
