"""Records from files: the same from every format, and errors that name a missing column or file."""

import csv
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds.rows import Row
from matcher.dedupe.base.records import load_records, read_rows

ROWS = [
    {"id": "1", "title": "Red mug", "brand": "Lumo"},
    {"id": "2", "title": "Blue, mug", "brand": ""},
]


def _csv(path: Path) -> Path:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(
            file, ["id", "title", "brand"], delimiter="\t" if path.suffix == ".tsv" else ","
        )
        table.writeheader()
        table.writerows(ROWS)
    return path


def _jsonl(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def _parquet(path: Path) -> Path:
    pl.DataFrame(ROWS).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.csv", _csv), ("a.tsv", _csv), ("a.jsonl", _jsonl), ("a.parquet", _parquet)],
)
def test_formats(tmp_path: Path, name: str, write: Callable[[Path], Path]) -> None:
    """CSV, TSV, JSON Lines and Parquet give the same records, compressed by xz too."""
    path = write(tmp_path / name)
    records = load_records(path, ["title", "brand"])
    assert [*records.texts] == ["Red mug Lumo", "Blue, mug"]
    assert [[*column] for column in records.fields] == [["Red mug", "Blue, mug"], ["Lumo", ""]]
    compressed = tmp_path / f"{name}.xz"
    compressed.write_bytes(lzma.compress(path.read_bytes()))
    again = load_records(compressed, ["title", "brand"])
    assert [[*column] for column in again.fields] == [[*column] for column in records.fields]
    assert again.lines == records.lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\n\n b \n", ["a", "", " b "]),
        ("a\r\nb", ["a", "b"]),
        ("a\u2028b\x0cc\n", ["a\u2028b\x0cc"]),
        ("", []),
    ],
)
def test_lines(tmp_path: Path, text: str, lines: list[str]) -> None:
    """A line of a text file is an unchanged record: only a line feed ends it."""
    (tmp_path / "a.txt").write_bytes(text.encode())
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert (
        [*load_records(tmp_path / "a.txt").texts]
        == [*load_records(tmp_path / "b.txt.gz").texts]
        == lines
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1251", "utf-16", "utf-16-le", "utf-32-le"])
def test_lines_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    """Lines are read in the encoding that the file shows, as tables are."""
    lines = ["Анна Иванова", "улица Гоголя", "Москва"] * 3
    (tmp_path / "a.txt").write_bytes("\r\n".join(lines).encode(encoding))
    assert [*load_records(tmp_path / "a.txt").texts] == lines


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    """Such a line is no record, and counted with its reason; later lines keep their numbers."""
    (tmp_path / "a.txt").write_text(f"mug\n{'x' * 2_500_000}\n{'y' * 1_000_000}\nlamp\n")
    records = load_records(tmp_path / "a.txt")
    assert ([*records.lines], records.bad) == ([1, 3, 4], 1)
    assert records.reasons == ("a.txt, line 2 is longer than 1,000,000 characters",)


def test_columns_of_one_name(tmp_path: Path) -> None:
    """A second column of a name is one of its own, and that is said."""
    (tmp_path / "a.csv").write_text("name,name,town\nAnna,Berg,Ulm\n")
    records = load_records(tmp_path / "a.csv", ["name", "name_2"])
    assert [[*column] for column in records.fields] == [["Anna"], ["Berg"]]
    assert records.notes == ("column 2 is called name_2: an earlier one is called name",)


def test_renamed_columns(tmp_path: Path) -> None:
    """Columns are read under their new names, in their order; two of one name are refused."""
    (tmp_path / "a.csv").write_text("nr,titel,preis\n1,Mug,5\n")
    [row] = read_rows(
        tmp_path / "a.csv", new_names={"titel": "title", "nr": "preis", "preis": "nr"}
    )
    assert isinstance(row, Row)
    assert [*row.texts.items()] == [("preis", ["1"]), ("title", ["Mug"]), ("nr", ["5"])]
    with pytest.raises(UsageError, match=r"a\.csv, line 2: two columns would be called 'preis'"):
        load_records(tmp_path / "a.csv", ["preis"], new_names={"titel": "preis"})


def test_left_out(tmp_path: Path) -> None:
    """Rows whose keys are all empty are left out and counted; unreadable rows are counted too."""
    (tmp_path / "a.csv").write_text("id,ean\n1,40\n2,\n3,41,x\n")
    records = load_records(tmp_path / "a.csv", ["ean"])
    assert ([*records.texts], [*records.lines]) == (["40"], [2])
    assert (records.left_out, records.bad) == (1, 1)


def test_missing(tmp_path: Path) -> None:
    """A missing column or file is named, with the columns that exist."""
    _csv(tmp_path / "a.csv")
    with pytest.raises(UsageError, match="no column 'ean'; its columns are brand, id, title"):
        load_records(tmp_path / "a.csv", ["ean"])
    with pytest.raises(UsageError, match="--key"):
        load_records(tmp_path / "a.csv")
    with pytest.raises(UnreadableFeed, match=r"b\.txt cannot be read: No such file"):
        load_records(tmp_path / "b.txt")
    (tmp_path / "d.csv").write_text("id,title\n")
    (tmp_path / "d.jsonl").write_text("")
    for name, error in (("d.csv", "holds no record that can be read"), ("d.jsonl", "is empty")):
        with pytest.raises(UnreadableFeed, match=error):
            load_records(tmp_path / name, ["title"])
    (tmp_path / "c.txt.xz").write_bytes(b"no xz")
    with pytest.raises(UnreadableFeed, match=r"c\.txt\.xz cannot be read"):
        load_records(tmp_path / "c.txt.xz")
