"""An ablation compares each shop's values with and without a mechanism."""

import json
from pathlib import Path

import pytest

from catalog.errors import UsageError
from rules_generator.evaluation.ablation import evaluate_ablation
from rules_generator.evaluation.evaluate import EvaluationPlan, Setting
from tests.pages import Product, products

PLAN = EvaluationPlan((Setting(10),))


def page(product: Product, sku: str) -> str:
    """A page with a SKU in its data."""
    data = json.dumps({"product": {"title": product.title, "sku": sku}})
    return f"<h1>{product.title}</h1><script>var shop = {data};</script>"


def write_shop(folder: Path, lacks_sku: bool) -> None:
    """Write a shop of thirty pages; where it lacks SKUs, only the last ten test pages have one."""
    (folder / "pages").mkdir(parents=True)
    rows = []
    for product in products(30):
        has_sku = not lacks_sku or product.number >= 20
        name = f"{product.number:02}.html"
        (folder / "pages" / name).write_text(page(product, product.sku if has_sku else ""))
        values = {"title": product.title, "sku": product.sku if has_sku else None}
        rows.append({"page": name, "url": f"p/{product.number}", "attributes": values})
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shops, one of which shows no SKU on the pages to learn from."""
    folder = tmp_path_factory.mktemp("data")
    write_shop(folder / "all.example", lacks_sku=False)
    write_shop(folder / "few.example", lacks_sku=True)
    return folder


def test_the_changes_of_each_shop(data: Path) -> None:
    """Only the shop whose examples have no SKU loses them, and no other attribute changes."""
    changes = evaluate_ablation(data, PLAN, ["empty_fields"], workers=1)
    (row,) = changes["changes"]
    assert (row["shop"], row["attribute"], row["right"]) == (
        "few.example",
        "sku",
        -row["right_before"],
    )
    assert row["right_before"] > 0
    assert changes["losing"] == ["few.example"]
    assert changes["total"]["right"] == row["right"]


def test_a_mechanism_that_changes_nothing(data: Path) -> None:
    """There is no row, and no shop loses."""
    changes = evaluate_ablation(data, PLAN, ["placeholder_skus"], workers=1)
    assert (changes["changes"], changes["losing"]) == ([], [])


def test_an_unknown_mechanism(data: Path) -> None:
    """It is refused before anything is evaluated."""
    with pytest.raises(UsageError, match="no such mechanism: dice"):
        evaluate_ablation(data, PLAN, ["dice"], workers=1)
