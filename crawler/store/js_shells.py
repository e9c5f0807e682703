"""JavaScript shells: pages that are empty until a script writes them.

They are detected after a crawl without a browser, so that the shop's owner learns of the cause
instead of "no rules could be learnt". A page whose data are in its own scripts is no shell: the
parser reads those.
"""

from collections.abc import Sequence

from sqlmodel import case, col, select

from catalog.errors import HostilePage, NeedsBrowser
from catalog.html import decode_html, open_html
from catalog.models import Page, PageState, Shop
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.supervised_workers import WorkerDied, call_supervised
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store

SAMPLE_SIZE = 20  # pages of a shop that are looked at
MIN_SHELLS = 3  # pages; fewer may be exceptions
SHELL_SHARE = 0.8  # of the sample, from which on the shop needs a browser
MAX_TEXT = 200  # characters of text that a shell may show, such as a notice
# Limits of the process that reads the sample.
SAMPLE_LIMITS = ProcessLimits(memory=1_000, processor_time=120)
MAX_SCRIPT_DATA = 3_000  # characters in scripts; a page with more may hold its data there


def is_shell(html: str) -> bool:
    """Return True if a page shows next to no text, holds no data, and loads a script.

    >>> is_shell("<div id=app></div><script src=/app.js></script><noscript>No script</noscript>")
    True
    >>> is_shell("<p>An empty page without a script</p>")
    False
    >>> is_shell("<script src=/a.js></script><p>" + "word " * 60)
    False
    """
    tree = open_html(html)
    scripts = tree.css("script")
    loads_script = any(node.attrs.get("src") for node in scripts)
    script_size = sum(len(node.text() or "") for node in scripts)
    for node in tree.css("script, style, noscript, template"):
        node.decompose()
    text = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    return loads_script and script_size < MAX_SCRIPT_DATA and len(text) < MAX_TEXT


def check_for_shells(settings: Settings, store: Store, shop: Shop) -> None:
    """Raise NeedsBrowser if nearly all pages of a crawl are shells.

    Pages of known offers are sampled first.
    """
    known_first = case((col(Page.source) == "known", 0), else_=1)
    fetched = select(Page.body, Page.content_type).where(
        Page.shop_id == shop.id, Page.state == PageState.FETCHED, col(Page.body).is_not(None)
    )
    with store.read() as session:
        sample = list(session.exec(fetched.order_by(known_first, col(Page.id)).limit(SAMPLE_SIZE)))
    stored = [(body, content_type) for body, content_type in sample if body]
    try:
        shells = call_supervised(
            count_shells, (settings.bodies, stored), no_progress, SAMPLE_LIMITS
        )
    except WorkerDied:
        # Only a remedy is looked for here: the parser sets aside the page that is to blame.
        return
    if shells >= MIN_SHELLS and shells >= SHELL_SHARE * len(sample):
        raise NeedsBrowser(
            f"the pages of {shop.url} are empty without JavaScript "
            f"({shells} of {len(sample)} looked at): "
            f"'scout shop set {shop.name} --javascript' has a browser read them"
        )


def count_shells(
    bodies_url: str, pages: Sequence[tuple[str, str | None]], *, progress: Progress
) -> int:
    """Count the shells among pages, given by body and content type, until they must be too few.

    Raises StoreError.
    """
    bodies = BodyStore(bodies_url)
    shells, most_possible = 0, len(pages)
    for body, content_type in pages:
        if _is_stored_shell(bodies.get(body), content_type):
            shells += 1
            continue
        most_possible -= 1
        if most_possible < SHELL_SHARE * len(pages):
            break
    return shells


def _is_stored_shell(body: bytes, content_type: str | None) -> bool:
    try:
        return is_shell(decode_html(body, content_type))
    except HostilePage:
        return False
