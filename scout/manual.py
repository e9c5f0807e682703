"""The manual of the command line, docs/cli.md, made from the commands themselves: `make docs`.

A test fails when the file is not what this module prints, or when a command or an option lacks help (the idea is
sqlite-utils').
"""

from collections.abc import Iterator
from typing import Any

import typer.main

from scout.cli import app
from scout.terminal.output import say

HEAD = """\
# The command line

Made from the commands by `make docs`; do not edit.

Exit codes: 0 done, 1 failed with one line on standard error, 2 wrong usage, 130 interrupted (the same command goes on
where it stopped). Tables and progress bars appear on a terminal, plain lines elsewhere; progress is on standard error.
Settings come from `SCOUT_*` variables, a `scout.toml`, or flags, in rising order of force.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and group with its full name, `scout` first."""
    yield from _within("scout", typer.main.get_command(app))


def _within(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, below in getattr(command, "commands", {}).items():
        yield from _within(f"{name} {inner}", below)


def manual() -> str:
    """The whole manual, in Markdown."""
    return HEAD + "".join(_section(name, command) for name, command in commands())


def _section(name: str, command: Any) -> str:
    context = command.context_class(
        command,
        info_name=name,
        terminal_width=100,
        max_content_width=100,
        help_option_names=["-h", "--help"],
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return f"\n## {name}\n\n```\n" + "\n".join(lines).strip() + "\n```\n"


if __name__ == "__main__":
    say(manual().rstrip())
