"""Pages from elsewhere than the net: a folder of saved pages, or a list of URLs.

A folder is read as a mirror of the site: `a/b.html` in it stands for `/a/b.html` of the shop, `index.html` for its
folder. A first folder named like the shop's host is passed over, as tools that mirror sites make one.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

from catalog.bodies import Bodies
from catalog.errors import HostilePage, UsageError
from catalog.frontier import Frontier, Link, Outcome
from catalog.markup import decode, open_html
from catalog.models import Page, PageState, Shop, now
from catalog.progress import Progress
from catalog.settings import Settings
from catalog.store import Store
from crawler.links import page_links
from crawler.shapes import Address
from crawler.site import Site
from crawler.supply import LEASE

ENDINGS = (".html", ".htm", ".xhtml")
BATCH = 50


def read_folder(settings: Settings, store: Store, shop: Shop, run_id: int, folder: Path, progress: Progress) -> int:
    """Take all pages of a folder as fetched; gives how many."""
    files = dict(_files(folder, shop))
    if not files:
        raise UsageError(f"{folder} holds no saved pages (*.html)")
    frontier, bodies, site = Frontier(store, shop.id or 0, run_id), Bodies(settings.bodies), Site(shop.url)
    frontier.add(Link(url, "saved") for url in files)
    done = 0
    while pages := frontier.claim(BATCH, LEASE):
        frontier.settle(_outcome(page, files.get(page.url), bodies, site, settings.max_body) for page in pages)
        done += len(pages)
        progress("pages", min(done, len(files)), len(files))
    return len(files)


def listed_links(file: Path, shop: Shop) -> list[Link]:
    """The shop's own pages in a file of URLs, one a line. Raises UsageError."""
    if file.suffix.lower() in (".warc", ".gz"):
        raise UsageError(f"{file} looks like a WARC file, which Scout cannot read: unpack it into a folder of pages")
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is neither a folder of saved pages nor a text file of URLs") from error
    site = Site(shop.url)
    found = [site.locate(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    links = [Link(address.url, "listed", 50) for address in found if isinstance(address, Address)]
    if not links:
        raise UsageError(f"{file} lists no page of {shop.url}")
    return links


def _files(folder: Path, shop: Shop) -> Iterator[tuple[str, Path]]:
    site = Site(shop.url)
    host = urlsplit(shop.url).hostname or ""
    inner = folder / host
    base = inner if inner.is_dir() else folder
    for path in sorted(base.rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file():
            name = quote(path.relative_to(base).as_posix())
            yield f"{site.origin}/{name.removesuffix('index.html')}", path


def _outcome(page: Page, file: Path | None, bodies: Bodies, site: Site, most: int) -> Outcome:
    """A page of the table as its file says; pages without a file are known of, but not there."""
    page_id = page.id or 0
    if file is None:
        return Outcome(page_id, PageState.GONE, {"reason": "not saved"})
    if file.stat().st_size > most:
        return Outcome(page_id, PageState.REFUSED, {"reason": "too large"})
    body = file.read_bytes()
    try:
        canonical = page_links(open_html(decode(body)), page.url).canonical
    except HostilePage:
        return Outcome(page_id, PageState.REFUSED, {"reason": "hostile page"})
    found = site.read(canonical) if canonical else None
    columns = {
        "reason": None,
        "status": 200,
        "content_type": "text/html",
        "size": len(body),
        "body": bodies.put(body),
        "canonical": found.url if isinstance(found, Address) else None,
        "fetched_at": now(),
        "rules_version": None,
    }
    return Outcome(page_id, PageState.FETCHED, columns)
