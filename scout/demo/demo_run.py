"""The demonstration: the bundled shop on loopback, the whole job run on it, and the result held against the truth."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlmodel import select

from catalog.errors import ConfigError
from catalog.feeds.importing import Imported, import_offers
from catalog.models import Shop, Verdict
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.model.report_model import Story, gather
from scout.demo.assortment.demo_shop import Demo, Score
from scout.demo.server import Served, serve
from scout.pipeline import pipeline
from scout.pipeline.summary import RunSummary
from url_cleaner.clean import is_clean

if TYPE_CHECKING:
    from scout.demo.server import Request

NAME = "demo"


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration came to. `tracked` are requests with a tracking parameter, `clicks` those billed."""

    run: RunSummary
    story: Story
    imported: Imported
    score: Score
    lacking: int
    requests: int
    tracked: int
    clicks: int


def settings_for(settings: Settings, keep: bool) -> Settings:
    """Settings for a folder of the demo's own below the data folder, emptied unless it is to be kept."""
    folder = settings.data_dir / NAME
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return settings.model_copy(update={"data_dir": folder, "database_url": "", "bodies_url": ""})


@contextmanager
def served(demo: Demo, store: Store) -> "Iterator[Served]":
    """The shop, where a kept run of it has known it before, else on any free port. Raises ConfigError."""
    with store.read() as session:
        before = session.exec(select(Shop).where(Shop.name == NAME)).first()
    port = urlsplit(before.url).port if before else None
    with ExitStack() as stack:
        try:
            running = stack.enter_context(serve(demo, port or 0))
        except OSError as error:
            raise ConfigError(
                f"the demo shop cannot be served on port {port} as before: {error.strerror}; free the port, "
                "or run 'scout demo' without --keep"
            ) from error
        yield running


def demonstrate(
    settings: Settings, store: Store, demo: Demo, shop: Served, progress: Progress = silent
) -> Demonstration:
    """Add the shop, import its feed, run it, and compare what is said to be missing with what is."""
    added = _added(store, shop.url)
    feed = settings.data_dir / "feed.xml"
    feed.write_bytes(demo.feed(shop.url))
    imported = import_offers(store, added, str(feed), progress=progress)
    done = pipeline.run_shop(settings, store, added, progress=progress)
    story = gather(store, added, done.run)
    return Demonstration(
        run=done,
        story=story,
        imported=imported,
        score=demo.score(finding.url for finding in story.of(Verdict.MISSING)),
        lacking=len(demo.missing()),
        requests=len(shop.log),
        tracked=sum(_is_tracked(request, shop.url) for request in shop.log),
        clicks=shop.clicks,
    )


def _added(store: Store, url: str) -> Shop:
    with store.write() as session:
        shop = session.exec(select(Shop).where(Shop.name == NAME)).first()
        shop = shop or Shop(name=NAME, url=url, allow_private=True)
        session.add(shop)
    return shop


def _is_tracked(request: "Request", root: str) -> bool:
    return "?" in request.path and not is_clean(root.rstrip("/") + request.path, home=root)


def report_of(done: Demonstration) -> Path | None:
    """Where the HTML report is."""
    path = done.run.reports.get("html")
    return Path(path).resolve() if path else None
