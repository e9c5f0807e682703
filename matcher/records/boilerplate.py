"""Boilerplate removal: shipping, returns and legal text that many descriptions of a shop repeat.

Boilerplate makes unrelated offers similar and hides the text about the offer itself. Each shop
words it differently, so phrases are counted instead of listed: a run of words that many
descriptions of one side share is boilerplate, in any language. Runs of words need no sentence
marks, which templates often leave out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from matcher.records.record import Record

# Words of a run; shorter ones are phrases that any two offers may share.
RUN_LENGTH = 6
# Descriptions that have to share a run: a series of fewer siblings is no boilerplate.
MIN_DESCRIPTIONS = 8
# Share of the read descriptions that have to share a run.
MIN_SHARE = 0.3
# Descriptions that are read to count runs; cap for large catalogs.
MAX_READ = 2_000


def remove_boilerplate(
    records: Sequence[Record], boilerplate: Set[str] | None = None
) -> list[Record]:
    """Remove from descriptions the runs of words that many records of this side share.

    `boilerplate` are these runs where they are known (`find_boilerplate`).
    """
    if boilerplate is None:
        # Evenly spread over the side, so that one category does not stand for all.
        boilerplate = find_boilerplate(records[:: max(1, len(records) // MAX_READ)])
    if not boilerplate:
        return list(records)
    return [_remove_runs(record, boilerplate) for record in records]


def find_boilerplate(records: Sequence[Record]) -> frozenset[str]:
    """Find the runs of words that the descriptions of many records share."""
    counts: Counter[str] = Counter()
    description_count = 0
    for record in records:
        if record.description:
            description_count += 1
            counts.update(set(_runs(record.description.split())))
    min_count = max(MIN_DESCRIPTIONS, MIN_SHARE * description_count)
    return frozenset(run for run, count in counts.items() if count >= min_count)


def _remove_runs(record: Record, boilerplate: Set[str]) -> Record:
    description_words = record.description.split()
    removed: set[int] = set()
    for start, run in enumerate(_runs(description_words)):
        if run in boilerplate:
            removed.update(range(start, start + RUN_LENGTH))
    if not removed:
        return record
    remaining = []
    for place, word in enumerate(description_words):
        if place not in removed:
            remaining.append(word)
    return replace(record, description=" ".join(remaining))


def _runs(tokens: Sequence[str]) -> Iterator[str]:
    """Yield every run of RUN_LENGTH neighbouring words.

    >>> list(_runs("we ship within two working days to you".split()))[:2]
    ['we ship within two working days', 'ship within two working days to']
    """
    for start in range(len(tokens) - RUN_LENGTH + 1):
        yield " ".join(tokens[start : start + RUN_LENGTH])
