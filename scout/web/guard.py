"""What every answer of the web pages carries, and whom they answer.

Titles and URLs on these pages come from strangers' shops. The policy below lets a page load nothing but its own style,
so that a slip in escaping stays without effect. The Host header is checked against DNS rebinding: a page elsewhere
could otherwise have its own name point to 127.0.0.1 and read the answers.
"""

from collections.abc import Sequence

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class SecurityHeaders:
    """Adds the headers to every answer that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                given = ((name.encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [
                    *message["headers"],
                    *(pair for pair in given if pair[0] not in present),
                ]
            await send(message)

        await self._app(scope, receive, send_guarded)


def middleware(hosts: Sequence[str]) -> list[Middleware]:
    """The guards of an application that answers to these host names only."""
    return [
        Middleware(SecurityHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
    ]
