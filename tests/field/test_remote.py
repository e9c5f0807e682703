"""Headers of servers that ask to wait, or lead elsewhere; each line is a header."""

from typing import Any

import pytest
import requests
import urllib3
from requests.adapters import BaseAdapter
from scrapy.http import Response

from catalog.feeds.remote.http_session import FeedRetry, FeedSession
from crawler.fetch.response_status import retry_after
from tests.field.field_cases import FieldCase, each_case, limited_time


@each_case("retry_after")
def test_retry_after(case: FieldCase) -> None:
    """A server may ask for a pause, of seconds or until a date, within the limits of the reader."""
    crawled, imported = [], []
    for value in case.lines:
        headers = {"Retry-After": value}
        with limited_time():
            crawled.append(retry_after(Response("https://shop.example/", headers=headers)))
            answer = urllib3.HTTPResponse(headers={"Retry-After": value})
            imported.append(FeedRetry().get_retry_after(answer))
    assert dict(zip(case.lines, crawled, strict=True)) == dict(
        zip(case.lines, case.expected["crawl"], strict=True)
    )
    assert dict(zip(case.lines, imported, strict=True)) == dict(
        zip(case.lines, case.expected["feed_import"], strict=True)
    )


class RedirectingServer(BaseAdapter):
    """Stands for all servers: the first request is redirected, the next one answered."""

    def __init__(self, location: str) -> None:
        super().__init__()
        self._location = location
        self.requested: list[str] = []

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Answer a request without a network."""
        response = requests.Response()
        response.request, response.url = request, str(request.url)
        response.status_code = 200 if self.requested else 302
        response.headers["Location"] = self._location
        self.requested.append(response.url)
        return response

    def close(self) -> None:
        """Close nothing."""


def is_followed(monkeypatch: pytest.MonkeyPatch, first: str, location: str) -> bool:
    """Return True if an import that begins at `first` follows a redirect."""
    server = RedirectingServer(location)
    with FeedSession(FeedRetry(0)) as session, monkeypatch.context() as patched:
        patched.setattr(session, "_public_adapter", server)
        patched.setitem(session.adapters, "http://", server)
        patched.setitem(session.adapters, "https://", server)
        try:
            session.get(first)
        except requests.exceptions.InvalidURL:
            return False
    return len(server.requested) == 2


@each_case("redirects")
def test_redirects(case: FieldCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import is not led to a host that is more private than the first, in no spelling of it."""
    followed = {}
    for location in case.lines:
        with limited_time():
            followed[location] = is_followed(monkeypatch, case.expected["first"], location)
    assert followed == dict(zip(case.lines, case.expected["followed"], strict=True))
