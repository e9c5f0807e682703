"""Worker processes whose death costs only the item that they worked on.

`map_chunks` spreads chunks of items over several workers. If a worker dies, its chunk is taken
apart: the item that it worked on is tried alone, and set aside with the reason if workers keep
dying of it. The others are done by another worker. `call_supervised` runs one long function, whose
death is reported with the page that it had marked (`catalog.runtime.page_marker`).

`concurrent.futures` cannot serve here: the death of one process breaks its whole pool, without
telling which task was to blame.
"""

import pickle
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from catalog.errors import WorkerError
from catalog.runtime.garbage_collection import tune_gc
from catalog.runtime.limits.process_end import end_out_of_memory, end_reason
from catalog.runtime.limits.process_limits import NO_LIMITS, ProcessLimits
from catalog.runtime.page_marker import SharedNumber, use_marker
from catalog.runtime.progress import Progress
from catalog.runtime.served_process import ServedProcess

# Processes that may die of an item before it is set aside.
MAX_TRIES = 3
# Chunks that a worker holds: while its parent stores the result of one, it works on the next.
CHUNKS_PER_WORKER = 2
# Workers in a row that die without an item to blame; then the machine is at fault.
MAX_BLAMELESS_DEATHS = 3
# Position that a worker shows while it works on no item; those of items start at 1.
NO_ITEM = 0
# Seconds of wall-clock time in which a worker without work ends by itself.
END_TIMEOUT = 5.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerDied(Exception):
    """A worker process died; `page_id` is the page that it had marked, 0 if none."""

    def __init__(self, reason: str, page_id: int = 0) -> None:
        super().__init__(reason)
        self.page_id = page_id


@dataclass(frozen=True)
class _Task(Generic[Item]):
    """Items of one chunk, from `start`; `deaths` counts the workers that died of a single item."""

    chunk: int
    start: int
    items: Sequence[Item]
    deaths: int = 0

    def split(self, culprit: int) -> "tuple[_Task[Item], list[_Task[Item]]]":
        """Take the task apart after a death: the item at `culprit`, and those around it."""
        behind = culprit + 1
        suspect = _Task(
            self.chunk, self.start + culprit, self.items[culprit:behind], self.deaths + 1
        )
        innocent = [
            _Task(self.chunk, self.start, self.items[:culprit]),
            _Task(self.chunk, self.start + behind, self.items[behind:]),
        ]
        return suspect, [task for task in innocent if task.items]


@dataclass
class _ChunkResults(Generic[Result]):
    """Results of one chunk by the position of its items; complete once none is missing."""

    size: int
    results: dict[int, Result] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.results) == self.size

    def in_order(self) -> list[Result]:
        return [self.results[position] for position in range(self.size)]


def map_chunks(
    prepare: Callable[..., Callable[[Item], Result]],
    args: tuple[Any, ...],
    chunks: Iterable[Sequence[Item]],
    workers: int,
    set_aside: Callable[[Item, str], Result],
    limits: ProcessLimits = NO_LIMITS,
) -> Iterator[list[Result]]:
    """Yield the results of each chunk, in the order of the chunks, computed in worker processes.

    Each worker calls `prepare(*args)` once, and the function that it returned with each item. If
    three workers die of one item, its result is `set_aside(item, reason)`; a worker dies of an item
    that exceeds the limits. An exception of the function is raised here. Raises WorkerError if
    workers die without an item to blame.
    """
    supervisor = _Supervisor(prepare, args, workers, set_aside, limits)
    try:
        yield from supervisor.map(chunks)
    finally:
        supervisor.stop()


def call_supervised(
    function: Callable[..., Result],
    args: tuple[Any, ...],
    progress: Progress,
    limits: ProcessLimits = NO_LIMITS,
) -> Result:
    """Call `function(*args, progress=...)` in a worker process and return its result.

    Its progress is reported here. Raises its exceptions, and WorkerDied with the marked page if the
    process dies, as it does beyond its limits.
    """
    worker = _Worker(_serve_call, (function, args), limits)
    is_working = True
    try:
        while True:
            kind, value = worker.receive()
            if kind == "progress":
                values, also = value
                progress(*values, **also)
                continue
            is_working = False
            if kind == "error":
                raise value
            result: Result = value
            return result
    finally:
        worker.stop(is_working)


