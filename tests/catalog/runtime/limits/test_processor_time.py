"""Limits on processor time: sleeping is free, computing is not."""

import signal
import threading
import time

import pytest

from catalog.runtime.limits.processor_time import ProcessorTimeLimit


def compute(seconds: float) -> None:
    """Use the processor for some seconds of processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_computing_beyond_the_limit_is_interrupted() -> None:
    """The block is left by an error that names the limit."""
    error = r"longer than 0.05 s of processor time"
    with pytest.raises(TimeoutError, match=error), ProcessorTimeLimit(0.05):
        compute(5)


def test_waiting_beyond_the_limit_is_not() -> None:
    """A process that gets no processor, or waits for a disk, uses up none of its limit."""
    with ProcessorTimeLimit(0.1):
        time.sleep(0.3)


def test_the_limit_ends_with_its_block() -> None:
    """Afterwards the process computes as long as it likes, with its former signal handler."""
    before = signal.getsignal(signal.SIGPROF)
    with ProcessorTimeLimit(0.05):
        pass
    compute(0.1)
    assert signal.getsignal(signal.SIGPROF) == before


def test_there_is_no_limit_in_other_threads() -> None:
    """Signals reach the main thread only: elsewhere the block is not limited, and no error."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with ProcessorTimeLimit(0.01):
                compute(0.05)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert errors == []
