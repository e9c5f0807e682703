"""The exact join finds records that are equal after normalising."""

from matcher.dedupe.base.records import records_from_fields, records_from_texts
from matcher.dedupe.exact.exact_join import Exact
from tests.matcher.dedupe.brute_force import pairs_of


def test_exact() -> None:
    """Records are equal if each normalised field is, within one side and between two."""
    left = records_from_fields(["Crème", "creme", "a b"], ["1", "1", ""])
    right = records_from_fields(["CREME", "a"], ["1", "b"])
    assert pairs_of(Exact()(left)) == {(0, 1): 1.0}
    assert pairs_of(Exact()(left, right)) == {(0, 0): 1.0, (1, 0): 1.0}
    assert len(Exact()(records_from_texts([]))) == 0
