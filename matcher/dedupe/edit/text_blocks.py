"""Texts coded for the segment join: hashes of all substrings, masks of all beginnings and ends."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, UInts
from matcher.dedupe.base.bigram_signatures import build_signatures
from matcher.dedupe.base.char_masks import MASK_BITS, CharBits, combine_bits
from matcher.dedupe.base.rolling_hash import base_powers
from matcher.dedupe.base.text_columns import (
    CodePoints,
    TextColumn,
    code_points,
    run_offsets,
    split_runs,
)
from matcher.mixed_bits import mix_bits

AnyNumber = TypeVar("AnyNumber", np.uint8, np.uint32)

_PIECE_SALTS = mix_bits(np.arange(2)) | np.uint64(1)
_FLAGS = np.uint64(1) << np.arange(MASK_BITS, dtype=np.uint64)  # the mask of each bit


class CodedColumn:
    """A text column with the code points and the mask bits of its characters."""

    def __init__(self, column: TextColumn, points: CodePoints, bits: CharBits) -> None:
        """Code a column; `points` are the code points of its texts, end to end."""
        self.column = column
        self.bits = bits
        self.length_ranges = column.length_ranges()
        self.points = points
        self.offsets = run_offsets(column.lengths)
        self.left_bits, self.right_bits = bits.number(self.points, column.lengths)
        self.masks = combine_bits(self.left_bits, column.lengths)
        self.signatures = build_signatures(self.points, column.lengths)

    def count(self, length: int) -> int:
        """Return the number of texts of a length that the column has."""
        first, end = self.length_ranges[length]
        return end - first

    def block(self, places: Ints) -> "TextBlock":
        """Code the texts at ascending places."""
        return TextBlock(self, places)

    def slice_places(self, first: int, end: int, characters: int) -> Iterator[Ints]:
        """Yield consecutive places whose texts have at most some characters, or are a single one."""
        start = first
        while start < end:
            # Texts stand by length, so the last of a block is its longest.
            stop = min(end, start + self._block_size(start, characters))
            stop = min(stop, start + self._block_size(stop - 1, characters))
            yield np.arange(start, stop)
            start = stop

    def _block_size(self, longest: int, characters: int) -> int:
        return max(1, characters // (1 + int(self.column.lengths[longest])))


class TextBlock:
    """Some texts of a column by ascending length, and the hashes and masks of their parts.

    Arrays have a row for each position in the text, and a column for each text.
    """

    def __init__(self, column: CodedColumn, places: Ints) -> None:
        self.places = places
        self.lengths = column.column.lengths[places]
        longest = int(self.lengths.max(initial=0))
        self._inverse_powers = base_powers(longest + 1, inverse=True)
        shape = (longest + 1, len(places))
        self._sums = np.zeros(shape, dtype=np.uint64)
        self._left_masks = np.zeros(shape, dtype=np.uint64)
        self._right_masks = np.zeros(shape, dtype=np.uint64)
        powers = base_powers(longest)[:, None]
        runs = [array.tolist() for array in split_runs(self.lengths)]
        for length, start, count in zip(*runs, strict=True):
            texts = slice(start, start + count)
            characters = _CharactersOf(column.offsets[places[texts]], length)
            points = mix_bits(characters.take(column.points))
            np.multiply(points, powers[:length], out=self._sums[1 : length + 1, texts])
            self._left_masks[1 : length + 1, texts] = _FLAGS[characters.take(column.left_bits)]
            self._right_masks[:length, texts] = _FLAGS[characters.take(column.right_bits)]
        np.cumsum(self._sums, axis=0, out=self._sums)
        np.bitwise_or.accumulate(self._left_masks, axis=0, out=self._left_masks)
        reverse = self._right_masks[::-1]
        np.bitwise_or.accumulate(reverse, axis=0, out=reverse)

    def __len__(self) -> int:
        return len(self.places)

    def range_of_lengths(self, shortest: int, longest: int) -> slice:
        """Return the range of the texts whose lengths lie within two bounds, both inclusive."""
        start, stop = np.searchsorted(self.lengths, [shortest, longest + 1]).tolist()
        return slice(start, stop)

    def hash_pieces(self, pieces: Sequence[tuple[int, int]], texts: slice = slice(None)) -> UInts:
        """Return a hash of some pieces, given by start and end in the text."""
        (start, stop), *others = pieces
        hashes = self._hashes(start, stop, texts)
        for number, (start, stop) in enumerate(others):
            # Equal texts of different pieces must not match.
            hashes *= _PIECE_SALTS[number]
            hashes += self._hashes(start, stop, texts)
        return hashes

    def _hashes(self, start: int, stop: int, texts: slice) -> UInts:
        differences: UInts = self._sums[stop, texts] - self._sums[start, texts]
        differences *= self._inverse_powers[start]
        return differences

    def left_masks(self, stop: int) -> UInts:
        """Return the masks of text[:stop]."""
        masks: UInts = self._left_masks[stop]
        return masks

    def right_masks(self, start: int) -> UInts:
        """Return the masks of text[start:]."""
        masks: UInts = self._right_masks[start]
        return masks


class _CharactersOf:
    """The characters of texts of one length, a row for each position."""

    def __init__(self, starts: Ints, length: int) -> None:
        self._starts = starts
        self._length = length
        self._first = int(starts[0])
        self._end = int(starts[-1]) + length
        self._is_run = self._end - self._first == len(starts) * length

    def take(self, values: NDArray[AnyNumber]) -> NDArray[AnyNumber]:
        """Select values that all characters of a column have."""
        if self._is_run:
            run = values[self._first : self._end]
            return run.reshape(len(self._starts), self._length).T
        selected: NDArray[AnyNumber] = values[self._starts + np.arange(self._length)[:, None]]
        return selected


def code_columns(columns: Sequence[TextColumn]) -> list[CodedColumn]:
    """Code some columns; the bits of their masks mean the same in all."""
    points = [code_points(column.texts) for column in columns]
    lengths = [column.lengths for column in columns]
    bits = CharBits.from_texts(list(zip(points, lengths, strict=True)))
    return [CodedColumn(*coded, bits) for coded in zip(columns, points, strict=True)]
