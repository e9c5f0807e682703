"""Shops: list, add, change, remove; imports, known offers and schedules of each."""

from typing import Annotated, Any

from fastapi import Query, Response
from sqlmodel import col, func, select
from starlette.exceptions import HTTPException

from catalog.errors import ScoutError, UsageError
from catalog.models import CatalogImport, KnownOffer, Schedule, Shop, utc_now
from catalog.storage.shop_list import ShopFilter, ShopKey, ShopSort, count_shops, shop_key
from scout.maintenance import shop_removal
from scout.overview import describe_row, describe_shop, list_shops
from scout.schedule.cron import planned_times
from scout.schedule.timetable import schedule_shop, unschedule_shop
from scout.shops import registration
from scout.web.access.guard import Admin, Editor, Viewer, api_router
from scout.web.api import models
from scout.web.api.cursors import Cursor, Limit, decode_cursor, decode_id, encode_cursor
from scout.web.api.responses import problems
from scout.web.context import Context
from scout.web.rendering import path_part

NEXT_TIMES = 5
"""Times of a schedule that are listed."""

router = api_router("shops")


@router.get("/api/v1/shops", responses=problems())
def read_shops(
    context: Viewer,
    search: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[str | None, Query(max_length=40)] = None,
    sort: ShopSort = ShopSort.NAME,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.ShopPage:
    """List shops with their newest run and the figures of the last finished one."""
    shop_filter = ShopFilter(search, state)
    after = parse_shop_cursor(sort, cursor)
    rows = list_shops(context.store, shop_filter, sort, after, limit + 1)
    next_cursor = None
    if len(rows) > limit:
        key = shop_key(rows[limit - 1], sort)
        next_cursor = encode_cursor(sort, key.value, key.shop_id)
    with context.store.read() as session:
        total = count_shops(session, shop_filter)
    items = [_summary(describe_row(context.store, row)) for row in rows[:limit]]
    return models.ShopPage(items=items, total=total, next=next_cursor)


def parse_shop_cursor(sort: ShopSort, cursor: str | None) -> ShopKey | None:
    """Return the place in the list of shops that a cursor names. Raises UsageError."""
    if cursor is None:
        return None
    sorted_by, value, shop_id = decode_cursor(cursor, 3)
    is_value = isinstance(value, str if sort is ShopSort.NAME else int)
    if sorted_by != sort or not is_value or not isinstance(shop_id, int):
        raise UsageError("the cursor is not one of this list")
    return ShopKey(value, shop_id)


def _summary(row: dict[str, Any]) -> models.ShopSummary:
    return models.ShopSummary(**{**row, "reports": sorted(row["reports"])})


@router.post("/api/v1/shops", status_code=201, responses=problems(409))
def add_shop(context: Editor, new: models.NewShop, response: Response) -> models.ShopDetails:
    """Add a shop with the limits of its crawls."""
    if new.allow_private and not context.may("admin"):
        raise HTTPException(403, "only an admin may let the crawler reach private addresses")
    shop = Shop(
        name=registration.check_name(new.name),
        url=registration.normalize_root(new.url, new.allow_private),
        allow_private=new.allow_private,
        **_limits(new),
    )
    try:
        registration.add_shop(context.store, shop)
    except ScoutError as error:
        raise HTTPException(409, str(error)) from error
    context.audit("shop added", shop.name)
    response.headers["location"] = f"/api/v1/shops/{path_part(shop.name)}"
    return _details(context, shop)


def _limits(limits: models.CrawlLimits) -> dict[str, Any]:
    columns = registration.crawl_limits(
        limits.max_pages,
        limits.max_bytes,
        limits.max_minutes,
        limits.window,
        limits.delay,
        limits.sitemaps,
        limits.crawlers,
    )
    if limits.javascript is not None:
        columns["javascript"] = limits.javascript
    return columns


@router.get("/api/v1/shops/{shop}", responses=problems(404))
def read_shop(context: Viewer, shop: str) -> models.ShopDetails:
    """Return a shop with its crawl limits and the figures of its last finished run."""
    return _details(context, context.shop(shop))


def _details(context: Context, shop: Shop) -> models.ShopDetails:
    job = context.jobs.state(shop)
    with context.store.read() as session:
        schedule = session.exec(select(Schedule).where(Schedule.shop_id == shop.id)).first()
    row = describe_shop(context.store, shop)
    return models.ShopDetails(
        **{**row, "reports": sorted(row["reports"])},
        allow_private=shop.allow_private,
        max_pages=shop.max_pages,
        max_bytes=shop.max_bytes,
        max_minutes=shop.max_minutes,
        window=shop.window,
        delay=shop.delay,
        javascript=shop.javascript,
        crawlers=shop.crawlers,
        sitemaps=shop.sitemaps,
        added=shop.created_at,
        schedule=schedule.cron if schedule is not None else None,
        job=str(job.kind) if job is not None and job.is_open else None,
    )


@router.patch("/api/v1/shops/{shop}", responses=problems(404))
def change_shop(context: Editor, shop: str, limits: models.CrawlLimits) -> models.ShopDetails:
    """Change the limits of a shop's crawls, from the next crawl on."""
    stored = context.shop(shop)
    registration.update_shop(context.store, stored, _limits(limits))
    context.audit("shop changed", stored.name)
    return _details(context, context.shop(shop))


@router.delete("/api/v1/shops/{shop}", status_code=204, responses=problems(404, 409))
def remove_shop(context: Admin, shop: str) -> Response:
    """Remove a shop with its pages, offers, rules, runs, review decisions and files."""
    stored = context.shop(shop)
    shop_removal.remove_shop(context.settings, context.store, stored)
    context.audit("shop removed", stored.name)
    return Response(status_code=204)


@router.get("/api/v1/shops/{shop}/known-offers", responses=problems(404))
def read_known_offers(
    context: Viewer, shop: str, limit: Limit = 100, cursor: Cursor = None
) -> models.KnownOfferPage:
    """List the offers of a shop that the catalog lists."""
    stored = context.shop(shop)
    query = select(KnownOffer).where(
        KnownOffer.shop_id == stored.id, col(KnownOffer.id) > (decode_id(cursor) or 0)
    )
    count = select(func.count()).select_from(KnownOffer).where(KnownOffer.shop_id == stored.id)
    with context.store.read() as session:
        rows = session.exec(query.order_by(col(KnownOffer.id)).limit(limit + 1)).all()
        total = session.exec(count).one()
    items = [_known_offer(row) for row in rows[:limit]]
    next_cursor = encode_cursor(rows[limit - 1].id) if len(rows) > limit else None
    return models.KnownOfferPage(items=items, total=total, next=next_cursor)


def _known_offer(row: KnownOffer) -> models.KnownOfferRow:
    fields = row.model_dump(include=set(models.KnownOfferRow.model_fields))
    price = format(row.price, "f") if row.price is not None else None
    return models.KnownOfferRow(**{**fields, "price": price})


@router.get("/api/v1/shops/{shop}/imports", responses=problems(404))
def read_imports(
    context: Viewer, shop: str, limit: Limit = 100, cursor: Cursor = None
) -> models.ImportPage:
    """List the imports of a shop's known offers, the newest first."""
    stored = context.shop(shop)
    of_shop = CatalogImport.shop_id == stored.id
    query = select(CatalogImport).where(of_shop)
    if (before := decode_id(cursor)) is not None:
        query = query.where(col(CatalogImport.id) < before)
    with context.store.read() as session:
        rows = session.exec(query.order_by(col(CatalogImport.id).desc()).limit(limit + 1)).all()
        count = select(func.count()).select_from(CatalogImport).where(of_shop)
        total = session.exec(count).one()
    fields = set(models.ImportRow.model_fields)
    items = [models.ImportRow(**row.model_dump(include=fields)) for row in rows[:limit]]
    next_cursor = encode_cursor(rows[limit - 1].id) if len(rows) > limit else None
    return models.ImportPage(items=items, total=total, next=next_cursor)


@router.get("/api/v1/schedules", responses=problems())
def read_schedules(
    context: Viewer, limit: Limit = 100, cursor: Cursor = None
) -> models.SchedulePage:
    """List the schedules of shops with their next times."""
    query = select(Shop, Schedule).where(Shop.id == Schedule.shop_id)
    if cursor is not None:
        (name,) = decode_cursor(cursor, 1)
        query = query.where(col(Shop.name) > str(name))
    with context.store.read() as session:
        rows = session.exec(query.order_by(col(Shop.name)).limit(limit + 1)).all()
        total = session.exec(select(func.count()).select_from(Schedule)).one()
    items = [_schedule(shop, schedule) for shop, schedule in rows[:limit]]
    next_cursor = encode_cursor(rows[limit - 1][0].name) if len(rows) > limit else None
    return models.SchedulePage(items=items, total=total, next=next_cursor)


def _schedule(shop: Shop, schedule: Schedule) -> models.ScheduleRow:
    return models.ScheduleRow(
        shop=shop.name,
        cron=schedule.cron,
        next=planned_times(schedule, utc_now(), NEXT_TIMES),
        paused=schedule.is_paused,
        last_started_at=schedule.last_started_at,
    )


@router.put("/api/v1/shops/{shop}/schedule", responses=problems(404))
def set_schedule(context: Editor, shop: str, new: models.NewSchedule) -> models.ScheduleRow:
    """Run a shop by the clock, in place of its earlier schedule."""
    stored = context.shop(shop)
    schedule_shop(context.store, stored, new.cron)
    context.audit("scheduled", stored.name, cron=new.cron)
    with context.store.read() as session:
        schedule = session.exec(select(Schedule).where(Schedule.shop_id == stored.id)).one()
    return _schedule(stored, schedule)


@router.delete("/api/v1/shops/{shop}/schedule", status_code=204, responses=problems(404))
def remove_schedule(context: Editor, shop: str) -> Response:
    """Remove the schedule of a shop."""
    stored = context.shop(shop)
    try:
        unschedule_shop(context.store, stored)
    except UsageError as error:
        raise HTTPException(404, str(error)) from error
    context.audit("unscheduled", stored.name)
    return Response(status_code=204)
