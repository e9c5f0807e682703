"""The evaluation: figures and predictions that scripts can read."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from catalog.errors import UnreadableFeed
from matcher.evaluation.evaluate import evaluate_matching

COLOURS = ("red", "blue", "green", "white")
THINGS = ("desk lamp", "floor lamp", "garden chair", "tea pot", "wool blanket", "oil candle")
TITLES = [
    f"{thing} {colour} {100 + 7 * n}"
    for n, thing in enumerate(THINGS * 4)
    for colour in COLOURS[: 2 + n % 3]
]


def write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_table(path: Path, names: str, rows: list[tuple[object, ...]]) -> None:
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Two tables of the same products in other words, and labelled pairs of near titles."""
    write_lines(
        tmp_path / "left.jsonl",
        [{"id": f"l{n}", "name": t, "year": "1999"} for n, t in enumerate(TITLES)],
    )
    write_lines(
        tmp_path / "right.jsonl",
        [{"id": f"r{n}", "name": f"new {t}"} for n, t in enumerate(TITLES)],
    )
    labelled = [
        (f"l{n}", f"r{m}", int(n == m))
        for n in range(len(TITLES))
        for m in (n, (n + 1) % len(TITLES), n - 1)
    ]
    labelled = [(a, b.replace("r-1", f"r{len(TITLES) - 1}"), label) for a, b, label in labelled]
    for name, start in (("train", 0), ("valid", 1), ("test", 2)):
        write_table(
            tmp_path / f"pairs_{name}.csv",
            "id_left,id_right,label",
            [*labelled[start::3], *labelled[start::5]],
        )
    return tmp_path


def test_labelled_pairs(pairs: Path) -> None:
    """Every test pair is decided, and the file of predictions agrees with the figures."""
    metrics = evaluate_matching(pairs, pairs / "predictions.csv")
    predictions = read(pairs / "predictions.csv")
    assert len(predictions) == metrics["pairs"]
    assert set(predictions[0]) == {"id_left", "id_right", "match"}
    assert metrics["f1"] > 0.9
    assert metrics["candidate_recall"] == 1
    assert 0 < metrics["peer_token_set_f1"] <= 1
    assert 0 < metrics["peer_tfidf_f1"] <= 1


def test_catalog_and_crawled_offers(tmp_path: Path) -> None:
    """Every crawled offer gets a product or none, learnt from the catalog's own groups."""
    offers = [
        {"id": f"{n}-{m}", "title": f"{shop} {title}", "product": str(n)}
        for n, title in enumerate(TITLES)
        for m, shop in enumerate(("", "buy", "new", "cheap"))
    ]
    lacking = {str(n) for n in range(0, len(TITLES), 4)}
    write_lines(
        tmp_path / "catalog.jsonl",
        [o for o in offers if o["product"] not in lacking and o["id"][-1] != "3"],
    )
    write_lines(
        tmp_path / "crawled.jsonl",
        [{"id": o["id"], "title": o["title"]} for o in offers if o["id"][-1] == "3"],
    )
    truth = [
        (o["id"], "" if o["product"] in lacking else o["product"])
        for o in offers
        if o["id"][-1] == "3"
    ]
    write_table(tmp_path / "truth.csv", "id,product", truth)
    metrics = evaluate_matching(tmp_path, tmp_path / "predictions.csv")
    assert [row["id"] for row in read(tmp_path / "predictions.csv")] == [name for name, _ in truth]
    assert metrics["right"] > 0.9
    assert 0 < metrics["peer_tfidf_right"] <= 1


