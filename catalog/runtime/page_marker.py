"""Page marker: the page that a worker process works on, readable for its parent when it has died.

A process that ends by a segmentation fault reports nothing. So it writes the id of each page into
memory that it shares with its parent before it works on the page.
"""

import mmap
import os

NO_PAGE = 0  # ids of pages start at 1

# Bytes of a number in shared memory.
_SIZE = 8


class SharedNumber:
    """A number in memory that two processes share, 0 at first.

    Without a descriptor new memory is allocated; the other process opens the same memory by
    the descriptor that it was passed.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = _allocate() if descriptor is None else os.dup(descriptor)
        self._memory = mmap.mmap(self._descriptor, _SIZE)
        self._numbers = memoryview(self._memory).cast("q")

    @property
    def value(self) -> int:
        """The number."""
        return self._numbers[0]

    @value.setter
    def value(self, number: int) -> None:
        self._numbers[0] = number

    def fileno(self) -> int:
        """Return the descriptor of the memory."""
        return self._descriptor

    def close(self) -> None:
        """Free the memory in this process."""
        self._numbers.release()
        self._memory.close()
        os.close(self._descriptor)


# The shared memory of this process; None outside of workers.
_shared: SharedNumber | None = None


def use_marker(shared: SharedNumber) -> None:
    """Make later marks of this process visible in `shared`."""
    global _shared  # noqa: PLW0603 - one per process
    _shared = shared


def mark_page(page_id: int) -> None:
    """Note that this process works on a page now; costs about 50 ns outside of workers."""
    if _shared is not None:
        _shared.value = page_id


def marked_page() -> int:
    """Return the page that this process has marked last; NO_PAGE outside of workers."""
    return NO_PAGE if _shared is None else _shared.value


def _allocate() -> int:
    """Return the descriptor of new memory: a file that has no name, on disk only where needed."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("marker")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, _SIZE)
    return descriptor
