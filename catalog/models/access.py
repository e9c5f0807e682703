"""Tables of the web application's accounts: roles, tokens, sessions, and the audit log."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Index, String, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import UtcDateTime, empty_dict, empty_list, utc_now


class Role(StrEnum):
    """Role of an account in the web application; each may do what the ones before it may.

    A viewer reads, a reviewer decides on findings, an editor changes rules, imports, schedules and
    runs, an admin manages accounts and shops.
    """

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, role: "Role") -> bool:
        """Return True if an account of this role may do what `role` may do.

        >>> Role.EDITOR.includes(Role.REVIEWER), Role.EDITOR.includes(Role.ADMIN)
        (True, False)
        """
        roles = list(Role)
        return roles.index(self) >= roles.index(role)


class Account(SQLModel, table=True):
    """A person or program that uses the web application.

    `name_key` is the casefolded name. `password_hash` is an Argon2 hash, None where the account
    signs in elsewhere (`subject`, `issuer subject` of OpenID Connect) or by API tokens only.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str
    name_key: str = Field(unique=True)
    role: Role = Field(default=Role.VIEWER, sa_type=String)
    password_hash: str | None = None
    subject: str | None = Field(default=None, unique=True)
    language: str | None = None
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    last_login_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ApiToken(SQLModel, table=True):
    """A token of an account for the API. Only its SHA-256 digest is stored.

    `role` bounds what the token may do, below the role of its account.
    """

    __tablename__ = "api_token"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    name: str
    role: Role = Field(default=Role.VIEWER, sa_type=String)
    digest: str = Field(unique=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class WebSession(SQLModel, table=True):
    """A browser that is signed in. Only the SHA-256 digest of its cookie is stored.

    `messages` are shown on the next page, then deleted.
    """

    __tablename__ = "web_session"

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    digest: str = Field(unique=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    seen_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    messages: list[dict[str, Any]] = Field(default_factory=empty_list, sa_type=JSON)


class LoginFailure(SQLModel, table=True):
    """A refused attempt to sign in; counted for the rate limit, deleted when it is over."""

    __tablename__ = "login_failure"

    id: int | None = Field(default=None, primary_key=True)
    name_key: str = Field(index=True)
    address: str = Field(index=True)
    failed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)


class AuditEntry(SQLModel, table=True):
    """One action of an account, for the audit log; it outlives the account and the shop.

    `actor` is the account's name at that time, or the user of the operating system for commands.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("audit_entry_shop", "shop", "id"),
        Index("audit_entry_actor", "actor", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    made_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    actor: str
    action: str
    shop: str | None = None
    details: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
