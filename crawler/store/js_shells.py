"""Pages that are empty without JavaScript: a shell that loads a program, and the program writes the page.

Told after a crawl without a browser, so that the shop's owner is not left with "no rules could be learnt". A page whose
data stand in its own scripts is no shell: those are read.
"""

from sqlmodel import case, col, select

from catalog.errors import HostilePage, NeedsBrowser
from catalog.html import decode, open_html
from catalog.models import Page, PageState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store

LOOKED_AT = 20
LEAST = 3
FEW_LETTERS = 200
FEW_DATA = 3_000
MOST = 0.8


def is_shell(html: str) -> bool:
    """Whether a page says next to nothing, holds no data, and loads a script.

    >>> is_shell("<div id=app></div><script src=/app.js></script><noscript>Please enable JavaScript</noscript>")
    True
    >>> is_shell("<p>An empty page without a script</p>"), is_shell("<script src=/a.js></script><p>" + "word " * 60)
    (False, False)
    """
    tree = open_html(html)
    programs = tree.css("script")
    loads = any(node.attrs.get("src") for node in programs)
    held = sum(len(node.text() or "") for node in programs)
    for node in tree.css("script, style, noscript, template"):
        node.decompose()
    words = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    return loads and held < FEW_DATA and len(words) < FEW_LETTERS


def refuse_shells(settings: Settings, store: Store, shop: Shop) -> None:
    """Raises NeedsBrowser where nearly all pages of a crawl are shells; known offers' pages are looked at first."""
    first = case((col(Page.source) == "known", 0), else_=1)
    wanted = select(Page.body, Page.content_type).where(
        Page.shop_id == shop.id, Page.state == PageState.FETCHED, col(Page.body).is_not(None)
    )
    with store.read() as session:
        pages = list(session.exec(wanted.order_by(first, col(Page.id)).limit(LOOKED_AT)))
    bodies = Bodies(settings.bodies)
    shells = sum(_is_shell(bodies.get(body), said) for body, said in pages if body)
    if shells >= LEAST and shells >= MOST * len(pages):
        raise NeedsBrowser(
            f"the pages of {shop.url} are empty without JavaScript ({shells} of {len(pages)} looked at): "
            f"'scout shop set {shop.name} --javascript' has a browser read them"
        )


def _is_shell(body: bytes, said: str | None) -> bool:
    try:
        return is_shell(decode(body, said))
    except HostilePage:
        return False
