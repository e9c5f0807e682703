"""Mutations of valid documents: slips that people and programs make, and damage done on purpose.

Random bytes are refused at the first byte. So a document of the corpus is taken, and a few edits are
made at the borders of its tokens: the rest stays valid, and the faulty part is reached.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, AnyStr, NamedTuple, TypeVar

# Characters or bytes of a mutated document, so that quadratic time shows in seconds.
MAX_SIZE = 400_000
# Edits of one document; with more of them, little of it stays valid.
MAX_EDITS = 6
# Edits of a line.
MAX_LINE_EDITS = 3
# A position is drawn as a share of the document, so that an edit fits documents of any length.
SCALE = 10_000
# Characters of a repeated or deleted span.
SPAN_SIZES = (1, 2, 5, 20, 100, 2_000)
# Repetitions of a span: one slip, or an attack.
REPETITIONS = (*([1] * 20), 2, 2, 2, 3, 3, 10, 10, 100, 100, 5_000, 40_000)
# Characters that begin or end a token in most formats.
_BORDER = re.compile(r"[<>&;\"'=,{}\[\]()/?#:|\s]")
_BORDER_BYTE = re.compile(rb"[<>&;\"'=,{}\[\]()/?#:|\s]")
# Characters between a position and the border that an edit moves to.
_SNAP_DISTANCE = 200

Text = TypeVar("Text", str, bytes)


class Edit(NamedTuple):
    """One change of a document at a position, in shares of its length (see `SCALE`)."""

    kind: str
    position: int
    snaps: bool
    span: int
    repetitions: int
    # Index of the token or of the other document.
    choice: int


# Draws an input with random numbers, which Hypothesis may choose as well.
Draw = Callable[[Random], Any]

_KINDS = ("insert", "insert", "replace", "delete", "repeat", "cut", "splice", "move")
# Ranges of characters of texts without a seed: ASCII, Latin, Greek to Thai, East Asia, all.
_CHARACTERS = ((0x20, 0x7F), (0x20, 0x250), (0x370, 0xE80), (0x3000, 0xD7FF), (0xE000, 0x10FFFF))


def draw_edit(random: Random) -> Edit:
    """Draw one change of a document."""
    return Edit(
        random.choice(_KINDS),
        random.randint(0, SCALE),
        random.random() < 0.5,
        random.choice(SPAN_SIZES),
        random.choice(REPETITIONS),
        random.randint(0, SCALE),
    )


def mutated(seeds: Sequence[AnyStr], tokens: Sequence[AnyStr], max_edits: int = MAX_EDITS) -> Draw:
    """Return a function that draws a document made of `seeds` by a few edits that insert
    `tokens`.
    """

    def draw(random: Random) -> AnyStr:
        document = random.choice(seeds)
        edits = [draw_edit(random) for _ in range(random.randint(0, max_edits))]
        return mutate(document, edits, seeds, tokens)

    return draw


def drawn_text(random: Random) -> str:
    """Draw a text of up to 40 characters of one range."""
    first, last = random.choice(_CHARACTERS)
    return "".join(chr(random.randint(first, last)) for _ in range(random.randint(0, 40)))


def choice(values: Sequence[Any]) -> Draw:
    """Return a function that draws one of some values."""
    return lambda random: random.choice(values)


def one_of(*draws: Draw) -> Draw:
    """Return a function that draws an input of one of several kinds."""
    return lambda random: random.choice(draws)(random)


def tuples(*draws: Draw) -> Draw:
    """Return a function that draws a tuple, each part by its own function."""
    return lambda random: tuple(draw(random) for draw in draws)


def lists(draw: Draw, max_size: int) -> Draw:
    """Return a function that draws a list of up to `max_size` inputs."""
    return lambda random: [draw(random) for _ in range(random.randint(0, max_size))]


def mutate(
    document: Text, edits: Sequence[Edit], seeds: Sequence[Text], tokens: Sequence[Text]
) -> Text:
    """Apply edits in turn; the result has at most `MAX_SIZE` characters."""
    for edit in edits:
        document = _apply(document, edit, seeds, tokens)[:MAX_SIZE]
    return document


def _apply(document: Text, edit: Edit, seeds: Sequence[Text], tokens: Sequence[Text]) -> Text:
    start = len(document) * edit.position // SCALE
    if edit.snaps:
        start = _next_border(document, start)
    end = min(start + edit.span, len(document))
    before, span, after = document[:start], document[start:end], document[end:]
    token = tokens[edit.choice % len(tokens)]
    if edit.kind == "insert":
        span = token * min(edit.repetitions, MAX_SIZE // max(1, len(token))) + span
    elif edit.kind == "replace":
        span = token
    elif edit.kind == "delete":
        span = span[:0]
    elif edit.kind == "repeat":
        span *= min(1 + edit.repetitions, MAX_SIZE // max(1, len(span)))
    elif edit.kind == "cut":
        return before
    elif edit.kind == "splice":
        other = seeds[edit.choice % len(seeds)]
        return before + other[len(other) * edit.position // SCALE :]
    elif edit.kind == "move":
        target = len(after) * (edit.choice % SCALE) // SCALE
        return before + after[:target] + span + after[target:]
    return before + span + after


def _next_border(document: Text, start: int) -> int:
    """Return the position of the next border of a token, or the start where none is near."""
    border = _BORDER if isinstance(document, str) else _BORDER_BYTE
    match = border.search(document, start, start + _SNAP_DISTANCE)  # type: ignore[arg-type]
    return match.start() if match else start
