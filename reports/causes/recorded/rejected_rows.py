"""Rejected rows of the feed that hold a missing offer: sent, but not imported.

A rejected row is stored as raw text of any format. It belongs to an offer if it holds the offer's
GTIN, its link, an identifying number or its whole title. Every such search key is indexed under its
rarest word, so that one pass over the rows suffices for any number of missing offers.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

from catalog.html_references import unescape_references
from catalog.language.sentences import Sentence, gettext_noop
from reports.causes.config import CauseConfig
from reports.statistics.findings_reader import Finding
from reports.statistics.page_reasons import REJECTION_REASONS

_DEFAULTS = CauseConfig()

# Bounds against hostile input: characters of a row that are searched, and search keys tried per
# word of it.
_MAX_ROW_LENGTH = 20_000
_MAX_KEYS_PER_WORD = 200

# Separators of CSV and TSV cells, quotes of JSON and of Python's repr, XML tags. A comma in front
# of a space is text.
_SEPARATOR = re.compile(r"""[\t;|\n"]|<[^<>]*>|,(?=\S)|(?<=[\[{ ])'|'(?=[\]},:])""")

# Common names of link parameters that identify no product: with one of them next, a link ends where
# the key ends.
_TRACKING_PARAMETERS = frozenset(
    "gclid fbclid partner ref source campaign affiliate utm aff pid sid".split()
)

# Fields by which an offer is recognised.
EAN = gettext_noop("EAN")
LINK = gettext_noop("link")
ARTICLE_NUMBER = gettext_noop("article number")
MANUFACTURER_NUMBER = gettext_noop("manufacturer’s number")
TITLE = gettext_noop("title")


@dataclass(frozen=True)
class FeedRow:
    """Row of the feed that was rejected at import: file, line number, reason and raw text."""

    source: str
    line: int
    reason: str
    raw: str


@dataclass(frozen=True)
class RejectedRow:
    """Rejected row that holds a missing offer; `matched_by` names the field found in it."""

    row: FeedRow
    matched_by: str

    @property
    def evidence(self) -> Sentence:
        """The match as a sentence."""
        return Sentence(
            "row {line} of {source} has the same {matched_by} and was rejected: {reason}",
            {
                # A number without thousands separators: editors show line numbers so.
                "line": str(self.row.line),
                "source": self.row.source,
                "matched_by": Sentence(self.matched_by),
                "reason": REJECTION_REASONS.recognize(self.row.reason),
            },
        )


@dataclass(frozen=True, slots=True)
class _SearchKey:
    """Normalised text that identifies a finding (by its index); a lower `rank` is more certain."""

    finding: int
    field: str
    rank: int
    text: str


def find_rejected_rows(
    findings: Sequence[Finding], rows: Iterable[FeedRow], config: CauseConfig = _DEFAULTS
) -> dict[str, RejectedRow]:
    """Return the rejected row that identifies a finding best, by the finding's URL.

    All rows are read, even if there is nothing to search for: the caller may count them as they
    pass.
    """
    remaining = iter(rows)
    first = next(remaining, None)
    # Most feeds are without rejected rows, and the index of a large shop takes a while.
    if first is None:
        return {}
    keys: list[_SearchKey] = []
    for index, finding in enumerate(findings):
        keys += _search_keys(index, finding, config)
    keys_by_word = _index_by_rarest_word(keys)
    best: dict[int, tuple[int, RejectedRow]] = {}
    for row in chain([first], remaining):
        if not keys_by_word:
            continue
        cells = [normalise_words(cell) for cell in _cells(row.raw)]
        for key in _keys_in(cells, keys_by_word):
            if key.finding not in best or key.rank < best[key.finding][0]:
                best[key.finding] = key.rank, RejectedRow(row, key.field)
    return {findings[index].url: row for index, (_, row) in best.items()}


def normalise_words(text: str) -> str:
    """Reduce a link, a cell or a title to its words, so that they can be compared.

    >>> normalise_words("https://shop.example/p/red%2Dlamp?x=1&amp;y=2")
    'https shop example p red lamp x 1 y 2'
    """
    # A link inside a tracking link is percent-encoded twice.
    decoded = unquote(unquote(unescape_references(text[:_MAX_ROW_LENGTH])))
    return " ".join(re.findall(r"\w+", decoded.casefold()))


