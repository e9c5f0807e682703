"""A shop's own tracking parameters, learnt from the pages that its URLs answer with.

No list knows that a shop calls its campaign tag `wkz` or `lgw_code`, but its pages show it. A key
whose removal changes neither the page's canonical link nor its content is tracking; a key whose
removal changes either is needed. A canonical link that merely lacks a key proves nothing, since
shops leave the variant out of it as well: only pages of equal content count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urljoin

from url_cleaner.urls.query import join_parameters, parse_query
from url_cleaner.urls.url import Url, unescape

# Pages that must stay the same without a key before it counts as tracking.
MIN_PAGES = 3
# Keys of a URL up to which it is compared. Bound against hostile input: a URL is grouped once per key.
MAX_KEYS = 30

# Keys that commonly name a product, a variant or a page of a list.
VARIANT_KEYS = frozenset(
    "id sku ean gtin mpn pid variant variantid variant_id variation color colour size style option v page p q".split()
)


class Visit(NamedTuple):
    """A page as it was requested and answered: URL, canonical link, and a hash of the content."""

    url: str
    canonical: str | None
    content: str


@dataclass(frozen=True)
class Evidence:
    """Number of pages that stayed the same without the key, and of pages that changed."""

    same: int = 0
    changed: int = 0


@dataclass(frozen=True)
class ShopKeys:
    """Keys of a shop that track, keys that are needed, and the evidence for every key that could be
    compared.
    """

    tracking: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    evidence: Mapping[str, Evidence] = field(default_factory=dict)


def learn_keys(
    visits: Iterable[tuple[str, str | None, str]], *, min_pages: int = MIN_PAGES
) -> ShopKeys:
    """Learn the keys of a shop from visits whose URLs differ in one key only.

    A key is tracking where at least `min_pages` pages were visited with and without it (or with
    different values of it), and none of them changed. Keys that commonly name variants are never
    called tracking.

    >>> root = "https://shop.example/"
    >>> pages = [(f"{root}{n}{q}", f"{root}{n}", f"page {n}") for n in "abc" for q in ("", "?wkz=7")]
    >>> learn_keys(pages).tracking
    ('wkz',)
    """
    answers = _answers_by_url(visits)
    evidence = {key: _evidence(groups) for key, groups in _groups_by_key(answers).items()}
    unchanged = {key for key, counts in evidence.items() if counts.same >= min_pages}
    changing = {key for key, counts in evidence.items() if counts.changed}
    needed = changing | _keys_in_canonicals(answers)
    tracking = unchanged - needed - VARIANT_KEYS
    return ShopKeys(tuple(sorted(tracking)), tuple(sorted(needed)), evidence)


class _Answer(NamedTuple):
    canonical: Url | None
    content: str


def _answers_by_url(visits: Iterable[tuple[str, str | None, str]]) -> dict[Url, _Answer]:
    """Index the visits by URL, without those whose URL cannot be parsed."""
    answers: dict[Url, _Answer] = {}
    for address, canonical, content in visits:
        if url := _parse(address):
            answers[replace(url, fragment="")] = _Answer(_parse(canonical, url), content)
    return answers


def _parse(href: str | None, base: Url | None = None) -> Url | None:
    if not href:
        return None
    try:
        return Url.parse(urljoin(str(base or ""), href))
    except ValueError:
        return None


# The answers of pages that are the same URL without one key, by the hash of that URL: hashes save
# memory, and a collision is rare.
_Groups = Mapping[int, Collection[_Answer]]


def _groups_by_key(answers: Mapping[Url, _Answer]) -> dict[str, _Groups]:
    """Group the answers per key by the URL without it; keys with nothing to compare are left
    out.
    """
    groups: dict[str, dict[int, list[_Answer]]] = defaultdict(lambda: defaultdict(list))
    for url, answer in answers.items():
        keys = _values(url)
        for key in keys if len(keys) <= MAX_KEYS else ():
            groups[key][hash(_without_key(url, key))].append(answer)
    by_hash = {hash(url): answer for url, answer in answers.items()}
    comparable: dict[str, _Groups] = {}
    for key, by_url in groups.items():
        if by_bare_url := _comparable(by_url, by_hash):
            comparable[key] = by_bare_url
    return comparable


def _comparable(by_url: Mapping[int, list[_Answer]], answers: Mapping[int, _Answer]) -> _Groups:
    """Add the page without the key to each group, and keep the groups of more than one page."""
    comparable: dict[int, set[_Answer]] = {}
    for url, group in by_url.items():
        if url in answers:
            group.append(answers[url])
        if len(group) > 1:
            comparable[url] = set(group)
    return comparable


def _evidence(groups: _Groups) -> Evidence:
    changed = sum(_differ(answers) for answers in groups.values())
    return Evidence(same=len(groups) - changed, changed=changed)


def _differ(answers: Collection[_Answer]) -> bool:
    """Return True if pages differ, by their content or by their canonical links."""
    contents = {answer.content for answer in answers}
    canonicals = {str(answer.canonical) for answer in answers}
    return len(contents) > 1 or len(canonicals) > 1


def _keys_in_canonicals(answers: Mapping[Url, _Answer]) -> set[str]:
    """Return keys that canonical links repeat with the requested value: the shop needs them."""
    keys: set[str] = set()
    for url, answer in answers.items():
        if answer.canonical is None:
            continue
        requested = _values(url)
        for key, value in _values(answer.canonical).items():
            if requested.get(key) == value:
                keys.add(key)
    return keys


def _values(url: Url) -> dict[str, str]:
    return {param.key: unescape(param.value) for param in parse_query(url.query) if param.key}


def _without_key(url: Url, key: str) -> Url:
    params = parse_query(url.query)
    return replace(url, query=join_parameters(params, [param.key != key for param in params]))
