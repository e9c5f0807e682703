"""API tokens: made for an account, bounded by a role, shown once."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, delete, select

from catalog.errors import ScoutError, UsageError
from catalog.models import Account, ApiToken, Role, utc_now
from catalog.storage.store import Store
from scout.web.access.accounts import account_key, get_account
from scout.web.access.last_use import note_use
from scout.web.access.secret_values import API_TOKEN_PREFIX, digest, new_secret

MAX_DAYS = 3650
"""Days that a token is valid at most."""

_MAX_NAME_LENGTH = 100


def add_token(
    store: Store, account_name: str, name: str, role: Role | None = None, days: int | None = None
) -> str:
    """Make a token of an account and return it; only its digest is stored.

    `role` bounds it (None: the account's role), `days` is its time (None: no end). Raises
    UsageError, and ScoutError where the account has a token of that name.
    """
    name = name.strip()
    if not name or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise UsageError(f"a token's name has 1 to {_MAX_NAME_LENGTH} printable characters")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise UsageError(f"a token is valid for 1 to {MAX_DAYS} days")
    token = API_TOKEN_PREFIX + new_secret()
    try:
        with store.write() as session:
            account = get_account(session, account_name)
            if role is not None and not Role(account.role).includes(role):
                raise UsageError(f"{account.name!r} is {account.role}: its tokens cannot be {role}")
            session.add(
                ApiToken(
                    account_id=account_key(account),
                    name=name,
                    role=role or account.role,
                    digest=digest(token),
                    expires_at=utc_now() + timedelta(days=days) if days else None,
                )
            )
    except IntegrityError as error:
        raise ScoutError(f"{account_name!r} has a token {name!r}: choose another name") from error
    return token


def list_tokens(store: Store, account_id: int) -> Sequence[ApiToken]:
    """Return the tokens of an account, sorted by name."""
    query = select(ApiToken).where(ApiToken.account_id == account_id)
    with store.read() as session:
        return session.exec(query.order_by(col(ApiToken.name))).all()


def remove_token(store: Store, account_id: int, name: str) -> None:
    """Delete a token of an account. Raises UsageError where it has none of that name."""
    removed = delete(ApiToken).where(
        col(ApiToken.account_id) == account_id, col(ApiToken.name) == name
    )
    with store.write() as session:
        if not session.exec(removed).rowcount:
            raise UsageError(f"there is no token {name[:40]!r} of this account")


def find_token(store: Store, token: str) -> tuple[Account, Role] | None:
    """Return a token's account and the role that it gives; None if it is not valid."""
    now = utc_now()
    query = (
        select(ApiToken, Account)
        .join(Account, col(Account.id) == col(ApiToken.account_id))
        .where(ApiToken.digest == digest(token))
    )
    with store.read() as session:
        row = session.exec(query).first()
    if row is None:
        return None
    stored, account = row
    if stored.expires_at is not None and stored.expires_at <= now:
        return None
    assert stored.id is not None
    note_use(store, ApiToken, stored.id, stored.last_used_at)
    # The account's role may have been lowered since the token was made.
    account_role, token_role = Role(account.role), Role(stored.role)
    return account, token_role if account_role.includes(token_role) else account_role
