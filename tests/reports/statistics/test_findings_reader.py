"""Findings as they are read from the store: the language of their pages."""

from typing import Any

import pytest

from catalog.models import ReviewDecision, Shop
from catalog.storage.store import Store
from reports.statistics.findings_reader import read_findings

PAGES = [
    ("the page's own", {"language": "de-at"}, "de"),
    ("none", {}, None),
    ("no language", {"language": "?"}, None),
    (
        "its name among its versions, for a template may have one `lang` for all pages",
        {"language": "en", "alternates": {"x-default": "{self}", "de": "{self}", "en": "{other}"}},
        "de",
    ),
    ("its name in the sitemap", {"sitemap_alternates": {"fr-ch": "{self}"}}, "fr"),
    ("versions without the page", {"language": "en", "alternates": {"de": "{other}"}}, "en"),
]


@pytest.mark.parametrize(("name", "page", "language"), PAGES, ids=[row[0] for row in PAGES])
def test_language_of_a_page(
    fill: Any, store: Store, shop: Shop, name: str, page: dict[str, Any], language: str | None
) -> None:
    """A finding has the primary language of its page."""
    run = fill.run()
    places = {"{self}": fill.url("a"), "{other}": fill.url("b")}
    for field in ("alternates", "sitemap_alternates"):
        if field in page:
            page = page | {field: {code: places[url] for code, url in page[field].items()}}
    fill.page("a", **page)
    fill.finding(run, "a")
    fill.save()
    with store.read() as session:
        (finding,) = read_findings(session, shop, run)
    assert finding.language == language


def test_long_urls_stay_whole(fill: Any, store: Store, shop: Shop) -> None:
    """A long URL of an offer is cut nowhere: it is no other URL, and a decision on it is found."""
    run = fill.run()
    main, other = fill.url("p/" + "x" * 900), fill.url("q/" + "x" * 900)
    fill.finding(run, main, urls=[main, other])
    fill.decide(other, ReviewDecision.IGNORE)
    fill.save()
    with store.read() as session:
        (finding,) = read_findings(session, shop, run)
    assert finding.as_row()["other_urls"] == [other]
    assert finding.is_ignored
