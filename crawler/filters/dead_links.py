"""Kinds of links that lead nowhere: hrefs that only a script understands, relative links that were never right.

A shop's buttons often carry `href="some-word"`; resolved, that is a page that does not exist, a thousand times. When
the first few links of a kind are all missing, the others wait until everything else is done; when the next few are
missing too, the rest is refused. One that is there clears the whole kind. Those that wait are asked for in no order of
theirs, so that a list of dead links at the top of a page does not speak for the live ones below.
"""

from collections import Counter

from crawler.urls.url_shape import Address

WAIT = 6
REFUSE = 12
LAST = -100
SPREAD = 64

Kind = tuple[str, int, str, bool]


class DeadKinds:
    """Counts, per kind of address, the links that were missing, and remembers the kinds that had a page."""

    def __init__(self) -> None:
        self._missing: Counter[Kind] = Counter()
        self._alive: set[Kind] = set()

    def there(self, address: Address) -> None:
        """A page of this kind exists."""
        self._alive.add(kind(address))

    def missing(self, address: Address) -> None:
        """A link of this kind led nowhere."""
        self._missing[kind(address)] += 1

    def can_wait(self, address: Address) -> bool:
        """Whether links of the kind have only led nowhere so far."""
        return kind(address) not in self._alive and self._missing[kind(address)] >= WAIT

    def is_dead(self, address: Address) -> bool:
        """Whether so many have that the rest is not asked for."""
        return kind(address) not in self._alive and self._missing[kind(address)] >= REFUSE


def kind(address: Address) -> Kind:
    """What addresses of one making share: first segment, depth, ending, and whether there is a query.

    >>> kind(Address("https://a.de/c/x/y.html?z=1"))
    ('c', 3, 'html', True)
    """
    segments = address.segments
    _, dot, ending = segments[-1].rpartition(".") if segments else ("", "", "")
    short = ending.lower() if dot and len(ending) < 6 else ""
    return segments[0] if len(segments) > 1 else "", len(segments), short, bool(address.query)
