"""Rejected: which missing offers stand in the feed after all, in a row that could not be read.

A bad row is kept as raw text of any format. It is one offer's if it holds that offer's GTIN, or its link's path, or a
telling key of its own, or its whole title. Every needle is filed under its rarest word, so that one pass over the rows
suffices, however many offers are missing.
"""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from reports.statistics.findings_reader import Finding

_LONGEST = 20_000
_LOOKS = 200
_BETWEEN = re.compile(r"""[\t;|\n"]|<[^<>]*>|,(?=\S)|(?<=[\[{ ])'|'(?=[\]},:])""")


@dataclass(frozen=True)
class Rejection:
    """The bad row that a missing offer was found in, and by what."""

    source: str
    line: int
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class _Needle:
    finding: int
    by: str
    rank: int
    words: str


def rejections(
    findings: Sequence[Finding], rows: Iterable[tuple[str, int, str, str]]
) -> dict[int, Rejection]:
    """Per index of `findings`, the bad row (source, line, reason, raw) that names it best."""
    filed = _filed(
        [needle for place, finding in enumerate(findings) for needle in _needles(place, finding)]
    )
    best: dict[int, tuple[int, Rejection]] = {}
    for source, line, reason, raw in rows:
        fields = [words(field) for field in _fields(raw)] if filed else []
        for needle in _held(filed, fields):
            if needle.finding not in best or needle.rank < best[needle.finding][0]:
                best[needle.finding] = needle.rank, Rejection(source, line, reason, needle.by)
    return {place: rejection for place, (_, rejection) in best.items()}


def words(text: str) -> str:
    """A text as its words: what a link, a cell and a title have in common.

    >>> words("https://shop.example/p/red%2Dlamp?x=1&amp;y=2")
    'https shop example p red lamp x 1 y 2'
    """
    return " ".join(re.findall(r"\w+", unquote(unquote(html.unescape(text[:_LONGEST]))).casefold()))


def _needles(place: int, finding: Finding) -> Iterator[_Needle]:
    if finding.ean:
        yield _Needle(place, "EAN", 0, finding.ean.lstrip("0"))
    for url in {finding.url, *finding.urls}:
        parts = urlsplit(url)
        if parts.path.strip("/"):
            yield _Needle(place, "link", 1, words(f"{parts.netloc} {parts.path} {parts.query}"))
    for by, value in (("article number", finding.sku), ("manufacturer's number", finding.han)):
        if value and len(value) >= 5 and any(sign.isdigit() for sign in value):
            yield _Needle(place, by, 2, words(value))
    if finding.title and len(finding.title) >= 10:
        yield _Needle(place, "title", 3, words(finding.title))


def _filed(needles: Sequence[_Needle]) -> dict[str, list[_Needle]]:
    common = Counter(word for needle in needles for word in set(needle.words.split()))
    filed: dict[str, list[_Needle]] = defaultdict(list)
    for needle in needles:
        if needle.words:
            filed[min(needle.words.split(), key=lambda word: (common[word], -len(word)))].append(
                needle
            )
    return filed


def _held(filed: dict[str, list[_Needle]], fields: Sequence[str]) -> Iterator[_Needle]:
    """The needles that a row's fields hold: a link within a field, all others as a whole one."""
    whole = {form for field in fields for form in (field, field.lstrip("0"))}
    met = {form for field in fields for word in field.split() for form in (word, word.lstrip("0"))}
    for word in met:
        for needle in filed.get(word, ())[:_LOOKS]:
            if needle.words in whole or (
                needle.by == "link" and any(_links(needle.words, field) for field in fields)
            ):
                yield needle


def _links(needle: str, field: str) -> bool:
    """Whether a field's words are a link to the needle's page, perhaps with more parameters behind it.

    >>> _links("shop example p lamp 1", "https shop example p lamp 1 utm_source portal")
    True
    >>> _links("shop example p lamp 1", "https shop example p lamp 1 red")
    False
    """
    before, found, after = f" {field} ".partition(f" {needle} ")
    key = after.split(" ", 1)[0]
    return bool(found) and "http" in before and (not key or "_" in key or key in _TRACKING)


_TRACKING = frozenset(
    {
        "gclid",
        "fbclid",
        "partner",
        "ref",
        "source",
        "campaign",
        "affiliate",
        "utm",
        "aff",
        "pid",
        "sid",
    }
)


def _fields(raw: str) -> list[str]:
    """The cells of a raw row: the values of a JSON object, else what stands between quotes, separators or tags."""
    cut = raw[:_LONGEST]
    if cut.lstrip().startswith("{"):
        try:
            values = json.loads(cut).values()
            return [
                str(one)
                for value in values
                for one in (value if isinstance(value, list) else [value])
            ]
        except (ValueError, RecursionError):
            pass
    return [cell for cell in _BETWEEN.split(cut) if cell.strip()]
