"""A digest as a request to a webhook: JSON, signed, retried, to public addresses only.

The header `X-Scout-Signature` is `t=SECONDS,v1=HEX`: HMAC-SHA256 by the delivery's secret over
`SECONDS.BODY`. `X-Scout-Delivery` is the same in every retry, so that a receiver can drop doubles.
"""

import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util.retry import Retry

from catalog.errors import ScoutError
from catalog.feeds.remote.http_session import PublicAdapter

SIGNATURE_HEADER = "X-Scout-Signature"
DELIVERY_HEADER = "X-Scout-Delivery"
TIMEOUT = (5.0, 15.0)
"""Seconds to connect, and to wait for the answer."""

RETRIES = 3
"""Attempts after the first one, where the receiver fails or cannot be reached."""

_BACKOFF = 0.5  # seconds before the second attempt; doubled with each further one


def sign(secret: str, moment: int, body: bytes) -> str:
    """Return the signature of a body at a time, in seconds since 1970.

    >>> sign("secret", 1, b"{}")[:20]
    't=1,v1=1122767b19311'
    """
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={digest.hexdigest()}"


def post_digest(
    url: str, secret: str, content: Mapping[str, Any], *, allows_private: bool = False
) -> None:
    """Send a digest to a webhook. Raises ScoutError where it is not accepted (2xx).

    Redirects are not followed. Without `allows_private` only public addresses are connected to.
    """
    body = json.dumps(content, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Scout",
        SIGNATURE_HEADER: sign(secret, int(time.time()), body),
        DELIVERY_HEADER: str(uuid.uuid4()),
    }
    retries = Retry(
        total=RETRIES,
        redirect=0,
        backoff_factor=_BACKOFF,
        status_forcelist=(429, 500, 502, 503, 504),
        allowed_methods=None,
        respect_retry_after_header=False,
        raise_on_status=False,
    )
    adapter: HTTPAdapter = PublicAdapter(max_retries=retries)
    if allows_private:
        adapter = HTTPAdapter(max_retries=retries)
    with requests.Session() as session:
        # No proxy and no password file of this machine.
        session.trust_env = False
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        try:
            answer = session.post(
                url, data=body, headers=headers, timeout=TIMEOUT, allow_redirects=False, stream=True
            )
            answer.close()
        except (requests.RequestException, HTTPError) as error:
            raise ScoutError(
                f"the webhook cannot be reached ({type(error).__name__}): check its address"
            ) from error
    if not 200 <= answer.status_code < 300:
        raise ScoutError(f"the webhook answers {answer.status_code}")
