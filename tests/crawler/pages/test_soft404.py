"""Fingerprints of pages, by which missing pages are known."""

import time

from crawler.pages.soft404 import MAX_TEXT_CHARS, page_fingerprint


def test_nested_elements_do_not_multiply_the_work() -> None:
    """The text of a page counts up to a bound, though each element around it repeats it."""
    page = "<title>Lost</title>" + "<li><ul>" * 100 + "sorry " * (MAX_TEXT_CHARS // 6)
    begin = time.process_time()
    fingerprint = page_fingerprint(page.encode(), "text/html")
    assert time.process_time() - begin < 3
    assert fingerprint is not None
    # The last word may be cut at the bound.
    assert fingerprint.title == "Lost"
    assert "sorry" in fingerprint.words
    assert len(fingerprint.words) <= 2
