"""A session of labelling: which pair to ask next, and the answers so far.

Active learning by uncertainty: the pair whose probability is nearest to the threshold is asked
next, but not a pair of records that were just shown. Until there is a duplicate, the most probable
pair is asked.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from catalog.runtime.progress import Progress
from matcher.array_types import Doubles
from matcher.taught.deduplication import Decision, Labels, decide, score_with_labels
from scout.dedupe.taught.labels_file import (
    NO_LABELS_FILE,
    UNSURE_WORD,
    append_answer,
    check_appendable,
    read_labels,
)
from scout.dedupe.taught.tables import Table, load_tables
from scout.dedupe.taught.taught_run import TaughtRequest, build_options

# Answers between two trainings of the model.
TRAINING_INTERVAL = 10
# Distance that a pair with a record that was just shown counts as farther away.
SHOWN_PENALTY = 1_000.0
# Records that were shown last, and are not shown again at once.
RECENT_RECORDS = 10


@dataclass
class LabelSession:
    """The tables, the scored candidates, and the answers so far."""

    tables: list[Table]
    path: Path
    decision: Decision
    odds: Doubles
    answers: dict[int, str]
    _recent: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT_RECORDS))
    _since_training: int = 0
    _history: list[int] = field(default_factory=list)

    @classmethod
    def open(cls, request: TaughtRequest, path: Path, progress: Progress) -> "LabelSession":
        """Compare the tables, and read earlier answers. Raises UsageError, UnreadableFeed."""
        tables = load_tables(
            request.paths(), request.keys, request.id_column, progress, request.new_names
        )
        check_appendable(path)
        stored = NO_LABELS_FILE
        if path.exists() and path.stat().st_size:
            stored = read_labels(path, tables)
        labels = stored.labels
        right = tables[1].records if len(tables) > 1 else None
        decision = decide(tables[0].records, right, labels, None, build_options(request), progress)
        row_of = {tuple(pair): row for row, pair in enumerate(decision.scored.pairs.tolist())}
        answers = dict[int, str]()
        for pair, is_duplicate in zip(labels.pairs.tolist(), labels.are_duplicates, strict=True):
            answers[row_of[tuple(pair)]] = "1" if is_duplicate else "0"
        for pair in stored.skipped:
            if pair in row_of:
                answers[row_of[pair]] = UNSURE_WORD
        session = cls(tables, path, decision, decision.odds.copy(), answers)
        session._history = [row_of[pair] for pair in stored.order if pair in row_of]
        session._train()
        return session

    def next_row(self) -> int | None:
        """Return the candidate to ask next; None when all are answered."""
        pairs = self.decision.scored.pairs
        # The most probable pair until there is a duplicate, then the most doubtful one.
        distance = np.abs(self.odds)
        if "1" not in self.answers.values():
            distance = self.odds.max(initial=0.0) - self.odds
        distance[[*self.answers]] = np.inf
        was_shown = np.isin(pairs, [*self._recent]).any(axis=1)
        order = np.where(was_shown, distance + SHOWN_PENALTY, distance)
        if not len(order):
            return None
        row = int(np.argmin(order))
        return None if np.isinf(order[row]) else row

    def answer(self, row: int, label: str) -> None:
        """Keep an answer, and learn from it now and then. Raises ScoutError."""
        left, right = self.decision.scored.pairs[row].tolist()
        append_answer(self.path, self.tables[0].names[left], self.tables[-1].names[right], label)
        self.answers[row] = label
        self._history.append(row)
        self._recent.extend((left, right))
        self._since_training += 1
        if self._since_training >= TRAINING_INTERVAL:
            self._train()

    def last_row(self) -> int | None:
        """Return the pair that was answered last, and at the next call the one before."""
        return self._history.pop() if self._history else None

    def _train(self) -> None:
        """Score the candidates again with all answers so far."""
        rows = [row for row, label in self.answers.items() if label != UNSURE_WORD]
        are_duplicates = np.array([self.answers[row] == "1" for row in rows], bool)
        labels = Labels(self.decision.scored.pairs[rows], are_duplicates)
        self.odds = score_with_labels(self.decision, labels)
        self._since_training = 0

    def probability(self, row: int) -> float:
        """Return the probability of a candidate as of the last training."""
        return float(1 / (1 + np.exp(-self.odds[row])))

    def columns(self, row: int) -> Iterator[tuple[str, str, str]]:
        """Yield the name of each column with the values of both records of a pair."""
        left, right = self.decision.scored.pairs[row].tolist()
        first, last = self.tables[0].records, self.tables[-1].records
        for number, name in enumerate(first.names):
            yield name, first.fields[number][left], last.fields[number][right]

    def figures(self) -> dict[str, Any]:
        """Return the number of answers by label."""
        labels = [*self.answers.values()]
        return {
            "labels": labels.count("1") + labels.count("0"),
            "duplicates": labels.count("1"),
            "unsure": labels.count(UNSURE_WORD),
            "file": str(self.path),
        }
