"""Response status: a page's state after a response or an error, its reason, and its next attempt.

Reasons are few and stable, because reports count them. A page is requested at most four times; the
wait between two attempts doubles, and the shop's Retry-After takes precedence.
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
from catalog.models import PageState, utc_now
from crawler.urls.site import OTHER_HOST

MAX_ATTEMPTS = 4  # requests of one page in one run
FIRST_WAIT = 0.5  # seconds; doubled by each attempt
MAX_RETRY_AFTER = 300.0  # seconds; cap on the shop's header
MAX_HEADER_LENGTH = 100  # characters of a Retry-After; longer ones are not read
SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?")
MISSING_RETRY_DELAY = 3.0  # seconds until a known page that is missing is requested again
NO_PAGE_DELAY = 7 * 24 * 3600.0  # seconds until a file or an oversized page is tried again
# 408, 425 and 429 by RFC 9110, 8470 and 6585; 520 to 524 are those of a widespread proxy.
TEMPORARY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
MIN_STATUS = 100  # statuses have three digits (RFC 9110, section 15)
MAX_STATUS = 999
GONE_STATUSES = frozenset({404, 410})

# Reasons, as stored in the page table and shown in reports.
ROBOTS_TXT = "robots.txt"
NOT_HTML = "not html"
TOO_LARGE = "too large"
HOSTILE = "hostile page"
UNREADABLE = "unreadable answer"
ABSURD_STATUS = "absurd status code"
NO_TLS = "no secure connection"
CAPTCHA = "captcha"
LOGIN = "login wall"
SILENCES: dict[type[BaseException], str] = {
    DownloadTimeoutError: "timeout",
    CannotResolveHostError: "no such host",
    DownloadConnectionRefusedError: "connection refused",
    ResponseDataLossError: "cut off",
    DownloadFailedError: "no connection",
    BadGzipFile: UNREADABLE,
    OSError: "no connection",
}
NO_PAGES = frozenset({NOT_HTML, TOO_LARGE})
UNREACHABLE = frozenset({"no such host", "connection refused", "no connection", NO_TLS, "timeout"})
BLOCKING = frozenset(
    {CAPTCHA, LOGIN, "http 401", "http 403", "http 407", "http 429", "http 451", "http 503"}
)

# Scripts of challenge pages.
CHALLENGE = re.compile(
    rb"cf_chl_opt|captcha-delivery\.com|px-captcha|/_Incapsula_Resource|awsWafCookieDomainList",
    re.I,
)
CAPTCHA_TEXT = re.compile(
    rb"recaptcha|hcaptcha|h-captcha|cf-challenge|robot check|are you (?:a )?(?:robot|human)"
    rb"|not a robot|kein Roboter|unusual traffic",
    re.I,
)
CAPTCHA_STATUSES = frozenset({401, 403, 405, 429, 503})
PASSWORD_FIELD = re.compile(rb"<input[^>]{1,300}type\s*=\s*[\"']?password", re.I)
WALL_SIZE = (
    20_000  # bytes; a captcha or login page is shorter, a shop's page with such a form is not
)
WALL_LINKS = 5  # links; a captcha or login page has fewer
FILE_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")
HTML_START_SIZE = 4096  # bytes that are looked at for the first tag
# Possessive quantifiers: a body made of comments must not cost more than its length.
COMMENTS = rb"(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+"
HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+" + COMMENTS + rb"<(?:!doctype\s+html|html|head|body)\b", re.I
)


@dataclass(frozen=True)
class ResponseStatus:
    """A page's new state with its reason.

    `wait` is in seconds until a pending page may be requested again.
    """

    state: PageState
    reason: str | None = None
    wait: float = 0.0

    def columns(self) -> dict[str, Any]:
        """Return the columns of the page.

        Files and oversized pages are not requested for a week.
        """
        wait = None
        if self.state == PageState.PENDING:
            wait = self.wait
        elif self.reason in NO_PAGES:
            wait = NO_PAGE_DELAY
        not_before = None if wait is None else utc_now() + timedelta(seconds=wait)
        return {"reason": self.reason, "not_before": not_before}


def classify_response(
    response: Response, attempts: int, was_fetched: bool = False
) -> ResponseStatus:
    """Classify a response by its status and body.

    `was_fetched` if an earlier run has fetched the page.
    """
    status = response.status
    if wall := _wall(response):
        return ResponseStatus(PageState.FAILED, wall)
    if status in TEMPORARY_STATUSES:
        return retry(f"http {status}", attempts, retry_after(response))
    if status == 304 or 200 <= status < 300:
        return _classify_body(response)
    if 300 <= status < 400:
        return ResponseStatus(PageState.REDIRECTED, "redirect")
    if status in GONE_STATUSES:
        return classify_missing(f"http {status}", attempts, was_fetched)
    return ResponseStatus(PageState.FAILED, f"http {status}")


def classify_error(error: BaseException | None, attempts: int) -> ResponseStatus:
    """Classify a request without a response by its exception."""
    if isinstance(error, IgnoreRequest):
        return ResponseStatus(PageState.REFUSED, _ignore_reason(str(error)))
    if isinstance(error, DownloadCancelledError):
        return ResponseStatus(PageState.REFUSED, TOO_LARGE)
    if isinstance(error, HostilePage):
        return ResponseStatus(PageState.REFUSED, HOSTILE)
    return retry(_silence_reason(error), attempts)


def retry(reason: str, attempts: int, wait: float | None = None) -> ResponseStatus:
    """Make a page pending for at least `wait` seconds, or fail it after the last attempt."""
    if attempts >= MAX_ATTEMPTS:
        return ResponseStatus(PageState.FAILED, reason)
    return ResponseStatus(PageState.PENDING, reason, max(wait or 0.0, FIRST_WAIT * 2.0**attempts))


def classify_missing(reason: str, attempts: int, was_fetched: bool) -> ResponseStatus:
    """Classify a missing page as gone.

    One that was fetched before is requested a second time first.
    """
    if was_fetched and attempts < 2:
        return retry(reason, attempts, MISSING_RETRY_DELAY)
    return ResponseStatus(PageState.GONE, reason)


def retry_after(response: Response) -> float | None:
    """Return the seconds of a valid Retry-After header, at most five minutes.

    RFC 9110 allows whole seconds and an HTTP date; fractions are read as well. Anything else is
    ignored, negative numbers among it.
    """
    header = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if len(header) > MAX_HEADER_LENGTH:
        return None
    if SECONDS.fullmatch(header):
        return min(float(header), MAX_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(header)
        # A date without a time zone, or with the unknown one (-0000), is in UTC.
        until = until.replace(tzinfo=UTC) if until.tzinfo is None else until
        seconds = (until - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def redirect_target(response: Response) -> str:
    """Return the absolute target of a redirect; "" if it is no URL.

    Browsers read the header's bytes as UTF-8, and send bytes that are not UTF-8 unchanged.

    >>> redirect_target(Response("https://a.de/x/y", headers={"Location": "../bär"}))
    'https://a.de/b%C3%A4r'
    """
    location = response.headers.get("Location") or b""
    try:
        return urljoin(response.url, safe_url_string(location))
    except ValueError:
        return ""


def has_valid_status(response: Response) -> bool:
    """Return True if the status has three digits; those above 599 are in use, though not valid."""
    return MIN_STATUS <= response.status <= MAX_STATUS


def is_html(response: Response) -> bool:
    """Return True if a response is HTML, by its content type or else by its first tag."""
    content_type = (response.headers.get("Content-Type") or b"").lower()
    if b"html" in content_type:
        return not response.body.startswith(FILE_STARTS)
    return HTML_START.match(response.body[:HTML_START_SIZE]) is not None


def _classify_body(response: Response) -> ResponseStatus:
    if response.status == 304 or is_html(response):
        return ResponseStatus(PageState.FETCHED)
    return ResponseStatus(PageState.REFUSED, NOT_HTML)


def _silence_reason(error: BaseException | None) -> str:
    """Return the reason of a failed connection.

    Failures of TLS and of parsing differ by their message only.
    """
    if isinstance(error, DownloadFailedError):
        if "SSL" in str(error):
            return NO_TLS
        if "ParseError" in str(error):
            return UNREADABLE
    for kind, reason in SILENCES.items():
        if isinstance(error, kind):
            return reason
    return UNREADABLE


def _wall(response: Response) -> str | None:
    """Return the reason if a captcha or a login form is shown in place of the page."""
    if _is_captcha(response):
        return CAPTCHA
    if response.status == 200 and _is_login(response):
        return LOGIN
    return None


def _is_captcha(response: Response) -> bool:
    """Return True for a captcha page.

    It is short and has few links, unlike a contact form with a captcha.
    """
    body = response.body
    if response.headers.get("cf-mitigated") == b"challenge":
        return True
    if len(body) > WALL_SIZE or not (CHALLENGE.search(body) or CAPTCHA_TEXT.search(body)):
        return False
    if response.status in CAPTCHA_STATUSES:
        return True
    return response.status == 200 and body.count(b"href=") < WALL_LINKS


def _is_login(response: Response) -> bool:
    """Return True for a login page.

    It is short and has few links, unlike a page whose header has a login form.
    """
    body = response.body
    if len(body) >= WALL_SIZE or PASSWORD_FIELD.search(body) is None:
        return False
    return body.count(b"href=") < WALL_LINKS


def _ignore_reason(message: str) -> str:
    """Return the reason of Scrapy's IgnoreRequest, which has a message but no kind."""
    if "robots.txt" in message:
        return ROBOTS_TXT
    return message if message in (OTHER_HOST, ABSURD_STATUS) else TOO_LARGE
