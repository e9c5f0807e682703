"""Processes forked by a process server (`catalog.runtime.process_server`).

The server of this process is started with the first request, and ends with this process. A
process that is such a child itself requests further processes from the server that it came from.
"""

import atexit
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from catalog.errors import WorkerError
from catalog.runtime import process_server
from catalog.runtime.process_server import NUMBER, SIZE
from catalog.runtime.telemetry.log_context import inherited_logging

# Environment variables that processes get: none of them holds a secret.
SAFE_VARIABLES = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP TERM NO_COLOR LD_LIBRARY_PATH "
    "SSL_CERT_FILE SSL_CERT_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR".split()
)
SAFE_PREFIXES = ("LC_", "PYTHON", "COVERAGE_", "OMP_", "OPENBLAS_", "MKL_", "PLAYWRIGHT_")
# Variables that the processes get unless they are set. Threads of OpenBLAS, numpy's and SciPy's
# library of linear algebra, sleep at once where they have nothing to do: as it is loaded, and after
# each use, they would look for work for some 30 ms of processor time.
DEFAULT_VARIABLES = {"OPENBLAS_THREAD_TIMEOUT": "4"}
# Seconds of wall-clock time that the server gets to end.
_END_TIMEOUT = 10.0
# The program of a server. By `-m` the module would be loaded twice.
_SERVE = f"from {process_server.__name__} import main; main()"
_PACKAGES = Path(__file__).parents[2]

# A function that a process calls with its channel, the descriptors passed and the arguments.
Target = Callable[..., None]


class ServedProcess:
    """A process that calls `target(channel, descriptors, *args)` and ends.

    `channel` is this end of a socket to it. `fds` are descriptors that the process gets as well.
    With `leads_group`, it is the first of a process group, to which all processes belong that it
    requests itself. It is killed when the process that requested it ends.

    Raises WorkerError where no process can be started.
    """

    def __init__(
        self,
        target: Target,
        args: tuple[Any, ...] = (),
        *,
        fds: Sequence[int] = (),
        modules: Sequence[str] = (),
        leads_group: bool = False,
    ) -> None:
        self.channel, channel_end = socket.socketpair()
        self._status, status_end = socket.socketpair()
        self._exit_code: int | None = None
        self._lock = threading.Lock()
        logging = inherited_logging()
        head = {
            "modules": [*_modules_of(target, *args, *logging), *modules],
            "folder": _working_folder(),
            "group": 0 if leads_group else os.getpgrp(),
        }
        try:
            with channel_end, status_end:
                self.channel.sendall(_part(json.dumps(head).encode()))
                try:
                    _request([channel_end.fileno(), status_end.fileno(), *fds])
                except OSError as error:
                    raise WorkerError(f"no process can be started: {error}") from error
            # A process that has died meanwhile is noticed by those who wait for its answers.
            with suppress(OSError):
                call = (target, args, process_server.shared_variables, logging)
                self.channel.sendall(_part(pickle.dumps(call)))
            number = self._status.recv(NUMBER.size)
            self.pid: int = NUMBER.unpack(number)[0] if number else 0
            if self.pid == 0:
                raise WorkerError("no further process can be started on this machine")
        except BaseException:
            self.channel.close()
            self._status.close()
            raise

    @property
    def exitcode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        self.join(0)
        return self._exit_code

    def is_alive(self) -> bool:
        """Return True while the process runs."""
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the process, at most `timeout` seconds."""
        with self._lock:
            if self._exit_code is not None:
                return
            if not select.select([self._status], [], [], timeout)[0]:
                return
            number = self._status.recv(NUMBER.size)
            # A server that was killed has taken its processes with it.
            self._exit_code = NUMBER.unpack(number)[0] if number else -signal.SIGKILL
            self._status.close()

    def kill(self) -> None:
        """End the process at once (SIGKILL)."""
        self._send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to end (SIGTERM)."""
        self._send_signal(signal.SIGTERM)

    def end(self, timeout: float = 0) -> None:
        """Kill the process unless it ends by itself within `timeout` seconds."""
        self.join(timeout)
        self.kill()
        self.join()

    def close(self) -> None:
        """Close the channel; a process that still runs is killed."""
        self.channel.close()
        with self._lock:
            self._status.close()

    def _send_signal(self, number: int) -> None:
        if self.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class _Server:
    """A server that this process started."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._control, control_end = socket.socketpair()
        with control_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE, str(control_end.fileno())],
                stdin=subprocess.DEVNULL,
                env=DEFAULT_VARIABLES | dict(environment),
                pass_fds=[control_end.fileno()],
            )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def request(self, descriptors: Sequence[int]) -> None:
        _send(self._control, descriptors)

    def stop(self) -> None:
        self._control.close()
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# Servers of this process by the environment that they were started with, and that process.
_servers: dict[tuple[tuple[str, str], ...], _Server] = {}
_servers_lock = threading.Lock()
_owner = 0


def safe_environment() -> dict[str, str]:
    """Return the variables of this process's environment that its children get.

    Also names the folder of Scout's packages: with `-P` a child imports nothing from the working
    folder.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in SAFE_VARIABLES or name.startswith(SAFE_PREFIXES)
    }
    folders = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    environment["PYTHONPATH"] = os.pathsep.join([*folders, str(_PACKAGES)])
    return environment


def share_variables(prefixes: tuple[str, ...]) -> None:
    """Give variables with these prefixes to all processes that this one requests from now on."""
    for name, value in os.environ.items():
        if name.startswith(prefixes):
            process_server.shared_variables[name] = value


def stop_servers() -> None:
    """End the servers of this process; called when it ends."""
    if _owner != os.getpid():
        return
    with _servers_lock:
        for server in _servers.values():
            server.stop()
        _servers.clear()


def _request(descriptors: Sequence[int]) -> None:
    """Request a process from the server of this process."""
    if process_server.request_socket is not None:
        _send(process_server.request_socket, descriptors)
        return
    with _servers_lock:
        _running_server().request(descriptors)


def _running_server() -> _Server:
    global _owner  # noqa: PLW0603 - one per process
    if _owner != os.getpid():
        # A fork of the process that started them has none of its own.
        _servers.clear()
        _owner = os.getpid()
        atexit.register(stop_servers)
    environment = safe_environment()
    key = tuple(sorted(environment.items()))
    server = _servers.get(key)
    if server is None or not server.is_alive():
        server = _servers[key] = _Server(environment)
    return server


def _send(control: socket.socket, descriptors: Sequence[int]) -> None:
    socket.send_fds(control, [b"+"], list(descriptors))


def _part(content: bytes) -> bytes:
    return SIZE.pack(len(content)) + content


def _modules_of(*values: object) -> list[str]:
    """Return the modules of the functions among some values, and in tuples among them."""
    modules: dict[str, None] = {}
    for value in values:
        if isinstance(value, tuple):
            modules.update(dict.fromkeys(_modules_of(*value)))
        elif callable(value):
            modules[value.__module__] = None
    return list(modules)


def _working_folder() -> str | None:
    """Return the working folder; None where it has been deleted."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None
