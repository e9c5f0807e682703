"""Whether records have one partner or several is read from the matches of agreement."""

import random

import numpy as np
import pytest

from matcher.taught.deduplication import decide
from matcher.taught.model.agreement import AgreementModel
from matcher.taught.model.partners import has_one_partner
from tests.matcher.taught.tables import make_citations, to_records

PLACES = ("Rome", "Athens", "Carthage", "Byzantium", "Persia", "Gaul", "Thrace", "Numidia")
KINDS = ("Temple", "Harbour", "Market", "Theatre")
COLUMNS = ("name", "street", "town")


@pytest.mark.parametrize(
    ("records_per_group", "groups", "expected"), [(2, 30, True), (3, 30, False), (2, 5, False)]
)
def test_one_partner_or_several(records_per_group: int, groups: int, expected: bool) -> None:
    """Few matches say nothing: records of one table then have several partners."""
    pairs = []
    for start in range(0, groups * records_per_group, records_per_group):
        pairs += [(start, start + copy) for copy in range(1, records_per_group)]
    assert has_one_partner(np.array(pairs), np.ones(len(pairs), bool)) == expected


@pytest.mark.parametrize("copies", [2, 4])
def test_dirty_copies(copies: int) -> None:
    """Hardly any two copies are alike in all columns, and yet all copies of a record are found."""
    rows = _dirty_rows(copies)
    decision = decide(to_records(rows, COLUMNS), None)
    assert decision.scored.partners.left_has_one == (copies == 2)
    restored = AgreementModel.from_json(decision.model.agreement.as_json())
    assert restored.has_one_partner == (copies == 2)
    groups = [group for group in decision.groups if len(group) == copies]
    assert len(groups) >= 0.8 * len(rows) / copies
    assert all(group[0] % copies == 0 and group[-1] == group[0] + copies - 1 for group in groups)


def _dirty_rows(copies: int) -> list[tuple[str, ...]]:
    """Return records with so many copies of each, in a row, that lack some letters."""
    generator = random.Random(3)
    rows = list[tuple[str, ...]]()
    for place in PLACES:
        for kind in KINDS:
            number = generator.randrange(1, 99)
            record = (f"{kind} of {place}", f"{number} {kind} Hill Street", f"New {place}")
            rows += [tuple(_lose_letter(text, generator) for text in record) for _ in range(copies)]
    return rows


def _lose_letter(text: str, generator: random.Random) -> str:
    place = generator.randrange(3, len(text) - 1)
    return text[:place] + text[place + 1 :]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_table_of_which_records_have_dirty_copies_in_another(is_swapped: bool) -> None:
    """Hardly any two citations of a work are alike, and yet each work is found to have several."""
    citations, _ = make_citations(works=90, copies=3)
    rows = [*zip(*citations.fields, strict=True)]
    works = [
        max(rows[start : start + 3], key=lambda row: len("".join(row)))
        for start in range(0, 270, 3)
    ]
    tables = [to_records(works, citations.names), to_records(rows, citations.names)]
    decision = decide(*(tables[::-1] if is_swapped else tables))
    partners = decision.scored.partners
    assert [partners.left_has_one, partners.right_has_one] == [is_swapped, not is_swapped]
    restored = AgreementModel.from_json(decision.model.agreement.as_json())
    assert restored.has_several == (not is_swapped, is_swapped)
    found = {
        pair[::-1] if is_swapped else pair
        for pair in zip(decision.result.left.tolist(), decision.result.right.tolist(), strict=True)
    }
    right = {(row // 3, row) for row in range(270)}
    assert 2 * len(found & right) / (len(found) + len(right)) > 0.95
