"""Shrinking of an input that fails: spans of its texts are removed as long as it fails alike."""

import time
from collections.abc import Callable
from typing import Any


def shrink(data: Any, fails: Callable[[Any], bool], seconds: float) -> Any:
    """Return a smaller input that fails, found in so many seconds of wall-clock time."""
    return _shrink(data, fails, time.monotonic() + seconds)


def _shrink(data: Any, fails: Callable[[Any], bool], deadline: float) -> Any:
    if isinstance(data, tuple | list):
        return _shrink_parts(data, fails, deadline)
    if not isinstance(data, str | bytes):
        return data
    size = len(data)
    while size > 0:
        start = 0
        while start < len(data) and time.monotonic() < deadline:
            candidate = data[:start] + data[start + size :]
            if fails(candidate):
                data = candidate
            else:
                start += size
        size //= 2
    return data


def _shrink_parts(
    data: tuple[Any, ...] | list[Any], fails: Callable[[Any], bool], deadline: float
) -> Any:
    kind = type(data)
    parts = list(data)
    for index, part in enumerate(parts):

        def fails_with(candidate: Any, index: int = index) -> bool:
            return fails(kind([*parts[:index], candidate, *parts[index + 1 :]]))

        parts[index] = _shrink(part, fails_with, deadline)
    return kind(parts)
