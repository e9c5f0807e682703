"""JSON report: one object, written piece by piece so that a long list is never held as text.

Its shape is documented in docs/reports.md and held by a test; `FORMAT` is raised when a field
changes its name or meaning.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from catalog.models import Verdict
from reports.model.report_model import Report
from reports.statistics.findings_reader import Finding

# Findings as rows, with the sources that they were read from.
RowReader = Callable[[Iterable[Finding]], Iterator[dict[str, Any]]]

FORMAT = 1

_RULE_FIGURES = ("version", "drift", "kept")


def write_json(path: Path, report: Report, read_rows: RowReader) -> None:
    """Write the report as one JSON object (UTF-8)."""
    with path.open("w", encoding="utf-8") as file:
        file.write("{\n")
        members = [
            f"{_dump(name)}: {_dump(value)}" for name, value in _figures(report, read_rows).items()
        ]
        file.write(",\n".join(members))
        for name, rows in _lists(report, read_rows).items():
            file.write(f",\n{_dump(name)}: [")
            file.writelines(_array_items(rows))
            file.write("]")
        file.write("\n}\n")


def _figures(report: Report, read_rows: RowReader) -> dict[str, Any]:
    """Return everything but the lists of offers."""
    run, learnt = report.run, report.run.figures.get("learn", {})
    currency = report.completeness.currency
    return {
        "format": FORMAT,
        "shop": {"name": report.shop.name, "url": report.shop.url},
        "run": {
            "id": run.id,
            "state": report.run_state.value,
            "at": report.run_at.isoformat(timespec="seconds"),
            "reason": run.reason,
        },
        "told_at": report.generated_at.isoformat(timespec="seconds"),
        "superseded": report.is_superseded,
        "rules": {name: learnt.get(name) for name in _RULE_FIGURES},
        **report.completeness.as_json(),
        "causes": [share.as_json(currency) for share in report.causes],
        "trend": report.trend.as_json() | _changed_offers(report, read_rows),
        "feed": report.feed_quality.as_json(),
    }


def _changed_offers(report: Report, read_rows: RowReader) -> dict[str, Any]:
    """Return the offers that left the missing ones; the others are in the list of missing ones."""
    return {
        "resolved_offers": list(read_rows(report.resolved)),
        "no_longer_seen_offers": [offer.as_row() for offer in report.no_longer_seen],
    }


def _lists(report: Report, read_rows: RowReader) -> dict[str, Iterable[dict[str, Any]]]:
    quality = report.feed_quality
    return {
        "missing": read_rows(report.findings_with(Verdict.MISSING)),
        "unsure": read_rows(report.findings_with(Verdict.UNSURE)),
        "ignored": read_rows(report.ignored),
        "price_differences": (difference.as_row() for difference in quality.prices),
        "title_differences": (difference.as_row() for difference in quality.titles),
        "not_seen_on_the_shop": (offer.as_row() for offer in quality.unseen),
    }


def _array_items(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    separator = "\n"
    for row in rows:
        yield f"{separator}{_dump(row)}"
        separator = ",\n"


def _dump(value: object) -> str:
    return orjson.dumps(value).decode()
