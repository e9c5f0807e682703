"""Imports of known offers: history, upload, preview with the mapping, import, undo."""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import File, UploadFile
from sqlmodel import col, func, select
from starlette.datastructures import QueryParams
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.feeds.columns import COLUMN_NAMES
from catalog.feeds.files import FORMATS
from catalog.feeds.former_offers import undo_last_import
from catalog.feeds.preview import FeedPreview, preview_feed
from catalog.feeds.remote.http_session import AddressKind, kind_of_host
from catalog.models import BadRow, CatalogImport, Shop
from scout.inspect.page_process import call_in_process
from scout.job_queue.job_kinds import JobKind
from scout.pipeline import shop_run
from scout.pipeline.run_pool import run_log_path
from scout.pipeline.run_records import shop_key
from scout.web.access.guard import Editor, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.files.uploads import find_upload, store_upload
from scout.web.plain_text import FormText
from scout.web.query_filters import parse_row_id
from scout.web.rendering import path_part, query_link
from scout.web.views.live_runs import last_lines

PAGE_SIZE = 50
"""Imports, or refused rows, on one page."""

UPLOAD_FORMATS = ("auto", *(name for name in FORMATS if name not in ("rest", "sql")))
"""Formats of an uploaded file. A query of a database can be imported on the command line only."""

_MAX_COLUMN = 200  # characters of a column's name in a query

router = page_router()


@dataclass(frozen=True)
class FeedChoice:
    """A feed to look at: an upload or an address, its format, and the columns chosen by field."""

    upload: str
    url: str
    format: str
    mapping: dict[str, str]

    def parameters(self) -> dict[str, str]:
        """Return the choice as parameters of a query; fields as `map-FIELD`."""
        chosen = {f"map-{field}": column for field, column in self.mapping.items()}
        given = {"upload": self.upload, "url": self.url, "format": self.format, **chosen}
        return {name: value for name, value in given.items() if value}


@router.get("/imports")
def list_imports(context: Viewer, before: str = "") -> Response:
    """Show the imports of all shops, the newest first."""
    query = select(CatalogImport, Shop.name).join(Shop, col(Shop.id) == CatalogImport.shop_id)
    if (before_id := parse_row_id("before", before)) is not None:
        query = query.where(col(CatalogImport.id) < before_id)
    with context.store.read() as session:
        query = query.order_by(col(CatalogImport.id).desc()).limit(PAGE_SIZE + 1)
        rows = session.exec(query).all()
    older = rows[PAGE_SIZE - 1][0].id if len(rows) > PAGE_SIZE else None
    return context.render("imports.html", rows=rows[:PAGE_SIZE], older=older)


@router.get("/shops/{name}/imports")
def list_shop_imports(name: str, context: Viewer) -> Response:
    """Show the imports of a shop, the one under way, and a form for a new one."""
    shop = context.shop(name)
    job = context.jobs.state(shop)
    is_import = job is not None and job.kind == JobKind.IMPORT
    with context.store.read() as session:
        newest = select(CatalogImport).where(CatalogImport.shop_id == shop.id)
        newest = newest.order_by(col(CatalogImport.id).desc()).limit(PAGE_SIZE)
        imports = session.exec(newest).all()
    values: dict[str, Any] = {
        "shop": shop,
        "imports": imports,
        "formats": UPLOAD_FORMATS,
        "job": job if is_import else None,
        "progress": _progress(context, shop) if job and is_import and job.is_open else "",
    }
    return context.render_block_or_page("shop_imports.html", "history", **values)


def _progress(context: Context, shop: Shop) -> str:
    lines = last_lines(run_log_path(context.settings, shop_key(shop)))
    return lines[-1] if lines else ""


@router.get("/shops/{name}/imports/refused")
def list_refused(name: str, context: Viewer, after: str = "") -> Response:
    """Show the rows that the last import refused, each with its line and reason."""
    shop = context.shop(name)
    refused = select(BadRow).where(BadRow.shop_id == shop.id)
    if (after_id := parse_row_id("after", after)) is not None:
        refused = refused.where(col(BadRow.id) > after_id)
    with context.store.read() as session:
        rows = session.exec(refused.order_by(col(BadRow.id)).limit(PAGE_SIZE + 1)).all()
        count = select(func.count()).select_from(BadRow).where(BadRow.shop_id == shop.id)
        total = session.exec(count).one()
    following = rows[PAGE_SIZE - 1].id if len(rows) > PAGE_SIZE else None
    return context.render(
        "refused_rows.html", shop=shop, rows=rows[:PAGE_SIZE], total=total, following=following
    )


