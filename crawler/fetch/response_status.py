"""What an answer means for its page: its new state, a short reason, and when to ask again.

Reasons are few and stable, because reports count them. A page is asked for at most four times; between two times the
wait doubles, and what the shop says in Retry-After counts more.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from gzip import BadGzipFile
from typing import Any
from urllib.parse import urljoin

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Response
from w3lib.url import safe_url_string

from catalog.errors import HostilePage
from catalog.models import PageState, now
from crawler.fetch.middlewares import OTHER_HOST

MOST_ATTEMPTS = 4
LONGEST_WAIT = 300.0
SECOND_LOOK = 3.0
TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
SILENCES: dict[type[BaseException], str] = {
    DownloadTimeoutError: "timeout",
    CannotResolveHostError: "no such host",
    DownloadConnectionRefusedError: "connection refused",
    ResponseDataLossError: "cut off",
    DownloadFailedError: "no connection",
    BadGzipFile: "unreadable answer",
    OSError: "no connection",
}
GONE = frozenset({404, 410})
NO_PAGES = frozenset({"not html", "too large"})
LEFT_ALONE = 7 * 24 * 3600.0
UNREACHABLE = frozenset(
    {"no such host", "connection refused", "no connection", "no secure connection", "timeout"}
)
CAPTCHA = "captcha"
LOGIN = "login wall"
BLOCKING = frozenset(
    {CAPTCHA, LOGIN, "http 401", "http 403", "http 407", "http 429", "http 451", "http 503"}
)
CHALLENGE = re.compile(
    rb"cf_chl_opt|captcha-delivery\.com|px-captcha|/_Incapsula_Resource|awsWafCookieDomainList",
    re.I,
)
ASKS_WHO = re.compile(
    rb"recaptcha|hcaptcha|h-captcha|cf-challenge|robot check|are you (?:a )?(?:robot|human)|not a robot|kein Roboter"
    rb"|unusual traffic",
    re.I,
)
PASSWORD = re.compile(rb"<input[^>]{1,300}type\s*=\s*[\"']?password", re.I)
SHORT_PAGE = 20_000
FEW_LINKS = 5
FILES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")
COMMENTS = rb"(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+"
LOOKS_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+" + COMMENTS + rb"<(?:!doctype\s+html|html|head|body)\b", re.I
)


@dataclass(frozen=True)
class Answer:
    """A page's new state with its reason; `wait` are the seconds until it may be asked again."""

    state: PageState
    reason: str | None = None
    wait: float = 0.0

    def columns(self) -> dict[str, Any]:
        """As columns of the page. What is no page is not loaded again by the next runs, for a while."""
        wait = (
            self.wait
            if self.state == PageState.PENDING
            else LEFT_ALONE
            if self.reason in NO_PAGES
            else None
        )
        later = None if wait is None else now() + timedelta(seconds=wait)
        return {"reason": self.reason, "not_before": later}


def of_response(response: Response, attempts: int, seen: bool = False) -> Answer:
    """What an HTTP answer means, by its status and looks; `seen` says that the page was there in an earlier run."""
    status = response.status
    if wall := _wall(response):
        return Answer(PageState.FAILED, wall)
    if status in TRY_AGAIN:
        return again(f"http {status}", attempts, retry_after(response))
    if status == 304 or (200 <= status < 300 and is_html(response)):
        return Answer(PageState.FETCHED)
    if 200 <= status < 300:
        return Answer(PageState.REFUSED, "not html")
    if 300 <= status < 400:
        return Answer(PageState.REDIRECTED, "redirect")
    return (
        gone(f"http {status}", attempts, seen)
        if status in GONE
        else Answer(PageState.FAILED, f"http {status}")
    )


def of_error(error: BaseException | None, attempts: int) -> Answer:
    """What a request without an answer means."""
    if isinstance(error, IgnoreRequest):
        return Answer(PageState.REFUSED, _ignored(str(error)))
    if isinstance(error, DownloadCancelledError):
        return Answer(PageState.REFUSED, "too large")
    if isinstance(error, HostilePage):
        return Answer(PageState.REFUSED, "hostile page")
    if isinstance(error, DownloadFailedError) and "SSL" in str(error):
        return again("no secure connection", attempts)
    if isinstance(error, DownloadFailedError) and "ParseError" in str(error):
        return again("unreadable answer", attempts)
    said = (reason for kind, reason in SILENCES.items() if isinstance(error, kind))
    return again(next(said, "unreadable answer"), attempts)


def again(reason: str, attempts: int, wait: float | None = None) -> Answer:
    """Ask once more, later, or give up."""
    if attempts >= MOST_ATTEMPTS:
        return Answer(PageState.FAILED, reason)
    return Answer(PageState.PENDING, reason, max(wait or 0.0, 0.5 * 2.0**attempts))


def gone(reason: str, attempts: int, seen: bool) -> Answer:
    """A page that is not there; one that was `seen` before is asked for a second time before that is believed."""
    return (
        again(reason, attempts, SECOND_LOOK)
        if seen and attempts < 2
        else Answer(PageState.GONE, reason)
    )


def retry_after(response: Response) -> float | None:
    """The seconds of a Retry-After header, at most five minutes."""
    said = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if said.isdigit():
        return min(float(said), LONGEST_WAIT)
    try:
        seconds = (parsedate_to_datetime(said).astimezone(UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)


def location(response: Response) -> str:
    """Where a redirect leads, in full; browsers read its bytes as UTF-8, and send on as they are those that are not.

    >>> location(Response("https://a.de/x/y", headers={"Location": "../bär"}))
    'https://a.de/b%C3%A4r'
    """
    said = response.headers.get("Location") or b""
    try:
        return urljoin(response.url, safe_url_string(said))
    except ValueError:
        return ""


def is_html(response: Response) -> bool:
    """Whether an answer is a page, by its type or, where that is wrong or missing, by how it begins."""
    said = (response.headers.get("Content-Type") or b"").lower()
    if b"html" in said:
        return not response.body.startswith(FILES)
    return LOOKS_HTML.match(response.body[:4096]) is not None


def _is_captcha(response: Response) -> bool:
    """A contact form may hold a captcha too; a page that is one is short and leads nowhere."""
    body = response.body
    if response.headers.get("cf-mitigated") == b"challenge":
        return True
    if len(body) > SHORT_PAGE or not (CHALLENGE.search(body) or ASKS_WHO.search(body)):
        return False
    return response.status in (401, 403, 405, 429, 503) or (
        response.status == 200 and body.count(b"href=") < FEW_LINKS
    )


def _wall(response: Response) -> str | None:
    """What stands between us and the page, where something does."""
    if _is_captcha(response):
        return CAPTCHA
    return LOGIN if response.status == 200 and _is_login(response) else None


def _is_login(response: Response) -> bool:
    """A shop may have a login form on every page; a page that is nothing else is short and leads nowhere."""
    body = response.body
    return (
        len(body) < SHORT_PAGE
        and PASSWORD.search(body) is not None
        and body.count(b"href=") < FEW_LINKS
    )


def _ignored(said: str) -> str:
    if "robots.txt" in said:
        return "robots.txt"
    return OTHER_HOST if said == OTHER_HOST else "too large"
