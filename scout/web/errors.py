"""Errors as responses: a page for people, a problem document (RFC 9457) for the API.

Messages are those of Scout's errors, which name the remedy. They hold no value of a header, cookie
or query beyond the few characters that an error message quotes.
"""

from dataclasses import replace
from http import HTTPStatus
from urllib.parse import quote

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from catalog.errors import (
    BadUrl,
    Busy,
    RulesChanged,
    ScoutError,
    StorageFull,
    StoreError,
    UnknownShop,
    UsageError,
)
from scout.web.access.guard import NotSignedIn, identify
from scout.web.context import Context, Message

PROBLEM_TYPE = "application/problem+json"

# Statuses of Scout's errors; the first class that fits decides.
_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (UnknownShop, 404),
    (UsageError, 400),
    (BadUrl, 400),
    (Busy, 409),
    (RulesChanged, 409),
    # PostgreSQL has integers of four bytes: nothing has an id beyond them.
    (OverflowError, 404),
    (StorageFull, 507),
    (StoreError, 503),
)
_OTHER_STATUS = 422  # the request is well formed, and the data cannot do it

log = structlog.get_logger("scout.web")


def add_error_handlers(app: FastAPI) -> None:
    """Make the application answer errors by this module."""
    app.add_exception_handler(ScoutError, _answer_scout_error)
    app.add_exception_handler(BadUrl, _answer_scout_error)
    app.add_exception_handler(OverflowError, _answer_overflow)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid_request)
    app.add_exception_handler(NotSignedIn, _answer_not_signed_in)
    app.add_exception_handler(Exception, _answer_unexpected)


def status_of(error: Exception) -> int:
    """Return the HTTP status of an error of Scout."""
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    return _OTHER_STATUS


def _answer_scout_error(request: Request, error: Exception) -> Response:
    return error_response(request, status_of(error), str(error))


def _answer_overflow(request: Request, error: Exception) -> Response:
    return error_response(request, status_of(error), "a number is beyond those of the database")


def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if detail == HTTPStatus(error.status_code).phrase:
        detail = ""
    return error_response(request, error.status_code, detail, dict(error.headers or {}))


def _answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    # A path with an id that cannot be one leads nowhere.
    if problems and all(problem["loc"][0] == "path" for problem in problems):
        return error_response(request, 404, "there is nothing at this address")
    # Names and messages only: the values are the sender's.
    details = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems[:5]]
    return error_response(request, 422, "; ".join(details))


def _place(location: tuple[object, ...]) -> str:
    return ".".join(str(part)[:40] for part in location[1:]) or str(location[0])


def _answer_not_signed_in(request: Request, _error: Exception) -> Response:
    if is_api(request):
        headers = {"www-authenticate": "Bearer"}
        return error_response(request, 401, "sign in, or send an API token", headers)
    path = request.url.path
    if request.method != "GET":
        path = "/"
    elif request.url.query:
        path += f"?{request.url.query}"
    login = f"/login?next={quote(path, safe='')}"
    if request.headers.get("hx-request") == "true":
        return Response(status_code=401, headers={"hx-redirect": login})
    return RedirectResponse(login, 303)


def _answer_unexpected(request: Request, error: Exception) -> Response:
    # The route, not the path: a path may hold what is nobody else's business.
    route = getattr(request.scope.get("route"), "path", "no route")
    log.error("unexpected error in a web request", route=route, error=type(error).__name__)
    return error_response(request, 500, "an error in Scout: its log says more; please report it")


def is_api(request: Request) -> bool:
    """Return True if a request is one of the API."""
    return request.url.path.startswith("/api/") or request.url.path == "/metrics"


def error_response(
    request: Request, status: int, message: str, headers: dict[str, str] | None = None
) -> Response:
    """Return an error as a page, a message for htmx, or a problem document."""
    title = HTTPStatus(status).phrase
    if is_api(request):
        problem = {"type": "about:blank", "title": title, "status": status, "detail": message}
        return JSONResponse(problem, status, headers, PROBLEM_TYPE)
    context = _context(request)
    if context.is_htmx:
        # Only the messages of the page are replaced, whatever the request was to replace.
        return context.render(
            "messages.html",
            status=status,
            messages=[Message(message or title, "bad")],
            headers={**(headers or {}), "hx-reswap": "none"},
        )
    return context.render(
        "error.html", status=status, headers=headers, code=status, title=title, message=message
    )


def _context(request: Request) -> Context:
    """Return the context of a request that failed, perhaps before it had one."""
    context: Context | None = getattr(request.state, "context", None)
    try:
        # Messages wait for a page that succeeds.
        return replace(context or identify(request), has_messages=False)
    except StoreError:
        state = request.app.state
        return Context(request, state.settings, state.store, "en")
