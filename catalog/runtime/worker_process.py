"""A companion: one process beside an event loop, which answers questions in turn over a socket of their own.

A pool of workers costs its owner two threads and a pickle for every task, and threads that wake beside an event loop
make each of its system calls wait for the interpreter's lock. Here a question is a line of JSON with some bytes behind
it, and an answer is a line of JSON. A companion ends with the process that started it, for its socket closes then.
"""

import asyncio
import json
import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

Answer = Callable[[dict[str, Any], bytes], dict[str, Any]]
SIZES = struct.Struct("!II")
BUFFER = 1_000_000
PATIENCE = 5.0


class CompanionLost(Exception):
    """The companion has ended before it answered."""


class Companion:
    """A fresh process that has made itself a function with `prepare(*given)`; every question is put to that."""

    def __init__(self, prepare: Callable[..., Answer], *given: Any) -> None:
        self._prepare, self._given = prepare, given
        self._line = _Line()

    async def start(self) -> None:
        """Start the process, and wait until it listens. Raises CompanionLost."""
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        process = get_context("spawn").Process(
            target=_serve, args=(theirs, self._prepare, self._given), daemon=True
        )
        process.start()
        theirs.close()
        ours.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: self._line, sock=ours)
        await self._line.answer()

    async def ask(self, question: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        """Its answer. Raises CompanionLost."""
        return await self._line.ask(json.dumps(question).encode(), body)

    def end(self) -> None:
        """Let it go."""
        self._line.close()


class _Line(asyncio.Protocol):
    """Questions out, answers in, in the same order."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[asyncio.Future[dict[str, Any]]] = deque()
        self._read = bytearray()

    def answer(self) -> "asyncio.Future[dict[str, Any]]":
        """The next answer that is nobody's yet."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if self._transport is None or self._transport.is_closing():
            self.connection_lost(None)
        return future

    def ask(self, head: bytes, body: bytes) -> "asyncio.Future[dict[str, Any]]":
        future = self.answer()
        if self._transport is not None:
            self._transport.writelines((SIZES.pack(len(head), len(body)), head, body))
        return future

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        *lines, rest = self._read.split(b"\n")
        self._read = rest
        for line in lines:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(json.loads(line))

    def connection_lost(self, error: Exception | None) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(CompanionLost())


def _serve(line: socket.socket, prepare: Callable[..., Answer], given: tuple[Any, ...]) -> None:
    """The companion's life. Whatever ends it, ends it at once: nothing that it holds is worth saving."""
    answer = prepare(*given)
    line.sendall(b"{}\n")
    with suppress(OSError), line.makefile("rb") as questions:
        while len(sizes := questions.read(SIZES.size)) == SIZES.size:
            head, body = SIZES.unpack(sizes)
            question, given_bytes = questions.read(head), questions.read(body)
            line.sendall(json.dumps(answer(json.loads(question), given_bytes)).encode() + b"\n")
    os._exit(0)
