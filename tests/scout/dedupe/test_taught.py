"""`scout dedupe --decide taught` and `scout dedupe label`: files, models, charts, labels, index."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.matcher.taught.tables import COLUMNS, make_goods, make_labels
from tests.scout.conftest import CommandResult, Scout


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
        (("--decide", "taught", "--source", "shop"), "--source shop: no such column"),
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


def label_command(data_dir: Path, goods: Path, labels: Path) -> list[str]:
    """Return the command that asks for labels in a process of its own."""
    return [
        sys.executable, "-m", "scout", "--data-dir", str(data_dir), "dedupe", "label",
        str(goods), "--id", "id", "--labels", str(labels),
    ]  # fmt: skip


def test_labelling_survives_a_kill(goods_csv: Path, tmp_path: Path) -> None:
    """Answers are on the disk when a session is killed, and the next one does not ask them again."""
    labels = tmp_path / "answers.csv"
    command = label_command(tmp_path, goods_csv, labels)
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


class Index:
    """Calls of an index: the files of a call are tables of some goods, by id."""

    def __init__(self, scout: Scout, folder: Path, goods_csv: Path) -> None:
        """Read the goods of a file."""
        self._scout = scout
        self._folder = folder
        self._header, *self.lines = goods_csv.read_text().splitlines()

    def write(self, lines: list[str], name: str = "day.csv") -> Path:
        """Write a table of some goods."""
        path = self._folder / name
        path.write_text("\n".join([self._header, *lines]) + "\n")
        return path

    def call(self, path: Path, *arguments: str, folder: str = "index") -> CommandResult:
        """Add a table to the index."""
        return self._scout(
            "dedupe", str(path), "--decide", "taught", "--id", "id",
            "--index", str(self._folder / folder), *arguments,
        )  # fmt: skip

    def add(self, lines: list[str], *arguments: str, folder: str = "index") -> dict[str, Any]:
        """Add some goods; returns the figures."""
        result = self.call(self.write(lines), *arguments, "--json", folder=folder)
        assert result.code == 0, result.err
        figures: dict[str, Any] = json.loads(result.out)
        return figures

    def groups(self, name: str = "groups.csv") -> set[tuple[str, ...]]:
        """Return the ids of each group in a file."""
        members = dict[str, list[str]]()
        for row in _rows(self._folder / name):
            members.setdefault(row["cluster"], []).append(row["id"])
        return {tuple(sorted(ids)) for ids in members.values()}


@pytest.fixture
def index(scout: Scout, tmp_path: Path, goods_csv: Path) -> Index:
    """Return calls of an index of the goods."""
    return Index(scout, tmp_path, goods_csv)


def _changes(figures: dict[str, Any]) -> tuple[int, ...]:
    """Return the records, then the new, changed, unchanged, dropped and unknown ones."""
    return (figures["records"], *figures["index"].values())


def test_an_index_replaces_a_record_of_the_same_id(index: Index, tmp_path: Path) -> None:
    """A changed record replaces the stored one; only pairs of new and changed records are written."""
    pairs = tmp_path / "pairs.csv"
    assert _changes(index.add(index.lines)) == (90, 90, 0, 0, 0, 0)
    # The same records in another file are as before, and their pairs known.
    figures = index.add(index.lines[:40], "--out", str(pairs))
    assert _changes(figures) == (90, 0, 0, 40, 0, 0)
    assert not _rows(pairs)
    changed = index.lines[1].replace("g1,", "g1,Brandnew ")
    copy = changed.replace("g1,", "x1,").upper().replace("X1,", "x1,")
    figures = index.add([changed, copy, index.lines[2]], "--out", str(pairs))
    assert _changes(figures) == (91, 1, 1, 1, 0, 0)
    assert ("g1", "x1") in {(row["left_id"], row["right_id"]) for row in _rows(pairs)}


def test_records_are_dropped_from_an_index(index: Index, tmp_path: Path) -> None:
    """Records that are gone are dropped by their ids, also those of the same file."""
    index.add(index.lines)
    gone = tmp_path / "gone.csv"
    gone.write_text("reason,id\nmoved,g0\n,g60 \n,g7\n,nobody\n")
    clusters = ("--clusters", str(tmp_path / "groups.csv"))
    result = index.call(index.write([]), "--drop", str(gone))
    assert "The index has 87 records: 0 new, 0 changed, 0 as before; 3 dropped." in result.out
    assert "1 id to drop: no such record" in result.err
    figures = index.add(index.lines[5:9], "--drop", str(gone), *clusters)
    assert _changes(figures) == (87, 0, 0, 3, 0, 3)
    dropped = index.groups()
    # The groups are those of an index that never had them.
    kept = [line for line in index.lines if line.split(",")[0] not in ("g0", "g60", "g7")]
    index.add(kept, *clusters, folder="other")
    assert dropped == index.groups()
    text = tmp_path / "gone.txt"
    text.write_text("g1\n\n g2\n")
    assert _changes(index.add([], "--drop", str(text))) == (85, 0, 0, 0, 2, 0)
    # A later file may bring a dropped record again.
    assert _changes(index.add(index.lines[:2])) == (87, 2, 0, 0, 0, 0)


def test_an_index_is_replaced_by_a_whole_table(index: Index) -> None:
    """With --replace records that the file lacks are dropped; a file without any is refused."""
    index.add(index.lines)
    assert _changes(index.add(index.lines[30:], "--replace")) == (60, 0, 0, 60, 30, 0)
    result = index.call(index.write([]), "--replace")
    assert "holds no record, the index would be empty" in result.error


@pytest.mark.parametrize(
    ("content", "arguments", "error"),
    [
        ("name\ng1\n", (), "no column 'id'; its columns are name"),
        ("id\ng1\ng2,x\n", (), "line 3 has 2 columns, the header has 1: no id can be read there"),
        ("id\ng1\n", ("--id", ""), "--drop: names records by their ids"),
    ],
)
def test_drops_that_are_refused(
    index: Index, tmp_path: Path, content: str, arguments: tuple[str, ...], error: str
) -> None:
    """A list of ids that cannot be read drops nothing."""
    index.add(index.lines[:20])
    gone = tmp_path / "gone.csv"
    gone.write_text(content)
    (tmp_path / "index" / "options.json").unlink()
    result = index.call(index.write([]), "--drop", str(gone), *arguments)
    assert (result.code, error in result.error) == (2, True)
    assert _changes(index.add(index.lines[:20])) == (20, 0, 0, 20, 0, 0)


def test_removals_need_an_index(scout: Scout, goods_csv: Path) -> None:
    """--drop and --replace are for a taught index only."""
    command = ("dedupe", str(goods_csv), "--id", "id", "--decide", "taught")
    assert "--replace: is for --index" in scout(*command, "--replace").error
    assert "--drop: is for --index" in scout(*command, "--drop", "gone.csv").error
    exact = scout("dedupe", str(goods_csv), "--key", "title", "--replace")
    assert "--replace: is for --decide taught" in exact.error


def test_an_index_begins_by_a_stored_model(
    index: Index, scout: Scout, goods_csv: Path, labels_csv: Path, tmp_path: Path
) -> None:
    """A new index takes a model as it is, with a classifier or without, and keeps it."""
    groups = ("--clusters", str(tmp_path / "groups.csv"))
    for number, labels in enumerate((("--labels", str(labels_csv)), ())):
        model = tmp_path / f"model{number}.json"
        command = ("dedupe", str(goods_csv), "--id", "id", "--decide", "taught")
        assert scout(*command, *labels, "--model", str(model)).code == 0
        assert scout(*command, "--model", str(model), *groups).code == 0
        expected = index.groups()
        folder = f"index{number}"
        given = ("--model", str(model))
        for lines, arguments in ((index.lines[:30], given), (index.lines[30:70], ()),
                                 (index.lines[70:], given)):  # fmt: skip
            figures = index.add(lines, *arguments, *groups, folder=folder)
        assert figures["records"] == 90
        assert index.groups() == expected
    result = index.call(index.write(index.lines), *given, folder="index0")
    assert (result.code, "has another model than" in result.error) == (2, True)
    result = index.call(index.write(index.lines), *given, "--labels", str(labels_csv))
    assert "learns a model of its own" in result.error
    result = index.call(index.write(index.lines), "--model", "absent.json", folder="new")
    assert "no such file; an index begins by a stored model" in result.error
    result = index.call(index.write(index.lines), *given, "--key", "title", folder="new")
    assert "which has the columns title, maker, price" in result.error


def test_an_index_stores_records_last(index: Index, tmp_path: Path) -> None:
    """A call whose files cannot be written stores nothing: repeated, it finds the same pairs."""
    index.add(index.lines[:50])
    path = index.write(index.lines[50:])
    for arguments in (("--out", "/nowhere/pairs.csv"), ("--explain", "g1,nobody")):
        assert index.call(path, *arguments).code != 0
    pairs = tmp_path / "pairs.csv"
    assert _changes(index.add(index.lines[50:], "--out", str(pairs))) == (90, 40, 0, 0, 0, 0)
    assert _rows(pairs)


def test_an_index_remembers_options(index: Index, scout: Scout, tmp_path: Path) -> None:
    """The column of ids and kinds of columns are those of earlier calls, unless others are given."""
    index.add(index.lines[:50], "--kind", "price=ignore", "--variants", "none")
    command = ("dedupe", str(index.write(index.lines[50:])), "--decide", "taught", "--json")
    result = scout(*command, "--index", str(tmp_path / "index"))
    figures = json.loads(result.out)
    assert figures["taught"]["kinds"]["price"] == "ignore"
    assert figures["taught"]["variants"] == []
    assert _changes(figures) == (90, 40, 0, 0, 0, 0)
    figures = index.add(index.lines[50:], "--kind", "price=number")
    assert figures["taught"]["kinds"]["price"] == "number"


def test_an_index_counts_rows_that_cannot_be_read(index: Index) -> None:
    """Unreadable rows and those without anything to compare are counted, of the new file."""
    figures = index.add([*index.lines[:20], "g99,a,b,c,d,e", "g98,,,"])
    assert (figures["records"], figures["bad"], figures["left_out"]) == (20, 1, 1)
    assert figures["reasons"] == ["day.csv, line 22 has 6 columns, the header has 4"]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (["1,mug", ",lamp", " ,vase"], "2 records have no id, line 3 first; leave out --id"),
        (["1,mug", "2,lamp", " 1 ,vase"], "'1' names several records, lines 2 and 4 first"),
    ],
)
def test_ids_that_name_no_record(scout: Scout, tmp_path: Path, rows: list[str], error: str) -> None:
    """Missing and repeated ids are refused with their lines."""
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,title", *rows]) + "\n")
    result = scout("dedupe", str(path), "--decide", "taught", "--id", "id")
    assert (result.code, error in result.error) == (2, True), result.error


def test_equal_records_of_a_table_without_others_are_pairs(scout: Scout, tmp_path: Path) -> None:
    """Two records that are all a table has are paired if they are equal."""
    path = tmp_path / "a.csv"
    path.write_text("id,name\n1,Anna Berg\n2,Anna Berg\n")
    result = scout("dedupe", str(path), "--decide", "taught", "--id", "id", "--json")
    assert json.loads(result.out)["pairs"] == 1


def test_equal_records_that_are_no_pairs_are_named(scout: Scout, tmp_path: Path) -> None:
    """Which of two equal records is the one partner cannot be told: both are kept apart, and named."""
    left, right = tmp_path / "a.csv", tmp_path / "b.csv"
    left.write_text("id,name\n1,Anna Berg\n2,Karl Otto\n")
    right.write_text("id,name\n3,Anna Berg\n4,Anna Berg\n5,Ole Ipsen\n")
    command = ("dedupe", str(left), "--right", str(right), "--decide", "taught", "--id", "id")
    result = scout(*command)
    assert "2 pairs of equal records kept apart, 1 and 3 first" in result.err
    assert json.loads(scout(*command, "--json").out)["taught"]["equal_apart"] == 2


def test_labels_that_do_not_count_are_said(scout: Scout, goods_csv: Path, labels_csv: Path) -> None:
    """Unreadable labels, those of a record with itself, and replaced ones are counted apart."""
    content = labels_csv.read_text().replace("left,right,label", "Left,Right,LABEL")
    labels_csv.write_text(content + "g0,g0,1\ng0\ng60,g0,no\ng0,g60,yes\ng5,nobody,1\ng3,g4,\n")
    command = ("dedupe", str(goods_csv), "--decide", "taught", "--id", "id")
    result = scout(*command, "--labels", str(labels_csv))
    assert "1 label left out: of a record with itself" in result.err
    assert "1 label left out: no such record" in result.err
    assert "1 label could not be read: labels.csv, line 43 has 1 columns" in result.err
    assert "2 labels replaced by another one of the same pair further below" in result.err
    figures = json.loads(scout(*command, "--labels", str(labels_csv), "--json").out)
    assert figures["taught"]["labels"] == 40


def test_answers_are_added_to_labels_of_other_programs(goods_csv: Path, tmp_path: Path) -> None:
    """A last line without a line feed is ended first; a file of other columns is refused."""
    labels = tmp_path / "answers.csv"
    command = label_command(tmp_path, goods_csv, labels)
    labels.write_text("left,right,label\ng0,g60,1\ng1,g2,0")
    # Back to the answer that was given last, in an earlier session.
    result = subprocess.run(command, check=False, input="b\ny\nq\n", capture_output=True, text=True)
    assert (result.returncode, "answered n, answer again" in result.stdout) == (0, True)
    assert [tuple(row.values()) for row in _rows(labels)] == [
        ("g0", "g60", "1"), ("g1", "g2", "0"), ("g1", "g2", "1"),
    ]  # fmt: skip
    labels.write_text("left;right;label\ng0;g60;1\n")
    result = subprocess.run(command, check=False, input="y\n", capture_output=True, text=True)
    assert result.returncode == 2
    assert "answers are added to a CSV whose first line is left,right,label" in result.stderr
