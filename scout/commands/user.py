"""`scout user`: accounts of the web application, their API tokens, and the audit log.

Passwords and tokens are never arguments: other users of the machine can read those.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import (
    MAX_ROWS,
    Invocation,
    JsonOption,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_note, print_table

if TYPE_CHECKING:
    from catalog.models import Account

user_commands = command_group(
    "user", "Accounts of 'scout serve': add, list, role, password, token, log, remove."
)
token_commands = command_group("token", "API tokens of an account: add, list, remove.")
user_commands.add_typer(token_commands)

ACCOUNT_COLUMNS = ("name", "role", "signs_in", "created_at", "last_login_at")
TOKEN_COLUMNS = ("name", "role", "created_at", "expires_at", "last_used_at")
LOG_COLUMNS = ("made_at", "actor", "action", "shop", "details")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
TokenArgument = Annotated[str, typer.Argument(metavar="TOKEN", help="A name for the token.")]
RoleOption = Annotated[
    str,
    typer.Option("--role", metavar="ROLE", help="viewer, reviewer, editor or admin."),
]
StdinOption = Annotated[
    bool,
    typer.Option("--password-stdin", help="Read the password from the first line of the input."),
]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(user_commands)


@user_commands.command("add")
def add(
    context: typer.Context,
    name: NameArgument,
    role: RoleOption = "viewer",
    password_stdin: StdinOption = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="An account for API tokens only.")
    ] = False,
) -> None:
    """Add an account. The password is asked for; where there is no terminal, one is generated."""
    from scout.web.access import accounts

    if password_stdin and no_password:
        raise typer.BadParameter("give --password-stdin or --no-password, not both")
    invocation = get_invocation(context)
    parsed_role = accounts.parse_role(role)
    accounts.check_account_name(name)
    password = None if no_password else _new_password(password_stdin)
    account = accounts.add_account(invocation.store, name, parsed_role, password)
    _audit(invocation, "account added", account=account.name, role=role)
    print_lines(f"account {format_cell(account.name)} added: {role}")


@user_commands.command("list")
def list_users(context: typer.Context, as_json: JsonOption = False) -> None:
    """List all accounts. With --json, one object a line."""
    from scout.web.access import accounts

    rows = [
        _account_row(account) for account in accounts.list_accounts(get_invocation(context).store)
    ]
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(ACCOUNT_COLUMNS, [[row[column] for column in ACCOUNT_COLUMNS] for row in rows])


def _account_row(account: "Account") -> dict[str, object]:
    signs_in = "by tokens only"
    if account.password_hash is not None:
        signs_in = "by password"
    elif account.subject is not None:
        signs_in = "by OpenID Connect"
    return {
        "name": account.name,
        "role": str(account.role),
        "signs_in": signs_in,
        "created_at": account.created_at,
        "last_login_at": account.last_login_at,
    }


@user_commands.command("role")
def set_role(
    context: typer.Context,
    name: NameArgument,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, reviewer, editor or admin.")],
) -> None:
    """Change the role of an account."""
    from scout.web.access import accounts

    invocation = get_invocation(context)
    accounts.set_role(invocation.store, name, accounts.parse_role(role))
    _audit(invocation, "role changed", account=name, role=role)
    print_lines(f"account {format_cell(name)} is {role} now")


@user_commands.command("password")
def set_password(
    context: typer.Context, name: NameArgument, password_stdin: StdinOption = False
) -> None:
    """Set another password; the account's sessions end."""
    from scout.web.access import accounts

    invocation = get_invocation(context)
    account = _account(invocation, name)
    accounts.set_password(
        invocation.store, accounts.account_key(account), _new_password(password_stdin)
    )
    _audit(invocation, "password reset", account=account.name)
    print_lines(f"account {format_cell(account.name)} has a new password; its sessions ended")


