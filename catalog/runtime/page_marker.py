"""Page marker: the page that a worker process works on, readable for its parent when it has died.

A process that ends by a segmentation fault reports nothing. So it writes the id of each page into
memory that it shares with its parent before it works on the page.
"""

from multiprocessing import get_context
from typing import Any

NO_PAGE = 0  # ids of pages start at 1

# The shared memory of this process; None outside of workers.
_shared: Any = None


def shared_marker() -> Any:
    """Allocate the shared memory of one worker; its `value` is the id of the marked page."""
    return get_context("spawn").RawValue("q", NO_PAGE)


def use_marker(shared: Any) -> None:
    """Make later marks of this process visible in `shared`."""
    global _shared  # noqa: PLW0603 - one per process
    _shared = shared


def mark_page(page_id: int) -> None:
    """Note that this process works on a page now; costs about 50 ns outside of workers."""
    if _shared is not None:
        _shared.value = page_id
