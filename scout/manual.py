"""The manual of the command line, docs/cli.md, generated from the commands themselves.

A test fails when the file differs from the output of this module, or when a command or an option
lacks help (the idea is sqlite-utils').
"""

from collections.abc import Iterator
from typing import Any

import typer.core
import typer.main

from scout.cli import app
from scout.terminal.output import print_lines

HEAD = """\
# The command line

Generated from the commands by `python -m scout.manual > docs/cli.md`; do not edit.

Exit codes: 0 done, 1 failed with one line on standard error, 2 wrong usage, 130 interrupted (the same command goes on
where it stopped). Tables and progress bars appear on a terminal, plain lines elsewhere; progress is on standard error.
Settings come from `SCOUT_*` variables, a `scout.toml`, or flags; flags override the file, the file overrides variables.
"""

LINE_WIDTH = 100
"""Characters of a line of help, whatever terminal generates it."""


def list_commands() -> Iterator[tuple[str, Any]]:
    """Yield every command and group with its full name, `scout` first."""
    yield from _walk("scout", typer.main.get_command(app))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        return
    arguments = list[str]()
    # Arguments of a group stand before its commands: scout review SHOP list. A command with a
    # sub-command has either: scout dedupe FILE, scout dedupe label FILE.
    if isinstance(command, typer.core.TyperGroup):
        arguments = [
            parameter.metavar or (parameter.name or "").upper()
            for parameter in command.params
            if parameter.param_type_name == "argument"
        ]
    for subname, subcommand in subcommands.items():
        yield from _walk(" ".join([name, *arguments, subname]), subcommand)


def render_manual() -> str:
    """Render the whole manual as Markdown."""
    return HEAD + "".join(_section(name, command) for name, command in list_commands())


def _section(name: str, command: Any) -> str:
    context = command.context_class(
        command,
        info_name=name,
        terminal_width=LINE_WIDTH,
        max_content_width=LINE_WIDTH,
        help_option_names=["-h", "--help"],
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return f"\n## {name}\n\n```\n" + "\n".join(lines).strip() + "\n```\n"


if __name__ == "__main__":
    print_lines(render_manual().rstrip())
