"""An answer of the demo shop, before it is put on the wire."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scout.demo.site.pages import BASE

HTML = "text/html; charset=utf-8"
XML = "application/xml"
TEXT = "text/plain; charset=utf-8"
SVG = "image/svg+xml"
GZIP = "application/gzip"


@dataclass(frozen=True)
class Answer:
    """What the shop answers. `body` still holds BASE where an absolute link stands; a GZIP body is packed last."""

    status: int
    body: str
    kind: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)

    def at(self, base: str) -> bytes:
        """The body as served below `base`.

        >>> Answer(200, f'<a href="{BASE}/x">').at("http://127.0.0.1:8000/")
        b'<a href="http://127.0.0.1:8000/x">'
        """
        body = self.body.replace(BASE, base.rstrip("/")).encode()
        return gzip.compress(body, mtime=0) if self.kind == GZIP else body

    @cached_property
    def etag(self) -> str:
        """A name of the content, the same at every address."""
        return f'"{hashlib.blake2b(self.body.encode(), digest_size=8).hexdigest()}"'


def redirect(to: str, status: int) -> Answer:
    """An answer that leads elsewhere."""
    return Answer(status, "", TEXT, {"Location": to})
