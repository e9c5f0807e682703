"""Process server: a process that imports modules once and forks the processes that need them.

A fresh interpreter takes a second to import what a stage of a run needs. The server is started
with `python -P`, without the variables that may hold secrets, and has one thread and no data, so
that its children can be forked safely at any time. It imports the modules that a request names
and forks; only the child reads the function to call and its arguments.

A child lives no longer than the process that requested it: the server kills it when that one has
gone, and the operating system kills all children when the server has gone. On systems without
`prctl` a child ends when it next uses its channel.

`catalog.runtime.served_process` is the side of the processes that send requests.
"""

import gc
import importlib
import json
import os
import pickle
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from catalog.runtime.telemetry.log_context import adopt_logging
from catalog.runtime.telemetry.tracing import stop_traces

# Length in bytes of a message's part: the head that the server reads, the call that the child
# reads.
SIZE = struct.Struct("!Q")
# The child's process id, or its exit code. An id of 0 reports that no process could be forked.
NUMBER = struct.Struct("!q")
# Descriptors that one request may pass: its channel, its status and a few of its call.
MAX_DESCRIPTORS = 16
# Allocations between two garbage collections of a child. With Python's default they take a tenth of
# the time that it takes to learn rules.
GC_THRESHOLD = 50_000
# Exit code of a child whose function raised.
FAILED = 1
# Number of Linux's option to be killed when the parent ends (linux/prctl.h).
_PR_SET_PDEATHSIG = 1

# In a child: the socket at which the server takes requests; None in all other processes.
request_socket: socket.socket | None = None
# Variables that the processes get that this one requests, beside the safe ones. They are sent when
# a process has been forked: anybody on the machine may read the environment that it starts with.
shared_variables: dict[str, str] = {}


class _Server:
    """The children of a server, and the sockets that it reads."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._nested, self._nested_end = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        # By process id: the socket that reports its end.
        self._statuses: dict[int, socket.socket] = {}
        self._modules: set[str] = set()
        self._wakeup, self._wakeup_end = socket.socketpair()

    def serve(self) -> None:
        """Fork children until the owner of the server closes its socket or ends."""
        self._wakeup.setblocking(False)
        self._wakeup_end.setblocking(False)
        signal.set_wakeup_fd(self._wakeup_end.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for source in (self._control, self._nested, self._wakeup):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._wakeup:
                    self._drain_wakeup()
                elif key.fileobj in (self._control, self._nested):
                    if not self._take_request(key.fileobj):
                        self._end()
                else:
                    self._kill(key.data)
            self._reap()

    def _drain_wakeup(self) -> None:
        with suppress(BlockingIOError):
            while self._wakeup.recv(64):
                pass

    def _take_request(self, source: socket.socket) -> bool:
        """Fork a child for the next request of a socket; False where its owner has gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(source, 1, MAX_DESCRIPTORS)
        except OSError:
            return False
        if not message:
            return False
        channel, status = (socket.socket(fileno=number) for number in descriptors[:2])
        try:
            head = receive_part(channel)
            if head is not None:
                self._fork(channel, status, descriptors[2:], json.loads(head))
        finally:
            channel.close()
            for number in descriptors[2:]:
                os.close(number)
        return True

    def _fork(
        self,
        channel: socket.socket,
        status: socket.socket,
        descriptors: Sequence[int],
        head: dict[str, Any],
    ) -> None:
        self._import(head["modules"])
        server_id = os.getpid()
        try:
            process_id = os.fork()
        except OSError:
            _report(status, 0)
            status.close()
            return
        if process_id == 0:
            self._become_child(server_id)
            status.close()
            _run_child(channel, descriptors, head)
        self._statuses[process_id] = status
        self._selector.register(status, selectors.EVENT_READ, process_id)
        _report(status, process_id)

    def _import(self, names: Sequence[str]) -> None:
        """Import modules that children need, and keep them out of the garbage collector's way."""
        unknown = [name for name in names if name not in self._modules]
        if not unknown:
            return
        for name in unknown:
            # The child imports it again, and reports the error.
            with suppress(Exception):
                importlib.import_module(name)
        self._modules.update(unknown)
        # A collection would write to all objects, and so copy the memory that children share.
        gc.freeze()

    def _become_child(self, server_id: int) -> None:
        global request_socket  # noqa: PLW0603 - one per process
        gc.enable()
        gc.set_threshold(GC_THRESHOLD)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        end_with_parent(server_id)
        self._selector.close()
        for unused in (self._control, self._nested, self._wakeup, self._wakeup_end):
            unused.close()
        for status in self._statuses.values():
            status.close()
        request_socket = self._nested_end

    def _kill(self, process_id: int) -> None:
        """Kill a child whose requester has gone."""
        status = self._statuses.get(process_id)
        if status is None:
            return
        self._selector.unregister(status)
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)

    def _reap(self) -> None:
        """Report the end of the children that have ended."""
        while True:
            try:
                process_id, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process_id == 0:
                return
            status = self._statuses.pop(process_id)
            with suppress(KeyError):
                self._selector.unregister(status)
            _report(status, os.waitstatus_to_exitcode(wait_status))
            status.close()

    def _end(self) -> None:
        """End with the owner; children that are left have lost their requesters."""
        for process_id in self._statuses:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        # Waited for, so that the owner can count their processor time.
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        os._exit(0)


def receive_part(channel: socket.socket) -> bytes | None:
    """Receive one part of a message; None where the other end has gone."""
    try:
        size = _receive_exactly(channel, SIZE.size)
        return None if size is None else _receive_exactly(channel, SIZE.unpack(size)[0])
    except OSError:
        return None


def _receive_exactly(channel: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        data = channel.recv(min(size - len(received), 1_000_000))
        if not data:
            return None
        received += data
    return bytes(received)


def _report(status: socket.socket, number: int) -> None:
    # The requester may have gone.
    with suppress(OSError):
        status.send(NUMBER.pack(number))


def end_with_parent(parent_id: int) -> None:
    """Let the operating system kill this process when its parent ends, where it can."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have ended before that call.
    if os.getppid() != parent_id:
        os._exit(FAILED)


def _run_child(channel: socket.socket, descriptors: Sequence[int], head: dict[str, Any]) -> None:
    """Call the requested function, and end the process."""
    code = FAILED
    try:
        if head["folder"] is not None:
            os.chdir(head["folder"])
        # The group is that of the requester, so that a signal to its group reaches this process.
        with suppress(OSError):
            os.setpgid(0, head["group"])
        call = receive_part(channel)
        if call is not None:
            # From the process that requested this one.
            function, args, variables, logging = pickle.loads(call)  # noqa: S301
            os.environ.update(variables)
            shared_variables.update(variables)
            adopt_logging(logging)
            function(channel, descriptors, *args)
            code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else FAILED
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException as error:  # noqa: BLE001 - nobody but this function could report it
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        with suppress(Exception):
            stop_traces()
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Serve the socket whose descriptor is the first argument."""
    # Imports make hardly any garbage, and looking for it takes a third of their time.
    gc.disable()
    # Ctrl-C reaches the whole process group; the owner of the server decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Server(socket.socket(fileno=int(sys.argv[1]))).serve()
