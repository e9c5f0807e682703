"""A pool of served processes (`catalog.runtime.served_process`) that carry out calls.

`concurrent.futures.ProcessPoolExecutor` starts its processes with the whole environment of this
one, passwords included, and they import from the working folder. These start with `-P` and the safe
variables only, and end with this process, even where it is killed.

Where the death of a process has to be traced to the item that it worked on, see
`catalog.runtime.supervised_workers`.
"""

import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from catalog.errors import WorkerError
from catalog.runtime.garbage_collection import tune_gc
from catalog.runtime.limits.process_end import end_out_of_memory, end_reason
from catalog.runtime.limits.process_limits import NO_LIMITS, ProcessLimits
from catalog.runtime.served_process import ServedProcess
from catalog.runtime.supervised_workers import END_TIMEOUT, picklable_error

Result = TypeVar("Result")

# A call to carry out: its future, and its pickled function and arguments. None ends a process.
_Call = tuple["Future[Any]", bytes]
# A call's future, and its pickled result and error.
_Answer = tuple["Future[Any]", bytes]


class WorkerPool:
    """Processes that take calls in the order of `submit`; functions are picklable by name.

    A call fails with WorkerError if its process dies; so do all later ones of that process.
    """

    def __init__(
        self,
        workers: int,
        prepare: Callable[..., None] | None = None,
        args: tuple[Any, ...] = (),
        limits: ProcessLimits = NO_LIMITS,
    ) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads = []
        for _ in range(workers):
            process = ServedProcess(_serve, (limits, prepare, args))
            thread = Thread(target=self._work, args=(process,), daemon=True)
            self._threads.append(thread)
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Result], *args: Any) -> "Future[Result]":
        """Request a call; the next idle process carries it out."""
        future: Future[Result] = Future()
        try:
            message = pickle.dumps((function, args))
        except Exception as failure:  # noqa: BLE001 - arguments that cannot be pickled
            future.set_exception(failure)
        else:
            self._calls.put((future, message))
        return future

    def map(self, function: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
        """Yield the results for arguments taken together, in their order."""
        futures = [self.submit(function, *args) for args in zip(*arguments, strict=False)]
        for future in futures:
            yield future.result()

    def close(self) -> None:
        """End the processes; calls that have not begun are cancelled."""
        # A thread may take the last call at the same moment: never wait for one here.
        with suppress(Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call[0].cancel()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self, process: ServedProcess) -> None:
        """Hand calls to a process until `close`.

        The next call is sent before the last answer is unpickled: with large ones, the process
        would otherwise be idle for as long as it works.
        """
        connection: Connection = Connection(process.channel.detach())
        answered: list[_Answer] = []
        while (call := self._next_call(answered)) is not None:
            future, message = call
            if not future.set_running_or_notify_cancel():
                continue
            try:
                connection.send_bytes(message)
                _unpickle(answered)
                answered.append((future, connection.recv_bytes()))
            except (EOFError, OSError):
                process.join(END_TIMEOUT)
                reason = end_reason(process.exitcode)
                future.set_exception(WorkerError(f"a worker process has ended: {reason}"))
        _unpickle(answered)
        connection.close()
        process.end(END_TIMEOUT)
        process.close()

    def _next_call(self, answered: list[_Answer]) -> _Call | None:
        """Wait for the next call, with no answer left that nobody has unpickled."""
        with suppress(Empty):
            return self._calls.get_nowait()
        _unpickle(answered)
        return self._calls.get()


def _unpickle(answered: list[_Answer]) -> None:
    """Give the answers of a process to their futures, and clear the list."""
    for future, answer in answered:
        try:
            result, error = pickle.loads(answer)  # noqa: S301 - from a process of our own
        except Exception as failure:  # noqa: BLE001 - an answer that cannot be unpickled
            error = failure
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
    answered.clear()


@contextmanager
def worker_pool(
    workers: int,
    prepare: Callable[..., None] | None = None,
    *args: Any,
    limits: ProcessLimits = NO_LIMITS,
) -> Iterator[WorkerPool]:
    """Open a pool for the block; each process calls `prepare(*args)` before its first task."""
    pool = WorkerPool(workers, prepare, args, limits)
    try:
        yield pool
    finally:
        pool.close()


def _serve(
    channel: socket.socket,
    _fds: Sequence[int],
    limits: ProcessLimits,
    prepare: Callable[..., None] | None,
    args: tuple[Any, ...],
) -> None:
    """Carry out calls until the connection closes."""
    connection: Connection = Connection(channel.detach())
    limits.limit_memory()
    try:
        if prepare is not None:
            prepare(*args)
        tune_gc()
        while True:
            function, arguments = connection.recv()
            limits.limit_next_item()
            connection.send(_outcome(function, arguments))
    except MemoryError:
        end_out_of_memory()
    except (EOFError, OSError, KeyboardInterrupt):
        # The pool has closed the connection, or is interrupted as well.
        pass


def _outcome(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, Exception | None]:
    """Return (result, None), or (None, the exception of the call)."""
    try:
        return function(*arguments), None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - raised again in the requester
        return None, picklable_error(error)
