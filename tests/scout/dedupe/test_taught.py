"""`scout dedupe --decide taught` and `scout dedupe label`: files, models, charts, labels, index."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.matcher.taught.tables import COLUMNS, make_goods, make_labels
from tests.scout.conftest import Scout


@pytest.fixture
def goods_csv(tmp_path: Path) -> Path:
    """Return a file of goods; the id of a row is "g" and its number."""
    records, _ = make_goods()
    path = tmp_path / "goods.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", *COLUMNS))
        for number, values in enumerate(zip(*records.fields, strict=True)):
            table.writerow((f"g{number}", *values))
    return path


@pytest.fixture
def labels_csv(tmp_path: Path) -> Path:
    """Return labels that name records by id."""
    labels = make_labels(make_goods()[1])
    lines = ["left,right,label"]
    for (left, right), label in zip(labels.pairs.tolist(), labels.are_duplicates, strict=True):
        lines.append(f"g{left},g{right},{'yes' if label else 'no'}")
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def test_labels_model_and_files(
    scout: Scout, goods_csv: Path, labels_csv: Path, tmp_path: Path
) -> None:
    """Labels make a model; the model decides the file alike; pairs, groups and charts are written."""
    model, pairs, clusters, charts = (
        tmp_path / name for name in ("model.json", "pairs.csv", "clusters.csv", "charts.html")
    )
    taught = ("dedupe", str(goods_csv), "--decide", "taught", "--id", "id", "--json")
    result = scout(
        *taught, "--labels", str(labels_csv), "--model", str(model), "--out", str(pairs),
        "--clusters", str(clusters), "--charts", str(charts), "--explain", "g0,g60",
    )  # fmt: skip
    assert result.code == 0, result.err
    figures = json.loads(result.out)
    assert figures["taught"]["labels"] == 40
    assert figures["pairs"] == len(_rows(pairs))
    [explanation] = figures["explanations"]
    assert explanation["probability"] > 0.5
    assert (explanation["same_group"], explanation["groups_decide"]) == (True, False)
    assert {"g0", "g60"} <= {row["id"] for row in _rows(clusters)}
    assert ("g0", "g60") in {(row["left_id"], row["right_id"]) for row in _rows(pairs)}
    page = charts.read_text()
    assert "Precision and recall" in page
    assert "<script" not in page
    again = json.loads(scout(*taught, "--model", str(model)).out)
    assert abs(again["pairs"] - figures["pairs"]) <= 1
    # A model finds its columns by name, in any order and among others.
    rows = _rows(goods_csv)
    with goods_csv.open("w", newline="") as file:
        table = csv.DictWriter(file, ["stock", *reversed(rows[0])])
        table.writeheader()
        table.writerows({**row, "stock": "7"} for row in rows)
    other = json.loads(scout(*taught, "--model", str(model)).out)
    assert (other["pairs"], other["taught"]["kinds"]) == (again["pairs"], again["taught"]["kinds"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--labels", "labels.csv"), "--labels: is for --decide taught"),
        (("--method", "exact", "--method", "minhash"), "several are for --decide taught"),
        (("--decide", "taught", "--levels", "3"), "--levels: is not for --decide taught"),
        (("--decide", "taught", "--kind", "price"), "write COLUMN=KIND"),
        (("--decide", "taught", "--kind", "title=colour"), "kinds are"),
        (("--decide", "taught", "--variants", "hue"), "rules are"),
        (("--decide", "taught", "--threshold", "1.5"), "a probability"),
        (("--decide", "taught", "--explain", "1,99999"), "no record has the line '1'"),
        (("--decide", "taught", "--explain", "1"), "LEFT,RIGHT"),
        (("--decide", "taught", "--method", "embeddings"), "does not find candidates"),
    ],
)
def test_options_that_do_not_fit(
    scout: Scout, goods_csv: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Every option that does not fit is one clear error of usage."""
    result = scout("dedupe", str(goods_csv), "--key", "title", *arguments)
    assert result.code == 2
    assert message in result.error


