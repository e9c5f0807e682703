"""Crawl job: the parameters of one crawl, and the resources that the crawling process opens.

Everyone on the machine can read the command line of a process, and its environment is inherited by
others. So the job is sent over a socket, settings included.
"""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

from catalog.models import Shop
from catalog.runtime.file_locks import lock_file
from catalog.runtime.settings import Settings
from catalog.storage.leases.fence import Fence
from catalog.storage.store import Store
from crawler.fetch import browser

LOCK_TIMEOUT = 30.0  # seconds; the process of a killed crawl may take a moment to end


@dataclass(frozen=True)
class CrawlJob:
    """A shop to crawl. With `follow` False only pages that are in the table already are fetched.

    `isolated` is set after a crawler process died: pages are then processed in a worker process.
    With `anew` pages that have not changed are fetched and processed as well. `uses_browser` is set
    for a shop that needs JavaScript. `fence` is that of the shop's lease, under which everything is
    written.

    If several `crawlers` share the shop, each may request `pages_left` pages. The first one begins
    the crawl: it reads the sitemaps and the root. A helper takes pages of the page table only.
    """

    settings: Settings
    shop: str
    run_id: int | None = None
    max_pages: int | None = None
    follow: bool = True
    isolated: bool = False
    anew: bool = False
    uses_browser: bool = False
    fence: Fence | None = None
    crawlers: int = 1
    pages_left: int | None = None
    is_helper: bool = False

    def page_limit(self, shop: Shop) -> int:
        """Return the number of pages that all crawlers of the shop may request in the run."""
        return shop.max_pages if self.max_pages is None else self.max_pages


@dataclass(frozen=True)
class OpenedJob:
    """A job with its store, its shop, and the lock that excludes every other crawl of the shop.

    Helpers belong to the crawl that holds the lock.
    """

    job: CrawlJob
    store: Store
    shop: Shop
    shop_id: int
    lock: FileLock | None

    @property
    def log(self) -> Path:
        """The crawl's log file; its folder is created if needed."""
        return log_file(self.job.settings, self.shop_id, self.job.run_id)

    @property
    def user_agent(self) -> str:
        """Scout's name and version, and the contact for complaints."""
        contact = self.job.settings.contact
        name = f"Scout/{version('scout-offer-gaps')}"
        return f"{name} (+{contact})" if contact else name

    def scrapy_settings(self) -> dict[str, Any]:
        """Translate Scout's and the shop's settings into Scrapy's.

        Raises ConfigError, UnreachableShop.
        """
        settings = self.job.settings
        scrapy_settings: dict[str, Any] = {
            "USER_AGENT": self.user_agent,
            "CONCURRENT_REQUESTS_PER_DOMAIN": max(1, settings.concurrency // self.job.crawlers),
            "DOWNLOAD_DELAY": self.shop.delay * self.job.crawlers,
            "DOWNLOAD_TIMEOUT": settings.timeout,
            "DOWNLOAD_MAXSIZE": settings.max_body,
            "DOWNLOAD_VERIFY_CERTIFICATES": settings.verify_certificates,
        }
        if self.shop.javascript:
            scrapy_settings |= browser.scrapy_settings(settings, self.shop, self.user_agent)
        return scrapy_settings


def log_file(settings: Settings, shop_id: int | None, run_id: int | None) -> Path:
    """Return the log file of a run's crawl; creates its folder."""
    folder = settings.data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"crawl-{shop_id}-{run_id}.log"


def open_job(job: CrawlJob) -> OpenedJob:
    """Open a job. Raises UnknownShop, StoreError, Busy."""
    store = Store.open(job.settings).fenced(job.fence)
    shop = store.shop(job.shop)
    lock = None if job.is_helper else _lock(job.settings, shop)
    return OpenedJob(job, store, shop, shop.id or 0, lock)


def _lock(settings: Settings, shop: Shop) -> FileLock:
    """Lock the shop against other crawls on this machine. Raises Busy, StoreError.

    The lease of the shop excludes other runs. This lock waits until the crawler of a run that was
    killed has ended too, so that the shop is never asked by both.
    """
    busy = f"shop {shop.name!r} is being crawled by another process: wait for it to end, or end it"
    return lock_file(settings.data_dir / "locks" / f"crawl-{shop.id}.lock", busy, LOCK_TIMEOUT)
