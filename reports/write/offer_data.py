"""Offers of the HTML report as data for its script: compressed columns, and details in chunks.

A page of 50,000 table rows takes a browser minutes to lay out. The report has only the first rows
as a table; all rows are data, of which the script draws a page at a time. Columns compress well and
are quick to filter. The details of a row are read and unpacked only when a reader opens it.
"""

import base64
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

import orjson

from catalog.language.languages import ENGLISH, Language
from catalog.language.sentences import Money, Sentence
from matcher.decision.reason_texts import MATCH_REASONS
from reports.causes.groups.group_causes import GroupCause
from reports.model.cause_shares import CauseShare
from reports.statistics.category_paths import category_steps
from reports.statistics.findings_reader import Finding, decimal_text

# Details of the findings of one chunk, in their order.
DetailReader = Callable[[Sequence[Finding]], Iterable[Mapping[str, Any]]]

# Findings whose details are compressed together: larger chunks compress better and open slower.
DETAILS_PER_CHUNK = 250
# Rows of a list that a browser keeps in memory.
MAX_DATA_ROWS = 100_000
# Characters of all details of a report, which has to stay below 20 MB.
MAX_DETAIL_LENGTH = 10_000_000
_GZIP_BITS = 31  # window of 2^15 bytes with the gzip header that browsers expect
# Level 6 makes a report of 60,000 offers a tenth smaller and takes twice the time.
_COMPRESSION_LEVEL = 3
_MAX_OBSERVATIONS = 2

# Columns of few different values, which are written once.
_REPEATED = (
    "currency", "brand", "category", "path", "cause", "evidence", "also", "since", "availability",
    "first_seen", "last_seen", "nearest_currency", "word", "note", "reviewer", "reviewed_at",
)  # fmt: skip


def compress(pieces: Iterable[str]) -> str:
    """Compress a text given in pieces with gzip; returns it in base64.

    >>> import gzip
    >>> gzip.decompress(base64.b64decode(compress(["[1", ", 2]"])))
    b'[1, 2]'
    """
    compressor = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_GZIP_BITS)
    compressed = [compressor.compress(piece.encode()) for piece in pieces]
    compressed.append(compressor.flush())
    return base64.b64encode(b"".join(compressed)).decode()


@dataclass
class DetailBudget:
    """Characters that the details of a report may still take."""

    remaining: int = MAX_DETAIL_LENGTH


@dataclass(frozen=True)
class OfferList:
    """List of findings of an HTML report, the most valuable first.

    `shown` are drawn as a table without the script.
    """

    name: str
    findings: Sequence[Finding]
    shown: Sequence[Finding]
    writer: "DataWriter"

    def columns(self) -> str:
        """Return the columns of all rows, compressed."""
        return compress(self.writer.dump_columns(self.findings[:MAX_DATA_ROWS]))

    def detail_chunks(self) -> Iterator[str]:
        """Yield the details in chunks of `DETAILS_PER_CHUNK` rows, until the budget is used up."""
        yield from self.writer.detail_chunks(self.findings[:MAX_DATA_ROWS])


class CauseKeys:
    """Names of the causes of a report as facets: the kind, and the value of a group.

    Groups of one kind are told apart by their values: "brand absent from the catalog: Acme".
    """

    def __init__(self, causes: Sequence[CauseShare]) -> None:
        self.by_evidence: dict[tuple[str, Sentence], str] = {}
        for share in causes:
            if share.group is not None:
                key = (share.kind.value, share.group.sentence)
                self.by_evidence[key] = cause_key(share)

    def of(self, finding: Finding) -> str:
        """Return the name of the cause of a finding; "" without a cause."""
        if not finding.cause or not finding.evidence:
            return finding.cause or ""
        return self.by_evidence.get((finding.cause, finding.evidence[0]), finding.cause)


def cause_key(share: CauseShare) -> str:
    """Return the name of a cause in a facet, the same in every language."""
    if share.group is None:
        return share.kind.value
    return f"{share.kind.value}: {_group_value(share.group)}"


def cause_name(share: CauseShare, language: Language) -> str:
    """Return the name of a cause for readers, with the value of its group."""
    name = language.gettext(share.kind.value)
    if share.group is None:
        return name
    value = share.group.sentence.arguments.get("value")
    if isinstance(value, Sentence):
        return f"{name}: {value.in_language(language)}"
    if value is not None:
        return f"{name}: {value}"
    borders = (share.group.sentence.arguments.get(border) for border in ("low", "high"))
    low, high = (
        language.money(border.amount, border.currency) if isinstance(border, Money) else ""
        for border in borders
    )
    return f"{name}: {low} – {high}" if low or high else name


