"""Sign in and out, one's own account with its tokens and sessions, and all accounts for admins."""

import re
from typing import Annotated
from urllib.parse import quote, unquote

import structlog
from fastapi import Query
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from catalog.digits import is_ascii_number
from catalog.errors import ScoutError, UsageError
from catalog.models import Account
from scout.web.access import accounts, api_tokens, login_limit, passwords, sessions
from scout.web.access.guard import (
    LANGUAGE_COOKIE,
    Admin,
    Public,
    Viewer,
    page_router,
)
from scout.web.access.openid import OpenIdProvider, PendingSignIn, SignInRefused
from scout.web.context import (
    GUEST_COOKIE,
    SESSION_COOKIE,
    Context,
    Message,
    cookie_name,
    delete_cookie,
    set_cookie,
)
from scout.web.plain_text import FormText, PlainText
from scout.web.rendering import LANGUAGES, read_language

router = page_router()


OPENID_COOKIE = "scout_openid"
"""Cookie of a sign-in under way at the OpenID provider."""

FormQuery = Annotated[PlainText, Query(max_length=4000)]

_OPENID_TIME = 600  # seconds for a sign-in at the provider
_YEAR = 365 * 24 * 3600  # seconds
# A path of this application: one slash, then none and no backslash, which browsers take for one.
_LOCAL_PATH = re.compile(r"/(?![/\\])[\x20-\x7e]*")

log = structlog.get_logger("scout.web")


@router.get("/login")
def show_login(context: Public, next: str = "/") -> Response:
    """Show the form to sign in."""
    if context.account is not None:
        return RedirectResponse(local_path(next), 303)
    return context.render("login.html", next=local_path(next), name="", failed=False)


@router.post("/login")
def sign_in(context: Public, name: FormText, password: FormText, next: FormText = "/") -> Response:
    """Start a session for the right name and password."""
    address = context.request.client.host if context.request.client else ""
    store = context.store
    target = local_path(next)
    if login_limit.is_limited(store, name, address):
        text = context.gettext(
            "Too many attempts have failed. Wait a quarter of an hour, then try again."
        )
        message = Message(text, "bad")
        return context.render(
            "login.html", status=429, messages=[message], next=target, name=name, failed=True
        )
    account = accounts.verify_login(store, name, password)
    if account is None:
        login_limit.note_failure(store, name, address)
        log.warning("a login has failed", address=address)
        message = Message(context.gettext("Name or password is wrong."), "bad")
        return context.render(
            "login.html", status=401, messages=[message], next=target, name=name, failed=True
        )
    login_limit.forget_failures(store, name, address)
    return start_browser_session(context, account, target)


def start_browser_session(context: Context, account: Account, target: str) -> Response:
    """Start a session of an account, with a new cookie, and redirect to a path."""
    if context.session_id is not None:
        sessions.end_session(context.store, context.session_id)
    cookie = sessions.start_session(context.store, accounts.account_key(account))
    response = RedirectResponse(target, 303)
    max_age = int(sessions.ABSOLUTE_EXPIRY.total_seconds())
    set_cookie(context.request, response, SESSION_COOKIE, cookie, max_age)
    delete_cookie(context.request, response, GUEST_COOKIE)
    return response


@router.get("/login/openid")
def begin_openid(context: Public, next: str = "/") -> Response:
    """Send the browser to the OpenID provider."""
    provider = _provider(context)
    url, pending = provider.begin(_openid_address(context), local_path(next))
    response = RedirectResponse(url, 303)
    set_cookie(context.request, response, OPENID_COOKIE, quote(pending.to_cookie()), _OPENID_TIME)
    return response


