"""Pages are read for a server in processes whose end costs one request, and never the server."""

import os
import signal

import pytest

from catalog.errors import HostilePage, UsageError
from catalog.models import Shop
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.inspect import page_process
from scout.inspect.page_process import call_in_process, call_on_store


def double(number: int) -> int:
    """Fail, or double a number."""
    if number < 0:
        raise UsageError("a negative number")
    return 2 * number


def take_memory(megabytes: int) -> int:
    """Use memory that is written to."""
    return len(bytearray(megabytes * 1_000_000))


def take_time() -> None:
    """Compute for ever, as an extension module that does not return."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    while True:
        pass


def crash() -> None:
    """End as a fault in an extension module does."""
    os.kill(os.getpid(), signal.SIGSEGV)


def shop_name(settings: Settings, store: Store, shop: Shop) -> str:
    """Return the name of a stored shop, as another process reads it."""
    return store.shop(shop.name).name


def test_results_and_errors_come_from_the_process() -> None:
    """A call returns and raises as it would here."""
    assert call_in_process(double, 21) == 42
    with pytest.raises(UsageError, match="negative"):
        call_in_process(double, -1)


def test_a_call_reads_the_store(settings: Settings, store: Store, shop: Shop) -> None:
    """The process opens the store of the settings."""
    assert call_on_store(shop_name, settings, shop) == shop.name


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (take_memory, (500,), "out of memory"),
        (take_time, (), "too much processor time"),
        (crash, (), "segmentation fault"),
    ],
)
def test_a_process_beyond_its_limits_is_one_error(
    monkeypatch: pytest.MonkeyPatch, function: object, args: tuple[int, ...], reason: str
) -> None:
    """The server learns the reason in one line."""
    monkeypatch.setattr(page_process, "REQUEST_LIMITS", ProcessLimits(200, 1))
    with pytest.raises(HostilePage, match=reason):
        call_in_process(function, *args)  # type: ignore[arg-type]
