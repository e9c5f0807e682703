"""A response's header is read as one text, however many lines it has."""

import pytest
from scrapy.http import Response

from crawler.store.page_processor import header_value

LINES = {
    "one line": ([b"text/html"], "text/html"),
    "several lines": ([b"text/html", b"charset=utf-8"], "text/html, charset=utf-8"),
    "no UTF-8": ([b"caf\xe9"], "café"),
    "an empty line": ([b""], None),
    "no line": ([], None),
    "a zero, which PostgreSQL refuses": ([b"a\x00b"], None),
}


@pytest.mark.parametrize(("lines", "value"), LINES.values(), ids=LINES.keys())
def test_lines_of_a_header(lines: list[bytes], value: str | None) -> None:
    """A header that is missing, empty or broken is None."""
    response = Response("https://shop.example/", headers={"Content-Type": lines})
    assert header_value(response, "Content-Type") == value
