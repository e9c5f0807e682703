"""Texts that are equal or only look so, in many scripts; each line is a text."""

from matcher.dedupe.deduplication import deduplicate
from tests.field.field_cases import FieldCase, each_case, limited_time


@each_case("duplicates")
def test_duplicates(case: FieldCase) -> None:
    """Only texts that mean the same are in one cluster."""
    method, threshold = case.expected["method"], case.expected["threshold"]
    with limited_time():
        found = deduplicate(case.lines, method=method, threshold=threshold)
    assert sorted(sorted(cluster) for cluster in found.clusters) == case.expected["groups"]
