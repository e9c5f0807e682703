"""A dirty bibliography by a recipe: works in volumes and editions, each record in several catalogs.

A work has an author, a title of three to eight words, a place, a publisher, and a year. One work in
five comes in two to five volumes, one in five in two or three editions of different years. Each of
these is a thing of its own, catalogued one to four times. A record abbreviates the author's first
name in half of the cases, drops a field in one of ten, cuts the title after its third word in one of
eight, and has a wrong letter in one title and one author of six. Volume and edition are written in
one of several forms, in the title or in a column of their own; a first edition is never named. Where
records of a later edition may omit it too, a record without one can be either.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.dedupe_peers.results import best_threshold
from benchmarks.measure import processor_seconds
from matcher.array_types import Pairs
from matcher.dedupe.base.records import Records
from matcher.taught.candidates import find_rows
from matcher.taught.deduplication import Decision, Labels, decide

COLUMNS = ("author", "title", "volume", "edition", "place", "publisher", "year")
VOLUME_FORMS = (
    "vol. {}",
    "Volume {}",
    "Vol {}",
    "Bd. {}",
    "Band {}",
    "tome {roman}",
    "vol. {roman}",
    "v. {}",
)
EDITION_FORMS = ("{}. ed.", "{th} edition", "{th} ed.", "{}. Aufl.", "{}. Auflage")
ROMAN = ("", "I", "II", "III", "IV", "V")
ORDINALS = ("", "1st", "2nd", "3rd", "4th", "5th")
LABELS = 200


@dataclass(frozen=True)
class Book:
    """One thing of the bibliography; volume and edition are 0 for none."""

    author: tuple[str, str]
    title: tuple[str, ...]
    volume: int
    edition: int
    place: str
    publisher: str
    year: int


class Recipe:
    """Makes books and their records; the same seed always makes the same ones."""

    def __init__(self, seed: int, unnamed_editions: float = 0.0) -> None:
        """Make the words; `unnamed_editions` is the share of later editions that are not named."""
        self._unnamed_editions = unnamed_editions
        self.generator = random.Random(seed)
        self._words = [self._make_word() for _ in range(1_500)]
        self._weights = [1 / (rank + 20) for rank in range(len(self._words))]
        self._names = [self._make_word().title() for _ in range(600)]
        self._places = [self._make_word().title() for _ in range(40)]
        self._publishers = [f"{self._make_word().title()} Press" for _ in range(60)]

    def records(self, count: int) -> list[tuple[int, Book, tuple[str, ...]]]:
        """Return (number of the book, the book, its record as a row of COLUMNS)."""
        records = list[tuple[int, Book, tuple[str, ...]]]()
        number = 0
        while len(records) < count:
            for book in self._work():
                for _ in range(self.generator.choice((1, 1, 2, 2, 3, 4))):
                    records.append((number, book, self._record(book)))
                number += 1
        self.generator.shuffle(records)
        return records[:count]

    def _make_word(self) -> str:
        syllables = [
            self.generator.choice("bcdfghklmnprstvz") + self.generator.choice("aeiou")
            for _ in range(self.generator.randrange(2, 5))
        ]
        return "".join(syllables)

    def _work(self) -> list[Book]:
        generator = self.generator
        author = generator.choice(self._names), generator.choice(self._names)
        words = generator.choices(self._words, self._weights, k=generator.randrange(3, 9))
        place, publisher = generator.choice(self._places), generator.choice(self._publishers)
        year = generator.randrange(1850, 2020)
        draw = generator.random()
        if draw < 0.2:
            volumes = range(1, generator.randrange(2, 6) + 1)
            return [
                Book(author, tuple(words), min(volume, 5), 0, place, publisher, year)
                for volume in volumes
                if volume <= 5
            ]
        if draw < 0.4:
            editions = range(1, generator.choice((2, 3)) + 1)
            return [
                Book(author, tuple(words), 0, edition, place, publisher, year + 4 * edition)
                for edition in editions
            ]
        return [Book(author, tuple(words), 0, 0, place, publisher, year)]

    def _record(self, book: Book) -> tuple[str, ...]:
        generator = self.generator
        last, first = book.author
        author = f"{last}, {first}" if generator.random() < 0.5 else f"{last}, {first[0]}."
        if generator.random() < 0.3:
            author = f"{first if generator.random() < 0.5 else first[0] + '.'} {last}"
        words = book.title
        if len(words) > 4 and generator.random() < 1 / 8:
            words = words[:3]
        title = " ".join(words).capitalize()
        if generator.random() < 1 / 6:
            title = self._misspell(title)
        if generator.random() < 1 / 6:
            author = self._misspell(author)
        volume = edition = ""
        if book.volume:
            form = generator.choice(VOLUME_FORMS)
            volume = form.format(book.volume, roman=ROMAN[book.volume])
        if book.edition > 1 and generator.random() >= self._unnamed_editions:
            edition = generator.choice(EDITION_FORMS).format(
                book.edition, th=ORDINALS[book.edition]
            )
        if volume and generator.random() < 0.5:
            title, volume = f"{title}, {volume}", ""
        elif volume and generator.random() < 0.5:
            volume = str(book.volume)
        if edition and generator.random() < 0.5:
            title, edition = f"{title}. {edition}", ""
        values = [author, title, volume, edition, book.place, book.publisher, str(book.year)]
        for number in (0, 4, 5, 6):
            if generator.random() < 0.1:
                values[number] = ""
        return tuple(values)

    def _misspell(self, text: str) -> str:
        place = self.generator.randrange(len(text))
        letter = self.generator.choice("abcdefghiklmnoprstuv")
        return text[:place] + letter + text[place + 1 :]


def compare_bibliography(count: int) -> None:
    """Print F1 of taught decisions, and the numbers of volumes and editions that they merge."""
    for unnamed in (0.0, 0.1, 0.3):
        print(f"\n{unnamed:.0%} of the later editions are not named")
        _compare_recipe(Recipe(0, unnamed), count)


def _compare_recipe(recipe: Recipe, count: int) -> None:
    records = recipe.records(count)
    fields = tuple(map(list, zip(*(row for _, _, row in records), strict=True)))
    texts = [" ".join(filter(None, row)) for _, _, row in records]
    table = Records(fields, texts, range(count), COLUMNS)
    truth = _true_pairs([number for number, _, _ in records])
    books = [book for _, book, _ in records]
    unsupervised = decide(table, None)
    print(
        f"{count:,} records, {len(truth):,} true pairs; {dict(zip(COLUMNS, map(str, unsupervised.comparison.kinds), strict=True))}"
    )
    pairs = unsupervised.scored.pairs
    rows = find_rows(pairs, truth)
    labels = np.zeros(len(pairs), bool)
    labels[rows[rows >= 0]] = True
    print(f"candidates: {len(pairs):,}, {np.mean(rows >= 0):.1%} of the true pairs")
    similarity = unsupervised.scored.table[
        :, [str(f) for f in unsupervised.comparison.features].index("all columns: 3-grams")
    ]
    threshold = best_threshold(np.round(similarity.astype(np.float64), 2), labels)
    _print_figures(
        f"3-grams from {threshold:.2f}, the best threshold",
        pairs[similarity >= threshold],
        truth,
        books,
    )
    _print_figures("taught, no labels", _pairs(unsupervised), truth, books)
    order = np.random.default_rng(0).permutation(len(pairs))
    drawn = np.concatenate(
        [order[labels[order]][: LABELS // 2], order[~labels[order]][: LABELS // 2]]
    )
    begun = processor_seconds()
    decision = decide(table, None, Labels(pairs[drawn], labels[drawn]))
    known = set(map(tuple, pairs[drawn].tolist()))
    decided = [pair for pair in _pairs(decision).tolist() if tuple(pair) not in known]
    asked = [pair for pair in truth.tolist() if tuple(pair) not in known]
    seconds = processor_seconds() - begun
    _print_figures(
        f"taught, {LABELS} labels ({seconds:.0f} CPU s)",
        np.array(decided).reshape(-1, 2), np.array(asked).reshape(-1, 2), books,
    )  # fmt: skip


def _pairs(decision: Decision) -> Pairs:
    return np.column_stack((decision.result.left, decision.result.right))


def _print_figures(title: str, decided: Pairs, truth: Pairs, books: Sequence[Book]) -> None:
    right = len(set(map(tuple, decided.tolist())) & set(map(tuple, truth.tolist())))
    volumes = sum(0 < books[i].volume != books[j].volume > 0 for i, j in decided.tolist())
    editions = sum(0 < books[i].edition != books[j].edition > 0 for i, j in decided.tolist())
    precision, recall = right / max(1, len(decided)), right / max(1, len(truth))
    score = 2 * right / max(1, len(decided) + len(truth))
    print(
        f"{title:45} F1 {score:.3f}, precision {precision:.3f}, recall {recall:.3f}; "
        f"{volumes} pairs of volumes and {editions} of editions merged",
        flush=True,
    )


def _true_pairs(numbers: Sequence[int]) -> Pairs:
    rows_of: dict[int, list[int]] = {}
    pairs = list[tuple[int, int]]()
    for row, number in enumerate(numbers):
        pairs += [(earlier, row) for earlier in rows_of.get(number, ())]
        rows_of.setdefault(number, []).append(row)
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