def _search_keys(index: int, finding: Finding, config: CauseConfig) -> Iterator[_SearchKey]:
    if finding.ean:
        yield _SearchKey(index, EAN, 0, finding.ean.lstrip("0"))
    for url in set(finding.all_urls()):
        parts = urlsplit(url)
        # The home page is no offer's own link.
        if parts.path.strip("/"):
            link = normalise_words(f"{parts.netloc} {parts.path} {parts.query}")
            yield _SearchKey(index, LINK, 1, link)
    # Each field has a rank of its own: the keys that a row holds come in no particular order.
    numbers = ((ARTICLE_NUMBER, 2, finding.sku), (MANUFACTURER_NUMBER, 3, finding.han))
    for field, rank, number in numbers:
        if number and is_identifying_number(number, config):
            yield _SearchKey(index, field, rank, normalise_words(number))
    if finding.title and len(finding.title) >= config.min_title_length:
        yield _SearchKey(index, TITLE, 4, normalise_words(finding.title))


def is_identifying_number(number: str, config: CauseConfig = _DEFAULTS) -> bool:
    """Return True if a product number is long enough to identify an offer."""
    return len(number) >= config.min_number_length and any(map(str.isdigit, number))


def _index_by_rarest_word(keys: Sequence[_SearchKey]) -> dict[str, list[_SearchKey]]:
    frequency: Counter[str] = Counter()
    for key in keys:
        frequency.update(set(key.text.split()))
    index: dict[str, list[_SearchKey]] = defaultdict(list)
    for key in keys:
        if key.text:
            # Among equally rare words the longest.
            rarest = min(key.text.split(), key=lambda word: (frequency[word], -len(word)))
            index[rarest].append(key)
    return index


def _keys_in(
    cells: Sequence[str], keys_by_word: dict[str, list[_SearchKey]]
) -> Iterator[_SearchKey]:
    """Yield the search keys that a row holds: links within a cell, others as a whole cell."""
    whole_cells = _with_and_without_zeros(cells)
    cell_words: set[str] = set()
    for cell in cells:
        cell_words |= _with_and_without_zeros(cell.split())
    for word in cell_words:
        for key in keys_by_word.get(word, ())[:_MAX_KEYS_PER_WORD]:
            if key.text in whole_cells or (key.field == LINK and _any_links(key.text, cells)):
                yield key


def _with_and_without_zeros(texts: Iterable[str]) -> set[str]:
    """Return the texts with and without leading zeros, which a GTIN may have or not."""
    forms = set(texts)
    return forms | {text.lstrip("0") for text in forms}


def _any_links(link: str, cells: Sequence[str]) -> bool:
    return any(_links_to(link, cell) for cell in cells)


def _links_to(link: str, cell: str) -> bool:
    """Return True if a cell holds the link, alone or with tracking parameters behind it.

    >>> _links_to("shop example p lamp 1", "https shop example p lamp 1 utm_source portal")
    True
    >>> _links_to("shop example p lamp 1", "https shop example p lamp 1 red")
    False
    """
    before, match, after = f" {cell} ".partition(f" {link} ")
    if not match or "http" not in before:
        return False
    next_word = after.split(" ", 1)[0]
    return not next_word or "_" in next_word or next_word in _TRACKING_PARAMETERS


def _cells(raw: str) -> list[str]:
    """Return the cells of a raw row: JSON values, else the text between separators or tags."""
    text = raw[:_MAX_ROW_LENGTH]
    values = _json_values(text)
    if values is not None:
        return values
    return [cell for cell in _SEPARATOR.split(text) if cell.strip()]


def _json_values(text: str) -> list[str] | None:
    """Return the values of a JSON object, those of lists one by one; None if the text is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        parsed: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    values: list[str] = []
    for value in parsed.values():
        if isinstance(value, list):
            values += map(str, value)
        else:
            values.append(str(value))
    return values