@user_commands.command("remove")
def remove(context: typer.Context, name: NameArgument) -> None:
    """Remove an account with its tokens and sessions. The audit log keeps its entries."""
    from scout.web.access import accounts

    invocation = get_invocation(context)
    accounts.remove_account(invocation.store, name)
    _audit(invocation, "account removed", account=name)
    print_lines(f"account {format_cell(name)} removed")


@token_commands.command("add")
def add_token(
    context: typer.Context,
    name: NameArgument,
    token: TokenArgument,
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE", help="A lesser role than the account's, for this token."
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Days for which it is valid.")
    ] = None,
) -> None:
    """Make an API token and print it, once."""
    from scout.web.access import accounts, api_tokens

    invocation = get_invocation(context)
    parsed_role = accounts.parse_role(role) if role else None
    secret = api_tokens.add_token(invocation.store, name, token, parsed_role, days)
    _audit(invocation, "token added", account=name, token=token)
    print_note("the token is shown once; programs send it as 'Authorization: Bearer TOKEN'")
    print_lines(secret)


@token_commands.command("list")
def list_tokens(context: typer.Context, name: NameArgument, as_json: JsonOption = False) -> None:
    """List the API tokens of an account. With --json, one object a line."""
    from scout.web.access import accounts, api_tokens

    invocation = get_invocation(context)
    account_id = accounts.account_key(_account(invocation, name))
    rows = [
        {column: getattr(token, column) for column in TOKEN_COLUMNS}
        for token in api_tokens.list_tokens(invocation.store, account_id)
    ]
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(TOKEN_COLUMNS, [list(row.values()) for row in rows])


@token_commands.command("remove")
def remove_token(context: typer.Context, name: NameArgument, token: TokenArgument) -> None:
    """Remove an API token: it is refused from now on."""
    from scout.web.access import accounts, api_tokens

    invocation = get_invocation(context)
    account_id = accounts.account_key(_account(invocation, name))
    api_tokens.remove_token(invocation.store, account_id, token)
    _audit(invocation, "token removed", account=name, token=token)
    print_lines(f"token {format_cell(token)} removed")


@user_commands.command("log")
def show_log(
    context: typer.Context,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Only actions of this account.")
    ] = None,
    shop: Annotated[
        str | None, typer.Option(metavar="SHOP", help="Only actions on this shop.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MAX_ROWS, metavar="N", help="Entries at most.")
    ] = 100,
    as_json: JsonOption = False,
) -> None:
    """Show the audit log: who did what, the newest first. With --json, one object a line."""
    from scout.web.access.audit import read_log

    entries = read_log(get_invocation(context).store, actor=by, shop=shop, limit=limit)
    rows = [{column: getattr(entry, column) for column in LOG_COLUMNS} for entry in entries]
    if as_json:
        for row in rows:
            print_json(row)
        return
    cells = []
    for row in rows:
        details = ", ".join(f"{name}: {value}" for name, value in row["details"].items())
        cells.append([*list(row.values())[:-1], details])
    print_table(LOG_COLUMNS, cells)


def _account(invocation: Invocation, name: str) -> "Account":
    from scout.web.access.accounts import get_account

    with invocation.store.read() as session:
        return get_account(session, name)


def _new_password(from_stdin: bool) -> str:
    """Read a password from standard input or the terminal, or generate and print one."""
    from scout.web.access.passwords import check_password, generate_password

    if from_stdin:
        return check_password(sys.stdin.readline().rstrip("\r\n"))
    if sys.stdin.isatty():
        typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return check_password(typed)
    password = generate_password()
    print_note(f"generated password, shown once: {password}")
    return password


def _audit(invocation: Invocation, action: str, **details: str) -> None:
    """Log an action as done by the user of the operating system."""
    from scout.inspect.review_decisions import reviewer_name
    from scout.web.access.audit import record_action

    actor = f"{reviewer_name(None) or 'someone'} (command line)"
    record_action(invocation.store, actor, action, None, details)
