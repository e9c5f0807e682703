"""The demo shop's responses, independent of the address that they are served at."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scout.demo.site.page_renderer import BASE

HTML = "text/html; charset=utf-8"
XML = "application/xml"
TEXT = "text/plain; charset=utf-8"
SVG = "image/svg+xml"
GZIP = "application/gzip"


@dataclass(frozen=True)
class Response:
    """A response.

    `body` has BASE in place of the shop's root URL; a GZIP body is compressed when served.
    """

    status: int
    body: str
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)

    def body_for(self, base: str) -> bytes:
        """Return the body as served at the root URL `base`.

        >>> Response(200, f'<a href="{BASE}/x">').body_for("http://127.0.0.1:8000/")
        b'<a href="http://127.0.0.1:8000/x">'
        """
        body = self.body.replace(BASE, base.rstrip("/")).encode()
        # Without a time stamp the same content always gives the same bytes.
        return gzip.compress(body, mtime=0) if self.content_type == GZIP else body

    @cached_property
    def etag(self) -> str:
        """The entity tag of the content, the same at every root URL."""
        return f'"{hashlib.blake2b(self.body.encode(), digest_size=8).hexdigest()}"'


def redirect(location: str, status: int) -> Response:
    """Make a redirect to a path or URL."""
    return Response(status, "", TEXT, {"Location": location})