def test_pairs_that_were_never_compared(scout: Scout, goods_csv: Path) -> None:
    """Such a pair is told so, and costs the explanation of no other."""
    result = scout(
        "dedupe", str(goods_csv), "--decide", "taught", "--id", "id",
        "--explain", "g0,g61", "--explain", "g0,g60",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "g0 and g61: never compared" in result.out
    assert "g0 and g60: probability" in result.out


def test_labels_that_contradict_each_other(scout: Scout, goods_csv: Path, labels_csv: Path) -> None:
    """A pair labelled as distinct that other labels make duplicates is named."""
    with labels_csv.open("a") as file:
        file.write("g0,g60,1\ng60,g2,1\ng2,g0,0\n")
    command = ("dedupe", str(goods_csv), "--decide", "taught", "--id", "id")
    result = scout(*command, "--labels", str(labels_csv))
    assert result.code == 0, result.err
    assert "1 pair labelled as distinct, although" in result.err
    assert "g0 and g2 first" in result.err


def test_labels_of_other_records(scout: Scout, goods_csv: Path, tmp_path: Path) -> None:
    """Labels that name no record of the file are an error that says how records are named."""
    labels = tmp_path / "labels.csv"
    labels.write_text("left,right,label\nx,y,1\n")
    result = scout("dedupe", str(goods_csv), "--decide", "taught", "--labels", str(labels))
    assert result.code == 2
    assert "--id COLUMN" in result.error


@pytest.mark.parametrize("with_labels", [False, True])
def test_an_index_is_free_of_order(
    scout: Scout, goods_csv: Path, labels_csv: Path, tmp_path: Path, with_labels: bool
) -> None:
    """Records that come in two parts end in the same groups in either order."""
    labels = ("--labels", str(labels_csv)) if with_labels else ()
    lines = goods_csv.read_text().splitlines()
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    parts[0].write_text("\n".join(lines[:50]) + "\n")
    parts[1].write_text("\n".join([lines[0], *lines[50:]]) + "\n")
    groups = list[set[tuple[str, ...]]]()
    for number, order in enumerate((parts, parts[::-1])):
        clusters = tmp_path / f"clusters{number}.csv"
        for path in order:
            result = scout(
                "dedupe", str(path), "--decide", "taught", "--id", "id",
                "--index", str(tmp_path / f"index{number}"), "--clusters", str(clusters),
                *(labels if path == order[-1] else ()),
            )  # fmt: skip
            assert result.code == 0, result.err
        members = dict[str, list[str]]()
        for row in _rows(clusters):
            members.setdefault(row["cluster"], []).append(row["text"])
        groups.append({tuple(sorted(texts)) for texts in members.values()})
    assert groups[0]
    assert groups[0] == groups[1]


def test_an_index_keeps_its_columns(scout: Scout, goods_csv: Path, tmp_path: Path) -> None:
    """A later call that compares other columns, or in another order, is an error of usage."""
    arguments = (
        "dedupe", str(goods_csv), "--decide", "taught", "--id", "id",
        "--index", str(tmp_path / "index"),
    )  # fmt: skip
    assert scout(*arguments, "--key", "title,maker").code == 0
    for keys in ("title", "title,maker,price", "maker,title"):
        result = scout(*arguments, "--key", keys)
        assert result.code == 2
        assert "holds the columns title, maker" in result.error


def test_labelling_survives_a_kill(goods_csv: Path, tmp_path: Path) -> None:
    """Answers are on the disk when a session is killed, and the next one does not ask them again."""
    labels = tmp_path / "answers.csv"
    command = [
        sys.executable, "-m", "scout", "--data-dir", str(tmp_path), "dedupe", "label",
        str(goods_csv), "--id", "id", "--labels", str(labels),
    ]  # fmt: skip
    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert first.stdin is not None
    first.stdin.write("y\nn\nu\n")
    first.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not labels.exists() or len(_rows(labels)) < 3):
        time.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert [row["label"] for row in _rows(labels)] == ["1", "0", "unsure"]
    second = subprocess.run(
        [*command, "--count", "1"], check=False, input="n\n", capture_output=True, text=True
    )
    assert second.returncode == 0, second.stderr
    # Without --id the labels would name lines.
    assert f"scout dedupe {goods_csv} --id id --decide taught --labels {labels}" in second.stdout
    pairs = {(row["left"], row["right"]) for row in _rows(labels)}
    assert len(pairs) == 4
