"""The shop's own phrases: shipping, returns and legal text that many of its offers repeat, taken out of descriptions.

They make unrelated offers look alike and drown what a description says of its own offer. Every shop words them
otherwise, so they are not listed but counted: a run of words that a good part of one side's descriptions have is its
own phrase, whatever the language. Runs of words need no sentence marks, which templates often leave out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from matcher.records.record import Record

RUN = 6
FEWEST = 8
SHARE = 0.3
MOST_READ = 2_000


def without_boilerplate(items: Sequence[Record]) -> list[Record]:
    """The records without the phrases that a good part of them repeat; each side is looked at by itself."""
    step = max(1, len(items) // MOST_READ)
    read = [item.description.split() for item in items[::step] if item.description]
    counts = Counter(run for words in read for run in set(_runs(words)))
    common = {run for run, count in counts.items() if count >= max(FEWEST, SHARE * len(read))}
    return [_without(item, common) for item in items] if common else list(items)


def _without(item: Record, common: set[str]) -> Record:
    words = item.description.split()
    taken = {
        place + n for place, run in enumerate(_runs(words)) if run in common for n in range(RUN)
    }
    if not taken:
        return item
    return replace(
        item, description=" ".join(word for place, word in enumerate(words) if place not in taken)
    )


def _runs(words: Sequence[str]) -> Iterator[str]:
    """Every run of so many words.

    >>> list(_runs("we ship within two working days to you".split()))[:2]
    ['we ship within two working days', 'ship within two working days to']
    """
    return (" ".join(words[place : place + RUN]) for place in range(len(words) - RUN + 1))
