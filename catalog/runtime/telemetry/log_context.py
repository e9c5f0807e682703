"""Ids that the log lines of a task carry: shop, run, stage and page; also in processes it starts.

Each log line gets the fields of the `log_fields` blocks that it is written in. A process that is
requested in such a block starts with the same fields and with the logging of its requester
(`inherited_logging`). The page is the one that the process has marked
(`catalog.runtime.page_marker`).
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from catalog.runtime.page_marker import NO_PAGE, marked_page

# Sets up the logging of a process: a function and its arguments, both picklable.
LoggingSetup = tuple[Callable[..., None], tuple[Any, ...]]
# Logging of a process that a new one starts with: its setup, None for none, and its fields.
InheritedLogging = tuple[LoggingSetup | None, dict[str, Any]]

_fields: ContextVar[Mapping[str, Any]] = ContextVar("log_fields")
_setup: LoggingSetup | None = None


@contextmanager
def log_fields(**fields: Any) -> Iterator[None]:
    """Add fields to all log lines that this thread writes in the block."""
    token = _fields.set({**_fields.get({}), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


def current_fields() -> dict[str, Any]:
    """Return the fields of a log line that is written now.

    >>> with log_fields(run=7, shop="demo"):
    ...     current_fields()
    {'run': 7, 'shop': 'demo'}
    """
    fields = dict(_fields.get({}))
    page = marked_page()
    if page != NO_PAGE:
        fields.setdefault("page", page)
    return fields


def add_log_fields(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the fields to an event that has none of that name; a processor of structlog."""
    for name, value in current_fields().items():
        event.setdefault(name, value)
    return event


def set_logging_setup(function: Callable[..., None], *args: Any) -> None:
    """Set how processes that are requested from now on set up their logging."""
    global _setup  # noqa: PLW0603 - one per process
    _setup = (function, args)


def inherited_logging() -> InheritedLogging:
    """Return the logging that a process requested now starts with."""
    return _setup, dict(_fields.get({}))


def adopt_logging(inherited: InheritedLogging) -> None:
    """Set up the logging of this process as that of its requester; called when it starts."""
    setup, fields = inherited
    _fields.set(fields)
    if setup is not None:
        function, args = setup
        function(*args)
        set_logging_setup(function, *args)
