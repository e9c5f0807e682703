"""Pages and feeds read for a server, in processes of their own that can be killed.

The web application answers many people at once. A page built to be slow, or to take all memory,
costs the one request that looks at it.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from catalog.errors import HostilePage
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.supervised_workers import WorkerDied, call_supervised
from catalog.storage.bodies import share_credentials
from catalog.storage.store import Store

REQUEST_LIMITS = ProcessLimits(memory=1_000, processor_time=60)
"""Limits of the process that works for one request: a person waits for the answer."""

Result = TypeVar("Result")


def call_in_process(function: Callable[..., Result], *args: Any) -> Result:
    """Return `function(*args)`, computed in a process with limits.

    Raises its errors, and HostilePage where the process dies, as it does beyond its limits.
    """
    try:
        result: Result = call_supervised(_call, (function, args), no_progress, REQUEST_LIMITS)
    except WorkerDied as death:
        raise HostilePage(
            f"the process that read this ended ({death}): it needs more than "
            f"{REQUEST_LIMITS.processor_time} s of processor time or {REQUEST_LIMITS.memory} MB"
        ) from death
    return result


def call_on_store(function: Callable[..., Result], settings: Settings, *args: Any) -> Result:
    """Return `function(settings, store, *args)`, computed in a process with limits.

    Raises as `call_in_process` does.
    """
    share_credentials(settings.bodies)
    result: Result = call_in_process(_call_on_store, function, settings, args)
    return result


def _call(function: Callable[..., Result], args: tuple[Any, ...], *, progress: Progress) -> Result:
    return function(*args)


def _call_on_store(
    function: Callable[..., Result], settings: Settings, args: tuple[Any, ...]
) -> Result:
    return function(settings, Store.open(settings), *args)
