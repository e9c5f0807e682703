"""Resolution of opaque URLs by one network request, only on demand: a request is a click that may
be billed.

`requests` alone would follow a URL into the private network. The address that a name resolves to is
checked where the connection is made, so that a name cannot change its address between check and
connection (DNS rebinding).
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.poolmanager import PoolManager

from url_cleaner.cleaner import CleanedUrl, clean_url
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.filter_lists import FilterLists
from url_cleaner.urls.public_address import is_public
from url_cleaner.urls.url import Url

# Seconds until an answer must have come.
DEFAULT_TIMEOUT = 10.0
# Characters of a URL that a message quotes.
_QUOTED_LENGTH = 100


@dataclass(frozen=True)
class RedirectResponse:
    """Answer to one request: status, and redirect target; `problem` says why there is no target."""

    status: int | None
    url: str | None
    problem: str = ""


def request_redirect(
    url: str, *, allow_private: bool = False, timeout: float = DEFAULT_TIMEOUT
) -> RedirectResponse:
    """Send one HEAD request and read the redirect target from the answer; no body, no cookies.

    Raises BadUrl where it is no http(s) URL, or its address is not on the public internet and
    `allow_private` is not set.
    """
    text = str(Url.parse(url))
    with requests.Session() as session:
        # No proxies or credentials from the environment: the guard must see the real address.
        session.trust_env = False
        session.mount("http://", _GuardedAdapter(allow_private))
        session.mount("https://", _GuardedAdapter(allow_private))
        try:
            answer = session.head(text, allow_redirects=False, timeout=timeout)
        except requests.RequestException as error:
            problem = f"no answer from {text[:_QUOTED_LENGTH]}: {type(error).__name__}"
            return RedirectResponse(None, None, problem)
    return _read_redirect(text, answer.status_code, answer.headers.get("Location"))


def resolve_url(
    url: str,
    *,
    home: str | None = None,
    shop_keys: Sequence[str] = (),
    lists: FilterLists | None = None,
    allow_private: bool = False,
) -> CleanedUrl:
    """Clean a URL, and where it is opaque, request its target once and clean that.

    It stays opaque where the answer names no target. Parameters and errors are those of
    `clean_url`.
    """
    cleaned = clean_url(url, home=home, shop_keys=shop_keys, lists=lists)
    if not cleaned.opaque:
        return cleaned
    try:
        requested = Url.parse(url, Url.parse(home) if home else None)
        response = request_redirect(str(requested), allow_private=allow_private)
        if response.url is None:
            return cleaned
        target = clean_url(response.url, home=home, shop_keys=shop_keys, lists=lists)
    except BadUrl:
        return cleaned
    unwrapped = (f"{requested.host}: asked, it leads on", *target.unwrapped)
    return replace(target, input=url, unwrapped=unwrapped)


def resolve_public_address(host: str, port: int) -> str:
    """Return the first IP address of a host.

    Raises BadUrl where one of them is not on the public internet.
    """
    infos = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    addresses = [str(info[4][0]) for info in infos]
    for address in addresses:
        if not is_public(address):
            raise BadUrl(
                f"{host} is at {address}, which is not on the public internet; it is not asked"
            )
    return addresses[0]


def _read_redirect(url: str, status: int, location: str | None) -> RedirectResponse:
    if location is None or not 300 <= status < 400:
        problem = "" if status < 400 else f"{url[:_QUOTED_LENGTH]} answers {status}"
        return RedirectResponse(status, None, problem)
    try:
        return RedirectResponse(status, str(Url.parse(urljoin(url, location))))
    except ValueError:
        problem = f"{url[:_QUOTED_LENGTH]} leads to no http(s) link"
        return RedirectResponse(status, None, problem)


class _GuardedHTTP(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = resolve_public_address(self.host, self.port or 80)
        return super()._new_conn()


class _GuardedHTTPS(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = resolve_public_address(self.host, self.port or 443)
        return super()._new_conn()


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _GuardedHTTP


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedHTTPS


class _GuardedAdapter(HTTPAdapter):
    """Adapter whose connections go to public addresses only, unless private ones are allowed."""

    def __init__(self, allow_private: bool) -> None:
        self._allow_private = allow_private
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: Any
    ) -> None:
        """Build the connection pools; called by requests."""
        self.poolmanager = PoolManager(connections, maxsize=maxsize, block=block, **options)
        if not self._allow_private:
            self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
