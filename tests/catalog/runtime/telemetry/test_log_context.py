"""Log lines carry the ids of their task, also in processes that it starts."""

import json
import logging
from collections.abc import Iterator, Sequence
from socket import socket

import pytest

from catalog.runtime.page_marker import SharedNumber, mark_page, use_marker
from catalog.runtime.served_process import ServedProcess
from catalog.runtime.settings import Settings
from catalog.runtime.telemetry import log_context
from catalog.runtime.telemetry.log_context import current_fields, log_fields
from scout.terminal.logs import configure_logging


@pytest.fixture
def _json_logs(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logging in JSON lines, and afterwards as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(log_context, "_setup", None)
    configure_logging(settings.model_copy(update={"log_format": "json", "log_level": "info"}))
    yield
    root.handlers[:], root.level = handlers, level


def written(message: str) -> dict[str, object]:
    """Return the line that this process would write, as an object."""
    record = logging.LogRecord("scout.test", logging.INFO, __file__, 1, message, (), None)
    handler = logging.getLogger().handlers[0]
    line: dict[str, object] = json.loads(handler.format(record))
    return line


def log_in_process(channel: socket, fds: Sequence[int]) -> None:
    """Work on a page, and send what a line of the log would be."""
    use_marker(SharedNumber())
    mark_page(41)
    channel.sendall(json.dumps(written("page read")).encode())


def test_fields_end_with_their_block() -> None:
    """Blocks may be nested; the inner one wins."""
    with log_fields(shop="demo", run=1):
        with log_fields(run=2, stage="parse"):
            assert current_fields() == {"shop": "demo", "run": 2, "stage": "parse"}
        assert current_fields() == {"shop": "demo", "run": 1}
    assert current_fields() == {}


@pytest.mark.usefixtures("_json_logs")
def test_lines_carry_the_ids_here_and_in_other_processes() -> None:
    """A process that is started for a run logs alike, with the page that it works on."""
    with log_fields(shop="demo", run=7):
        here = written("stage begins")
        process = ServedProcess(log_in_process)
        with process.channel.makefile() as received:
            there = json.loads(received.read())
        process.join()
        process.close()
    assert (here["event"], here["shop"], here["run"]) == ("stage begins", "demo", 7)
    assert (there["event"], there["shop"], there["run"]) == ("page read", "demo", 7)
    assert there["page"] == 41
    assert there["level"] == "info"