class _Supervisor(Generic[Item, Result]):
    """Workers of one `map_chunks`, and the results that are not yielded yet."""

    def __init__(
        self,
        prepare: Callable[..., Callable[[Item], Result]],
        args: tuple[Any, ...],
        worker_count: int,
        set_aside: Callable[[Item, str], Result],
        limits: ProcessLimits,
    ) -> None:
        self._prepare = prepare
        self._limits = limits
        self._args = args
        self._worker_count = worker_count
        self._set_aside = set_aside
        self._workers: list[_Worker] = []
        self._waiting: deque[_Task[Item]] = deque()
        self._chunks: dict[int, _ChunkResults[Result]] = {}
        self._blameless_deaths = 0

    def map(self, chunks: Iterable[Sequence[Item]]) -> Iterator[list[Result]]:
        for number, chunk in enumerate(chunks):
            self._waiting.append(_Task(number, 0, chunk))
            self._chunks[number] = _ChunkResults(len(chunk))
        for number in count():
            if number not in self._chunks:
                return
            while not self._chunks[number].is_complete:
                self._distribute()
                self._receive()
            # The workers get their next chunks before this one is stored.
            self._distribute()
            yield self._chunks.pop(number).in_order()

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop(is_working=bool(worker.tasks))

    def _distribute(self) -> None:
        """Start missing workers, and give each as many chunks as it may hold."""
        busy = sum(bool(worker.tasks) for worker in self._workers)
        needed = min(self._worker_count, busy + len(self._waiting))
        while len(self._workers) < needed:
            task = (self._prepare, self._args)
            self._workers.append(_Worker(_serve_chunks, task, self._limits))
        for held in range(CHUNKS_PER_WORKER):
            for worker in self._workers:
                if self._waiting and len(worker.tasks) <= held:
                    worker.send(self._waiting.popleft())

    def _receive(self) -> None:
        """Wait for results, and take in all that have arrived."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection)):
            worker = by_connection[connection]  # type: ignore[index]
            try:
                kind, value = worker.receive()
            except WorkerDied as death:
                self._replace(worker, str(death))
                continue
            if kind == "error":
                raise value
            if kind == "result":
                self._blameless_deaths = 0
                task = worker.tasks.popleft()
                self._record(task, value)

    def _record(self, task: _Task[Item], results: Sequence[Result]) -> None:
        chunk = self._chunks[task.chunk]
        for offset, result in enumerate(results):
            chunk.results[task.start + offset] = result

    def _replace(self, worker: "_Worker", reason: str) -> None:
        """Requeue the tasks of a dead worker; only the item that it worked on is suspect."""
        self._workers.remove(worker)
        position = worker.position
        worker.stop(is_working=False)
        if position == NO_ITEM:
            self._waiting.extendleft(reversed(worker.tasks))
            self._blameless_deaths += 1
            if self._blameless_deaths >= MAX_BLAMELESS_DEATHS:
                raise WorkerError(f"worker processes end without an item to blame: {reason}")
            return
        interrupted = worker.tasks.popleft()
        self._waiting.extendleft(reversed(worker.tasks))
        suspect, innocent = interrupted.split(position - 1)
        self._waiting.extendleft(reversed(innocent))
        if suspect.deaths < MAX_TRIES:
            self._waiting.appendleft(suspect)
        else:
            self._record(suspect, [self._set_aside(suspect.items[0], reason)])


class _Worker:
    """A fresh process with a connection; `tasks` are those sent and not answered, oldest first."""

    def __init__(
        self, serve: Callable[..., None], args: tuple[Any, ...], limits: ProcessLimits
    ) -> None:
        self.tasks: deque[Any] = deque()
        self._marker = SharedNumber()
        self._position = SharedNumber()
        self._process = ServedProcess(
            _serve, (limits, serve, args), fds=(self._marker.fileno(), self._position.fileno())
        )
        self.connection: Connection = Connection(self._process.channel.detach())

    @property
    def position(self) -> int:
        """Position in its oldest task of the item that the worker works on, from 1; or NO_ITEM."""
        return self._position.value if self.tasks else NO_ITEM

    def send(self, task: "_Task[Any]") -> None:
        """Send a task; if the worker is dead, `receive` reports it."""
        self.tasks.append(task)
        try:
            self.connection.send(task.items)
        except OSError:
            return

    def receive(self) -> tuple[str, Any]:
        """Return the next message of the worker as (kind, value). Raises WorkerDied."""
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError) as error:
            self._process.join()
            raise WorkerDied(end_reason(self._process.exitcode), self._marker.value) from error
        return kind, value

    def stop(self, is_working: bool) -> None:
        """End the process: at once if it works, by closing the connection if it waits."""
        self.connection.close()
        self._process.end(0 if is_working else END_TIMEOUT)
        self._marker.close()
        self._position.close()


def _serve(
    channel: socket.socket,
    fds: Sequence[int],
    limits: ProcessLimits,
    serve: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """Run in the worker: report errors to the parent, and end with it."""
    limits.limit_memory()
    connection: Connection = Connection(channel.detach())
    marker, position = (SharedNumber(number) for number in fds)
    use_marker(marker)
    try:
        serve(connection, position, limits, *args)
    except (EOFError, OSError, KeyboardInterrupt):
        # The parent has closed the connection, or is interrupted as well.
        pass
    except MemoryError:
        end_out_of_memory()
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        connection.send(("error", picklable_error(error)))


def _serve_chunks(
    connection: Connection,
    position: Any,
    limits: ProcessLimits,
    prepare: Callable[..., Callable[[Any], Any]],
    args: tuple[Any, ...],
) -> None:
    function = prepare(*args)
    tune_gc()
    while True:
        items = connection.recv()
        results = []
        for number, item in enumerate(items, start=1):
            position.value = number
            limits.limit_next_item()
            results.append(function(item))
        connection.send(("result", results))
        position.value = NO_ITEM


def _serve_call(
    connection: Connection,
    _position: Any,
    limits: ProcessLimits,
    function: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    limits.limit_next_item()

    def report(*values: Any, **also: int) -> None:
        connection.send(("progress", (values, also)))

    connection.send(("result", function(*args, progress=report)))


def picklable_error(error: Exception) -> Exception:
    """Return the error, or one with its message where it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - any class may fail in its own way
        return WorkerError(f"{type(error).__name__}: {error}")
    return error
