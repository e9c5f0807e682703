"""WARC writer (ISO 28500): a crawl as one file, for archives and `scout crawl --from`.

Written are the fetched pages, with their last response, and redirects within the shop. Bodies are
stored without their transfer codings, so no header of those is written. The file gets its name once
it is complete; a killed export leaves a `.part` file, which the next one overwrites.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from sqlalchemy import func
from sqlmodel import col, select
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from catalog.errors import StorageFull, UsageError
from catalog.models import Page, PageState, Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store

EXPORTED_STATES = (PageState.FETCHED, PageState.REDIRECTED)
BATCH_SIZE = 500  # pages read at a time: no reader holds the database for long
REASON_PHRASES = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    307: "Temporary Redirect",
}


@dataclass(frozen=True)
class WarcExport:
    """A written file: its path, its pages, its size in bytes."""

    file: str
    pages: int
    bytes: int


def write_warc(
    settings: Settings, store: Store, shop: Shop, file: Path, *, progress: Progress = no_progress
) -> WarcExport:
    """Write a shop's crawled pages to a WARC file, gzipped if its name ends so.

    Raises UsageError, StorageFull.
    """
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("wb") as out:
            pages = _write(out, file.name, settings, store, shop, progress)
            out.flush()
            os.fsync(out.fileno())
        size = part.stat().st_size
        part.replace(file)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(
                f"no space left for {file}: free some and run the same command again"
            ) from error
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        # Where the file cannot be written, its path may not even be asked for.
        with suppress(OSError):
            part.unlink()
    return WarcExport(str(file), pages, size)


def _write(
    out: IO[bytes], name: str, settings: Settings, store: Store, shop: Shop, progress: Progress
) -> int:
    writer = WARCWriter(out, gzip=name.endswith(".gz"))
    bodies = BodyStore(settings.bodies)
    info = {
        "software": f"Scout/{version('scout-offer-gaps')}",
        "isPartOf": shop.url,
        "format": "WARC File Format 1.0",
    }
    writer.write_record(writer.create_warcinfo_record(name, info))
    total = _count(store, shop)
    done = 0
    for page in _pages(store, shop):
        body = b""
        if page.body and page.state == PageState.FETCHED:
            body = bodies.get(page.body)
        writer.write_record(_record(writer, page, body))
        done += 1
        progress("pages", done, total)
    if not done:
        raise UsageError(
            f"shop {shop.name!r} has no crawled pages: 'scout crawl {shop.name}' fetches them"
        )
    return done


def _record(writer: WARCWriter, page: Page, body: bytes) -> Any:
    # A page that answered 304 has the body of an earlier 200.
    status = page.status if page.status and page.status != 304 else 200
    values = {
        "Content-Type": page.content_type,
        "ETag": page.etag,
        "Last-Modified": page.last_modified,
        "Location": page.canonical if page.state == PageState.REDIRECTED else None,
        "Content-Length": str(len(body)),
    }
    # A line break in a stored value would start a header of its own.
    headers = [(name, " ".join(value.split())) for name, value in values.items() if value]
    status_line = f"{status} {REASON_PHRASES.get(status, '')}".strip()
    warc_headers = {}
    if page.fetched_at:
        fetched_at = page.fetched_at.astimezone(UTC)
        warc_headers["WARC-Date"] = fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return writer.create_warc_record(
        page.url,
        "response",
        payload=BytesIO(body),
        http_headers=StatusAndHeaders(status_line, headers, protocol="HTTP/1.1"),
        warc_headers_dict=warc_headers,
    )


def _pages(store: Store, shop: Shop) -> Iterator[Page]:
    """Yield the pages to write, by id."""
    last_id = 0
    while True:
        pages = select(Page).where(
            Page.shop_id == shop.id, col(Page.state).in_(EXPORTED_STATES), col(Page.id) > last_id
        )
        with store.read() as session:
            batch = list(session.exec(pages.order_by(col(Page.id)).limit(BATCH_SIZE)))
            session.expunge_all()
        if not batch:
            return
        yield from (page for page in batch if page.body or page.canonical)
        last_id = batch[-1].id or 0


def _count(store: Store, shop: Shop) -> int:
    pages = select(func.count()).where(
        Page.shop_id == shop.id, col(Page.state).in_(EXPORTED_STATES)
    )
    with store.read() as session:
        return int(session.exec(pages).one())
