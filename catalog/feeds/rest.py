"""A paged REST endpoint of the catalog: JSON pages, each with a list of offers, followed to the last.

The next page is the one that the body (`next`, `links.next`, ...) or the `Link` header names, on the same server only;
where none is named, `?page=2`, `?page=3`, ... are asked for until a page is empty, missing or a repetition.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import LocationParseError
from urllib3.util import Retry

from catalog.errors import UnreadableFeed
from catalog.feeds.jsonlines import items_of, row
from catalog.feeds.rows import Rows, from_json
from catalog.runtime.progress import Progress
from url_cleaner.urls.link import absolute

TIMEOUT = (10, 60)
LARGEST_PAGE = 64 * 1024**2
MOST_PAGES = 100_000
LARGEST_FILE = 4 * 1024**3
_NO_PAGE = (400, 404, 410, 416, 422)
_NEXT = (
    "next",
    "next_page",
    "nextPage",
    "next_url",
    "nextUrl",
    "next_link",
    "nextLink",
    "@odata.nextLink",
)
_LINKS = ("links", "_links", "paging", "pagination", "meta", "page")
_RETRIES = Retry(
    total=4,
    backoff_factor=0.5,
    status_forcelist=(429, 500, 502, 503, 504),
    backoff_max=20,
    raise_on_status=False,
)


def session() -> requests.Session:
    """A session that tries again, with growing pauses, where the server is busy or fails."""
    made = requests.Session()
    for scheme in ("http://", "https://"):
        made.mount(scheme, HTTPAdapter(max_retries=_RETRIES))
    made.headers["Accept"] = "application/json, */*;q=0.5"
    return made


def read(url: str, progress: Progress) -> Rows:
    """The offers of all pages. Raises UnreadableFeed where a page fails: half a catalog is none."""
    position, asked = 0, set[str]()
    previous: list[Any] | None = None
    next_url: str | None = url
    with session() as http:
        http.auth = _credentials(url)
        while next_url and next_url not in asked and len(asked) < MOST_PAGES:
            asked.add(next_url)
            page, named = _page(http, next_url, first=len(asked) == 1)
            items = items_of(page) if page is not None else []
            if items is None:
                raise UnreadableFeed(f"{shown(next_url)} gives JSON without a list of offers")
            if not items or items == previous:
                return
            for item in items:
                position += 1
                yield row(position, item)
            progress("pages of the catalog", len(asked))
            previous, next_url = items, _following(next_url, page, named)


def shown(url: str) -> str:
    """The address without a password in it.

    >>> shown("https://me:secret@catalog.example/offers")
    'https://***@catalog.example/offers'
    """
    parts = urlsplit(url)
    _, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"***@{host}" if at else host))


def save(http: requests.Session, url: str, path: Path) -> None:
    """Write what the address answers to a file. Raises UnreadableFeed."""
    with _answer(http, url) as response, path.open("wb") as file:
        _expect_ok(response, url)
        for chunk in _chunks(response, url, LARGEST_FILE):
            file.write(chunk)


@contextmanager
def _answer(http: requests.Session, url: str) -> Iterator[requests.Response]:
    try:
        with http.get(url, timeout=TIMEOUT, stream=True) as response:
            yield response
    except (requests.RequestException, LocationParseError) as error:
        raise UnreadableFeed(f"{shown(url)} cannot be read: {_cause(error)}") from error


def _chunks(response: requests.Response, url: str, most: int) -> Iterator[bytes]:
    got = 0
    for chunk in response.iter_content(1 << 16):
        got += len(chunk)
        if got > most:
            raise UnreadableFeed(
                f"{shown(url)} answers with more than {most // 1024**2} MB: split it"
            )
        yield chunk


def _expect_ok(response: requests.Response, url: str) -> None:
    if response.status_code != 200:
        raise UnreadableFeed(
            f"{shown(url)} answers {response.status_code} {response.reason}: check the address"
        )


def _credentials(url: str) -> tuple[str, str] | None:
    """Name and password of the address, for the pages that are named without them."""
    parts = urlsplit(url)
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def _page(http: requests.Session, url: str, *, first: bool) -> tuple[Any, str | None]:
    """A page's JSON (None where there is no such page) and the next page's address by the Link header."""
    with _answer(http, url) as response:
        if response.status_code in _NO_PAGE and not first:
            return None, None
        _expect_ok(response, url)
        body = b"".join(_chunks(response, url, LARGEST_PAGE))
    try:
        return from_json(body), response.links.get("next", {}).get("url")
    except (ValueError, RecursionError) as error:
        raise UnreadableFeed(f"{shown(url)} does not answer with JSON: {error}") from error


def _following(url: str, page: Any, named: str | None) -> str | None:
    if not (named or _has_next(page)):
        return _numbered(url)
    target = named or _named(page)
    if target is None:
        return None
    if target.isdigit():
        return _numbered(url, int(target))
    following = absolute(url, target)
    if following is None:
        raise UnreadableFeed(f"{shown(url)} names a next page that is no URL, {target[:100]}")
    if urlsplit(following).netloc.rpartition("@")[2] != urlsplit(url).netloc.rpartition("@")[2]:
        raise UnreadableFeed(
            f"{shown(url)} names a next page on another server, {shown(following)}: not followed"
        )
    return following


def _places(page: Any) -> list[dict[str, Any]]:
    places = [page, *(page.get(name) for name in _LINKS)] if isinstance(page, dict) else []
    return [place for place in places if isinstance(place, dict)]


def _has_next(page: Any) -> bool:
    return any(name in place for place in _places(page) for name in _NEXT)


def _named(page: Any) -> str | None:
    """The next page as the body names it: an address, or a number."""
    for place in _places(page):
        for name in _NEXT:
            value = place.get(name)
            value = value.get("href") or value.get("url") if isinstance(value, dict) else value
            if isinstance(value, str) and value:
                return value
    return None


def _numbered(url: str, number: int | None = None) -> str:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    present = query.get("page", "1")
    query["page"] = str(
        number if number is not None else int(present) + 1 if present.isdigit() else 2
    )
    return urlunsplit(parts._replace(query=urlencode(query)))


def _cause(error: Exception) -> str:
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ReadTimeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return str(error).splitlines()[0][:200] or type(error).__name__
