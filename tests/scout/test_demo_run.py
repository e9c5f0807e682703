"""`scout demo`, run from the built wheel, from the first request to the last line."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.scout.conftest import Scout


def test_finds_the_missing_offers(demo: dict[str, Any]) -> None:
    """Every missing offer of the demo shop is found, and none is named wrongly."""
    assert (demo["precision"], demo["wrong"]) == (1.0, [])
    assert (demo["recall"], demo["lost"]) == (1.0, [])


def test_costs_no_click(demo: dict[str, Any]) -> None:
    """No request had a tracking parameter, and none went to the redirector."""
    assert (demo["tracked"], demo["clicks"]) == (0, 0)


def test_few_requests(demo: dict[str, Any]) -> None:
    """The crawl avoids traps: at most two requests per stored page."""
    assert demo["requests"] <= 2 * sum(demo["pages"].values())


def test_leaves_a_report(demo: dict[str, Any]) -> None:
    """The reports exist in the demo's own folder."""
    for path in demo["reports"].values():
        assert (demo["folder"] / path).is_file()
        assert (demo["folder"] / path).is_relative_to(demo["folder"] / "var" / "demo")


def test_every_missing_offer_has_its_category(demo: dict[str, Any]) -> None:
    """Every missing offer has the path of its breadcrumbs, also in a category the catalog lacks."""
    report = json.loads((demo["folder"] / demo["reports"]["json"]).read_text(encoding="utf-8"))
    assert {offer["category"].count(" > ") for offer in report["missing"]} == {1}
    assert "Toys & Leisure > Board Games" in {offer["category"] for offer in report["missing"]}


def test_names_the_planted_causes(demo: dict[str, Any]) -> None:
    """The causes of the missing offers are those that the demo plants; all others have no pattern."""
    report = json.loads((demo["folder"] / demo["reports"]["json"]).read_text(encoding="utf-8"))
    evidence = {cause["evidence"][0]["text"]: cause["missing"] for cause in report["causes"]}
    assert evidence["no offer from €1,000 upwards is listed (0 of 21 offers listed)"] == 21
    assert evidence["no offer from $1,000 upwards is listed (0 of 10 offers listed)"] == 10
    assert evidence["the whole category “Toys & Leisure” is absent (0 of 34 offers listed)"] == 34
    kinds = [cause["cause"] for cause in report["causes"]]
    assert kinds.count("price band absent from the feed") == 2
    assert set(kinds) <= {
        "price band absent from the feed",
        "category absent from the feed",
        "in the feed but rejected",
        "variant of a listed offer",
        "not in the feed",
    }
    assert sum(cause["missing"] for cause in report["causes"]) == report["totals"]["missing"]


def test_shows_progress(demo: dict[str, Any]) -> None:
    """Progress is printed on standard error."""
    assert "the demo shop is served on http://127.0.0.1:" in demo["stderr"]
    assert "pages" in demo["stderr"]


def test_keep(demo: dict[str, Any], scout: Scout, tmp_path: Path) -> None:
    """With --keep the demo's data is used again, and the tables show the same result."""
    kept = shutil.copytree(demo["folder"] / "var", tmp_path / "kept")
    result = scout("--data-dir", str(kept), "demo", "--keep")
    assert result.code == 0, result.err
    assert f"precision {demo['precision']:.3f}, recall {demo['recall']:.3f}" in result.out
    assert "none with a tracking parameter, none to a redirector" in result.out
    assert "Missing by category" in result.out
