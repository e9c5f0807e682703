"""Pictures in the queries of links: a button for sharing tells the network that it leads to which picture to show.

`?url=...&media=//cdn.example/lamp_1024x.jpg&description=...` names the offer's first picture, whatever else the page's
gallery does with it. Which parameter it is differs by network; what stands before and behind it is cut off.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from parser.rules.trim import Trim

PARAMETER = re.compile(r"([?&][\w.\[\]-]{1,40}=)([^&#\s]+)(?=(&?))")
PICTURED = re.compile(r"[?&][\w.\[\]-]{1,40}=[^&#\s]*\.(?:jpe?g|png|gif|webp|avif)", re.IGNORECASE)
FEWEST = 2
MOST = 2

Parameter = tuple[str, str, str]


def pictures_in(address: str) -> Iterator[Parameter]:
    """The parameters of a link that may be a picture's address: what stands before it, that address, what is behind it.

    >>> list(pictures_in("//pin.example/?url=/p/1&media=//cdn.example/a.jpg?v=2&description=A"))
    [('&media=', '//cdn.example/a.jpg?v=2', '&')]
    """
    if PICTURED.search(address):
        for parameter in PARAMETER.finditer(address):
            if PICTURED.match(parameter[0]):
                yield parameter[1], parameter[2], parameter[3]


def around_pictures(found: Iterable[Parameter]) -> list[Trim]:
    """The cuts that leave what these parameters say; those first that stand on most examples."""
    counts = Counter((before, behind) for before, _, behind in found)
    usual = [cut for cut, count in counts.most_common(MOST) if count >= FEWEST]
    return [Trim(left=before, right=behind or 0, inside=True) for before, behind in usual]
