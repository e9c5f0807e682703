"""Readers: rows out of files of every format, and the rows that cannot be read."""

import csv
import gzip
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.errors import UnreadableFeed
from catalog.feeds import files
from catalog.feeds.formats import delimited, jsonlines, parquet
from catalog.feeds.formats.xml import google_merchant
from catalog.feeds.rows import Row, UnreadableRow


def rows_of(path: Path, notes: list[str] | None = None) -> list[Row | UnreadableRow]:
    """All rows, by the format that the file shows."""
    format = files.detect_format(path)
    if format == "google-xml":
        return list(google_merchant.read(path, (notes if notes is not None else []).append))
    readers: dict[str, Any] = {"jsonl": jsonlines.read, "parquet": parquet.read}
    return list(readers.get(format, delimited.read)(path))


def texts_of(path: Path) -> list[dict[str, list[str]]]:
    """The texts of all rows that could be read."""
    return [row.texts for row in rows_of(path) if isinstance(row, Row)]


def bad_of(path: Path) -> list[tuple[int, str]]:
    """Line and reason of all rows that could not."""
    return [(row.line, row.reason) for row in rows_of(path) if isinstance(row, UnreadableRow)]


# Encodings that the first bytes of a file show, and UTF-8.
UNICODE_ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
)


@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("encoding", [*UNICODE_ENCODINGS, "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimiters_and_encodings(
    tmp_path: Path, delimiter: str, encoding: str, packed: bool
) -> None:
    """Delimiter, encoding and gzip are told from the content."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(
        [
            ["id", "Titel", "Preis"],
            ["1", 'Möbel, "grün"; groß | neu', "1.299,00 €"],
            ["2", "zwei\nZeilen", "5"],
        ]
    )
    content = stream.getvalue().encode(encoding)
    path = tmp_path / "feed"
    path.write_bytes(gzip.compress(content) if packed else content)
    assert texts_of(path) == [
        {"id": ["1"], "Titel": ['Möbel, "grün"; groß | neu'], "Preis": ["1.299,00 €"]},
        {"id": ["2"], "Titel": ["zwei\nZeilen"], "Preis": ["5"]},
    ]


@pytest.mark.parametrize(
    ("encoding", "titles"),
    [
        ("cp1252", ["Gerät für Küche", "Crème brûlée", "Größe 12 €", "Señal", "È così"]),
        ("iso-8859-15", ["Gerät für Küche 1299 €", "€ 12 Crème brûlée", "Œuvre à 5 €"]),
        ("cp1250", ["Żółta łódka", "Kuchyňský nůž", "Książka dla dzieci", "Čistič oken"]),
        ("cp1251", ["Настольная лампа", "Красный стул", "Кухонный нож"]),
        ("shift_jis", ["テーブルランプ", "赤い椅子", "キッチンナイフ"]),
    ],
)
def test_older_encodings(tmp_path: Path, encoding: str, titles: list[str]) -> None:
    """Feeds of older encodings come out in their own letters."""
    path = tmp_path / "feed.csv"
    path.write_bytes(
        "\n".join(["id,title", *(f"{n},{title}" for n, title in enumerate(titles * 5))]).encode(
            encoding
        )
    )
    assert [texts["title"][0] for texts in texts_of(path)] == titles * 5


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_encodings_of_zeros_without_letters_of_ascii(tmp_path: Path, encoding: str) -> None:
    """A header in letters of two bytes hides the zeros of UTF-16 from the first bytes only."""
    path = tmp_path / "feed.csv"
    path.write_bytes("имя;город\nАнна;Москва\n".encode(encoding))
    assert texts_of(path) == [{"имя": ["Анна"], "город": ["Москва"]}]


def test_a_stray_zero_is_no_utf16(tmp_path: Path) -> None:
    """UTF-8 with zeros in it stays UTF-8; the zeros are left out."""
    path = tmp_path / "feed.csv"
    path.write_bytes(("id,title\n" + "1,Möbel\n" * 20).encode() + b"2,a\x00b\x00\x00c\n")
    assert texts_of(path)[-1] == {"id": ["2"], "title": ["abc"]}


@pytest.mark.parametrize("rows_before", [0, 60])
def test_a_cell_that_is_too_long(tmp_path: Path, rows_before: int) -> None:
    """Such a cell costs its row, with the reason, also among the first lines of a file."""
    path = tmp_path / "feed.csv"
    path.write_text("id,title\n" + "1,mug\n" * rows_before + f'2,"{"x" * 1_100_000}"\n3,lamp\n')
    assert bad_of(path) == [(rows_before + 2, "has a cell of more than 1,000,000 characters")]
    assert texts_of(path)[-1] == {"id": ["3"], "title": ["lamp"]}


def test_a_cell_of_many_lines(tmp_path: Path) -> None:
    """A record may have a thousand lines; of a longer one the reason is said."""
    path = tmp_path / "feed.csv"
    path.write_text('id,title\n1,"' + "line\n" * 1_100 + '"\n2,lamp\n')
    reason = "has a quote that is not closed, or a cell of more than 1,000 lines"
    assert bad_of(path)[0] == (2, reason)
    assert texts_of(path) == [{"id": ["2"], "title": ["lamp"]}]


def test_columns_of_one_name(tmp_path: Path) -> None:
    """They are one column of several texts, or get names of their own with a notice."""
    path = tmp_path / "feed.csv"
    path.write_text("id,image,image,\n1,a,b,\n")
    assert texts_of(path) == [{"id": ["1"], "image": ["a", "b"], "": []}]
    notices: list[str] = []
    [row] = delimited.read(path, renaming=notices.append)
    assert isinstance(row, Row)
    assert row.texts == {"id": ["1"], "image": ["a"], "image_2": ["b"], "column 4": []}
    assert notices == ["column 3 is called image_2: an earlier one is called image"]


def test_one_broken_byte_does_not_change_the_encoding(tmp_path: Path) -> None:
    """A broken byte among UTF-8 lines costs its letter, not the letters of all others."""
    path = tmp_path / "feed.csv"
    path.write_bytes(b"id,title\n" + "1,Möbel\n".encode() * 20 + b"2,M\xf6bel\n")
    result = [texts["title"][0] for texts in texts_of(path)]
    assert result == ["Möbel"] * 20 + ["M\ufffdbel"]


@pytest.mark.parametrize("cell", ['="0012345678905"', '"=""0012345678905"""'])
def test_excel_keeps_digits_as_text(tmp_path: Path, cell: str) -> None:
    """A cell that Excel wrote as a formula of one text is that text."""
    path = tmp_path / "feed.csv"
    path.write_text(f'id,title,ean\n1,27" wide,{cell}\n')
    assert texts_of(path) == [{"id": ["1"], "title": ['27" wide'], "ean": ["0012345678905"]}]


def test_excel_names_its_separator(tmp_path: Path) -> None:
    """A first line `sep=;` is the separator, not the header."""
    path = tmp_path / "feed.csv"
    path.write_text("sep=;\nid;title\n1;a,b,c\n")
    assert rows_of(path) == [Row(3, {"id": ["1"], "title": ["a,b,c"]}, "1;a,b,c\n")]


def test_bad_lines_keep_their_number(tmp_path: Path) -> None:
    """Lines with other numbers of columns are told with line and reason; blank ones do not
    count.
    """
    path = tmp_path / "feed.csv"
    path.write_text('id,title\n1,a\n\n2\n3,b,c\n4,"two\nlines"\n5,e,,\n6,f\n')
    assert bad_of(path) == [
        (4, "has 1 columns, the header has 2"),
        (5, "has 3 columns, the header has 2"),
    ]
    assert [row.line for row in rows_of(path) if isinstance(row, Row)] == [2, 6, 8, 9]


def test_open_quote_costs_its_own_line(tmp_path: Path) -> None:
    """A quote that is never closed does not swallow the lines behind it."""
    path = tmp_path / "feed.csv"
    path.write_text('id,title\n1,a\n2,"b\n3,c\n4,"d\nd"\n5,"e\n6,f\n')
    assert bad_of(path) == [
        (3, "has a quote that is not closed"),
        (7, "has a quote that is not closed"),
    ]
    assert [texts["id"] for texts in texts_of(path)] == [["1"], ["3"], ["4"], ["6"]]


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        (['"1","Pipe 3/4\\" steel","x"', '"2","Bolt"," y"'], ['Pipe 3/4" steel', "Bolt"]),
        (['"1","Pipe 3/4\\", steel","x"', '"2","Bolt",""'], ['Pipe 3/4", steel', "Bolt"]),
        (['"1","3/4\\"","x"', '"2","4\\"","x"'], ['3/4"', '4"']),
        (['"1","\\"Best\\" bolt","x"', '"2","6"" nail","x"'], ['"Best" bolt', '6" nail']),
        (['"1","a ""b"" \\"c\\"","x"'], ['a "b" "c"']),
        (['"1","Pipe 3/4\\"\nlong","x"', "2,Bolt,x"], ['Pipe 3/4"\nlong', "Bolt"]),
        (['"1","Pipe\n3/4\\", long","x"', "2,Bolt,x"], ['Pipe\n3/4", long', "Bolt"]),
        (['"1","C:\\","x"', '"2","D:\\","\\"'], ["C:\\", "D:\\"]),
        (['"1","3/4\\" pipe","x"', '"2","C:\\","x"'], ['3/4" pipe', "C:\\"]),
        (['"1","C:\\temp","\\n"', '"2","3/4\\" \\d","x"'], ["C:\\temp", '3/4" \\d']),
        (['"1","a \\\\","x"', '"2","b\\\\\\" c","x"'], ["a \\\\", 'b\\" c']),
        (['1,3/4\\" pipe,x', '2,"b",x'], ['3/4\\" pipe', "b"]),
    ],
)
@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_quotes_escaped_by_a_backslash(
    tmp_path: Path, lines: list[str], titles: list[str], delimiter: str
) -> None:
    """A quote behind a backslash is one of the text where the record then has the header's
    width.
    """
    path = tmp_path / "feed.csv"
    content = "\n".join(["id,title,brand", *lines])
    # A comma within a text stands before a space.
    path.write_text(re.sub(r",(?! )", lambda _: delimiter, content))
    assert bad_of(path) == []
    assert [texts["title"][0] for texts in texts_of(path)] == titles


