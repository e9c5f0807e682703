"""Columns of texts that take little more memory than their characters.

A Python string costs 50 bytes beside its characters, and a list 8 for its place: ten million
records of three columns would fill 2.5 GB with nothing.
"""

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

from matcher.array_types import Ints

# Texts may hold lone surrogates, which plain UTF-8 has not.
_ERRORS = "surrogatepass"
# Texts that an iteration reads at once.
_ROWS_PER_PART = 10_000


class _ReadTexts(Sequence[str]):
    """Texts that are made when they are read: one by one, or many at once by `take`."""

    @abstractmethod
    def take(self, rows: Ints) -> list[str]:
        """Return the texts of some rows, faster than one by one."""

    @abstractmethod
    def _read(self, row: int) -> str: ...

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self.take(np.arange(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._read(place % len(self))


class PackedTexts(_ReadTexts):
    """Texts end to end as UTF-8; made to be appended to and read, never changed."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Pack some texts."""
        self._content = bytearray()
        # The places where texts start and end: one more than there are texts.
        self._bounds = array("q", [0])
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        """Add a text behind the others."""
        self._content += text.encode("utf-8", _ERRORS)
        self._bounds.append(len(self._content))

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def _read(self, row: int) -> str:
        return self._content[self._bounds[row] : self._bounds[row + 1]].decode("utf-8", _ERRORS)

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._bounds[1:]:
            yield self._content[start:end].decode("utf-8", _ERRORS)
            start = end

    def take(self, rows: Ints) -> list[str]:
        bounds = np.frombuffer(self._bounds, np.int64)
        starts, ends = bounds[rows].tolist(), bounds[rows + 1].tolist()
        content = self._content
        return [
            content[start:end].decode("utf-8", _ERRORS)
            for start, end in zip(starts, ends, strict=True)
        ]


class JoinedTexts(_ReadTexts):
    """The columns of each record as one text, joined by spaces where it is read."""

    def __init__(self, columns: Sequence[Sequence[str]]) -> None:
        """Join columns of the same length."""
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def _read(self, row: int) -> str:
        return join_key([column[row] for column in self._columns])

    def __iter__(self) -> Iterator[str]:
        return map(join_key, zip(*self._columns, strict=True))

    def take(self, rows: Ints) -> list[str]:
        """Return the texts of some rows, faster than one by one."""
        columns = [take_texts(column, rows) for column in self._columns]
        return [*map(join_key, zip(*columns, strict=True))]


class SelectedTexts(_ReadTexts):
    """Some of many texts, read where they are."""

    def __init__(self, texts: Sequence[str], rows: Ints) -> None:
        """Select rows of `texts`, in any order."""
        self._texts = texts
        self._rows = rows

    def select(self, places: Ints) -> "SelectedTexts":
        """Select some of these again."""
        return SelectedTexts(self._texts, self._rows[places])

    def take(self, places: Ints) -> list[str]:
        """Return some of the texts, faster than one by one."""
        return take_texts(self._texts, self._rows[places])

    def __len__(self) -> int:
        return len(self._rows)

    def _read(self, row: int) -> str:
        return self._texts[int(self._rows[row])]

    def __iter__(self) -> Iterator[str]:
        # In parts: a list of all texts would fill memory.
        for start in range(0, len(self), _ROWS_PER_PART):
            yield from self[start : start + _ROWS_PER_PART]


def take_texts(texts: Sequence[str], rows: Ints) -> list[str]:
    """Return the texts of some rows."""
    if isinstance(texts, _ReadTexts):
        return texts.take(rows)
    return [texts[row] for row in rows.tolist()]


def join_key(key: Sequence[str]) -> str:
    """Join the key columns of a record to one text."""
    return key[0] if len(key) == 1 else " ".join(filter(None, key))
