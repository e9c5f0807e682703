"""A served control room with shops in all states, for tests in a browser.

The shop `demo` was learnt, read and matched by the real stages from pages that were never crawled;
the others only have rows. Values with HTML, scripts and formulas stand wherever a shop, a feed or a
visitor can put them.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from html import escape
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from sqlmodel import select, update

from catalog.feeds.importing import import_offers
from catalog.models import (
    DeliveryKind,
    Match,
    Page,
    PageState,
    Role,
    Run,
    RunState,
    Shop,
    Stage,
    StoredFinding,
    Verdict,
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.storage.findings import fold_key
from catalog.storage.store import Store
from matcher.match_job import match_shop
from parser.parse_job import parse_shop
from reports.model.finding_storage import store_run_findings
from reports.statistics.coverage import measure_coverage
from scout.delivery.deliveries import add_delivery
from scout.schedule.timetable import schedule_shop
from scout.web.access.accounts import add_account
from scout.web.access.api_tokens import add_token
from scout.web.access.audit import record_action
from scout.web.app import create_app
from tests.pages import Product, products, text_page
from tests.parser.test_parse_job import store_pages
from tests.scout.inspect.test_page_inspection import store_learnt_shop
from tests.scout.web.browser import PASSWORD

# A value of a shop that would set this flag of the window if anything of it ran.
FLAG = "scoutWasHacked"
HOSTILE_TITLES = (
    f"<script>window.{FLAG}=1</script> Lamp",
    f'"><img src="http://evil.example/i.png" onerror="window.{FLAG}=1"> Kettle',
    f"{{{{constructor.constructor('window.{FLAG}=1')()}}}} Rug ${{window.{FLAG}=1}}",
    "=HYPERLINK(1) ' onmouseover='alert(1) Vase",
)
# A stored page that would run scripts, load files and leave the page if it were not made inert.
HOSTILE_PAGE = f"""<script>window.{FLAG}=1; top.{FLAG}=1</script>
<meta http-equiv="refresh" content="0;url=http://evil.example/">
<link rel="stylesheet" href="http://evil.example/a.css"><style>p {{background: url(http://evil.example/b.png)}}</style>
<img src="http://evil.example/i.png" onerror="top.{FLAG}=1"><svg onload="top.{FLAG}=1"></svg>
<iframe src="http://evil.example/"></iframe><a class="bait" href="http://evil.example/">bait</a>
<form action="http://evil.example/"><button>send</button></form>
"""
HOSTILE_URL = f"javascript:window.{FLAG}=1//http://evil.example/"
HOSTILE_REASON = f'http 503 <img src=x onerror="window.{FLAG}=1">'


@dataclass(frozen=True)
class ControlRoom:
    """A control room under an address, with its application, store and shop that was learnt."""

    address: str
    app: FastAPI
    settings: Settings
    store: Store
    shop: Shop


@contextmanager
def serve(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port in a thread; yields its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=1, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def open_control_room(settings: Settings, store: Store, folder: Path) -> Iterator[ControlRoom]:
    """Fill the store and serve it; there is an account of each role, named after it."""
    shop = _store_demo_shop(settings, store)
    _store_other_shops(store, folder)
    for role in Role:
        add_account(store, str(role), role, PASSWORD)
    schedule_shop(store, shop, "30 5 * * 1-5")
    team = f"<b onclick='{FLAG}=1'>team"
    add_delivery(store, team, DeliveryKind.MAIL, "team@shop.example", "0 7 * * 1-5")
    record_action(store, "admin", "offers decided", "demo", {"decision": HOSTILE_TITLES[0]})
    add_token(store, "admin", f"<i>{HOSTILE_TITLES[1]}")
    app = create_app(settings, store, ["127.0.0.1"])
    with serve(app) as address:
        yield ControlRoom(address, app, settings, store, shop)


def _store_demo_shop(settings: Settings, store: Store) -> Shop:
    """Store a shop with two finished runs, the second of which saw hostile offers and less pages."""
    with store.write() as session:
        shop = Shop(name="demo", url="http://127.0.0.1:9/", allow_private=True)
        session.add(shop)
    first_id = store_learnt_shop(settings, store, shop)
    _finish_run(settings, store, shop, first_id, page_share=0.99)
    store_pages(settings, store, shop, _hostile_pages())
    with store.write() as session:
        second = Run(shop_id=shop.id or 0)
        session.add(second)
        session.add(
            Page(
                shop_id=shop.id or 0,
                url=f"{shop.url}{'a-long-path-' * 20}",
                state=PageState.FAILED,
                reason="http 503",
            )
        )
    _finish_run(settings, store, shop, second.id or 0, page_share=0.7)
    _store_hostile_values(store, second.id or 0)
    return shop


def _hostile_pages() -> dict[str, str]:
    """Return pages of offers that no catalog has, with hostile values and hostile markup."""
    pages = {}
    for product, title in zip(products(40)[30:], HOSTILE_TITLES * 3, strict=False):
        values = {
            **vars(product),
            "title": escape(f"{title} {product.number}"),
            "brand": escape(title),
        }
        page = text_page(Product(**values))
        pages[f"x{product.number}"] = page.replace("</body>", f"{HOSTILE_PAGE}</body>")
    return pages


def _finish_run(
    settings: Settings, store: Store, shop: Shop, run_id: int, page_share: float
) -> None:
    """Read and match the pages of a shop in a run, and store its findings."""
    parse_shop(settings, store, shop, run_id, workers=1)
    match_shop(settings, store, shop, run_id)
    coverage = measure_coverage(store, shop, run_id).as_json() | {"page_share": page_share}
    with store.write() as session:
        session.exec(update(Page).values(fetched_at=utc_now()))
        run = session.get_one(Run, run_id)
        run.state, run.stage, run.finished_at = RunState.DONE, Stage.REPORT, utc_now()
        run.figures = {"coverage": coverage, "crawl": {"seconds": 12.5}}
    store_run_findings(store, shop, run_id, {"EUR": Decimal(1)})


def _store_hostile_values(store: Store, run_id: int) -> None:
    """Put hostile values into the missing findings, as if the parser had left the markup in them."""
    with store.write() as session:
        missing = select(StoredFinding).where(
            StoredFinding.run_id == run_id, StoredFinding.verdict == Verdict.MISSING
        )
        for number, finding in enumerate(session.exec(missing)):
            value = HOSTILE_TITLES[number % len(HOSTILE_TITLES)]
            fields = {"title": f"{value} {number}", "brand": value, "category": f"Home > {value}"}
            finding.sqlmodel_update(fields)
            finding.brand_key = fold_key(finding.brand)
            finding.category_key = fold_key(finding.category)
            session.add(finding)
            match = session.get_one(Match, finding.match_id)
            match.offer = {**match.offer, **fields}
            match.reasons = [value]
            if number == 0:
                finding.url = match.url = HOSTILE_URL
                finding.urls = match.urls = [HOSTILE_URL, f"{HOSTILE_URL}+1"]
            session.add(match)


def _store_other_shops(store: Store, folder: Path) -> None:
    """Store a shop whose run failed, one under way, and one with an import that was never run."""
    with store.write() as session:
        failed = Shop(name="failed & <b>shop", url="https://failed.example/")
        busy = Shop(name="busy", url="https://busy.example/")
        imported = Shop(name="imported", url="https://imported.example/")
        session.add_all([failed, busy, imported])
        session.flush()
        begun = utc_now() - timedelta(hours=1)
        session.add(
            Run(
                shop_id=failed.id or 0,
                state=RunState.FAILED,
                stage=Stage.CRAWL,
                reason=HOSTILE_REASON,
                started_at=begun,
                finished_at=utc_now(),
            )
        )
        session.add(Run(shop_id=busy.id or 0, started_at=begun))
        session.add(Page(shop_id=busy.id or 0, url="https://busy.example/a"))
    feed = folder / "feed <b>.csv"
    feed.write_text(f'id,title\n1,Lamp\n2,"{HOSTILE_TITLES[3]}"\n"{HOSTILE_TITLES[0]}",\n')
    import_offers(store, imported, str(feed))


def run_of(store: Store, shop_name: str) -> int:
    """Return the id of the newest run of a shop."""
    with store.read() as session:
        query = select(Run).join(Shop).where(Shop.name == shop_name)
        return max(run.id or 0 for run in session.exec(query))
