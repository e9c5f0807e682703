"""Security headers of every response, and the check of the Host header.

Titles and URLs on these pages come from untrusted shops. The content security policy lets a page
load nothing but the application's own files, and run no script or style that stands in the page
itself, so that a slip in escaping stays without effect. The Host header is
checked against DNS rebinding: a foreign page could otherwise point its own name to 127.0.0.1 and
read the responses.
"""

from collections.abc import Mapping, Sequence

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

# A report brings its own script and style; the sandbox keeps it away from the origin of the
# application.
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# A stored page of a shop, in the frame of the inspector: no scripts, and nothing is loaded. The
# same origin lets the inspector mark its elements.
STORED_PAGE_POLICY = (
    "sandbox allow-same-origin; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
# The application's own files are kept by the browser, and asked for again with their ETag.
STATIC_HEADERS = {"cache-control": "no-cache"}


class SecurityHeaders:
    """ASGI middleware that adds the headers which a response does not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to the start of its response."""

        is_static = scope.get("path", "").startswith("/static/")
        headers = HEADERS | STATIC_HEADERS if is_static else HEADERS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_missing_headers(message, headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _add_missing_headers(message: Message, wanted: Mapping[str, str]) -> None:
    headers = list(message["headers"])
    present = {name.lower() for name, _ in headers}
    for name, value in wanted.items():
        if name.encode() not in present:
            headers.append((name.encode(), value.encode()))
    message["headers"] = headers


def security_middleware(hosts: Sequence[str]) -> list[Middleware]:
    """Return the middleware of an application that answers to these host names only."""
    return [
        Middleware(SecurityHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
    ]
