"""Who may call a route: declared by the type of one parameter, checked before the body is read.

    @router.post("/shops/{name}/runs")
    def start_run(name: str, context: Editor) -> Response: ...

A route without such a parameter cannot be registered on `page_router` or `api_router`. Without a
login pages redirect to the login and the API answers 401; a lesser role is 403. Requests that
change something have to carry the CSRF token of the browser's cookie, in the header `X-CSRF-Token`
or the form field `csrf_token`. Requests with an API token (`Authorization: Bearer`) need none: no
foreign page can send one.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from catalog.models import Role
from scout.web.access.api_tokens import find_token
from scout.web.access.secret_values import is_csrf_token, new_secret
from scout.web.access.sessions import find_session
from scout.web.context import GUEST_COOKIE, SESSION_COOKIE, Context, cookie_name
from scout.web.rendering import choose_language

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LANGUAGE_COOKIE = "scout_language"

_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


class NotSignedIn(Exception):
    """A route that needs a role was called without a login."""


@dataclass(frozen=True)
class RequiredRole:
    """The dependency that gives a route its context; `role` None: anyone may call it."""

    role: Role | None

    def __call__(self, request: Request) -> Context:
        context: Context = request.state.context
        return context


def require(role: Role | None) -> Any:
    """Return the dependency of routes that an account of at least this role may call."""
    return Depends(RequiredRole(role))


Public = Annotated[Context, require(None)]
Viewer = Annotated[Context, require(Role.VIEWER)]
Reviewer = Annotated[Context, require(Role.REVIEWER)]
Editor = Annotated[Context, require(Role.EDITOR)]
Admin = Annotated[Context, require(Role.ADMIN)]


class GuardedRoute(APIRoute):
    """Route that checks login, role and CSRF token first."""

    @property
    def required_role(self) -> Role | None:
        """The least role of an account that may call the route; None: anyone."""
        return _declared(self.path, self.dependant).role

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler of the route. Raises TypeError where no role is declared."""
        handler = super().get_route_handler()
        role = self.required_role

        async def guarded(request: Request) -> Response:
            await admit(request, role)
            return await handler(request)

        return guarded


def _declared(path: str, dependant: Dependant) -> RequiredRole:
    for dependency in dependant.dependencies:
        if isinstance(dependency.call, RequiredRole):
            return dependency.call
    raise TypeError(f"route {path} has no parameter of type Viewer, Reviewer, Editor or Admin")


def page_router() -> APIRouter:
    """Return a router for pages."""
    return APIRouter(
        route_class=GuardedRoute, default_response_class=HTMLResponse, include_in_schema=False
    )


def api_router(tag: str) -> APIRouter:
    """Return a router for a part of the API; `tag` groups its routes in the documentation."""
    return APIRouter(route_class=GuardedRoute, tags=[tag])


async def admit(request: Request, role: Role | None) -> None:
    """Find the account of a request and check that it may go on; sets `request.state.context`.

    Raises NotSignedIn, and HTTPException 403 for a lesser role or a wrong CSRF token.
    """
    # No database can store NUL, and PostgreSQL refuses to look for it.
    if "\x00" in request.scope["path"]:
        raise HTTPException(404)
    if "%00" in request.url.query:
        raise HTTPException(400, "a query cannot hold NUL")
    context = await run_in_threadpool(identify, request)
    request.state.context = context
    if role is not None:
        if context.role is None:
            raise NotSignedIn
        if not context.role.includes(role):
            raise HTTPException(403, f"this needs the role {role}; yours is {context.role}")
    if request.method not in SAFE_METHODS and context.cookie is not None:
        await _check_csrf_token(request, context.cookie)


def identify(request: Request) -> Context:
    """Return the context of a request: of its API token, else of its session, else of a guest."""
    state = request.app.state
    wishes = (request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language"))
    language = choose_language(*wishes)
    authorization = request.headers.get("authorization")
    if authorization is not None:
        kind, _, token = authorization.partition(" ")
        found = find_token(state.store, token.strip()) if kind.lower() == "bearer" else None
        if found is None:
            return Context(request, state.settings, state.store, language)
        account, role = found
        return Context(request, state.settings, state.store, language, account, role)
    cookie = request.cookies.get(cookie_name(request, SESSION_COOKIE))
    signed_in = find_session(state.store, cookie) if cookie else None
    if signed_in is None:
        guest = request.cookies.get(cookie_name(request, GUEST_COOKIE))
        return Context(
            request,
            state.settings,
            state.store,
            language,
            cookie=guest or new_secret(),
            is_new_guest=not guest,
        )
    return Context(
        request,
        state.settings,
        state.store,
        choose_language(signed_in.account.language, language),
        signed_in.account,
        Role(signed_in.account.role),
        signed_in.session_id,
        cookie,
        has_messages=signed_in.has_messages,
    )


async def _check_csrf_token(request: Request, cookie: str) -> None:
    token: object = request.headers.get("x-csrf-token")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if token is None and content_type in _FORM_TYPES:
        token = (await request.form()).get("csrf_token")
    if not isinstance(token, str) or not is_csrf_token(cookie, token):
        raise HTTPException(403, "this form has expired: load the page again, then send it again")
