"""Languages and markets in addresses: an address without its language.

Shops name a page's language in the host (`en.shop.example`, `shop.fr`), in a folder of the path
(`/en/`, `/en-ca/`, `/shop/de_DE/`, `/us/en/`), at the end of the path (`/lamp/en`), or in the query
(`?lang=en`, `?id_lang=2`, `?___store=en`). Pages whose addresses differ in nothing else are
probably one page in several languages.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from url_cleaner.urls.domains import registrable_domain

# Leading segments of a path among which the language is looked for: `/shop/de/`,
# `/index.php/us/en/`.
LEADING_SEGMENTS = 3
# Segments in a row that name a language: country and language.
MAX_CODES = 2
# Labels of a host that are read; bound against hostile input.
MAX_LABELS = 8
# Folders behind which a path may name its language.
_ENTRANCES = frozenset(("shop", "store", "index.php", "web", "site", "b2c", "b2b", "eshop", "intl"))
# A language with a script, a country, or both (BCP 47), in any order and with any separator.
_SCRIPT = "hans|hant|latn|cyrl|arab"
_COMPOUND = re.compile(rf"([a-z]{{2}})(?:[-_](?:{_SCRIPT}))?(?:[-_]([a-z]{{2}}))?")
_LANGUAGE_SUFFIX = re.compile(r"(?<=\w)[._-]([a-z]{2}(?:[-_][a-z]{2})?)$")
# A number that a shop appends to an address which another language has already.
_COPY_NUMBER = re.compile(r"(?<=\w)-[2-9]$")
_ID_AT_START = re.compile(r"(\d{1,12})(?=[-_.])")
_ID_AT_END = re.compile(r"(?:^|[-_.a-z])(\d{1,12})$")
_ID_KEY = re.compile(r"(?:id_product|product_?id|products_id|item_?id|pid|id|sku|p|artnr|art)")
_BCP_47 = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")


@dataclass(frozen=True)
class LanguageAddress:
    """An address without its language: `neutral` is the remainder, `markers` the parts removed.

    `markers` are those of host, path and query; each is empty where the address has none.
    """

    neutral: str
    markers: tuple[str, str, str]

    @property
    def has_marker(self) -> bool:
        """True if path, query or first host label name a language."""
        host, path, query = self.markers
        return bool(path or query or "." in host)


@lru_cache(maxsize=65_536)
def split_language(address: str) -> LanguageAddress:
    """Split an address (`LinkKeys.address`) into its language and the remainder.

    >>> split_language("shop.example/en/product/lamp").neutral
    'shop/product/lamp'
    >>> split_language("shop.example/product/lamp?id=7&lang=en").markers
    ('example', '', 'lang=en')
    >>> split_language("en.shop.example/lamp").neutral == split_language("shop.fr/lamp").neutral
    True
    """
    head, _, query = address.partition("?")
    host, slash, path = head.partition("/")
    host, host_marker = _split_host(host)
    segments, path_marker = _split_path(path.split("/") if path else [])
    params, query_marker = _split_query(query.split("&") if query else [])
    neutral = host + slash + "/".join(segments)
    if params:
        neutral += "?" + "&".join(params)
    return LanguageAddress(neutral, (host_marker, path_marker, query_marker))


def page_keys(address: str) -> tuple[str, ...]:
    """Return the keys that an address may share with that of the same page in another language.

    These are its last segment (with and without a language or copy number at its end) and the
    number in it or in the query that identifies the product. Folders and words may be translated.

    >>> page_keys("shop.example/de/lampen/12-rote-lampe")
    ('12-rote-lampe', '#12')
    >>> page_keys("shop.example/produkt/lampe-en")
    ('lampe-en', 'lampe')
    """
    neutral = split_language(address).neutral
    path, _, query = neutral.partition("?")
    segments = path.casefold().split("/")[1:]
    keys: dict[str, None] = {}
    if query:
        for param in query.casefold().split("&"):
            name, _, value = param.partition("=")
            if _ID_KEY.fullmatch(name) and value:
                keys[f"#{value}"] = None
        return tuple(keys)
    if not segments or not segments[-1]:
        return ()
    last = segments[-1]
    if any(character.isalpha() for character in last):
        keys[last] = None
        for shorter in (_without_language_suffix(last), _COPY_NUMBER.sub("", last)):
            keys[shorter] = None
    for pattern in (_ID_AT_START.match(last), _ID_AT_END.search(last)):
        if pattern:
            keys[f"#{pattern[1]}"] = None
    # `/p/12/rote-lampe`: the number stands in the folder before.
    if len(segments) > 1 and segments[-2].isdigit():
        keys[f"#{segments[-2]}"] = None
    return tuple(keys)


def primary_language(code: str) -> str:
    """Return the language of a code such as `de-AT`; "" if it is none.

    >>> primary_language("de_AT"), primary_language("x-default"), primary_language("nonsense!")
    ('de', '', '')
    """
    code = code.strip().lower().replace("_", "-")
    if not _BCP_47.fullmatch(code):
        return ""
    return code.partition("-")[0]


def is_language_code(text: str) -> bool:
    """Return True if a text names a language or market: `en`, `en-ca`, `de_DE`, `english`.

    >>> [is_language_code(text) for text in ("en", "FR-be", "zh-hans", "deutsch", "xl", "lamp")]
    [True, True, True, True, False, False]
    """
    text = text.casefold()
    names = _names()
    if text in names.words:
        return True
    compound = _COMPOUND.fullmatch(text)
    if not compound:
        return False
    first, second = compound.groups()
    return first in names.codes and (second is None or second in names.codes)


@dataclass(frozen=True)
class _Names:
    """Names of languages and markets; `codes` are those of two letters."""

    codes: frozenset[str]
    words: frozenset[str]
    query_keys: frozenset[str]
    query_keys_with_code: frozenset[str]


@cache
def _names() -> _Names:
    data = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    sets = {name: frozenset(text.split()) for name, text in data.items()}
    return _Names(
        codes=sets["languages"] | sets["countries"],
        words=sets["words"],
        query_keys=sets["query_keys"],
        query_keys_with_code=sets["query_keys_with_code"],
    )


@lru_cache(maxsize=1024)
def _split_host(host: str) -> tuple[str, str]:
    """Split a host into its name without language label and public suffix, and those two."""
    name, colon, port = host.partition(":")
    domain = registrable_domain(name) or _unlisted_domain(name)
    if domain is None:
        return host, ""
    subdomain = name.removesuffix(domain).rstrip(".")
    suffix = domain.partition(".")[2]
    labels = subdomain.split(".")[:MAX_LABELS] if subdomain else []
    marker = suffix
    # `en.shop.example`, but also `www.en.shop.example` and `en-gb.shop.example`.
    for label in labels:
        if is_language_code(label):
            labels.remove(label)
            marker = f"{label}.{suffix}"
            break
    labels = [label for label in labels if label != "www"]
    return ".".join([*labels, domain.partition(".")[0]]) + colon + port, marker


def _unlisted_domain(name: str) -> str | None:
    """Return the last two labels of a host below no public suffix; None for IP addresses."""
    labels = name.split(".")
    if len(labels) < 2 or not labels[-1].isalpha():
        return None
    return ".".join(labels[-2:])


def _split_path(segments: list[str]) -> tuple[list[str], str]:
    """Split a path's segments into those without language, and the language."""
    if len(segments) < 2:
        return segments, ""
    start = 0
    while start < LEADING_SEGMENTS - 1 and segments[start].casefold() in _ENTRANCES:
        start += 1
    end = start
    while end < len(segments) - 1 and end - start < MAX_CODES and is_language_code(segments[end]):
        end += 1
    if end > start:
        return segments[:start] + segments[end:], "/".join(segments[start:end]).casefold()
    if is_language_code(segments[-1]):
        return segments[:-1], segments[-1].casefold()
    return segments, ""


def _split_query(params: list[str]) -> tuple[list[str], str]:
    """Split a query's parameters into those that name no language, and the others."""
    neutral = []
    markers = []
    for param in params:
        name, _, value = param.partition("=")
        if _names_language(name.casefold(), value):
            markers.append(param.casefold())
        else:
            neutral.append(param)
    return neutral, "&".join(markers)


def _names_language(key: str, value: str) -> bool:
    names = _names()
    if key in names.query_keys:
        return True
    return key in names.query_keys_with_code and is_language_code(value)


def _without_language_suffix(segment: str) -> str:
    match = _LANGUAGE_SUFFIX.search(segment)
    if match and is_language_code(match[1]):
        return segment[: match.start()]
    return segment
