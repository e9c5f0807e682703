"""The audit log, for admins."""

from starlette.responses import Response

from scout.web.access.audit import read_log
from scout.web.access.guard import Admin, page_router
from scout.web.query_filters import parse_row_id

PAGE_SIZE = 100
"""Entries on one page."""

router = page_router()


@router.get("/audit")
def show_log(context: Admin, actor: str = "", shop: str = "", before: str = "") -> Response:
    """Show who did what, the newest first; `before` is the last entry of the page before."""
    entries = read_log(
        context.store,
        actor=actor or None,
        shop=shop or None,
        before=parse_row_id("before", before),
        limit=PAGE_SIZE + 1,
    )
    shown = entries[:PAGE_SIZE]
    return context.render(
        "audit.html",
        entries=shown,
        older=shown[-1].id if len(entries) > PAGE_SIZE else None,
        query={"actor": actor or None, "shop": shop or None},
    )
