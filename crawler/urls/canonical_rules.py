"""What a shop's canonical links teach: under which other addresses the same page stands.

`/collections/x/products/h.html` names `/products/h` on every page, `?variant=1` names the page without it. Once five
pages agree, none disagrees, and a look at both addresses has shown the same title twice, the canonical address is read
off the link itself and the detour is not requested.
"""

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit

from crawler.urls.url_shape import PAGE_KEY, Address

AGREE = 5
LOOKED = 2
NEWS = 4
ALIKE = 0.6
MOST_TITLES = 50_000
ENDINGS = (".html", ".htm", ".php", ".aspx")
WORD = re.compile(r"\w+")

Way = tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """Where a page is kept: one address, or several where the rules leave the ending open; `way` is the rule's."""

    addresses: tuple[Address, ...]
    way: Way = ()


class Rewrites:
    """Rules `detour -> canonical` of one shop: query keys, leading segments and endings that may be dropped."""

    def __init__(self) -> None:
        self._agree: Counter[Way] = Counter()
        self._news: Counter[Way] = Counter()
        self._looked: Counter[Way] = Counter()
        self._refuted: set[Way] = set()
        self._titles: dict[str, str] = {}
        self._expected: dict[str, list[tuple[Way, str]]] = {}

    def observe(
        self, page: Address, canonical: Address | None, title: str, brought_new: bool
    ) -> None:
        """Learn from one page; `brought_new` says that it led to pages not linked before.

        Many shops name a list's first page as canonical of all its pages: a key whose pages bring new links is kept.
        """
        if len(self._titles) < MOST_TITLES:
            self._titles[page.key] = title
        for way, other in self._expected.pop(page.key, ()):
            self._compare(way, other, title)
        if canonical is None:
            return
        for way in self._said(page, canonical, brought_new):
            if canonical.key in self._titles:
                self._compare(way, self._titles[canonical.key], title)
            elif len(self._expected) < MOST_TITLES:
                self._expected.setdefault(canonical.key, []).append((way, title))

    def kept(self, address: Address) -> Kept:
        """Where the page of a link is kept, as far as the rules tell; under the link itself where none holds."""
        used: Way = ()
        for name in dict(address.query):
            if self.holds(("key", name)):
                address, used = _without(address, name), ("key", name)
        for way in () if address.query else _ways(address):
            if self.holds(way) and (forms := self._seen_forms(address, way)):
                return Kept(
                    tuple(_apply(address, way, form) for form in forms),
                    (*way, forms[0], _ending(address)),
                )
        return Kept((address,), used)

    def holds(self, way: Way) -> bool:
        """Whether a rule is trusted."""
        enough = (
            self._agree[way] >= max(AGREE, NEWS * self._news[way]) and self._looked[way] >= LOOKED
        )
        return bool(way) and enough and way not in self._refuted

    def says(self, page: Address, canonical: Address) -> bool:
        """Whether a trusted rule explains why a page names this canonical address: both are known to be the same."""
        return any(canonical.key == other.key for other in self.kept(page).addresses)

    def refute(self, way: Way) -> None:
        """A rule has led astray."""
        self._refuted.add(way)

    def detours(self, address: Address) -> bool:
        """Whether it has been seen before that such an address stands for another page."""
        return any(self._agree[way] and way not in self._refuted for way in _ways(address))

    def _seen_forms(self, address: Address, way: Way) -> list[str]:
        forms = _forms(address, way)
        seen = [form for form in forms if self._agree[(*way, form)]] or ["plain"]
        return [form for form in seen if (*way, form, _ending(address)) not in self._refuted]

    def _said(self, page: Address, canonical: Address, brought_new: bool) -> list[Way]:
        """The rules that a page speaks for; those that it speaks against are refuted."""
        if page.query or canonical.query:
            if page.parts.path != canonical.parts.path:
                return []
            names = [name for name in dict(page.query) if name not in dict(canonical.query)]
            self._refuted.update(
                ("key", name) for name, _ in page.query if name not in names or PAGE_KEY.match(name)
            )
            (self._news if brought_new else self._agree).update(("key", name) for name in names)
            return [("key", name) for name in names]
        said = []
        for way in _ways(page):
            form = next(
                (
                    form
                    for form in _forms(page, way)
                    if _apply(page, way, form).key == canonical.key
                ),
                None,
            )
            if form is None:
                if way[0] == "ending" or _bare(_apply(page, way, "plain")) != _bare(canonical):
                    self._refuted.add(way)
            else:
                self._agree.update([way, (*way, form)])
                said.append(way)
        return said

    def _compare(self, way: Way, one: str, other: str) -> None:
        if alike(one, other):
            self._looked[way] += 1
        else:
            self._refuted.add(way)


def alike(one: str, other: str) -> bool:
    """Whether two titles can be of one page.

    >>> alike("Blue Bike - Shop", "Blue Bike - Bikes - Shop"), alike("Blue Bike - Shop", "All bikes - Shop")
    (True, False)
    """
    a, b = set(WORD.findall(one.lower())), set(WORD.findall(other.lower()))
    return len(a & b) >= ALIKE * max(1, min(len(a), len(b)))


def _ways(address: Address) -> list[Way]:
    """All rules that could apply to a path, named by what other paths of the kind share.

    >>> _ways(Address("https://a.de/collections/x/products/h.html"))[2:]
    [('path', 'collections', '4', '3', ''), ('ending', 'collections', '4', '0', '')]
    """
    segments = _raw(address)
    first, number, last = (
        segments[0] if len(segments) > 1 else "",
        str(len(segments)),
        len(segments) - 1,
    )
    ways: list[Way] = [
        ("path", first, number, str(drop), segments[drop] if drop < last else "")
        for drop in range(1, last + 1)
    ]
    return [*ways, ("ending", first, number, "0", "")] if _ending(address) else ways


def _forms(address: Address, way: Way) -> tuple[str, ...]:
    if not _ending(address):
        return ("plain",)
    return ("dropped",) if way[0] == "ending" else ("plain", "dropped")


def _apply(address: Address, way: Way, form: str) -> Address:
    segments = _raw(address)[int(way[3]) :]
    parts = urlsplit(address.url)
    path = "/" + "/".join(segments) + ("/" if parts.path.endswith("/") else "")
    path = path[: -len(_ending(address))] if form == "dropped" else path
    return Address(urlunsplit((parts.scheme, parts.netloc, path, "", "")))


def _bare(address: Address) -> str:
    """The path without its ending: a page of no ending that names one with an ending speaks neither for nor against."""
    return address.parts.path.removesuffix(_ending(address))


def _ending(address: Address) -> str:
    path = address.parts.path.lower()
    return next((ending for ending in ENDINGS if path.endswith(ending)), "")


def _without(address: Address, name: str) -> Address:
    query = urlencode([pair for pair in address.query if pair[0] != name])
    return Address(urlunsplit(urlsplit(address.url)._replace(query=query)))


def _raw(address: Address) -> list[str]:
    return [part for part in address.parts.path.split("/") if part]
