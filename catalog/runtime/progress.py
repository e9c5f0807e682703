"""Progress reporting: a long step calls a function and does not know who displays it."""

from typing import Protocol


class Progress(Protocol):
    """Callback for progress: the thing counted, the number done, and the total (None: not known
    yet).

    `also` are further figures of the moment, such as the number of errors.
    """

    def __call__(self, label: str, done: int, total: int | None = None, **also: int) -> None: ...


def no_progress(label: str, done: int, total: int | None = None, **also: int) -> None:
    """Discard progress reports."""