def _group_value(group: GroupCause) -> str:
    """Return the value of a group; of a price interval its borders: "1000- EUR" or "5-20 EUR"."""
    if group.value:
        return group.value
    texts = {"low": "", "high": ""}
    currency = ""
    for name in texts:
        border = group.sentence.arguments.get(name)
        if isinstance(border, Money):
            texts[name] = f"{border.amount:f}"
            currency = border.currency or ""
    return "-".join(texts.values()) + f" {currency}".rstrip()


@dataclass(frozen=True)
class DataWriter:
    """Writer of findings as data in a language.

    `cause_keys` names the cause of each finding as its facet does; `read_details` reads the details
    of findings, None for a report without; `budget` is shared by all lists of the report.
    """

    cause_keys: CauseKeys
    language: Language = ENGLISH
    read_details: DetailReader | None = None
    budget: DetailBudget = field(default_factory=DetailBudget)

    def dump_columns(self, findings: Sequence[Finding]) -> Iterator[str]:
        """Yield the columns as pieces of a JSON object.

        A column of `_REPEATED` has indexes into the list `texts`, whose first text is empty.
        """
        # A tuple takes a fifth of the memory of a dict.
        rows = [_values_of(self._row(finding)) for finding in findings]
        texts = {"": 0}
        yield f'{{"rows":{len(rows)}'
        for index, name in enumerate(_COLUMNS):
            column: list[Any] = [row[index] for row in rows]
            if name in _REPEATED:
                column = [texts.setdefault(text or "", len(texts)) for text in column]
            yield f",{_dump(name)}:{_dump(column)}"
        yield f',"texts":{_dump(list(texts))}}}'

    def detail_chunks(self, findings: Sequence[Finding]) -> Iterator[str]:
        """Yield the details in chunks of `DETAILS_PER_CHUNK` rows, until the budget is used up."""
        if self.read_details is None:
            return
        for start in range(0, len(findings), DETAILS_PER_CHUNK):
            batch = findings[start : start + DETAILS_PER_CHUNK]
            details = [self._translated(row) for row in self.read_details(batch)]
            chunk = compress([_dump(details)])
            self.budget.remaining -= len(chunk)
            if self.budget.remaining < 0:
                return
            yield chunk

    def _translated(self, details: Mapping[str, Any]) -> dict[str, Any]:
        reasons = [MATCH_REASONS.translate(reason, self.language) for reason in details["reasons"]]
        return {**details, "reasons": reasons}

    def _row(self, finding: Finding) -> dict[str, Any]:
        nearest = finding.nearest
        evidence = [sentence.in_language(self.language) for sentence in finding.evidence]
        return {
            "title": finding.title,
            "url": finding.url,
            "price": decimal_text(finding.price),
            "currency": finding.currency,
            "brand": finding.brand,
            "category": finding.category,
            "path": " > ".join(category_steps(finding.category)),
            "cause": self.cause_keys.of(finding),
            "evidence": evidence[0] if evidence else None,
            "also": "; ".join(evidence[1 : 1 + _MAX_OBSERVATIONS]),
            "since": finding.since and finding.since.value,
            "ean": finding.ean,
            "han": finding.han,
            "sku": finding.sku,
            "availability": finding.availability,
            "score": round(finding.score, 4),
            "nearest_title": nearest and nearest.title,
            "nearest_url": nearest and nearest.url,
            "nearest_price": nearest and decimal_text(nearest.price),
            "nearest_currency": nearest and nearest.currency,
            "first_seen": _minute(finding.first_seen_at),
            "last_seen": _minute(finding.last_seen_at),
            "word": finding.decision and finding.decision.value,
            "note": finding.note,
            "reviewer": finding.reviewer,
            "reviewed_at": _minute(finding.reviewed_at),
            "variant_of": finding.variant_of,
        }


_COLUMNS = (
    "title", "url", "price", "currency", "brand", "category", "path", "cause", "evidence", "also",
    "since", "ean", "han", "sku", "availability", "score", "nearest_title", "nearest_url",
    "nearest_price", "nearest_currency", "first_seen", "last_seen", "word", "note", "reviewer",
    "reviewed_at", "variant_of",
)  # fmt: skip
_values_of = itemgetter(*_COLUMNS)


def _minute(moment: datetime | None) -> str | None:
    """Return a time to the minute, for a script to format."""
    if moment is None:
        return None
    return f"{moment.isoformat(timespec='minutes')[:16]}Z"


def _dump(value: object) -> str:
    return orjson.dumps(value).decode()
