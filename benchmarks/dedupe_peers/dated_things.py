"""Things of which only a date differs, by a recipe: visits, events of a series, people.

Three sources hold each thing with chance, and write its date each in its own form: year first, month
first, or the day first with two digits for the year (events: with the time of day). One word in seven
has two letters swapped. Some dates are wrong; dates of storage differ for each record.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.dedupe_peers.results import f1
from matcher.dedupe.base.records import Records, join_keys
from matcher.taught.deduplication import decide

SUBJECTS = 150
SWAPPED_SHARE = 0.15
WRONG_SHARE = 0.1
SEEDS = (1, 2)
# One thing: the texts that its records share, and its date.
Thing = tuple[tuple[str, ...], datetime]
Recipe = Callable[[random.Random], Iterator[Thing]]
_DATE_FORMS = ("%Y-%m-%d", "%m/%d/%Y", "%d.%m.%y")
_TIME_FORMS = ("%Y-%m-%dT%H:%M:00", "%m/%d/%Y %I:%M %p", "%d.%m.%Y %H:%M")


def compare_dated_things() -> None:
    """Print precision, recall and F1 without labels of each recipe."""
    for name, recipe, column, wrong_share in RECIPES:
        for seed in SEEDS:
            generator = random.Random(seed)
            records, things = _make_records(generator, recipe, column, wrong_share)
            groups = np.arange(len(things)) + len(things)
            for number, group in enumerate(decide(records, None).groups):
                groups[list(group)] = number
            left, right = np.triu_indices(len(things), 1)
            truth = np.array(things)[left] == np.array(things)[right]
            found = groups[left] == groups[right]
            correct = int((found & truth).sum())
            print(
                f"{name:36} {len(things):5} records  precision {correct / max(1, found.sum()):.3f}, "
                f"recall {correct / truth.sum():.3f}, F1 {f1(found, truth):.3f}",
                flush=True,
            )


def _visits(generator: random.Random) -> Iterator[Thing]:
    """Yield up to three visits of each patient."""
    for texts, day in _subjects(generator):
        for visit in range(generator.choice((1, 2, 3))):
            yield texts, day + timedelta(days=generator.randrange(1, 40) * visit)


def _events(generator: random.Random) -> Iterator[Thing]:
    """Yield up to three events of each series, some of them on one day."""
    for texts, day in _subjects(generator):
        for event in range(generator.choice((1, 2, 3))):
            yield texts, day + timedelta(days=generator.choice((0, 0, 7)) * event, hours=2 * event)


def _people(generator: random.Random) -> Iterator[Thing]:
    """Yield people of which three in ten have a namesake in their town."""
    for texts, day in _subjects(generator):
        for _ in range(1 + (generator.random() < 0.3)):
            yield texts, day.replace(year=generator.randrange(1930, 2005))


def _single(generator: random.Random) -> Iterator[Thing]:
    """Yield things of which none is like another one."""
    return _subjects(generator)


def _subjects(generator: random.Random) -> Iterator[Thing]:
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)).title() for _ in range(60)]
    for _ in range(SUBJECTS):
        texts = " ".join(generator.sample(words, 2)), f"{generator.choice(words)} {words[0]}"
        year, month = generator.randrange(2021, 2025), generator.randrange(1, 13)
        day, hour = generator.randrange(1, 29), generator.randrange(8, 18)
        yield texts, datetime(year, month, day, hour, tzinfo=UTC)


def _make_records(
    generator: random.Random, recipe: Recipe, column: str, wrong_share: float
) -> tuple[Records, list[int]]:
    """Return the records of a recipe's things, and the number of the thing of each."""
    rows, things = list[tuple[str, ...]](), list[int]()
    forms = _TIME_FORMS if column == "starts" else _DATE_FORMS
    for number, (texts, day) in enumerate(recipe(generator)):
        for source in generator.sample(range(3), generator.choice((1, 2, 2, 3))):
            is_wrong = generator.random() < wrong_share
            shift = timedelta(days=generator.randrange(-400, 400) if is_wrong else 0)
            written = [_misspelt(generator, text) for text in texts]
            rows.append((*written, f"{day + shift:{forms[source]}}"))
            things.append(number)
    order = generator.sample(range(len(rows)), len(rows))
    fields = tuple([rows[row][place] for row in order] for place in range(3))
    records = Records(fields, join_keys(fields), range(len(rows)), ("name", "place", column))
    return records, [things[row] for row in order]


def _misspelt(generator: random.Random, text: str) -> str:
    if generator.random() > SWAPPED_SHARE:
        return text
    place = generator.randrange(1, len(text) - 2)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


# Name, recipe, name of the column of dates, share of wrong ones.
RECIPES: tuple[tuple[str, Recipe, str, float], ...] = (
    ("visits", _visits, "visit", 0.0),
    ("visits, one date in ten is wrong", _visits, "visit", WRONG_SHARE),
    ("events", _events, "starts", 0.0),
    ("people", _people, "born", 0.0),
    ("no things alike, dates of storage", _single, "created", 1.0),
    ("no things alike, half of dates wrong", _single, "visit", 0.5),
)