@router.get("/login/openid/return")
def finish_openid(context: Public, code: FormQuery = "", state: FormQuery = "") -> Response:
    """Start a session for the person that the OpenID provider confirms."""
    provider = _provider(context)
    cookie = context.request.cookies.get(cookie_name(context.request, OPENID_COOKIE), "")
    try:
        pending = PendingSignIn.from_cookie(unquote(cookie))
        claims = provider.finish(_openid_address(context), pending, code, state)
        account = provider.account(context.store, claims)
    except SignInRefused as error:
        log.warning("a sign-in by OpenID Connect was refused")
        response: Response = context.render(
            "login.html",
            status=403,
            messages=[Message(str(error), "bad")],
            next="/",
            name="",
            failed=False,
        )
    else:
        response = start_browser_session(context, account, local_path(pending.next))
    delete_cookie(context.request, response, OPENID_COOKIE)
    return response


def _provider(context: Context) -> OpenIdProvider:
    provider = context.openid
    if provider is None:
        raise HTTPException(404, "OpenID Connect is not set up: see the setting 'oidc_issuer'")
    return provider


def _openid_address(context: Context) -> str:
    return f"{context.settings.public_url.rstrip('/')}/login/openid/return"


@router.post("/logout")
def sign_out(context: Public) -> Response:
    """End the session."""
    if context.session_id is not None:
        sessions.end_session(context.store, context.session_id)
    response = RedirectResponse("/login", 303)
    delete_cookie(context.request, response, SESSION_COOKIE)
    return response


@router.post("/language")
def set_language(context: Public, language: FormText, next: FormText = "/") -> Response:
    """Set the language of the pages: in the account if there is one, and in a cookie."""
    response = RedirectResponse(local_path(next), 303)
    if language in LANGUAGES:
        response.set_cookie(
            LANGUAGE_COOKIE, language, max_age=_YEAR, path="/", httponly=True, samesite="lax"
        )
        if context.account is not None:
            accounts.set_language(context.store, context.account_id, language)
    return response


@router.get("/account")
def show_account(context: Viewer) -> Response:
    """Show one's own account: password, tokens, sessions."""
    return _render_account(context)


def _render_account(
    context: Context, status: int = 200, message: Message | None = None, new_token: str = ""
) -> Response:
    return context.render(
        "account.html",
        status=status,
        messages=[message] if message else [],
        tokens=api_tokens.list_tokens(context.store, context.account_id),
        sessions=sessions.list_sessions(context.store, context.account_id),
        new_token=new_token,
        min_length=passwords.MIN_LENGTH,
        roles=[role for role in accounts.role_names() if context.may(role)],
    )


def _require_session(context: Context) -> None:
    """Raise HTTPException 403 for a request with an API token.

    A token is less than its account: it cannot make another one of a greater role or without end.
    """
    if context.session_id is None:
        raise HTTPException(403, "this needs a login with the password, not an API token")


@router.post("/account/password")
def change_password(context: Viewer, former: FormText, password: FormText) -> Response:
    """Change one's own password; other sessions end."""
    _require_session(context)
    address = context.request.client.host if context.request.client else ""
    name = context.user.name
    if login_limit.is_limited(context.store, name, address):
        message = Message(context.gettext("Too many attempts have failed."), "bad")
        return _render_account(context, 429, message)
    if not passwords.verify_password(context.user.password_hash, former):
        login_limit.note_failure(context.store, name, address)
        message = Message(context.gettext("The present password is wrong."), "bad")
        return _render_account(context, 403, message)
    try:
        accounts.set_password(context.store, context.account_id, password, context.session_id)
    except UsageError as error:
        return _render_account(context, 400, Message(str(error), "bad"))
    context.audit("password changed")
    message = Message(context.gettext("The password is changed. Other sessions ended."))
    return context.redirect("/account", message)


@router.post("/account/sessions/end")
def end_other_sessions(context: Viewer) -> Response:
    """End all sessions of one's account but this one."""
    _require_session(context)
    ended = sessions.end_sessions(context.store, context.account_id, context.session_id)
    context.audit("sessions ended", sessions=ended)
    text = read_language(context.language).ngettext(
        "{number} other session ended.", "{number} other sessions ended.", ended
    )
    return context.redirect("/account", Message(text.format(number=ended)))


