"""`scout dedupe`: the figures it prints, the files it writes, and the errors of options that do not fit."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from tests.scout.conftest import Scout

ROWS = """\
id,title,ean,tags
1,=Red mug 300 ml,,new
2,=Red mug 300ml,4006381333931,
3,Desk lamp,,
4,,,
"""


@pytest.fixture
def shop_csv(tmp_path: Path) -> Path:
    """Return a file of four rows: two similar, one without the key."""
    path = tmp_path / "offers.csv"
    path.write_text(ROWS)
    return path


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


@pytest.mark.parametrize("method", ["segments", "prefix-filter", "ladder"])
def test_files(scout: Scout, shop_csv: Path, tmp_path: Path, method: str) -> None:
    """Pairs, clusters and merged records are written; no text in them can run as a formula."""
    paths = [tmp_path / name for name in ("pairs.csv", "clusters.csv", "merged.csv")]
    arguments = (
        "--out",
        str(paths[0]),
        "--clusters",
        str(paths[1]),
        "--merged",
        str(paths[2]),
        "--json",
    )
    result = scout("dedupe", str(shop_csv), "--key", "title", "--method", method, *arguments)
    figures = json.loads(result.out)
    assert result.code == 0
    assert (figures["records"], figures["left_out"], figures["pairs"], figures["clusters"]) == (
        3,
        1,
        1,
        1,
    )
    assert {"candidates", "comparisons", "seconds", "levels"} <= figures.keys()
    (pair,) = _read(paths[0])
    assert (pair["left"], pair["right"], pair["left_text"]) == ("2", "3", "'=Red mug 300 ml")
    assert pair["reason"].endswith("edit distance 1")
    assert [row["line"] for row in _read(paths[1])] == ["2", "3"]
    merged = _read(paths[2])
    assert [row["id"] for row in merged] == ["3", "4", "1"]
    assert merged[-1]["ean"] == "4006381333931"
    assert json.loads(merged[-1]["sources"])["ean"] == ["offers.csv:3"]


@pytest.mark.parametrize(
    "method", ["exact", "prefix-filter", "segments", "minhash", "simhash", "ladder"]
)
def test_formats(scout: Scout, tmp_path: Path, method: str) -> None:
    """Every method finds the same in CSV, TSV, JSON Lines and Parquet, in one file and between two."""
    table = pl.DataFrame(
        {"title": ["Red mug, tall", "red mug, tall", "Desk lamp 😀"], "brand": ["Lumo", "Lumo", ""]}
    )
    table.write_csv(tmp_path / "a.csv")
    table.write_csv(tmp_path / "a.tsv", separator="\t")
    table.write_ndjson(tmp_path / "a.jsonl")
    table.write_parquet(tmp_path / "a.parquet")
    outputs = [str(tmp_path / name) for name in ("pairs.csv", "clusters.csv", "merged.jsonl")]
    for right, expected in (((), (3, 1, 2)), (("--right", str(tmp_path / "a.jsonl")), (6, 5, 2))):
        for file in (tmp_path / f"a.{suffix}" for suffix in ("csv", "tsv", "jsonl", "parquet")):
            arguments = (
                "--key",
                "title,brand",
                "--method",
                method,
                "--out",
                outputs[0],
                "--clusters",
                outputs[1],
            )
            result = scout(
                "dedupe", str(file), *arguments, "--merged", outputs[2], "--json", *right
            )
            figures = json.loads(result.out)
            assert (
                figures["records"],
                figures["pairs"],
                len(Path(outputs[2]).read_text().splitlines()),
            ) == expected
            assert len(_read(Path(outputs[0]))) == figures["pairs"]


def test_two_files(scout: Scout, shop_csv: Path, tmp_path: Path) -> None:
    """Between two files only pairs across are found; merged records name both files."""
    (tmp_path / "other.jsonl").write_text('{"title": "Desk lamp", "brand": "Lumo"}\n')
    arguments = (
        "--right",
        str(tmp_path / "other.jsonl"),
        "--key",
        "title",
        "--merged",
        str(tmp_path / "m.jsonl"),
        "--json",
    )
    result = scout("dedupe", str(shop_csv), *arguments)
    assert json.loads(result.out)["pairs"] == 1
    last = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[-1])
    assert last["values"] == {"id": "3", "title": "Desk lamp", "brand": "Lumo"}
    assert last["records"] == ["offers.csv:4", "other.jsonl:1"]
    assert last["sources"]["brand"] == ["other.jsonl:1"]


@pytest.mark.parametrize("decide", ["similarity", "taught"])
def test_columns_of_two_files_are_renamed(
    scout: Scout, shop_csv: Path, tmp_path: Path, decide: str
) -> None:
    """A file with other names of columns is read by those of the first, in all that is written."""
    (tmp_path / "other.csv").write_text("titel;marke\nDesk lamp;Lumo\nOak chest;Woody\n")
    merged = tmp_path / "m.jsonl"
    result = scout(
        "dedupe", str(shop_csv), "--right", str(tmp_path / "other.csv"), "--decide", decide,
        "--key", "title", "--rename", "titel=title", "--rename", "marke=brand",
        "--merged", str(merged), "--json",
    )  # fmt: skip
    assert json.loads(result.out)["pairs"] == 1
    last = json.loads(merged.read_text().splitlines()[-1])
    assert last["values"] == {"id": "3", "title": "Desk lamp", "brand": "Lumo"}


@pytest.mark.parametrize(
    ("renames", "error"),
    [
        ((), "the files share no column to compare; --rename"),
        (("tite=title",), "--rename tite=title: {other} has neither of these columns"),
        (("titel=marke",), "{other}, line 2: two columns would be called 'marke'"),
        (("titel",), "--rename titel: write COLUMN=NAME"),
    ],
)
def test_renames_that_are_refused(
    scout: Scout, shop_csv: Path, tmp_path: Path, renames: tuple[str, ...], error: str
) -> None:
    """A slip in a name is one clear error of usage."""
    other = tmp_path / "other.csv"
    other.write_text("titel;marke\nDesk lamp;Lumo\n")
    options = [argument for rename in renames for argument in ("--rename", rename)]
    result = scout("dedupe", str(shop_csv), "--right", str(other), "--decide", "taught", *options)
    assert result.code == 2
    assert error.format(other=other) in result.error


def test_age(scout: Scout, tmp_path: Path) -> None:
    """Of two records that differ in a simple field the older one's value is taken, by the --age column."""
    (tmp_path / "a.csv").write_text(
        "title,price,added\nRed mug,12,2024-03-01\nred mug,10,2021-01-31\nlamp,5,\n"
    )
    arguments = ("--key", "title", "--method", "exact", "--merged", str(tmp_path / "m.jsonl"))
    for extra, price in (((), "12"), (("--age", "added"), "10")):
        assert scout("dedupe", str(tmp_path / "a.csv"), *arguments, *extra).code == 0
        last = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[-1])
        assert (last["values"]["price"], last["sources"]["price"]) == (
            price,
            [f"a.csv:{2 if price == '12' else 3}"],
        )
    assert (
        "--age size: no record has such a column"
        in scout("dedupe", str(tmp_path / "a.csv"), *arguments, "--age", "size").err
    )


