"""A paged REST endpoint of the catalog: JSON pages, each with a list of offers, followed to the
last.

The next page is the one that the body (`next`, `links.next`, ...) or the `Link` header names, on
the same server only. Where none is named, `?page=2`, `?page=3`, ... are requested until a page is
empty, missing or a repetition.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import requests
from urllib3.exceptions import HTTPError

from catalog.digits import is_ascii_number
from catalog.errors import UnreadableFeed, first_line
from catalog.feeds.formats.jsonlines import find_items, make_row
from catalog.feeds.remote.http_session import FeedRetry, FeedSession
from catalog.feeds.rows import Rows, parse_json
from catalog.runtime.progress import Progress
from url_cleaner.urls.url import join_url

# Seconds to connect, and to wait for the next bytes.
TIMEOUT = (10, 60)
# Bounds against hostile input: bytes of a page and of a file, pages of an endpoint.
MAX_PAGE_SIZE = 64 * 1024**2
MAX_FILE_SIZE = 4 * 1024**3
MAX_PAGES = 100_000
# Digits of a page's number.
MAX_PAGE_DIGITS = 9
# Bytes read at once.
CHUNK_SIZE = 1 << 16

# Statuses of a page beyond the last.
_NO_PAGE_STATUSES = (400, 404, 410, 416, 422)
# Usual names of the next page, and of objects that hold it.
_NEXT_NAMES = (
    "next",
    "next_page",
    "nextPage",
    "next_url",
    "nextUrl",
    "next_link",
    "nextLink",
    "@odata.nextLink",
)
_LINK_OBJECTS = ("links", "_links", "paging", "pagination", "meta", "page")
_RETRIES = FeedRetry(
    total=4,
    backoff_factor=0.5,
    status_forcelist=(429, 500, 502, 503, 504),
    backoff_max=20,
    raise_on_status=False,
)


def make_session() -> requests.Session:
    """Make a session that retries, with growing pauses, where the server is busy or fails."""
    return FeedSession(_RETRIES)


def read(url: str, progress: Progress) -> Rows:
    """Yield the offers of all pages.

    Raises UnreadableFeed where a page fails, or there are too many: half a catalog is none.
    """
    position = 0
    requested = set[str]()
    previous_items: list[Any] | None = None
    page_url: str | None = url
    # A counted page that is missing is beyond the last one, a named one is an error.
    must_exist = True
    with make_session() as session:
        session.auth = _credentials(url)
        while page_url and page_url not in requested:
            if len(requested) == MAX_PAGES:
                raise UnreadableFeed(
                    f"{without_password(url)} has more than {MAX_PAGES:,} pages: ask for more "
                    f"offers a page"
                )
            requested.add(page_url)
            page, linked_url = _fetch_page(session, page_url, must_exist=must_exist)
            items = find_items(page) if page is not None else []
            if items is None:
                raise UnreadableFeed(
                    f"{without_password(page_url)} gives JSON without a list of offers"
                )
            # Servers that ignore `page` answer with the first page again.
            if not items or items == previous_items:
                return
            for item in items:
                position += 1
                yield make_row(position, item)
            progress("pages of the catalog", len(requested))
            previous_items = items
            page_url = _next_url(page_url, page, linked_url)
            named = linked_url or _named_next(page)
            must_exist = named is not None and not _is_number(named)


def without_password(url: str) -> str:
    """Return the URL without its user name and password.

    >>> without_password("https://me:secret@catalog.example/offers")
    'https://***@catalog.example/offers'
    """
    parts = urlsplit(url)
    _, separator, host = parts.netloc.rpartition("@")
    netloc = f"***@{host}" if separator else host
    return urlunsplit(parts._replace(netloc=netloc))


def download(session: requests.Session, url: str, path: Path) -> None:
    """Download a URL to a file. Raises UnreadableFeed."""
    with _get(session, url) as response, path.open("wb") as file:
        _expect_ok(response, url)
        for chunk in _chunks(response, url, MAX_FILE_SIZE):
            file.write(chunk)


@contextmanager
def _get(session: requests.Session, url: str) -> Iterator[requests.Response]:
    try:
        with session.get(url, timeout=TIMEOUT, stream=True) as response:
            yield response
    except (requests.RequestException, HTTPError) as error:
        raise UnreadableFeed(f"{without_password(url)} cannot be read: {_cause(error)}") from error


def _chunks(response: requests.Response, url: str, max_size: int) -> Iterator[bytes]:
    size = 0
    for chunk in response.iter_content(CHUNK_SIZE):
        size += len(chunk)
        if size > max_size:
            raise UnreadableFeed(
                f"{without_password(url)} answers with more than {max_size // 1024**2} MB: split it"
            )
        yield chunk


def _expect_ok(response: requests.Response, url: str) -> None:
    if response.status_code != 200:
        raise UnreadableFeed(
            f"{without_password(url)} answers {response.status_code} {response.reason}: check the "
            f"address"
        )


def _credentials(url: str) -> tuple[str, str] | None:
    """Return user name and password of the URL: the next pages are named without them."""
    parts = urlsplit(url)
    if not parts.username:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def _fetch_page(session: requests.Session, url: str, *, must_exist: bool) -> tuple[Any, str | None]:
    """Fetch a page's JSON (None where there is no such page) and the next page's URL in the Link
    header.
    """
    with _get(session, url) as response:
        if response.status_code in _NO_PAGE_STATUSES and not must_exist:
            return None, None
        _expect_ok(response, url)
        body = b"".join(_chunks(response, url, MAX_PAGE_SIZE))
    try:
        return parse_json(body), response.links.get("next", {}).get("url")
    except (ValueError, RecursionError) as error:
        raise UnreadableFeed(
            f"{without_password(url)} does not answer with JSON: {error}"
        ) from error


def _next_url(url: str, page: Any, linked_url: str | None) -> str | None:
    if not linked_url and not _mentions_next(page):
        return _numbered_url(url)
    target = linked_url or _named_next(page)
    if target is None:
        return None
    if _is_number(target):
        return _numbered_url(url, int(target))
    next_url = join_url(url, target)
    if next_url is None:
        raise UnreadableFeed(
            f"{without_password(url)} names a next page that is no URL, {target[:100]}"
        )
    # The credentials go to the user's own server only.
    if _server(next_url) != _server(url):
        raise UnreadableFeed(
            f"{without_password(url)} names a next page on another server, "
            f"{without_password(next_url)}: not followed"
        )
    # Behind a proxy, servers name themselves without encryption.
    if url.startswith("https://") and next_url.startswith("http://"):
        return f"https://{next_url.removeprefix('http://')}"
    return next_url


def _server(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _link_objects(page: Any) -> list[dict[str, Any]]:
    """Return the objects of a page that may name the next one."""
    if not isinstance(page, dict):
        return []
    candidates = [page, *(page.get(name) for name in _LINK_OBJECTS)]
    return [candidate for candidate in candidates if isinstance(candidate, dict)]


def _mentions_next(page: Any) -> bool:
    return any(not links.keys().isdisjoint(_NEXT_NAMES) for links in _link_objects(page))


def _named_next(page: Any) -> str | None:
    """Return the next page as the body names it, a URL or a number; None on the last page."""
    for links in _link_objects(page):
        for name in _NEXT_NAMES:
            value = links.get(name)
            if isinstance(value, dict):
                value = value.get("href") or value.get("url")
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def _numbered_url(url: str, number: int | None = None) -> str:
    """Return the URL with that page number, or with the next one."""
    parts = urlsplit(url)
    # Other parameters may stand there several times: `brand=a&brand=b`.
    query = parse_qsl(parts.query, keep_blank_values=True)
    if number is None:
        current = dict(query).get("page", "1")
        number = int(current) + 1 if _is_number(current) else 2
    query = [(name, value) for name, value in query if name != "page"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("page", str(number))])))


def _is_number(text: str) -> bool:
    return is_ascii_number(text, MAX_PAGE_DIGITS)


def _cause(error: Exception) -> str:
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ReadTimeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return first_line(error)
