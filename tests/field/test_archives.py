"""WARC files as crawlers write them: a record that cannot be read is counted, the rest is read."""

from collections import Counter

import pytest

import catalog.errors
from crawler.sources.warc_reader import read_responses
from tests.field.field_cases import FieldCase, each_case, limited_time

# Bytes of the largest body.
MAX_SIZE = 1_000_000


@each_case("warc")
def test_archive(case: FieldCase) -> None:
    """The responses are read in order; `skipped` counts all other records."""
    expected = case.expected
    skipped: Counter[str] = Counter()
    with limited_time():
        if "error" in expected:
            with pytest.raises(getattr(catalog.errors, expected["error"])):
                list(read_responses(case.path, MAX_SIZE, skipped))
            return
        responses = list(read_responses(case.path, MAX_SIZE, skipped))
    pages = {saved.url: (saved.status, saved.body) for saved in responses}
    for url, status, start in expected["pages"]:
        assert pages[url][0] == status
        body = pages[url][1]
        assert body is None if start is None else (body or b"").startswith(start.encode())
    if expected["skipped"] is None:
        assert skipped
    else:
        assert skipped.total() == expected["skipped"], skipped
        assert len(pages) == len(expected["pages"])
