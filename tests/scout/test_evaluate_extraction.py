"""`scout evaluate extraction` on small labelled shops."""

import json
from pathlib import Path

import pytest

from tests.rules_generator.evaluation.test_ablation import write_shop
from tests.scout.conftest import Scout


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two shops, one of which shows no SKU on the pages to learn from."""
    write_shop(tmp_path / "data" / "all.example", lacks_sku=False)
    write_shop(tmp_path / "data" / "few.example", lacks_sku=True)
    return tmp_path / "data"


def test_pages_and_confidence_are_printed(scout: Scout, data: Path) -> None:
    """Recognised and refused pages have a line, confidence a table."""
    printed = scout("evaluate", "extraction", str(data), "--train", "10").out
    assert "Pages of offers: 30 of 30 recognised; other pages: 0 of 0 refused" in printed
    assert "Reliability: confidence, and the share that is right" in printed


def test_an_ablation_is_printed(scout: Scout, data: Path) -> None:
    """Each shop's changes and the total, as a table or as JSON."""
    command = ("evaluate", "extraction", str(data), "--train", "10", "--without", "empty_fields")
    printed = scout(*command).out
    assert "1 shops lose values or precision: few.example" in printed
    assert json.loads(scout(*command, "--json").out)["losing"] == ["few.example"]


def test_an_unknown_mechanism_ends_with_2(scout: Scout, data: Path) -> None:
    """One line names it and the known ones."""
    refused = scout("evaluate", "extraction", str(data), "--without", "dice,empty_fields")
    assert refused.code == 2
    assert refused.error.startswith("no such mechanism: dice; known: empty_fields")