@router.post("/account/tokens")
def add_token(context: Viewer, name: FormText, role: FormText, days: FormText = "") -> Response:
    """Make an API token and show it, once."""
    _require_session(context)
    try:
        number = parse_days(days)
        token = api_tokens.add_token(
            context.store, context.user.name, name, accounts.parse_role(role), number
        )
    except ScoutError as error:
        return _render_account(context, 400, Message(str(error), "bad"))
    context.audit("token added", token=name, role=role)
    return _render_account(context, new_token=token)


@router.post("/account/tokens/remove")
def remove_token(context: Viewer, name: FormText) -> Response:
    """Delete an API token."""
    _require_session(context)
    api_tokens.remove_token(context.store, context.account_id, name)
    context.audit("token removed", token=name)
    return context.redirect("/account", Message(context.gettext("The token is removed.")))


@router.get("/accounts")
def list_accounts(context: Admin) -> Response:
    """Show all accounts."""
    return _render_accounts(context)


def _render_accounts(
    context: Context, status: int = 200, message: Message | None = None, password: str = ""
) -> Response:
    return context.render(
        "accounts.html",
        status=status,
        messages=[message] if message else [],
        accounts=accounts.list_accounts(context.store),
        roles=accounts.role_names(),
        password=password,
    )


@router.post("/accounts")
def add_account(context: Admin, name: FormText, role: FormText) -> Response:
    """Add an account and show its generated password, once."""
    password = passwords.generate_password()
    try:
        accounts.add_account(context.store, name, accounts.parse_role(role), password)
    except ScoutError as error:
        return _render_accounts(context, 400, Message(str(error), "bad"))
    context.audit("account added", account=name, role=role)
    text = context.gettext("{name} is added. Hand over the password below: it is shown once.")
    message = Message(text.format(name=name))
    return _render_accounts(context, message=message, password=password)


@router.post("/accounts/role")
def set_role(context: Admin, name: FormText, role: FormText) -> Response:
    """Change the role of an account."""
    accounts.set_role(context.store, name, accounts.parse_role(role))
    context.audit("role changed", account=name, role=role)
    text = context.gettext("{name} is {role} now.")
    return context.redirect("/accounts", Message(text.format(name=name, role=role)))


@router.post("/accounts/password")
def reset_password(context: Admin, name: FormText) -> Response:
    """Give an account a new generated password, shown once; its sessions end."""
    password = passwords.generate_password()
    with context.store.read() as session:
        account = accounts.get_account(session, name)
    accounts.set_password(context.store, accounts.account_key(account), password)
    context.audit("password reset", account=account.name)
    text = context.gettext("{name} has a new password. It is shown once.")
    message = Message(text.format(name=account.name))
    return _render_accounts(context, message=message, password=password)


@router.post("/accounts/remove")
def remove_account(context: Admin, name: FormText) -> Response:
    """Delete an account with its tokens and sessions."""
    accounts.remove_account(context.store, name)
    context.audit("account removed", account=name)
    text = context.gettext("{name} is removed.")
    return context.redirect("/accounts", Message(text.format(name=name)))


def local_path(path: str) -> str:
    """Return a path of this application to redirect to; the start page for anything else.

    >>> local_path("/shops/demo?sort=price"), local_path("//evil.example"), local_path("http://a")
    ('/shops/demo?sort=price', '/', '/')
    """
    return path if _LOCAL_PATH.fullmatch(path) else "/"


def parse_days(text: str) -> int | None:
    """Return the days of a form's field; None where it is empty. Raises UsageError."""
    stripped = text.strip()
    if not stripped:
        return None
    if not is_ascii_number(stripped, 5):
        raise UsageError("the days of a token are a number")
    return int(stripped)
