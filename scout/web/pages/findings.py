"""The findings of a shop."""

from starlette.responses import Response

from scout.web.access.guard import Viewer, page_router

router = page_router()


@router.get("/shops/{name}/findings")
def list_findings(name: str, context: Viewer) -> Response:
    """Show a page of the findings of a shop."""
    shop = context.shop(name)
    return context.render("findings.html", shop=shop)
