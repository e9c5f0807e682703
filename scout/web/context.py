"""The context of a request: settings, store, account, language, and methods that answer it.

Routes get it by one parameter whose type says who may call them:

    @router.get("/shops/{name}")
    def show_shop(name: str, context: Viewer) -> Response:
        ...
        return context.render("shop.html", shop=shop)

See `scout.web.access.guard` for the types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from catalog.models import Account, Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline.background_jobs import BackgroundJobs
from scout.schedule.timetable import Timetable
from scout.web.access import audit, sessions
from scout.web.access.accounts import account_key
from scout.web.access.openid import OpenIdProvider
from scout.web.access.secret_values import csrf_token
from scout.web.rendering import read_language, render_blocks, render_page

SESSION_COOKIE = "scout_session"
"""Cookie of a browser that is signed in."""

GUEST_COOKIE = "scout_guest"
"""Cookie of a browser that is not: only for the CSRF token of the login form."""

MessageKind = Literal["good", "bad", "note"]


@dataclass(frozen=True)
class Message:
    """A message on top of a page, with an action such as undo, which is a POST to a URL."""

    text: str
    kind: MessageKind = "good"
    action: str | None = None
    action_url: str | None = None


@dataclass(frozen=True)
class Context:
    """The context of one request.

    `account` and `role` are None without a login. `role` may be less than that of the account where
    an API token bounds it. `cookie` is the secret of the browser's session, None with a token.
    """

    request: Request
    settings: Settings
    store: Store
    language: str
    account: Account | None = None
    role: Role | None = None
    session_id: int | None = None
    cookie: str | None = None
    is_new_guest: bool = False
    has_messages: bool = False

    @property
    def user(self) -> Account:
        """The account of the request; routes that need a role always have one."""
        assert self.account is not None
        return self.account

    @property
    def account_id(self) -> int:
        """The id of the account."""
        return account_key(self.user)

    @property
    def timetable(self) -> Timetable | None:
        """The timetable that this process runs, or None."""
        timetable: Timetable | None = self.request.app.state.timetable
        return timetable

    @property
    def jobs(self) -> BackgroundJobs:
        """The jobs that this process starts: runs of shops, learning of rules."""
        jobs: BackgroundJobs = self.request.app.state.jobs
        return jobs

    @property
    def openid(self) -> OpenIdProvider | None:
        """The OpenID provider, None where none is set up."""
        provider: OpenIdProvider | None = self.request.app.state.openid
        return provider

    @property
    def csrf_token(self) -> str:
        """The token that forms of this browser send back; empty where an API token is used."""
        return csrf_token(self.cookie) if self.cookie else ""

    @property
    def page_address(self) -> str:
        """The path and query of the page, to come back to it after a form."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @property
    def is_htmx(self) -> bool:
        """Return True if htmx asks for a part of a page."""
        headers = self.request.headers
        return headers.get("hx-request") == "true" and headers.get("hx-boosted") != "true"

    def may(self, role: str) -> bool:
        """Return True if the account may do what a role may do; for templates."""
        return self.role is not None and self.role.includes(Role(role))

    def gettext(self, text: str) -> str:
        """Return a text in the language of the request."""
        return read_language(self.language).gettext(text)

    def shop(self, name: str) -> Shop:
        """Return the shop of that name. Raises UnknownShop, which becomes 404."""
        return self.store.shop(name)

    def audit(self, action: str, shop: str | None = None, /, **details: Any) -> None:
        """Add an entry to the audit log, such as `context.audit("run", shop.name)`."""
        actor = self.account.name if self.account else ""
        audit.record_action(self.store, actor, action, shop, details)

    def render(
        self,
        template: str,
        *,
        status: int = 200,
        messages: Sequence[Message] = (),
        headers: Mapping[str, str] | None = None,
        **values: object,
    ) -> HTMLResponse:
        """Return a whole page."""
        shown = [*self._take_messages(), *messages]
        page = render_page(template, self.language, self._values(values, shown))
        return self._with_cookies(HTMLResponse(page, status, dict(headers or {})))

    def render_part(
        self,
        template: str,
        *blocks: str,
        status: int = 200,
        messages: Sequence[Message] = (),
        headers: Mapping[str, str] | None = None,
        **values: object,
    ) -> HTMLResponse:
        """Return some blocks of a page for htmx, and messages that replace those of the page."""
        part = self.part_text(template, *blocks, **values)
        if messages:
            part += render_page("messages.html", self.language, self._values(values, messages))
        return self._with_cookies(HTMLResponse(part, status, dict(headers or {})))

    def render_block_or_page(self, template: str, block: str, **values: Any) -> HTMLResponse:
        """Return a block of a page if htmx asks for a part, else the whole page."""
        if self.is_htmx:
            return self.render_part(template, block, **values)
        return self.render(template, **values)

    def part_text(self, template: str, *blocks: str, **values: object) -> str:
        """Return some blocks of a page as text, such as for an event."""
        return render_blocks(template, blocks, self.language, self._values(values, ()))

    def redirect(self, url: str, message: Message | None = None) -> Response:
        """Redirect to a path of this application after a POST, with a message on the next page."""
        if message is not None and self.session_id is not None:
            sessions.add_message(self.store, self.session_id, vars(message))
        if self.is_htmx:
            return Response(status_code=204, headers={"hx-redirect": url})
        return RedirectResponse(url, 303)

    def _take_messages(self) -> list[Message]:
        if not self.has_messages or self.session_id is None:
            return []
        return [Message(**stored) for stored in sessions.take_messages(self.store, self.session_id)]

    def _values(self, values: Mapping[str, object], messages: Sequence[Message]) -> dict[str, Any]:
        return {
            "context": self,
            "messages": messages,
            "path": self.request.url.path,
            "csrf_token": self.csrf_token,
            **values,
        }

    def _with_cookies(self, response: HTMLResponse) -> HTMLResponse:
        if self.is_new_guest and self.cookie is not None:
            set_cookie(self.request, response, GUEST_COOKIE, self.cookie)
        return response


def cookie_name(request: Request, name: str) -> str:
    """Return the name of a cookie; over HTTPS with the prefix that binds it to this host."""
    return f"__Host-{name}" if request.url.scheme == "https" else name


def set_cookie(
    request: Request, response: Response, name: str, value: str, max_age: int | None = None
) -> None:
    """Set a cookie that no script reads and no foreign page sends along with a POST."""
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=max_age,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Delete a cookie."""
    response.delete_cookie(
        cookie_name(request, name),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