def test_open_quote_behind_an_escaped_one(tmp_path: Path) -> None:
    """A record that is sound in neither way costs its own line."""
    path = tmp_path / "feed.csv"
    path.write_text(
        'id,title,brand\n1,"3/4\\" pipe","x"\n2,"3/4\\" pipe,x\n3,"b","c"\n4,"d\\"","e"\n'
    )
    assert bad_of(path) == [(3, "has a quote that is not closed")]
    assert [texts["id"][0] for texts in texts_of(path)] == ["1", "3", "4"]


def test_overlong_lines(tmp_path: Path) -> None:
    """A line beyond every measure is a bad row, and the next line is read."""
    path = tmp_path / "feed.csv"
    path.write_text("id,title\n1," + "x" * (2 * files.MAX_LINE_LENGTH) + "\n2,b\n")
    assert bad_of(path)[0][0] == 2
    assert texts_of(path)[-1] == {"id": ["2"], "title": ["b"]}


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            *[
                st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=12).map(
                    str.strip
                )
            ]
            * 3
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;\t|"),
)
def test_written_csv_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, ...]], delimiter: str
) -> None:
    """Cells that a CSV writer quotes are read back."""
    path = tmp_path_factory.mktemp("csv") / "feed.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(
            [("id", "title", "price"), *[("x", *row[1:]) for row in cells]]
        )
    got = [
        tuple((texts[name] or [""])[0] for name in ("id", "title", "price"))
        for texts in texts_of(path)
    ]
    assert got == [("x", *row[1:]) for row in cells]


