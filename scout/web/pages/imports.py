"""Imports of known offers."""

from starlette.responses import Response

from scout.web.access.guard import Viewer, page_router

router = page_router()


@router.get("/imports")
def list_imports(context: Viewer) -> Response:
    """Show the imports of all shops."""
    return context.render("imports.html")
