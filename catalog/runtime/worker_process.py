"""One worker process beside an event loop, which answers requests in order over a socket of its
own.

A pool of workers costs its owner two threads and a pickle for every task, and threads that wake
beside an event loop make each of its system calls wait for the interpreter's lock. Here a request
is a line of JSON with some bytes behind it, and a response is a line of JSON. The worker ends with
the process that started it: its socket closes then.
"""

import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from catalog.errors import WorkerError
from catalog.runtime.limits.process_end import end_out_of_memory, end_reason
from catalog.runtime.limits.process_limits import NO_LIMITS, ProcessLimits
from catalog.runtime.served_process import ServedProcess

# Answers a request, given its JSON and its bytes.
RequestHandler = Callable[[dict[str, Any], bytes], dict[str, Any]]

# Lengths in bytes of a request's JSON and of the bytes behind it.
_SIZES = struct.Struct("!II")
# Seconds of wall-clock time until a process that has closed its connection is dead.
_END_TIMEOUT = 5.0
# Bytes of a socket's send buffer: holds a whole page.
_SEND_BUFFER = 1_000_000


class WorkerLost(Exception):
    """The worker process ended before it answered; the message is the reason.

    `is_suspect` is set for the request that it worked on, not for the requests behind it.
    """

    def __init__(self, reason: str = "", is_suspect: bool = False) -> None:
        super().__init__(reason)
        self.is_suspect = is_suspect


class WorkerProcess:
    """A fresh process that handles requests with the function that `prepare(*args)` returned.

    It dies of a request that exceeds the limits.
    """

    def __init__(
        self,
        prepare: Callable[..., RequestHandler],
        *args: Any,
        limits: ProcessLimits = NO_LIMITS,
    ) -> None:
        self._prepare = prepare
        self._args = args
        self._limits = limits
        self._connection = _Connection(self._end_reason)
        self._process: ServedProcess | None = None

    async def start(self) -> None:
        """Start the process and wait until it is ready. Raises WorkerLost."""
        try:
            self._process = ServedProcess(_serve, (self._limits, self._prepare, self._args))
        except WorkerError as error:
            raise WorkerLost(str(error)) from error
        parent_end = self._process.channel
        parent_end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        parent_end.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self._connection, sock=parent_end)
        await self._connection.next_response()

    async def request(self, message: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        """Send a request and return the response. Raises WorkerLost."""
        return await self._connection.request(json.dumps(message).encode(), body)

    def stop(self) -> None:
        """Close the connection, which ends the process."""
        self._connection.close()

    def _end_reason(self) -> str:
        if self._process is None:
            return end_reason(None)
        # It has closed its end of the connection, so it is dead, or about to be.
        self._process.join(_END_TIMEOUT)
        return end_reason(self._process.exitcode)


class _Connection(asyncio.Protocol):
    """Requests out, responses in, in the same order."""

    def __init__(self, end_reason_of_worker: Callable[[], str]) -> None:
        self._end_reason = end_reason_of_worker
        self._transport: asyncio.Transport | None = None
        self._pending: deque[asyncio.Future[dict[str, Any]]] = deque()
        self._received = bytearray()

    def next_response(self) -> "asyncio.Future[dict[str, Any]]":
        """Return a future of the next response that no other request waits for."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self._transport is None or self._transport.is_closing():
            future.set_exception(WorkerLost(self._end_reason()))
        else:
            self._pending.append(future)
        return future

    def request(self, head: bytes, body: bytes) -> "asyncio.Future[dict[str, Any]]":
        future = self.next_response()
        if self._transport is not None:
            self._transport.writelines((_SIZES.pack(len(head), len(body)), head, body))
        return future

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            future = self._pending.popleft()
            if not future.done():
                future.set_result(json.loads(line))

    def connection_lost(self, error: Exception | None) -> None:
        if not self._pending:
            return
        reason = self._end_reason()
        # The worker answers in order, so it was working on the first one.
        is_suspect = True
        while self._pending:
            future = self._pending.popleft()
            if not future.done():
                future.set_exception(WorkerLost(reason, is_suspect))
            is_suspect = False


def _serve(
    connection: socket.socket,
    _fds: Sequence[int],
    limits: ProcessLimits,
    prepare: Callable[..., RequestHandler],
    args: tuple[Any, ...],
) -> None:
    """Answer requests until the connection closes."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    limits.limit_memory()
    handle = prepare(*args)
    # An empty line of JSON reports that the worker is ready.
    connection.sendall(b"{}\n")
    with suppress(OSError), connection.makefile("rb") as requests:
        while len(sizes := requests.read(_SIZES.size)) == _SIZES.size:
            head_size, body_size = _SIZES.unpack(sizes)
            message = json.loads(requests.read(head_size))
            body = requests.read(body_size)
            limits.limit_next_item()
            try:
                response = handle(message, body)
            except MemoryError:
                end_out_of_memory()
            connection.sendall(json.dumps(response).encode() + b"\n")
