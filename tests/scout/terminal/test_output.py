"""Terminal output: tables, lines, progress, logs."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from catalog.runtime.settings import Settings
from scout.terminal import logs
from scout.terminal.output import format_cell, print_table, shorten
from scout.terminal.progress import PlainProgress, show_progress


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


ROWS = [("Mug [red]", 5, None), ("Cup\x1b]0;title\x07\u202e", 12, "x")]


def test_plain_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Off a terminal a table is aligned lines, numbers to the right, without control characters."""
    print_table(("name", "count", "more"), ROWS, "Things")
    assert capsys.readouterr().out.splitlines() == [
        "Things",
        "name          count  more",
        "Mug [red]         5",
        "Cup ]0;title     12  x",
    ]


def test_rich_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a cell's text is neither interpreted as markup nor as a control sequence."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    print_table(("name", "count", "more"), ROWS, "Things")
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
def test_format_cell(value: object, text: str) -> None:
    """A cell is one line without control characters."""
    assert format_cell(value) == text


def test_shorten() -> None:
    """A long text is cut and ends with an ellipsis."""
    assert (shorten("x" * 61), shorten("x" * 60), shorten(None)) == ("x" * 59 + "…", "x" * 60, "")


def test_plain_progress() -> None:
    """Off a terminal progress is the first and last update of each counter, with few between."""
    out = io.StringIO()
    with show_progress(out) as progress:
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


def test_line_interval() -> None:
    """A line is written as soon as the interval between two lines is over."""
    out = io.StringIO()
    progress = PlainProgress(out, interval=0.0)
    for done in range(3):
        progress("pages", done)
    assert len(out.getvalue().splitlines()) == 3


def test_bars() -> None:
    """On a terminal there is a bar for each counter."""
    terminal = Terminal()
    with show_progress(terminal) as progress:
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
    """JSON logs are one object a line on standard error, from Scout and from libraries alike."""
    logs.configure_logging(settings.model_copy(update={"log_format": "json", "log_level": "info"}))
    structlog.get_logger("scout.test").info("begun", shop="demo")
    logging.getLogger("a.library").warning("hm %s", 7)
    logging.getLogger("a.library").debug("not logged")
    result = capsys.readouterr()
    first, second = map(json.loads, result.err.splitlines())
    assert (first["event"], first["shop"], first["level"]) == ("begun", "demo", "info")
    assert (second["event"], second["logger"]) == ("hm 7", "a.library")
    assert result.out == ""


@pytest.mark.usefixtures("_logging")
def test_text_logs(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Text logs are lines, and by default only warnings and errors are logged."""
    logs.configure_logging(settings)
    structlog.get_logger("scout.test").info("begun")
    structlog.get_logger("scout.test").warning("slow", shop="demo")
    assert "slow" in (result := capsys.readouterr().err)
    assert "begun" not in result
