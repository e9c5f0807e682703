"""A run in a process of its own."""

import signal

import pytest

from scout.pipeline import run_process


class EndedProcess:
    """A forked process that has ended."""

    pid = 1

    def __init__(self, exitcode: int) -> None:
        self.exitcode = exitcode

    def join(self, timeout: float | None = None) -> None:
        """Wait for nothing."""

    def terminate(self) -> None:
        """End nothing."""


@pytest.mark.parametrize(
    ("exitcode", "expected", "printed"),
    [
        (0, 0, ""),
        (1, 1, ""),
        (-signal.SIGTERM, 143, ""),
        (-signal.SIGKILL, 137, "error: the run was killed, perhaps because memory ran out"),
    ],
)
def test_a_killed_run_is_told(
    exitcode: int,
    expected: int,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The process that waits for it lives on, so that the shell says nothing."""
    monkeypatch.setattr(run_process, "ServedProcess", lambda *_, **__: EndedProcess(exitcode))
    assert run_process.run_as_this_process(["run", "demo"]) == expected
    assert capsys.readouterr().err.startswith(printed)
