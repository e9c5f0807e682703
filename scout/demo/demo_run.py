"""`scout demo`: serve and run the bundled shop, compare the missing offers with the truth."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlmodel import select

from catalog.errors import ConfigError
from catalog.feeds.importing import ImportSummary, import_offers
from catalog.models import Shop, Verdict
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.model.report_model import Report, build_report
from scout.demo.assortment.demo_shop import DemoShop, Score
from scout.demo.server import ServedShop, serve
from scout.pipeline import shop_run
from scout.pipeline.run_summary import RunSummary
from url_cleaner.cleaner import is_clean

if TYPE_CHECKING:
    from scout.demo.server import LoggedRequest

SHOP_NAME = "demo"
"""Name of the shop in the store, and of its folder below the data folder."""


@dataclass(frozen=True)
class DemoResult:
    """The result of a demo.

    `tracked` counts requests with a tracking parameter, `clicks` those to the redirector.
    """

    run: RunSummary
    report: Report
    imported: ImportSummary
    score: Score
    lacking: int
    requests: int
    tracked: int
    clicks: int


def demo_settings(settings: Settings, keep: bool) -> Settings:
    """Return settings for the demo's own folder below the data folder.

    It is emptied unless `keep` is set.
    """
    folder = settings.data_dir / SHOP_NAME
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # Empty URLs mean: database and page bodies below the data folder.
    return settings.model_copy(update={"data_dir": folder, "database_url": "", "bodies_url": ""})


@contextmanager
def serve_demo(shop: DemoShop, store: Store) -> "Iterator[ServedShop]":
    """Serve the shop on the port of its stored URL, else on any free one.

    Raises ConfigError where it is taken.
    """
    with store.read() as session:
        stored = session.exec(select(Shop).where(Shop.name == SHOP_NAME)).first()
    port = urlsplit(stored.url).port if stored else None
    with ExitStack() as stack:
        try:
            served = stack.enter_context(serve(shop, port or 0))
        except OSError as error:
            raise ConfigError(
                f"the demo shop cannot be served on port {port} as before: {error.strerror}; "
                "free the port, or run 'scout demo' without --keep"
            ) from error
        yield served


def run_demo(
    settings: Settings,
    store: Store,
    shop: DemoShop,
    served: ServedShop,
    progress: Progress = no_progress,
) -> DemoResult:
    """Register the shop, import its feed, run it, and score the offers reported as missing."""
    stored = _register(store, served.url)
    feed = settings.data_dir / "feed.xml"
    feed.write_bytes(shop.feed(served.url))
    imported = import_offers(store, stored, str(feed), progress=progress)
    summary = shop_run.run_shop(settings, store, stored, progress=progress)
    report = build_report(store, stored, summary.run, rates=settings.rates)
    return DemoResult(
        run=summary,
        report=report,
        imported=imported,
        score=shop.score(finding.url for finding in report.findings_with(Verdict.MISSING)),
        lacking=len(shop.missing()),
        requests=len(served.log),
        tracked=sum(_is_tracked(request, served.url) for request in served.log),
        clicks=served.clicks,
    )


def report_path(result: DemoResult) -> Path | None:
    """Return the path of the HTML report, or None where none was written."""
    path = result.run.reports.get("html")
    return Path(path).resolve() if path else None


def _register(store: Store, url: str) -> Shop:
    with store.write() as session:
        shop = session.exec(select(Shop).where(Shop.name == SHOP_NAME)).first()
        shop = shop or Shop(name=SHOP_NAME, url=url, allow_private=True)
        session.add(shop)
    return shop


def _is_tracked(request: "LoggedRequest", root: str) -> bool:
    if "?" not in request.path:
        return False
    return not is_clean(root.rstrip("/") + request.path, home=root)
