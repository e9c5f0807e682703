"""A relay between a machine and the PostgreSQL server: a network that can be cut off.

The server listens on a socket file and the machine connects to a port of the relay. A cut
connection is reset, and new ones are too. On a dead line nothing arrives until it is restored,
and then late, as after the retransmissions of TCP. Unlike a network namespace it needs no rights.
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

CHUNK = 65536


class Relay:
    """Forwards connections to the socket file; `port` is on loopback."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        )
        self._server = listening.result(10)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Reset all connections, and refuse new ones."""
        self._call(self._cut)

    def stall(self) -> None:
        """Hold back all that is sent in either direction."""
        self._call(self._open.clear)

    def restore(self) -> None:
        """Forward again, also what was held back."""
        self._is_cut = False
        self._call(self._open.set)

    def close(self) -> None:
        """End the relay."""
        self._call(self._cut)
        self._call(self._server.close)
        self._call(self._loop.stop)
        self._thread.join(10)

    def _call(self, function: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(function)

    def _cut(self) -> None:
        self._is_cut = True
        for writer in self._writers:
            _reset(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            _reset(writer)
            return
        self._writers.add(writer)
        try:
            await self._open.wait()
            server_reader, server_writer = await asyncio.open_unix_connection(self._target)
        except OSError:
            # The server is restarting.
            _reset(writer)
            self._writers.discard(writer)
            return
        self._writers.add(server_writer)
        await asyncio.gather(
            self._forward(reader, server_writer), self._forward(server_reader, writer)
        )
        self._writers -= {writer, server_writer}

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(CHUNK):
                await self._open.wait()
                writer.write(chunk)
                await writer.drain()
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection by RST: without waiting for what was not sent."""
    with suppress(OSError):
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
