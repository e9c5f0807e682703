"""Page: the report that people read - one HTML file that needs no network and runs no code but its own.

Styles and the one script are inlined; the content policy allows that script by its hash and nothing else, so that a
title in a shop that slipped through the escaping still could not load or run anything. The shop's images are not shown:
opening a report must not show up in the shop's statistics.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from catalog.models import Verdict
from reports.causes.causes import ADVICE
from reports.causes.feed_quality import by_sight
from reports.model.report_model import Story
from reports.statistics import formatting
from reports.statistics.coverage import Coverage, Sight
from reports.statistics.statistics import Group, Tally, wilson
from reports.write import charts

MOST_MISSING = 2000
MOST_UNSURE = 500
MOST_ROWS = 200
_BARS = 14
_BRANDS = 10


def write_html(path: Path, story: Story) -> None:
    """The report as one self-contained page."""
    template = _environment().get_template("report.html")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(template.generate(_view(story)))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "count": formatting.count,
        "money": formatting.money,
        "worths": formatting.worths,
        "price": formatting.price,
        "steps": formatting.steps,
        "percent": formatting.percent,
        "signed": formatting.signed,
        "day": formatting.day,
        "minute": formatting.minute,
        "weblink": weblink,
        "host": host,
    }
    environment.filters.update(filters)
    environment.globals.update(
        plural=formatting.plural, band_name=formatting.band_name, charts=charts, wilson=wilson
    )
    return environment


def _view(story: Story) -> dict[str, Any]:
    """What the template is given: shortened lists beside their full lengths."""
    figures, health = story.completeness, story.health
    missing, unsure = story.of(Verdict.MISSING), story.of(Verdict.UNSURE)
    script = _static("report.js")
    money = figures.currency
    categories = figures.categories()
    return {
        "story": story,
        "shop": story.shop,
        "run": story.run,
        "at": story.run.finished_at or story.run.started_at,
        "figures": figures,
        "total": figures.total,
        "seen": figures.coverage,
        "notes": [*drifted(story.run.figures), *notes(figures.coverage)],
        "currency": money,
        "categories": _shortened(categories),
        "category_names": sorted({one.category for one in missing[:MOST_MISSING] if one.category})[
            :500
        ],
        "brands": _shortened(figures.by_brand, _BRANDS)
        if _says_something(figures.by_brand)
        else ((), None),
        "bands": figures.by_band,
        "causes": story.causes,
        "advice": {kind.value: text for kind, text in ADVICE.items()},
        "trend": story.trend,
        "health": health,
        "missing": missing[:MOST_MISSING],
        "missing_count": len(missing),
        "unsure": unsure[:MOST_UNSURE],
        "unsure_count": len(unsure),
        "ignored": story.ignored[:MOST_ROWS],
        "ignored_count": len(story.ignored),
        "unseen": {
            sight: (len(rows), rows[:MOST_ROWS]) for sight, rows in by_sight(health.unseen).items()
        },
        "sights": tuple(Sight)[1:],
        "most": MOST_ROWS,
        "style": _static("report.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _static(name: str) -> str:
    """A file of ours to be inlined as it is."""
    return files("reports").joinpath("static", name).read_text("utf-8").strip()


def _shortened(
    groups: tuple[Group, ...], most: int = _BARS
) -> tuple[tuple[Group, ...], Group | None]:
    """The first groups, and the others as one."""
    if len(groups) <= most:
        return groups, None
    rest = Group(f"{formatting.count(len(groups) - most)} others", Tally())
    for group in groups[most:]:
        rest.tally.take(group.tally)
    return groups[:most], rest


def _says_something(groups: tuple[Group, ...]) -> bool:
    """Brands are shown unless the shop has but one, or none."""
    return len([group for group in groups if group.name]) > 1


def notes(seen: Coverage) -> list[str]:
    """What to bear in mind of the crawl's coverage, in sentences; none where it saw everything."""
    said = []
    if seen.waiting:
        said.append(
            f"{formatting.plural(seen.waiting, 'page')} met but not visited (the crawl ended before)."
        )
    if seen.failed:
        said.append(f"{formatting.plural(seen.failed, 'page')} failed to load.")
    if seen.sitemaps_unread:
        said.append(f"{formatting.plural(seen.sitemaps_unread, 'sitemap')} could not be read.")
    if seen.refused:
        said.append(
            f"{formatting.plural(seen.refused, 'page')} left out on purpose (robots.txt, traps, other files)."
        )
    if seen.not_crawled:
        said.append(
            f"{formatting.plural(seen.not_crawled, 'offer')} of the catalog could not be looked up."
        )
    return said


def drifted(figures: Mapping[str, Any]) -> list[str]:
    """That the shop's pages had changed since its rules were learnt, where they had; they were learnt anew.

    >>> drifted({"learn": {"version": 4, "drift": "the rules hold: all is well"}})
    []
    """
    learnt = figures.get("learn") or {}
    said = str(learnt.get("drift") or "")
    if not said or said.startswith("the rules hold"):
        return []
    return [
        f"{said[0].upper()}{said[1:]}. The rules were learnt anew as version {learnt.get('version')}."
    ]


def weblink(url: str | None) -> str | None:
    """The URL, where it may be linked to: http(s) with a host; None otherwise.

    >>> weblink("https://shop.example/p/1"), weblink("javascript:alert(1)"), weblink("//x")
    ('https://shop.example/p/1', None, None)
    """
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def host(url: str | None) -> str:
    """The host of a URL, to be read.

    >>> host("https://www.shop.example/p/1")
    'www.shop.example'
    """
    return urlsplit(url).netloc if weblink(url) and url else url or ""