def test_json_lines(tmp_path: Path) -> None:
    """Each line is an object; others are bad rows with their line; numbers keep their digits."""
    path = tmp_path / "feed.jsonl"
    path.write_text(
        '{"id": 1, "price": 1.299, "ok": true, "x": null}\n\nnonsense\n[1]\n{"images": [{"src": "a"}]}\n'
        + "[" * 100_000
    )
    assert texts_of(path) == [
        {"id": ["1"], "price": ["1.2990"], "ok": ["true"]},
        {"images.src": ["a"]},
    ]
    assert [line for line, _ in bad_of(path)] == [3, 4, 6]
    assert [reason.partition(":")[0] for _, reason in bad_of(path)] == [
        "is no JSON",
        "is no JSON object",
        "is no JSON",
    ]


@pytest.mark.parametrize(
    "shape",
    ['[{"id": 1}, 7]', '{"data": {"items": [{"id": 1}, 7]}}', '\n {\n "offers": [{"id": 1}, 7]}'],
)
def test_json_lists(tmp_path: Path, shape: str) -> None:
    """One list of offers, bare or in an object, is a feed too."""
    path = tmp_path / "feed.json"
    path.write_text(shape)
    assert texts_of(path) == [{"id": ["1"]}]
    assert bad_of(path) == [(2, "is no JSON object")]


