"""The start page: all shops, those first that need a look."""

from starlette.responses import Response

from scout.overview import describe_shops
from scout.schedule.timetable import scheduled_shops
from scout.web.access.guard import Viewer, page_router

router = page_router()


@router.get("/")
def show_start(context: Viewer) -> Response:
    """Show all shops with last run, missing offers and newest report, and the timetable."""
    store = context.store
    scheduled = {shop.name: schedule.cron for shop, schedule in scheduled_shops(store)}
    # Of several processes on one store, only the leader starts the scheduled runs.
    is_leader = context.timetable is not None and context.timetable.is_leader
    shops = describe_shops(store)
    return context.render("start.html", shops=shops, scheduled=scheduled, is_leader=is_leader)
