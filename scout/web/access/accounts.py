"""Accounts of the web application: add, list, change, remove, and sign in with a password."""

import re
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, delete, select

from catalog.errors import ScoutError, UsageError
from catalog.models import Account, ApiToken, Role, WebSession, utc_now
from catalog.storage.store import Store
from scout.web.access import passwords

MAX_NAME_LENGTH = 100
"""Characters of an account's name."""

FIRST_ADMIN = "admin"
"""Name of the account that the first start makes."""

_NAME = re.compile(r"[\w.@+-][\w.@+ -]*")


def check_account_name(name: str) -> str:
    """Return an account's name without outer white space. Raises UsageError.

    >>> check_account_name(" ada@team.example ")
    'ada@team.example'
    """
    stripped = name.strip()
    if len(stripped) > MAX_NAME_LENGTH or not _NAME.fullmatch(stripped):
        raise UsageError(
            f"{name[:40]!r} cannot be an account's name: take 1 to {MAX_NAME_LENGTH} letters, "
            "digits, spaces, and . @ + - _"
        )
    return stripped


def parse_role(name: str) -> Role:
    """Return the role of that name. Raises UsageError.

    >>> parse_role("editor").value
    'editor'
    """
    if name not in set(Role):
        raise UsageError(f"{name[:40]!r} is no role: choose from {', '.join(Role)}")
    return Role(name)


def has_accounts(store: Store) -> bool:
    """Return True if any account is stored."""
    with store.read() as session:
        return session.exec(select(Account.id).limit(1)).first() is not None


def list_accounts(store: Store) -> list[Account]:
    """Return all accounts, sorted by name."""
    with store.read() as session:
        return list(session.exec(select(Account).order_by(col(Account.name_key))))


def find_account(session: Session, name: str) -> Account | None:
    """Return the account of that name, in any case, or None."""
    name_key = name.strip().casefold()
    return session.exec(select(Account).where(Account.name_key == name_key)).first()


def get_account(session: Session, name: str) -> Account:
    """Return the account of that name. Raises UsageError."""
    account = find_account(session, name)
    if account is None:
        raise UsageError(f"there is no account {name[:40]!r}: 'scout user list' shows all")
    return account


def add_account(
    store: Store, name: str, role: Role, password: str | None, subject: str | None = None
) -> Account:
    """Store a new account; without a password it can only use API tokens or `subject`.

    Raises UsageError for a bad name or password, ScoutError where the name is taken.
    """
    name = check_account_name(name)
    account = Account(name=name, name_key=name.casefold(), role=role, subject=subject)
    if password is not None:
        account.password_hash = passwords.hash_password(passwords.check_password(password))
    try:
        with store.write() as session:
            session.add(account)
    except IntegrityError as error:
        raise ScoutError(f"an account is called {name!r} already: choose another name") from error
    return account


def make_first_admin(store: Store) -> str | None:
    """Make the first account, an admin; return its generated password.

    None where there are accounts already. Raises StoreError, StorageFull.
    """
    if has_accounts(store):
        return None
    password = passwords.generate_password()
    try:
        add_account(store, FIRST_ADMIN, Role.ADMIN, password)
    except ScoutError:
        if not has_accounts(store):
            raise
        # Another process on the same store was quicker, and has printed its password.
        return None
    return password


def set_password(
    store: Store, account_id: int, password: str, keep_session: int | None = None
) -> None:
    """Set a password and end the account's sessions, all but `keep_session`. Raises UsageError."""
    password_hash = passwords.hash_password(passwords.check_password(password))
    with store.write() as session:
        account = session.get_one(Account, account_id)
        account.password_hash = password_hash
        others = delete(WebSession).where(col(WebSession.account_id) == account_id)
        if keep_session is not None:
            others = others.where(col(WebSession.id) != keep_session)
        session.exec(others)


def set_role(store: Store, name: str, role: Role) -> None:
    """Change the role of an account. Raises UsageError for the last admin."""
    with store.write() as session:
        account = get_account(session, name)
        if role != Role.ADMIN:
            _check_not_last_admin(session, account)
        account.role = role


def set_language(store: Store, account_id: int, language: str) -> None:
    """Set the language in which an account reads the pages."""
    with store.write() as session:
        session.get_one(Account, account_id).language = language


def remove_account(store: Store, name: str) -> None:
    """Delete an account with its sessions and tokens. Raises UsageError for the last admin."""
    with store.write() as session:
        account = get_account(session, name)
        _check_not_last_admin(session, account)
        session.exec(delete(WebSession).where(col(WebSession.account_id) == account.id))
        session.exec(delete(ApiToken).where(col(ApiToken.account_id) == account.id))
        session.delete(account)


def _check_not_last_admin(session: Session, account: Account) -> None:
    if account.role != Role.ADMIN:
        return
    # Locked, so that two admins do not take the role from each other at once.
    admins = session.exec(select(Account.id).where(Account.role == Role.ADMIN).with_for_update())
    if len(admins.all()) == 1:
        raise UsageError(
            f"{account.name!r} is the only admin: give another account that role first"
        )


def verify_login(store: Store, name: str, password: str) -> Account | None:
    """Return the account of a name and password, or None; note the time of the login."""
    with store.read() as session:
        account = find_account(session, name)
    password_hash = account.password_hash if account is not None else None
    if not passwords.verify_password(password_hash, password) or account is None:
        return None
    rehashed = None
    if password_hash is not None and passwords.needs_rehash(password_hash):
        rehashed = passwords.hash_password(password)
    note_login(store, account, utc_now(), rehashed)
    return account


def note_login(
    store: Store, account: Account, moment: datetime, password_hash: str | None = None
) -> None:
    """Store the time of a login, and a new hash of the same password."""
    with store.write() as session:
        stored = session.get(Account, account.id)
        if stored is None:
            return
        stored.last_login_at = moment
        if password_hash is not None:
            stored.password_hash = password_hash


def account_key(account: Account) -> int:
    """Return the id of a stored account."""
    assert account.id is not None
    return account.id


def role_names() -> Sequence[str]:
    """Return the names of all roles, the least first."""
    return [str(role) for role in Role]
