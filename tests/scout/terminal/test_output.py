"""What is printed: tables, lines, progress, logs."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from catalog.runtime.settings import Settings
from scout.terminal import logs
from scout.terminal.output import cell, short, table
from scout.terminal.progress import PlainProgress, shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


ROWS = [("Mug [red]", 5, None), ("Cup\x1b]0;title\x07\u202e", 12, "x")]


def test_plain_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Elsewhere than on a terminal a table is aligned lines, numbers to the right, and harmless."""
    table(("name", "count", "more"), ROWS, "Things")
    assert capsys.readouterr().out.splitlines() == [
        "Things",
        "name          count  more",
        "Mug [red]         5",
        "Cup ]0;title     12  x",
    ]


def test_rich_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a stranger's text is neither read as markup nor as a control sequence."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    table(("name", "count", "more"), ROWS, "Things")
    assert "Mug [red]" in terminal.getvalue()
    assert "\x1b]0" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\r\nb", "a b"),
        ("\u202eevil", "evil"),
        ("\u2028", ""),
        ("\ud800", ""),
        (True, "True"),
        (0.5, "0.500"),
    ],
)
def test_cell(value: object, text: str) -> None:
    """A cell is one line without control characters."""
    assert cell(value) == text


def test_short() -> None:
    """A text that is long is cut with a sign that it was."""
    assert (short("x" * 61), short("x" * 60), short(None)) == ("x" * 59 + "…", "x" * 60, "")


def test_plain_progress() -> None:
    """Elsewhere than on a terminal progress is the first news of each thing, its last, and few between."""
    out = io.StringIO()
    with shown(out) as progress:
        for done in range(1000):
            progress("pages fetched", done)
        progress("offers read", 1, 2)
        progress("offers read", 2, 2)
    assert out.getvalue().splitlines() == [
        "pages fetched: 0",
        "pages fetched: 999",
        "offers read: 1 of 2",
        "offers read: 2 of 2",
    ]


def test_news_in_time() -> None:
    """A line is said at the latest when the time between two lines is over."""
    out = io.StringIO()
    progress = PlainProgress(out, every=0.0)
    for done in range(3):
        progress("pages", done)
    assert len(out.getvalue().splitlines()) == 3


def test_bars() -> None:
    """On a terminal there is a bar for each thing."""
    terminal = Terminal()
    with shown(terminal) as progress:
        progress("pages fetched", 3, 10)
        progress("offers read", 1)
    assert "pages fetched" in terminal.getvalue()


@pytest.fixture
def _logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.usefixtures("_logging")
def test_json_logs(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs as JSON are an object a line, from Scout and from libraries alike, on standard error."""
    logs.configure(settings.model_copy(update={"log_format": "json", "log_level": "info"}))
    structlog.get_logger("scout.test").info("begun", shop="demo")
    logging.getLogger("a.library").warning("hm %s", 7)
    logging.getLogger("a.library").debug("not heard")
    said = capsys.readouterr()
    first, second = map(json.loads, said.err.splitlines())
    assert (first["event"], first["shop"], first["level"]) == ("begun", "demo", "info")
    assert (second["event"], second["logger"]) == ("hm 7", "a.library")
    assert said.out == ""


@pytest.mark.usefixtures("_logging")
def test_text_logs(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs as text are lines, and by default only warnings and worse are said."""
    logs.configure(settings)
    structlog.get_logger("scout.test").info("begun")
    structlog.get_logger("scout.test").warning("slow", shop="demo")
    assert "slow" in (said := capsys.readouterr().err)
    assert "begun" not in said
