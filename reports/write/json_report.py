"""The report for machines: one JSON object, written piece by piece so that a long list is never held as text.

Its shape is described in docs/reports.md and held by a test; `format` is raised when a field changes its meaning.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catalog.models import Verdict
from reports.causes.causes import ADVICE
from reports.model.report_model import Story
from reports.statistics.findings_reader import plain

FORMAT = 1


def write_json(path: Path, story: Story) -> None:
    """Everything as one JSON object (UTF-8)."""
    with path.open("w", encoding="utf-8") as file:
        file.write("{\n")
        file.write(
            ",\n".join(f"{_text(name)}: {_text(value)}" for name, value in _head(story).items())
        )
        for name, rows in _lists(story).items():
            file.write(f",\n{_text(name)}: [")
            file.writelines(_divided(rows))
            file.write("]")
        file.write("\n}\n")


def _head(story: Story) -> dict[str, Any]:
    money = story.completeness.currency
    run, moment = story.run, story.run.finished_at or story.run.started_at
    return {
        "format": FORMAT,
        "shop": {"name": story.shop.name, "url": story.shop.url},
        "run": {"id": run.id, "state": str(run.state), "at": moment.isoformat(timespec="seconds")},
        "told_at": story.told_at.isoformat(timespec="seconds"),
        "superseded": story.stale,
        "rules": {
            name: story.run.figures.get("learn", {}).get(name)
            for name in ("version", "drift", "kept")
        },
        **story.completeness.as_json(),
        "causes": [
            {
                "cause": one.kind.value,
                "missing": one.offers,
                "missing_value": plain(one.tally.worth(money)),
            }
            | {
                "advice": ADVICE[one.kind],
                "evidence": [{"text": text, "offers": n} for text, n in one.evidence],
            }
            for one in story.causes
        ],
        "trend": story.trend.as_json(),
        "feed": story.health.as_json(),
    }


def _lists(story: Story) -> dict[str, Iterable[dict[str, Any]]]:
    return {
        "missing": (one.as_row() for one in story.of(Verdict.MISSING)),
        "unsure": (one.as_row() for one in story.of(Verdict.UNSURE)),
        "ignored": (one.as_row() for one in story.ignored),
        "price_differences": (one.as_row() for one in story.health.prices),
        "title_differences": (one.as_row() for one in story.health.titles),
        "not_seen_on_the_shop": (one.as_row() for one in story.health.unseen),
    }


def _divided(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"{',' if number else ''}\n{_text(row)}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
