"""The account of the request, and the audit log."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from scout.web.access.audit import read_log
from scout.web.access.guard import Admin, Viewer, api_router
from scout.web.api import models
from scout.web.api.cursors import Cursor, Limit, decode_id, encode_cursor
from scout.web.api.responses import problems
from scout.web.plain_text import ShortText

router = api_router("account")


class AuditRow(BaseModel):
    """An entry of the audit log."""

    id: int
    made_at: datetime
    actor: str
    action: str
    shop: str | None
    details: dict[str, Any]


class AuditPage(BaseModel):
    """One page of the audit log, the newest first."""

    items: list[AuditRow]
    next: str | None


@router.get("/api/v1/account", responses=problems())
def read_account(context: Viewer) -> models.AccountDetails:
    """Return the account that the request is made by."""
    return models.AccountDetails(name=context.user.name, role=str(context.role))


@router.get("/api/v1/audit", responses=problems())
def read_audit_log(
    context: Admin,
    actor: Annotated[ShortText | None, Query()] = None,
    shop: Annotated[ShortText | None, Query()] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """List who did what, the newest first."""
    before = decode_id(cursor)
    entries = read_log(context.store, actor=actor, shop=shop, before=before, limit=limit + 1)
    items = [AuditRow(**entry.model_dump()) for entry in entries[:limit]]
    next_cursor = encode_cursor(items[-1].id) if len(entries) > limit else None
    return AuditPage(items=items, next=next_cursor)
