"""Why a worker process ended: its exit code as a short, stable reason that reports can count."""

import os
import signal

# Exit code of a worker that ran out of memory: no shell and no signal uses it.
OUT_OF_MEMORY_CODE = 86
# Reasons of pages that were set aside start like this; stored in the database.
ENDED_PROCESS = "ended its process"

_SIGNALS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGBUS: "segmentation fault",
    signal.SIGABRT: "aborted",
    signal.SIGKILL: "killed, as for lack of memory",
    signal.SIGXCPU: "too much processor time",
}


def end_reason(exit_code: int | None) -> str:
    """Describe how a process ended, given its exit code as `multiprocessing` reports it.

    >>> end_reason(-11), end_reason(86), end_reason(3), end_reason(None)
    ('segmentation fault', 'out of memory', 'exit code 3', 'unknown')
    """
    if exit_code is None:
        return "unknown"
    if exit_code == OUT_OF_MEMORY_CODE:
        return "out of memory"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        number = signal.Signals(-exit_code)
    except ValueError:
        return f"signal {-exit_code}"
    return _SIGNALS.get(number, number.name)


def set_aside_reason(reason: str) -> str:
    """Return the reason stored with a page that ended the processes that worked on it.

    >>> set_aside_reason("segmentation fault")
    'ended its process: segmentation fault'
    """
    return f"{ENDED_PROCESS}: {reason}"


def end_out_of_memory() -> None:
    """End this worker process at once: after a MemoryError, none of its objects can be trusted."""
    os._exit(OUT_OF_MEMORY_CODE)
