"""What people's words teach: the next run judges the like of what they accepted or rejected accordingly."""

import numpy as np
import pytest

from catalog.models import OfferFields, Word
from matcher.match import match
from matcher.training.feedback import LIKEST, WEIGHT, lessons

PAIRS = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [2, 3]])
TABLE = np.arange(6, dtype=np.float32).reshape(-1, 1)
LIKENESS = np.array([0.1, 0.9, 0.3, 0.2, 0.5, 0.5], dtype=np.float32)


@pytest.mark.parametrize(
    ("words", "rows", "same"),
    [
        ([None, None, None], [], []),
        ([Word.ACCEPT, None, None], [1, 2, 3], [False] * LIKEST),
        ([Word.REJECT, Word.IGNORE, None], [1], [True]),
        ([None, Word.REJECT, Word.ACCEPT], [4, 5], [True, False]),
    ],
)
def test_examples(words: list[Word | None], rows: list[int], same: list[bool]) -> None:
    """Accepted: its likest candidates are others. Rejected: the likest is the same. Ignored: nothing."""
    found = lessons(PAIRS, TABLE, LIKENESS, words)
    assert found.table.ravel().tolist() == rows
    assert found.same.tolist() == same
    assert found.weight.tolist() == [WEIGHT] * len(rows)


@pytest.mark.parametrize(("word", "sign"), [(Word.REJECT, 1), (Word.ACCEPT, -1)])
def test_words_on_some_move_the_others(lamps: list[OfferFields], word: Word, sign: int) -> None:
    """Where people reject (accept) findings of one kind, the others of that kind become likelier listed (missing)."""
    known = [
        one.model_copy(
            update={
                "url": None,
                "sku": None,
                "images": [],
                "description": None,
                "price": None,
                "title": title,
            }
        )
        if n % 2 == 0
        else one
        for n, one in enumerate(lamps)
        if (title := " ".join((one.title or "").split()[:3]) + f" lot {n}")
    ]
    words = {one.url or "": word for one in lamps[0::4]}

    def listed(said: dict[str, Word]) -> float:
        return sum(one.score for one in match(lamps, known, words=said) if one.members[0] % 4 == 2)

    assert sign * (listed(words) - listed({})) > 0
