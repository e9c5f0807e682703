"""The inspector: a stored page with the votes of every rule."""

from sqlmodel import col, select
from starlette.exceptions import HTTPException
from starlette.responses import Response

from catalog.models import Page
from scout.inspect.page_inspection import InspectedVote, inspect_page
from scout.web.access.guard import Viewer, page_router

router = page_router()


@router.get("/shops/{name}/inspect")
def show_inspection(name: str, context: Viewer, url: str = "") -> Response:
    """Show the votes of every rule on a crawled page of the shop.

    Other pages and files are not opened.
    """
    store = context.store
    shop = context.shop(name)
    stored = select(Page).where(
        Page.shop_id == shop.id, Page.url == url, col(Page.body).is_not(None)
    )
    with store.read() as session:
        page = session.exec(stored).first()
    if page is None:
        raise HTTPException(404, "no such page was crawled")
    inspection = inspect_page(context.settings, store, shop, page.url)
    winners: dict[str, InspectedVote] = {}
    for vote in inspection.lines:
        if vote.won:
            winners.setdefault(vote.attribute, vote)
    return context.render("inspect.html", page=inspection, shop=shop, winners=winners)
