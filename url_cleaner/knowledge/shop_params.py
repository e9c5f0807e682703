"""A shop's own tracking parameters, learnt from what its pages answer.

No list knows that a shop calls its campaign tag `wkz` or `lgw_code`. But its pages tell: a key whose removal changes
neither the page's canonical link nor its content tracks; one whose removal changes either is needed. A canonical link
that merely lacks a key proves nothing, for shops leave the variant out of it as well: pages of equal content count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urljoin

from url_cleaner.urls.link import Link, read_link, unescape
from url_cleaner.urls.query import Parameter, joined, parameters

LEAST = 3
VARIANTS = frozenset(
    "id sku ean gtin mpn pid variant variantid variant_id variation color colour size style option v page p q".split()
)
"""Keys that name a product, a variant or a page of a list by common consent."""


class Visit(NamedTuple):
    """A page as it was asked for and answered: the link, the canonical link it names, and a hash of its content."""

    url: str
    canonical: str | None
    content: str


@dataclass(frozen=True)
class Evidence:
    """How many pages stayed the same without the key, and how many changed."""

    same: int = 0
    changed: int = 0


@dataclass(frozen=True)
class OwnKeys:
    """What was learnt: keys that track, keys that are needed, and the evidence for every key that could be compared."""

    tracking: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    evidence: Mapping[str, Evidence] = field(default_factory=dict)


def learn_keys(visits: Iterable[tuple[str, str | None, str]], *, least: int = LEAST) -> OwnKeys:
    """The shop's keys, judged by visits whose links differ in one key only.

    A key tracks where at least `least` pages were seen with and without it (or with different values of it), and none
    of them changed. Keys that name variants by common consent are never called tracking.

    >>> root = "https://shop.example/"
    >>> pages = [(f"{root}{n}{q}", f"{root}{n}", f"page {n}") for n in "abc" for q in ("", "?wkz=7")]
    >>> learn_keys(pages).tracking
    ('wkz',)
    """
    seen = _answers(visits)
    evidence = {key: _evidence(groups) for key, groups in _groups(seen).items()}
    needed = {key for key, found in evidence.items() if found.changed} | _in_canonicals(seen)
    tracking = {key for key, found in evidence.items() if found.same >= least} - needed - VARIANTS
    return OwnKeys(tuple(sorted(tracking)), tuple(sorted(needed)), evidence)


class _Answer(NamedTuple):
    canonical: Link | None
    content: str


def _answers(visits: Iterable[tuple[str, str | None, str]]) -> dict[Link, _Answer]:
    """The visits by their link, without those whose link cannot be read."""
    seen: dict[Link, _Answer] = {}
    for url, canonical, content in visits:
        if link := _read(url):
            seen[replace(link, fragment="")] = _Answer(_read(canonical, link), content)
    return seen


def _read(url: str | None, base: Link | None = None) -> Link | None:
    try:
        return read_link(urljoin(str(base or ""), url)) if url else None
    except ValueError:
        return None


def _groups(seen: Mapping[Link, _Answer]) -> dict[str, dict[Link, set[_Answer]]]:
    """Per key, the visits that are the same page without it, by the link without it; a group of one says nothing."""
    groups: dict[str, dict[Link, list[_Answer]]] = defaultdict(lambda: defaultdict(list))
    for link, answer in seen.items():
        for key in _keys(link):
            groups[key][_without(link, key)].append(answer)
    return {key: kept for key, by_bare in groups.items() if (kept := _comparable(by_bare, seen))}


def _comparable(
    by_bare: Mapping[Link, list[_Answer]], seen: Mapping[Link, _Answer]
) -> dict[Link, set[_Answer]]:
    groups = {
        bare: [*answers, *([seen[bare]] if bare in seen else [])]
        for bare, answers in by_bare.items()
    }
    return {bare: set(answers) for bare, answers in groups.items() if len(answers) > 1}


def _evidence(groups: Mapping[Link, Collection[_Answer]]) -> Evidence:
    changed = sum(_differ(answers) for answers in groups.values())
    return Evidence(len(groups) - changed, changed)


def _differ(answers: Collection[_Answer]) -> bool:
    """Is it another page? By content, or by the canonical links where the pages name one."""
    canonicals = {str(answer.canonical) for answer in answers}
    return len({answer.content for answer in answers}) > 1 or len(canonicals) > 1


def _in_canonicals(seen: Mapping[Link, _Answer]) -> set[str]:
    """Keys that a shop writes into canonical links, with the value that was asked for: it wants them there."""
    return {
        key
        for link, answer in seen.items()
        if answer.canonical
        for key, value in _keys(answer.canonical).items()
        if _keys(link).get(key) == value
    }


def _keys(link: Link) -> dict[str, str]:
    return {param.key: unescape(param.value) for param in parameters(link.query) if param.key}


def _without(link: Link, key: str) -> Link:
    params: tuple[Parameter, ...] = parameters(link.query)
    return replace(link, query=joined(params, [param.key != key for param in params]))
