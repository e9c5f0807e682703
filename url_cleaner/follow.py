"""One network hop, only on request: where does an opaque link lead? Asking is a click that somebody may be billed for.

`requests` alone would follow a link into the house: the address that a name resolves to is checked right where the
connection is made, so that a name cannot change its address between the check and the connection.
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

from url_cleaner.clean import Cleaned, clean
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.lists import Lists
from url_cleaner.urls.link import read_link
from url_cleaner.urls.public_address import is_public


@dataclass(frozen=True)
class Hop:
    """What one request told: the status, and where it sends a visitor; `problem` says why there is no answer."""

    status: int | None
    url: str | None
    problem: str = ""


def follow(link: str, *, allow_private: bool = False, timeout: float = 10.0) -> Hop:
    """Asks for a link's head once and reads where it redirects to; nothing is downloaded, no cookie kept.

    BadUrl where it is no http(s) link, or its address is not on the public internet and `allow_private` is not set.
    """
    url = str(read_link(link))
    with requests.Session() as session:
        session.trust_env = False
        session.mount("http://", _Guarded(allow_private))
        session.mount("https://", _Guarded(allow_private))
        try:
            answer = session.head(url, allow_redirects=False, timeout=timeout)
        except requests.RequestException as error:
            return Hop(None, None, f"no answer from {url[:100]}: {type(error).__name__}")
    return _hop(url, answer.status_code, answer.headers.get("Location"))


def resolved(
    link: str,
    *,
    home: str | None = None,
    own: Sequence[str] = (),
    lists: Lists | None = None,
    allow_private: bool = False,
) -> Cleaned:
    """The link cleaned, where it is opaque by asking once where it leads; it stays opaque where that tells nothing."""
    found = clean(link, home=home, own=own, lists=lists)
    if not found.opaque:
        return found
    try:
        asked = read_link(link, read_link(home) if home else None)
        hop = follow(str(asked), allow_private=allow_private)
        if hop.url is None:
            return found
        again = clean(hop.url, home=home, own=own, lists=lists)
    except BadUrl:
        return found
    return replace(
        again, input=link, unwrapped=(f"{asked.host}: asked, it leads on", *again.unwrapped)
    )


def _hop(url: str, status: int, location: str | None) -> Hop:
    if location is None or not 300 <= status < 400:
        return Hop(status, None, "" if status < 400 else f"{url[:100]} answers {status}")
    try:
        return Hop(status, str(read_link(urljoin(url, location))))
    except (BadUrl, ValueError):
        return Hop(status, None, f"{url[:100]} leads to no http(s) link")


def public_address(host: str, port: int) -> str:
    """An address of the host that is on the public internet; BadUrl where one of its addresses is not."""
    found = [
        str(info[4][0])
        for info in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    ]
    for address in found:
        if not is_public(address):
            raise BadUrl(
                f"{host} is at {address}, which is not on the public internet; it is not asked"
            )
    return found[0]


class _GuardedHTTP(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = public_address(self.host, self.port or 80)
        return super()._new_conn()


class _GuardedHTTPS(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = public_address(self.host, self.port or 443)
        return super()._new_conn()


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _GuardedHTTP


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedHTTPS


class _Guarded(HTTPAdapter):
    """An adapter whose connections go to public addresses only, unless private ones are allowed."""

    def __init__(self, allow_private: bool) -> None:
        self._allow_private = allow_private
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: Any
    ) -> None:
        """Builds the pools; called by requests."""
        self.poolmanager = PoolManager(connections, maxsize=maxsize, block=block, **options)
        if not self._allow_private:
            self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
