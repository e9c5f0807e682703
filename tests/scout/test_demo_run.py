"""`scout demo`, from the first request to the last line."""

import json
from pathlib import Path
from typing import Any

from tests.scout.conftest import Scout


def test_finds_what_is_missing(demo: dict[str, Any]) -> None:
    """Precision and recall of the missing offers are at least 0.97."""
    assert demo["precision"] >= 0.97, demo["wrong"]
    assert demo["recall"] >= 0.97, demo["lost"]


def test_costs_no_click(demo: dict[str, Any]) -> None:
    """No request had a tracking parameter, and none went to the redirector."""
    assert (demo["tracked"], demo["clicks"]) == (0, 0)


def test_few_requests(demo: dict[str, Any]) -> None:
    """The crawl is not led astray: at most two requests per page that is known, traps among them."""
    assert demo["requests"] <= 2 * sum(demo["pages"].values())


def test_leaves_a_report(demo: dict[str, Any]) -> None:
    """The reports are there, in the demo's own folder."""
    for path in demo["reports"].values():
        assert (demo["folder"] / path).is_file()
        assert Path(path).is_relative_to(demo["folder"] / "var" / "demo")


def test_every_missing_offer_has_its_category(demo: dict[str, Any]) -> None:
    """The path of its breadcrumbs, even where the catalog knows no offer of that category."""
    report = json.loads((demo["folder"] / demo["reports"]["json"]).read_text(encoding="utf-8"))
    assert {one["category"].count(" > ") for one in report["missing"]} == {1}
    assert "Toys & Leisure > Board Games" in {one["category"] for one in report["missing"]}


def test_shows_progress(demo: dict[str, Any]) -> None:
    """Progress is on standard error."""
    assert "the demo shop is served on http://127.0.0.1:" in demo["stderr"]
    assert "pages" in demo["stderr"]


def test_goes_on(demo: dict[str, Any], scout: Scout) -> None:
    """With --keep the demo's data is used again, and tells the same as a table."""
    said = scout("--data-dir", str(demo["folder"] / "var"), "demo", "--keep")
    assert said.code == 0, said.err
    assert f"precision {demo['precision']:.3f}, recall {demo['recall']:.3f}" in said.out
    assert "none with a tracking parameter, none to a redirector" in said.out
    assert "Missing by category" in said.out