@router.post("/shops/{name}/imports/choose")
def choose(
    name: str,
    context: Editor,
    feed: Annotated[UploadFile | None, File()] = None,
    url: FormText = "",
    format: FormText = "auto",
) -> Response:
    """Take an uploaded file or an address, and go on to its preview."""
    shop = context.shop(name)
    token = ""
    if feed is not None and feed.filename:
        token = store_upload(context.settings, shop, feed.file, feed.filename).token
    elif not url.strip():
        raise UsageError("choose a file, or give the address of a feed")
    choice = FeedChoice(token, "" if token else url.strip(), _format(format), {})
    _source(context, shop, choice)
    link = query_link(choice.parameters())
    return context.redirect(f"{_imports_path(shop)}/preview{link}")


@router.get("/shops/{name}/imports/preview")
def show_preview(name: str, context: Editor) -> Response:
    """Show the columns of a feed with the field of each, its first offers and refused rows."""
    shop = context.shop(name)
    choice = _read_choice(context.request.query_params)
    source = _source(context, shop, choice)
    preview: FeedPreview = call_in_process(
        preview_feed, source, shop, choice.format, choice.mapping
    )
    return context.render(
        "import_preview.html",
        shop=shop,
        choice=choice,
        preview=preview,
        fields=tuple(COLUMN_NAMES),
        shown_fields=("ref", "title", "price", "currency", "brand", "category", "ean", "url"),
    )


@router.post("/shops/{name}/imports")
async def start_import(name: str, context: Editor) -> Response:
    """Start the import of the feed that a preview has shown, with its mapping."""
    from starlette.concurrency import run_in_threadpool

    form = await context.request.form()
    texts = {field: value for field, value in form.items() if isinstance(value, str)}
    return await run_in_threadpool(_start_import, name, context, QueryParams(texts))


def _start_import(name: str, context: Context, form: QueryParams) -> Response:
    shop = context.shop(name)
    choice = _read_choice(form)
    source = _source(context, shop, choice)
    options = ["--format", choice.format]
    for field, column in choice.mapping.items():
        options += ["--map", f"{field}={column}"]
    context.jobs.start(shop, JobKind.IMPORT, options, [source])
    context.audit("import started", shop.name, format=choice.format, mapped=len(choice.mapping))
    return context.redirect(
        _imports_path(shop), Message(context.gettext("The import has started."))
    )


@router.post("/shops/{name}/imports/undo")
def undo(name: str, context: Editor) -> Response:
    """Take the last import of a shop back: the offers before it are the known ones again."""
    shop = context.shop(name)
    with shop_run.lock_shop(
        context.settings, context.store, shop, "the undoing of an import"
    ) as lease:
        undone = undo_last_import(lease.store, shop, context.user.name)
    context.audit("import undone", shop.name, number=undone.id)
    message = Message(context.gettext("The last import is undone: the offers before it are back."))
    return context.redirect(_imports_path(shop), message)


def _read_choice(query: QueryParams) -> FeedChoice:
    """Return the feed that a query or form names. Raises UsageError."""
    mapping = {}
    for field in COLUMN_NAMES:
        column = query.get(f"map-{field}", "")
        if len(column) > _MAX_COLUMN or "\x00" in column:
            raise UsageError(f"no column of a feed has such a name as that for {field}")
        if column:
            mapping[field] = column
    return FeedChoice(
        query.get("upload", ""), query.get("url", ""), _format(query.get("format", "")), mapping
    )


def _format(name: str) -> str:
    if name not in ("", "rest", *UPLOAD_FORMATS):
        raise UsageError(f"format {name[:40]!r} is none of {', '.join(UPLOAD_FORMATS)}")
    return name or "auto"


def _source(context: Context, shop: Shop, choice: FeedChoice) -> str:
    """Return the source of an import: an uploaded file, or an http(s) address.

    Neither files of the server nor queries of databases can be named here. Private addresses need a
    shop that may be crawled there. Raises UsageError.
    """
    if choice.upload:
        return str(find_upload(context.settings, shop, choice.upload).path)
    try:
        parts = urlsplit(choice.url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or "\x00" in choice.url:
        raise UsageError("the address of a feed begins with http:// or https://")
    if kind_of_host(host) is not AddressKind.PUBLIC and not shop.allow_private:
        raise UsageError(
            f"{host[:100]!r} is a private address, and shop {shop.name!r} may not use those"
        )
    return choice.url


def _imports_path(shop: Shop) -> str:
    return f"/shops/{path_part(shop.name)}/imports"
