"""Schedules: when each shop is run."""

from starlette.responses import Response

from scout.web.access.guard import Viewer, page_router

router = page_router()


@router.get("/schedules")
def list_schedules(context: Viewer) -> Response:
    """Show the schedules of all shops."""
    return context.render("schedules.html")