@pytest.mark.parametrize("count", [0, 1, 6, 24])
@pytest.mark.parametrize("missing", ["product", "merchant", "neither"])
def test_a_catalog_that_groups_nothing(tmp_path: Path, count: int, missing: str) -> None:
    """A tiny catalog without groups is matched; an offer without a product goes by its id."""
    catalog = [
        {"id": n, "title": t, "product": f"p{n}", "merchant": "a"}
        for n, t in enumerate(TITLES[:count])
    ]
    crawled = [
        {"id": 100 + n, "title": f"{title} new", "merchant": "b"}
        for n, title in enumerate(TITLES[:30])
    ]
    write_lines(
        tmp_path / "catalog.jsonl",
        [{k: v for k, v in row.items() if k != missing} for row in catalog],
    )
    write_lines(tmp_path / "crawled.jsonl", crawled)
    named = "" if missing == "product" else "p"
    truth = [(100 + n, f"{named}{n}" if n < count else "") for n in range(30)]
    write_table(tmp_path / "truth.csv", "id,product", truth)
    assert evaluate_matching(tmp_path, tmp_path / "predictions.csv")["right"] >= 0.9
    assert [row["id"] for row in read(tmp_path / "predictions.csv")] == [
        str(name) for name, _ in truth
    ]


def test_no_crawled_offers(tmp_path: Path) -> None:
    """Nothing crawled is nothing to decide, and no error."""
    write_lines(tmp_path / "catalog.jsonl", [{"id": "1", "title": TITLES[0], "product": "1"}])
    write_lines(tmp_path / "crawled.jsonl", [])
    write_table(tmp_path / "truth.csv", "id,product", [])
    assert evaluate_matching(tmp_path)["offers"] == 0


def test_labels_that_are_all_the_same(pairs: Path) -> None:
    """If no labelled pair is a match, the fixed formula scores."""
    for name in ("train", "valid"):
        write_table(
            pairs / f"pairs_{name}.csv",
            "id_left,id_right,label",
            [("l0", "r1", 0), ("l1", "r2", 0)],
        )
    assert evaluate_matching(pairs)["pairs"] > 0


def test_a_folder_without_data(tmp_path: Path) -> None:
    """A wrong folder is named in one line."""
    with pytest.raises(UnreadableFeed, match="holds neither truth"):
        evaluate_matching(tmp_path)


def test_pairs_of_absent_rows(pairs: Path) -> None:
    """A labelled pair that names an unknown row is named with its file."""
    write_table(pairs / "pairs_test.csv", "id_left,id_right,label", [("l0", "nobody", 1)])
    with pytest.raises(UnreadableFeed, match=r"pairs_test\.csv.*nobody"):
        evaluate_matching(pairs)


def sample_products(folder: Path, out: Path, count: int) -> Path:
    """Write an evenly spread sample of a catalog's products, with crawled offers, to a folder."""
    rows = [json.loads(line) for line in (folder / "catalog.jsonl").read_text().splitlines()]
    products = sorted({row["product"] for row in rows})
    sampled = set(products[:: max(1, len(products) // count)])
    truth = {row["id"]: row["product"] for row in read(folder / "truth.csv")}
    crawled = [json.loads(line) for line in (folder / "crawled.jsonl").read_text().splitlines()]
    crawled = [
        row
        for n, row in enumerate(crawled)
        if truth[row["id"]] in sampled or (not truth[row["id"]] and n % 12 == 0)
    ]
    write_lines(out / "catalog.jsonl", [row for row in rows if row["product"] in sampled])
    write_lines(out / "crawled.jsonl", crawled)
    write_table(out / "truth.csv", "id,product", [(row["id"], truth[row["id"]]) for row in crawled])
    return out


def test_published_pairs(shared: Path) -> None:
    """The decision keeps its quality on published pairs."""
    smallest = min(
        (shared / "data/matching").glob("*/pairs_test.csv"), key=lambda path: path.stat().st_size
    )
    assert evaluate_matching(smallest.parent)["f1"] >= 0.975


def test_published_catalog(shared: Path, tmp_path: Path) -> None:
    """Offers of many merchants keep finding their products in a sampled catalog."""
    folder = next((shared / "data/matching").glob("*/truth.csv")).parent
    assert evaluate_matching(sample_products(folder, tmp_path, 350))["right"] >= 0.87
