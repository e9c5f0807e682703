"""How a long step tells where it is: the step never knows who listens."""

from typing import Protocol


class Progress(Protocol):
    """Called with what is being counted, how many are done, and how many there are (None: not known yet).

    `also` are further figures of the moment, such as the errors so far.
    """

    def __call__(self, what: str, done: int, total: int | None = None, **also: int) -> None: ...


def silent(what: str, done: int, total: int | None = None, **also: int) -> None:
    """Progress that nobody listens to."""
