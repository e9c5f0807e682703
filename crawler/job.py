"""What one crawl is to do, and how it is handed to the process that does it.

The command line of a process can be read by everyone on the machine, and `scout.toml` stands above the environment;
so the job goes over standard input, settings included. That pipe then stays open for the life of the crawl: see
`crawler.supervision`.
"""

import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from catalog.errors import Busy
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from crawler.fetch import browser

PATIENCE = 30.0


@dataclass(frozen=True)
class Job:
    """A shop to crawl. `follow` False means: only the pages that are in the table already."""

    settings: Settings
    shop: str
    run_id: int | None = None
    max_pages: int | None = None
    follow: bool = True

    @classmethod
    def read(cls, line: str) -> "Job":
        """The job written by `write`."""
        words: dict[str, Any] = json.loads(line)
        return cls(Settings.load(**words.pop("settings")), **words)

    def write(self) -> str:
        """One line of JSON."""
        words = {
            "settings": self.settings.model_dump(mode="json"),
            "shop": self.shop,
            "run_id": self.run_id,
        }
        return json.dumps(words | {"max_pages": self.max_pages, "follow": self.follow})


@dataclass(frozen=True)
class Opened:
    """A job with its store, its shop, and the lock that keeps every other crawl of the shop out."""

    job: Job
    store: Store
    shop: Shop
    shop_id: int
    lock: FileLock

    @property
    def log(self) -> Path:
        """Where the crawl's log goes; its folder is made where there is none."""
        return log_file(self.job.settings, self.shop_id, self.job.run_id)

    @property
    def limit(self) -> int:
        """How many pages may be requested in all."""
        return self.shop.max_pages if self.job.max_pages is None else self.job.max_pages

    @property
    def user_agent(self) -> str:
        """Who asks, and whom to write to."""
        contact = self.job.settings.contact
        name = f"Scout/{version('scout-offer-gaps')}"
        return f"{name} (+{contact})" if contact else name

    def scrapy_settings(self) -> dict[str, Any]:
        """What Scout's settings and the shop's mean in Scrapy's words."""
        settings = self.job.settings
        rendered = (
            browser.scrapy_settings(settings, self.shop, self.user_agent)
            if self.shop.javascript
            else {}
        )
        return {
            "USER_AGENT": self.user_agent,
            "CONCURRENT_REQUESTS_PER_DOMAIN": settings.concurrency,
            "DOWNLOAD_DELAY": self.shop.delay,
            "DOWNLOAD_TIMEOUT": settings.timeout,
            "DOWNLOAD_MAXSIZE": settings.max_body,
            "DOWNLOAD_VERIFY_CERTIFICATES": settings.verify_certificates,
            **rendered,
        }


def log_file(settings: Settings, shop_id: int | None, run_id: int | None) -> Path:
    """The log of a run's crawl."""
    folder = settings.data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"crawl-{shop_id}-{run_id}.log"


def open_job(name: str | None) -> Opened:
    """The job of standard input, or that of the shop called `name`. Raises UnknownShop, StoreError, Busy."""
    job = Job(Settings.load(), name) if name else Job.read(sys.stdin.readline())
    store = Store.open(job.settings)
    shop = store.shop(job.shop)
    return Opened(job, store, shop, shop.id or 0, _lock(job.settings, shop))


def _lock(settings: Settings, shop: Shop) -> FileLock:
    """A killed crawl's process may take a moment to end; a living one is not waited for for ever."""
    folder = settings.data_dir / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"crawl-{shop.id}.lock")
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise Busy(
            f"shop {shop.name!r} is being crawled by another process: wait for it to end, or end it"
        ) from error
    return lock
