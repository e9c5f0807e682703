"""A crawl as a WARC file (ISO 28500), for archives, other tools, and `scout crawl --from` on another machine.

Written are the pages that were fetched, as they were answered last, and redirects within the shop. The body is what
stood in the answer once its transfer codings were taken off, so no header of those is written. The file has its name
when it is whole: one that was killed in the middle leaves a `.part` beside it, and is begun anew.
"""

import errno
import os
from collections.abc import Iterator
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
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store

WRITTEN = (PageState.FETCHED, PageState.REDIRECTED)
AT_ONCE = 500
SAID = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    307: "Temporary Redirect",
}


@dataclass(frozen=True)
class Exported:
    """What was written, and how large it is."""

    file: str
    pages: int
    bytes: int


def write_warc(
    settings: Settings, store: Store, shop: Shop, file: Path, *, progress: Progress = silent
) -> Exported:
    """Write a shop's crawled pages to a WARC file, gzipped where its name says so. Raises UsageError, StorageFull."""
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("wb") as out:
            done = _write(out, file.name, settings, store, shop, progress)
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
        part.unlink(missing_ok=True)
    return Exported(str(file), done, size)


def _write(
    out: IO[bytes], name: str, settings: Settings, store: Store, shop: Shop, progress: Progress
) -> int:
    writer, bodies, done = WARCWriter(out, gzip=name.endswith(".gz")), Bodies(settings.bodies), 0
    said = {
        "software": f"Scout/{version('scout-offer-gaps')}",
        "isPartOf": shop.url,
        "format": "WARC File Format 1.0",
    }
    writer.write_record(writer.create_warcinfo_record(name, said))
    total = _count(store, shop)
    for page in _pages(store, shop):
        body = bodies.get(page.body) if page.body and page.state == PageState.FETCHED else b""
        writer.write_record(_record(writer, page, body))
        done += 1
        progress("pages", done, total)
    if not done:
        raise UsageError(
            f"shop {shop.name!r} has no crawled pages: 'scout crawl {shop.name}' fetches them"
        )
    return done


def _record(writer: WARCWriter, page: Page, body: bytes) -> Any:
    status = page.status if page.status and page.status != 304 else 200
    told = {
        "Content-Type": page.content_type,
        "ETag": page.etag,
        "Last-Modified": page.last_modified,
        "Location": page.canonical if page.state == PageState.REDIRECTED else None,
        "Content-Length": str(len(body)),
    }
    headers = [(name, " ".join(value.split())) for name, value in told.items() if value]
    at = page.fetched_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if page.fetched_at else None
    return writer.create_warc_record(
        page.url,
        "response",
        payload=BytesIO(body),
        http_headers=StatusAndHeaders(
            f"{status} {SAID.get(status, '')}".strip(), headers, protocol="HTTP/1.1"
        ),
        warc_headers_dict={"WARC-Date": at} if at else {},
    )


def _pages(store: Store, shop: Shop) -> Iterator[Page]:
    """The pages to write, in the order of their keys, some at a time: no reader holds the database for long."""
    last = 0
    while True:
        wanted = select(Page).where(
            Page.shop_id == shop.id, col(Page.state).in_(WRITTEN), col(Page.id) > last
        )
        with store.read() as session:
            some = list(session.exec(wanted.order_by(col(Page.id)).limit(AT_ONCE)))
            session.expunge_all()
        if not some:
            return
        yield from (page for page in some if page.body or page.canonical)
        last = some[-1].id or 0


def _count(store: Store, shop: Shop) -> int:
    with store.read() as session:
        wanted = select(func.count()).where(Page.shop_id == shop.id, col(Page.state).in_(WRITTEN))
        return int(session.exec(wanted).one())
