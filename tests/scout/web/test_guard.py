"""Every route refuses without login, with a lesser role, and without the CSRF token of its form."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.responses import Response
from starlette.routing import Mount

from catalog.models import Role
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.access.guard import SAFE_METHODS, GuardedRoute, page_router
from scout.web.app import create_app
from tests.scout.web.browser import Browser, signed_in

# Routes that need no login, and why.
PUBLIC = {
    "/login": "to sign in",
    "/login/openid": "to sign in",
    "/login/openid/return": "to sign in",
    "/logout": "ends a session that may have ended",
    "/language": "the login page has it too",
    "/healthz": "for machines, tells nothing",
    "/readyz": "for machines, tells nothing",
}


def guarded_routes() -> Iterator[tuple[str, str, Role | None]]:
    """Yield method, path and least role of every route of the application."""
    app = create_app(Settings(), None, ["127.0.0.1"])  # type: ignore[arg-type]
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, Mount):
            assert context.path == "/static"
            continue
        assert isinstance(route, GuardedRoute), context.path
        for method in context.methods or ():
            yield method, str(context.path), route.required_role


ROUTES = sorted(guarded_routes())


@pytest.fixture
def app(settings: Settings, store: Store) -> FastAPI:
    """The application on an empty store."""
    return create_app(settings, store, ["127.0.0.1"])


def address(path: str) -> str:
    """Fill in the parameters of a path: the checks come before they are looked at."""
    for name in ("{run_id}", "{step_id}", "{finding_id}"):
        path = path.replace(name, "1")
    return path.replace("{", "").replace("}", "").replace(":path", "")


def test_all_routes_are_walked() -> None:
    """The table has the routes of every kind."""
    paths = {path for _, path, _ in ROUTES}
    assert {"/", "/shops/{name}", "/accounts", "/metrics"} <= paths
    assert {path for _, path, role in ROUTES if role is None} == PUBLIC.keys()


def test_without_login(app: FastAPI) -> None:
    """Without a login a page redirects to the login, and the API answers 401."""
    browser = Browser(app)
    for method, path, role in ROUTES:
        if role is None:
            continue
        response = browser.request(method, address(path))
        if path.startswith(("/api/", "/metrics")):
            assert response.status_code == 401, path
            assert response.headers["www-authenticate"] == "Bearer"
        else:
            assert response.status_code == 303, (method, path)
            assert response.headers["location"].startswith("/login?next=")


def test_lesser_role(app: FastAPI) -> None:
    """An account of a lesser role is refused."""
    roles = list(Role)
    browsers = {role: signed_in(app, role) for role in roles}
    for method, path, role in ROUTES:
        if role is None or role == Role.VIEWER:
            continue
        lesser = browsers[roles[roles.index(role) - 1]]
        response = lesser.request(method, address(path))
        assert response.status_code == 403, (method, path)


def test_without_csrf_token(app: FastAPI) -> None:
    """A request that changes something is refused without the token, or with a foreign one."""
    browser = signed_in(app, Role.ADMIN)
    for method, path, _ in ROUTES:
        if method in SAFE_METHODS:
            continue
        for headers in ({}, {"x-csrf-token": "0" * 64}, {"origin": "http://evil.example"}):
            response = browser.request(method, address(path), headers=headers)
            assert response.status_code == 403, (method, path)
        response = browser.request(method, address(path), data={"csrf_token": "é"})
        assert response.status_code == 403, (method, path)


def test_route_without_role() -> None:
    """A route that declares no role cannot be registered."""
    router = page_router()
    with pytest.raises(TypeError, match="has no parameter of type"):

        @router.get("/open")
        def show_anything() -> Response:
            return Response()