@pytest.mark.parametrize("extra", [(), ("--prefer", "oldest")])
def test_age_in_any_form_of_dates(scout: Scout, tmp_path: Path, extra: tuple[str, ...]) -> None:
    """Dates are compared as dates, however they are written; other texts are younger than all."""
    (tmp_path / "a.csv").write_text(
        "title;price;added\nRed mug;1;\nred mug;2;n/a\nred mug;3;1.2.2021\n"
        "red mug;4;15. Dez. 2019\nred mug;5;2020-01-31\n"
    )
    merged = tmp_path / "m.jsonl"
    arguments = ("--key", "title", "--method", "exact", "--merged", str(merged), "--age", "added")
    assert scout("dedupe", str(tmp_path / "a.csv"), *arguments, *extra).code == 0
    record = json.loads(merged.read_text())
    assert record["values"]["price"] == "4"
    assert record["records"] == [f"a.csv:{line}" for line in (5, 6, 4, 3, 2)]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--out", "a.csv"), "is the file of FILE, too"),
        (("--out", "b.csv", "--right", "b.csv"), "is the file of --right, too"),
        (("--out", "x.csv", "--merged", "./x.csv"), "is the file of --out, too"),
    ],
)
def test_no_file_is_overwritten(
    scout: Scout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...], error: str,
) -> None:  # fmt: skip
    """A file that is read, or written already, is refused as one to write."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("title\nmug\nMug\n")
    result = scout("dedupe", "a.csv", "--key", "title", *options)
    assert (result.code, error in result.error) == (2, True)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_levels(scout: Scout, tmp_path: Path) -> None:
    """The prefix filter reports its candidates and comparisons level by level."""
    (tmp_path / "a.txt").write_text("".join(f"street {n % 7} house {n}\n" for n in range(60)))
    result = scout(
        "dedupe", str(tmp_path / "a.txt"), "--method", "prefix-filter", "--levels", "3", "--json"
    )
    figures = json.loads(result.out)
    assert [level["level"] for level in figures["levels"]] == [1, 2, 3]
    assert figures["comparisons"] == figures["levels"][-1]["comparisons"]
    table = scout(
        "dedupe", str(tmp_path / "a.txt"), "--method", "prefix-filter", "--levels", "3"
    ).out
    assert "candidates" in table


@pytest.mark.parametrize("option", ["--store", "--memory"])
def test_on_disk(scout: Scout, tmp_path: Path, option: str) -> None:
    """Equal records are found by fingerprints on disk, and written with the first of them."""
    pytest.importorskip("lmdb" if option == "--store" else "duckdb")
    (tmp_path / "a.txt").write_text("Red mug\nlamp\nred  MUG\n")
    value = str(tmp_path / "prints") if option == "--store" else "200MB"
    arguments = ("--method", "exact", option, value, "--out", str(tmp_path / "pairs.csv"), "--json")
    assert json.loads(scout("dedupe", str(tmp_path / "a.txt"), *arguments).out)["pairs"] == 1
    (pair,) = _read(tmp_path / "pairs.csv")
    assert (pair["left"][-2:], pair["right"][-2:]) == (":1", ":3")


@pytest.mark.parametrize("option", ["--store", "--memory"])
def test_a_column_named_line_on_disk(scout: Scout, tmp_path: Path, option: str) -> None:
    """A key column named `line` is one like any other: rows without it have nothing to compare."""
    pytest.importorskip("lmdb" if option == "--store" else "duckdb")
    (tmp_path / "a.csv").write_text("id,line\n1,Red mug\n2,\n3,\n4,red mug\n")
    (tmp_path / "b.csv").write_text("id,title\n1,Red mug\n")
    value = str(tmp_path / "prints") if option == "--store" else "200MB"
    arguments = ("--key", "line", "--method", "exact", option, value, "--json")
    assert json.loads(scout("dedupe", str(tmp_path / "a.csv"), *arguments).out)["pairs"] == 1
    assert "no column 'line'" in scout("dedupe", str(tmp_path / "b.csv"), *arguments).error


DISK_OPTIONS = [("--store", "exact"), ("--memory", "exact"), ("--index", "minhash")]
SKIPPED_ROWS = [
    ("a.csv", "id,title\n1,mug\n2,\n3, \n4,lamp\n5,vase,blue\n", (2, 2, 1)),
    ("a.jsonl", '{"title": "mug"}\n{"title": \n{"title": ""}\n{"title": "lamp"}\n', (2, 1, 1)),
    ("a.txt", "mug\n\nlamp\n", (3, 0, 0)),
]


@pytest.mark.parametrize(("option", "method"), DISK_OPTIONS)
@pytest.mark.parametrize(
    ("name", "content", "expected"), SKIPPED_ROWS, ids=[name for name, *_ in SKIPPED_ROWS]
)
def test_rows_that_are_no_records_are_counted_on_disk(
    scout: Scout,
    tmp_path: Path,
    option: str,
    method: str,
    name: str,
    content: str,
    expected: tuple[int, int, int],
) -> None:
    """Rows without a key and unreadable ones are counted as they are in memory, and printed."""
    if option != "--index":
        pytest.importorskip("lmdb" if option == "--store" else "duckdb")
    (tmp_path / name).write_text(content)
    # In lower case, which DuckDB reads too.
    value = "200mb" if option == "--memory" else str(tmp_path / "stored")
    arguments = ("dedupe", str(tmp_path / name), "--key", "title", "--method", method)
    for further in ((), (option, value)):
        figures = json.loads(scout(*arguments, *further, "--json").out)
        assert (figures["records"], figures["left_out"], figures["bad"]) == expected
    _, left_out, bad = expected
    note = f"{left_out} records without a key were left out, {bad} could not be read"
    assert (note in scout(*arguments, option, value).out) == (left_out + bad > 0)


def test_index(scout: Scout, tmp_path: Path) -> None:
    """An index persists over calls; a repeated call finds the same pairs, and adds no record."""
    (tmp_path / "a.txt").write_text("Red mug\nlamp\nmug red\n")
    (tmp_path / "b.csv").write_text("title\nthe lamp\nLAMP\n")
    arguments = (
        "--method",
        "minhash",
        "--index",
        str(tmp_path / "index"),
        "--out",
        str(tmp_path / "pairs.csv"),
        "--json",
    )
    for _ in range(2):
        figures = json.loads(scout("dedupe", str(tmp_path / "a.txt"), *arguments).out)
        assert (figures["records"], figures["stored"], figures["pairs"]) == (3, 3, 1)
        (pair,) = _read(tmp_path / "pairs.csv")
        assert (pair["left"][-8:], pair["right"][-8:], pair["similarity"]) == (
            "/a.txt:1",
            "/a.txt:3",
            "1.0",
        )
    figures = json.loads(scout("dedupe", str(tmp_path / "b.csv"), "--key", "title", *arguments).out)
    assert (figures["records"], figures["stored"], figures["pairs"]) == (2, 5, 1)
    (pair,) = _read(tmp_path / "pairs.csv")
    assert (pair["left"][-8:], pair["right"][-8:]) == ("/a.txt:2", "/b.csv:3")
    refused = scout("dedupe", str(tmp_path / "a.txt"), *arguments, "--shingles", "characters")
    assert refused.error.startswith(f"{tmp_path / 'index'} is an index of other settings")
    assert scout("dedupe", str(tmp_path / "b.csv"), "--key", "name", *arguments).error.endswith(
        "its columns are title"
    )


def test_chain_levels(scout: Scout, tmp_path: Path) -> None:
    """The levels of a chain carry the name of their method, in JSON and in the table."""
    (tmp_path / "a.txt").write_text("Red mug\nred mug\nred mugs\n")
    figures = json.loads(scout("dedupe", str(tmp_path / "a.txt"), "--json").out)
    assert [level["method"] for level in figures["levels"]] == ["exact", "segments", "minhash"]
    assert "method" in scout("dedupe", str(tmp_path / "a.txt")).out


def test_simhash(scout: Scout, tmp_path: Path) -> None:
    """Bits, parts, and the number of parts that must agree are set by options."""
    (tmp_path / "a.csv").write_text(
        "title,author\nsyntax of things,A Ivanova\nthings of syntax,Ivanova A\nnorth,B\n"
    )
    arguments = ("--key", "title,author", "--method", "simhash", "--threshold", "0.5", "--json")
    for extra in ((), ("--bits", "32"), ("--bits", "32", "--parts", "8", "--agree", "3")):
        assert (
            json.loads(scout("dedupe", str(tmp_path / "a.csv"), *arguments, *extra).out)["pairs"]
            == 1
        )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ("--method", "segments", "--similarity", "cosine"),
            "--similarity cosine: --method segments has edit",
        ),
        (
            ("--method", "minhash", "--levels", "3"),
            "--levels: is of --method prefix-filter, not of --method minhash",
        ),
        (("--threshold", "0"), "threshold 0.0: must be above 0 and at most 1"),
        (
            ("--store", "x"),
            "--store needs --method exact and cannot be combined with --right",
        ),
        (
            ("--method", "exact", "--store", "x", "--memory", "1GB"),
            "--store and --memory: only one of them",
        ),
        (
            ("--method", "minhash", "--index", "x", "--merged", "y"),
            "--clusters and --merged: need all records at once",
        ),
        (("--method", "simhash", "--bits", "48"), "--bits 48: hashes have 32 or 64"),
        (
            ("--method", "simhash", "--agree", "5"),
            "--parts 4, --agree 5: 64 bits must fall into equal parts",
        ),
        (("--method", "minhash", "--recall", "1"), "--recall 1.0: must be above 0 and below 1"),
        (("--method", "embeddings"), "--method embeddings: name a model by --model NAME_OR_FOLDER"),
        (("--method", "exact", "--memory", "much"), "--memory much: a size such as 500MB"),
        (
            ("--method", "simhash", "--engine", "spark"),
            "--engine spark: has --method exact, segments, minhash, and ladder",
        ),
        (
            ("--method", "minhash", "--index", "x", "--engine", "spark"),
            "--engine spark: not with --index",
        ),
        (
            ("--decide", "taught", "--method", "simhash", "--engine", "spark"),
            "--engine spark: has --method exact, segments, minhash, and ladder",
        ),
        (
            ("--decide", "taught", "--index", "x", "--engine", "spark"),
            "--engine spark: not with --index",
        ),
        (("--master", "local[2]"), "--master: names the master of --engine spark"),
        (
            ("--out", "/nowhere/pairs.csv"),
            "/nowhere/pairs.csv cannot be written: /nowhere is no folder",
        ),
        (("--merged", "/nowhere/m.csv"), "/nowhere/m.csv cannot be written: /nowhere is no folder"),
        (
            ("--decide", "taught", "--model", "/nowhere/m.json"),
            "/nowhere/m.json cannot be written: /nowhere is no folder",
        ),
    ],
)
def test_refused(scout: Scout, tmp_path: Path, arguments: tuple[str, ...], error: str) -> None:
    """Options that do not fit are refused in one line."""
    (tmp_path / "a.txt").write_text("a\nb\n")
    result = scout("dedupe", str(tmp_path / "a.txt"), *arguments)
    assert result.code in (1, 2)
    assert result.error.startswith(error)