@pytest.mark.parametrize("content", ["[1, 2", '{\n"shop": {}\n}', "[" * 200_000])
def test_json_that_is_no_feed(tmp_path: Path, content: str) -> None:
    """JSON that is broken as a whole, or without a list, is refused in one line."""
    path = tmp_path / "feed.json"
    path.write_text(content)
    with pytest.raises(UnreadableFeed, match=r"feed.json (is no JSON|holds no list of offers)"):
        rows_of(path)


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ('{"id":\n{"id": 2}\n{"id": 3}\n', ["2", "3"]),
        ('{"offers": [\n{"id": 1},\n{"id": 2}\n]}', ["1", "2"]),
        ('{"id": 1, "data": [1, 2]}\n{"id": 2}', ["1", "2"]),
    ],
)
def test_json_lines_or_one_value(tmp_path: Path, content: str, ids: list[str]) -> None:
    """A broken first line does not turn lines into one value, nor a line-wise layout one value into
    lines.
    """
    path = tmp_path / "feed.json"
    path.write_text(content)
    assert [texts["id"][0] for texts in texts_of(path)] == ids


def test_parquet(tmp_path: Path) -> None:
    """Numbers, lists and structures of a Parquet file become texts that read plainly."""
    path = tmp_path / "feed.parquet"
    frame = {
        "id": [1, 2],
        "ean": [4006381333931.0, None],
        "price": [1.299, 12.5],
        "amount": [Decimal("9.90"), None],
        "images": [["a", "b"], []],
        "brand": [{"name": "Lumo"}, None],
    }
    pl.DataFrame(frame).write_parquet(path)
    assert texts_of(path) == [
        {
            "id": ["1"],
            "ean": ["4006381333931"],
            "price": ["1.2990"],
            "amount": ["9.90"],
            "images": ["a", "b"],
            "brand.name": ["Lumo"],
        },
        {"id": ["2"], "price": ["12.5"]},
    ]


def test_broken_parquet(tmp_path: Path) -> None:
    """A damaged Parquet file is refused."""
    path = tmp_path / "feed.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UnreadableFeed, match="no Parquet file"):
        rows_of(path)


RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title><link>https://shop.example</link>
<item><g:id>1</g:id><title>Lamp &amp; Shade</title><link>https://shop.example/1</link><g:price>12.00 EUR</g:price>
<description><![CDATA[<p>Light.</p>]]></description><g:image_link>https://c.example/1.jpg</g:image_link>
<g:additional_image_link>https://c.example/2.jpg</g:additional_image_link>
<g:additional_image_link>https://c.example/3.jpg</g:additional_image_link>
<g:shipping><g:price>5.00 EUR</g:price></g:shipping></item>
<item><g:id>2</g:id><title>Table</title></item></channel></rss>"""


def test_google_rss(tmp_path: Path) -> None:
    """An RSS feed's items become rows; the shipping's price is not the offer's."""
    path = tmp_path / "feed.xml"
    path.write_text(RSS)
    first, second = texts_of(path)
    assert first == {
        "id": ["1"],
        "title": ["Lamp & Shade"],
        "link": ["https://shop.example/1"],
        "price": ["12.00 EUR"],
        "description": ["<p>Light.</p>"],
        "image_link": ["https://c.example/1.jpg"],
        "additional_image_link": ["https://c.example/2.jpg", "https://c.example/3.jpg"],
        "shipping.price": ["5.00 EUR"],
    }
    assert second == {"id": ["2"], "title": ["Table"]}
    assert [row.line for row in rows_of(path)] == [3, 8]


