"""Judges in turn: nobody judges what it has learnt from."""

import numpy as np

from matcher.evaluation.cross_fitting import Bools, Floats, Ints, Judge, in_turn


def remembering(rows: Ints, same: Bools) -> Judge:
    """A judge that knows the rows it has learnt from, and nothing else."""
    said = dict(zip(rows.tolist(), np.where(same, 1.0, -1.0).tolist(), strict=True))

    def judge(asked: Ints) -> Floats:
        return np.array([said.get(row, 0.0) for row in asked.tolist()], np.float32)

    return judge


def test_no_row_is_judged_by_whom_it_has_taught() -> None:
    """A judge that only remembers knows nothing of the part that it is asked for."""
    learnt, same = np.array([0, 1, 2, 4]), np.array([True, False, True, True])
    score = in_turn(remembering, learnt, same, np.array([0, 1, 2, 0, 0]), 3)
    assert score.tolist() == [0.0] * 5


def test_rows_without_a_label() -> None:
    """They get the mean of all judges."""

    def counting(rows: Ints, same: Bools) -> Judge:
        return lambda asked: np.full(len(asked), len(rows), np.float32)

    score = in_turn(
        counting, np.array([0, 1, 2]), np.array([True, True, False]), np.array([0, 0, 1, 5]), 2
    )
    assert score.tolist() == [1.0, 1.0, 2.0, 1.5]
