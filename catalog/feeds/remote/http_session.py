"""HTTP session of an import: retries, and redirects only where the first address could have gone.

The user names the first address, a stranger the others: a public server must not lead the import to
a machine of the private network. A redirect from a private host may lead to another one, but to
this machine or a link-local address only from one of the same kind. The address of a name is
checked again where the connection is made, so that the name cannot change it in between (DNS
rebinding).
"""

import ipaddress
import socket
from enum import StrEnum
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.poolmanager import PoolManager
from urllib3.util import Retry

from url_cleaner.errors import BadUrl
from url_cleaner.resolver import resolve_public_address
from url_cleaner.urls.public_address import is_public

# Redirects of one request.
MAX_REDIRECTS = 10
# Seconds that a busy server may ask to wait for.
MAX_RETRY_AFTER = 60.0
# Characters of an address that a message quotes.
QUOTED_LENGTH = 200


class AddressKind(StrEnum):
    """Kinds of addresses, by who can reach them."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"


# Kinds of addresses to which each kind may redirect.
_REDIRECTS = {
    AddressKind.PUBLIC: {AddressKind.PUBLIC},
    AddressKind.PRIVATE: {AddressKind.PUBLIC, AddressKind.PRIVATE},
    AddressKind.LOOPBACK: {AddressKind.PUBLIC, AddressKind.PRIVATE, AddressKind.LOOPBACK},
    AddressKind.LINK_LOCAL: {AddressKind.PUBLIC, AddressKind.PRIVATE, AddressKind.LINK_LOCAL},
}


class FeedRetry(Retry):
    """Retries that wait at most a minute, and ignore a `Retry-After` that cannot be read."""

    def get_retry_after(self, response: Any) -> float | None:
        """Return the seconds that the server asks to wait for."""
        try:
            seconds = super().get_retry_after(response)
        except (InvalidHeader, ValueError, OverflowError):
            return None
        return None if seconds is None else min(seconds, MAX_RETRY_AFTER)


class FeedSession(requests.Session):
    """Session whose redirects stay in the reach of the first address."""

    def __init__(self, retries: Retry) -> None:
        super().__init__()
        self.max_redirects = MAX_REDIRECTS
        self.headers["Accept"] = "application/json, */*;q=0.5"
        self._first_kind = AddressKind.PUBLIC
        self._is_redirect = False
        self._public_adapter = PublicAdapter(max_retries=retries)
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(max_retries=retries))

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request; requests calls this for the first address and for each redirect."""
        self._is_redirect = not options.get("allow_redirects", True)
        if not self._is_redirect:
            self._first_kind = kind_of_host(urlsplit(request.url or "").hostname or "")
        return super().send(request, **options)

    def get_adapter(self, url: Any) -> Any:
        """Return the adapter for a URL; behind a public address only one for public addresses."""
        if self._is_redirect and self._first_kind is AddressKind.PUBLIC:
            return self._public_adapter
        return super().get_adapter(url)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return the target of a redirect.

        Raises InvalidURL where the first address could not have gone there.
        """
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        url = urljoin(resp.url, target)
        kind = kind_of_host(urlsplit(url).hostname or "")
        if kind not in _REDIRECTS[self._first_kind]:
            raise requests.exceptions.InvalidURL(
                f"it redirects from a {self._first_kind} to a {kind} address, "
                f"{_without_credentials(url)}: not followed"
            )
        return target


def kind_of_host(host: str) -> AddressKind:
    """Return the kind of a host's addresses, the most private of several.

    A host that has none here counts as public: only a proxy can know it.
    """
    try:
        infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return AddressKind.PUBLIC
    kinds = {_kind_of_address(str(info[4][0])) for info in infos}
    for kind in (AddressKind.LINK_LOCAL, AddressKind.LOOPBACK, AddressKind.PRIVATE):
        if kind in kinds:
            return kind
    return AddressKind.PUBLIC


def _kind_of_address(address: str) -> AddressKind:
    if is_public(address):
        return AddressKind.PUBLIC
    parsed = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(parsed, "ipv4_mapped", None) or parsed
    if inner.is_link_local:
        return AddressKind.LINK_LOCAL
    # The unspecified address is this machine, too.
    if inner.is_loopback or inner.is_unspecified:
        return AddressKind.LOOPBACK
    return AddressKind.PRIVATE


def _without_credentials(url: str) -> str:
    return url.rpartition("@")[2][:QUOTED_LENGTH]


class _PublicHTTP(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = _public_address(self.host, self.port or 80)
        return super()._new_conn()


class _PublicHTTPS(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        self._dns_host = _public_address(self.host, self.port or 443)
        return super()._new_conn()


def _public_address(host: str, port: int) -> str:
    try:
        return resolve_public_address(host, port)
    except (BadUrl, OSError) as error:
        raise HTTPError(str(error)) from error


class _PublicHTTPPool(HTTPConnectionPool):
    ConnectionCls = _PublicHTTP


class _PublicHTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _PublicHTTPS


class PublicAdapter(HTTPAdapter):
    """Adapter whose own connections go to public addresses only."""

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: Any
    ) -> None:
        """Build the connection pools; called by requests."""
        self.poolmanager = PoolManager(connections, maxsize=maxsize, block=block, **options)
        self.poolmanager.pool_classes_by_scheme = {
            "http": _PublicHTTPPool,
            "https": _PublicHTTPSPool,
        }