def test_google_atom_and_plain_lists(tmp_path: Path) -> None:
    """Atom's link is in an attribute; a plain list's product may keep its id in one."""
    path = tmp_path / "feed.xml"
    path.write_text(
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><title>Shop</title><entry>'
        '<g:id>1</g:id><title>Lamp</title><link rel="self" href="https://x.example"/><link href="https://shop.example/1"/></entry></feed>'
    )
    assert texts_of(path) == [{"id": ["1"], "title": ["Lamp"], "link": ["https://shop.example/1"]}]
    path.write_text(
        '<products><product id="7"><name>Lamp</name><offer><price>3</price></offer></product></products>'
    )
    assert texts_of(path) == [{"id": ["7"], "name": ["Lamp"], "offer.price": ["3"]}]


def test_xml_is_repaired_and_told(tmp_path: Path) -> None:
    """An undefined entity or a bare ampersand costs no item, and is told."""
    path, notes = tmp_path / "feed.xml", list[str]()
    path.write_text(RSS.replace("Lamp &amp; Shade", "Lamp&nbsp;& Shade"))
    assert len(rows_of(path, notes)) == 2
    assert notes == ["XML repaired: a bare &", "XML repaired: the reference &nbsp; is not of XML"]


def test_xml_cut_short(tmp_path: Path) -> None:
    """A feed that ends in its middle is refused: it would look as if the catalog had lost the
    rest.
    """
    path = tmp_path / "feed.xml"
    path.write_text(RSS[:-60])
    with pytest.raises(UnreadableFeed, match="is cut short at line"):
        rows_of(path)


@pytest.mark.parametrize("encoding", UNICODE_ENCODINGS)
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("feed", RSS, "google-xml"),
        ("feed", '{"id": "1"}\n', "jsonl"),
        ("feed.tsv", '\n [{"id": "1"}]', "jsonl"),
        ("feed.tsv", "id\ttitle\n", "tsv"),
        ("feed", "id,title\n", "csv"),
    ],
)
def test_formats_are_detected_in_every_unicode_encoding(
    tmp_path: Path, name: str, content: str, expected: str, encoding: str
) -> None:
    """A format shows in UTF-16 without a byte order mark, and in UTF-32 with one, as in UTF-8."""
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    assert files.detect_format(path) == expected


@pytest.mark.parametrize("encoding", UNICODE_ENCODINGS)
@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/x.dtd">',
        '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_document_types_are_refused(tmp_path: Path, declared: str, encoding: str) -> None:
    """Document types and entities, of whatever use, are refused."""
    path = tmp_path / "feed.xml"
    path.write_bytes(
        RSS.replace('encoding="utf-8"?>', f'encoding="{encoding}"?>{declared}').encode(encoding)
    )
    with pytest.raises(UnreadableFeed, match="declares a document type or entities"):
        rows_of(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><html></html>", "is a web page"),
        (b"PK\x03\x04....", "is an archive or an office file"),
        (gzip.compress(b"id,title\n" * 1000, mtime=0)[:-20], "is damaged or cut short"),
        (b"<rss>", "is cut short|is no XML"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """A web page, archive or office file is refused by its kind."""
    path = tmp_path / "feed.csv"
    path.write_bytes(content)
    with pytest.raises(UnreadableFeed, match=message):
        rows_of(path)


def test_gzip_bombs_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that unpacks beyond the limit is refused."""
    monkeypatch.setattr(files, "MAX_BYTES", 1_000_000)
    path = tmp_path / "feed.csv.gz"
    path.write_bytes(gzip.compress(b"id,title\n" + b"1,a\n" * 1_000_000))
    with pytest.raises(UnreadableFeed, match="unpacks to more than"):
        rows_of(path)


def test_json_lines_of_a_dump(tmp_path: Path) -> None:
    """JSON of any depth is read without an error."""
    path = tmp_path / "feed.jsonl"
    path.write_text(json.dumps({"a": {"b": {"c": {"d": {"e": "too deep"}}}}, "f": {"g": "h"}}))
    assert texts_of(path) == [{"f.g": ["h"]}]
