"""The evaluation: one page read by many settings is read as the parser reads it, and precision does not fall."""

import io
import json
import shutil
import tarfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.errors import FeedError
from rules_generator.evaluation.chart import write_chart
from rules_generator.evaluation.corpus import open_shop
from rules_generator.evaluation.evaluate import EvaluationPlan, Setting, evaluate_extraction
from tests.pages import products, text_page

THRESHOLDS = (0.0, 0.5, 0.8, 1.0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one labelled shop of thirty pages."""
    folder = tmp_path_factory.mktemp("data") / "made.example"
    (folder / "pages").mkdir(parents=True)
    rows = []
    for product in products(30):
        name = f"{product.number}.html"
        (folder / "pages" / name).write_text(text_page(product))
        values = {
            "title": product.title,
            "price": product.price,
            "brand": product.brand,
            "sku": product.sku,
            "ean": product.ean,
        }
        rows.append(
            {"page": name, "url": f"p/{product.number}", "attributes": {**values, "han": None}}
        )
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder.parent


def test_all_settings(data: Path, tmp_path: Path) -> None:
    """Every setting has its row, all values are right, precision does not fall, each test page its line."""
    plan = EvaluationPlan(
        tuple(Setting(size, threshold) for size in (5, 10) for threshold in THRESHOLDS)
    )
    figures = evaluate_extraction(data, plan, predictions=tmp_path / "p.jsonl", workers=1)
    rows = figures["settings"]
    assert [(row["train"], row["threshold"]) for row in rows] == [
        (n, f) for n in (5, 10) for f in THRESHOLDS
    ]
    assert all(row["precision"] == row["accuracy"] == 1.0 for row in rows)
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert len(lines) == 15
    assert set(lines[0]) == {"site", "page", "values"}


def test_what_is_missed_may_stand_nowhere(data: Path, tmp_path: Path) -> None:
    """Of missed values those are counted that no place of their page says; a part of what was read is no such."""
    shutil.copytree(data, tmp_path / "data")
    truth = tmp_path / "data" / "made.example" / "truth.jsonl"
    rows = [json.loads(line) for line in truth.read_text().splitlines()]
    rows[-1]["attributes"]["sku"] = "ZZ-404"
    rows[-2]["attributes"]["title"] = rows[-2]["attributes"]["title"][:-1]
    truth.write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures = evaluate_extraction(
        tmp_path / "data", EvaluationPlan((Setting(10),), misses=True), workers=1
    )
    counts = figures["settings"][-1]["attributes"]
    missed = Counter({name: count["truth"] - count["right"] for name, count in counts.items()})
    assert +missed == {"title": 1, "sku": 1}
    assert +Counter(figures["nowhere"]) == {"sku": 1}


@pytest.mark.parametrize("name", ["chart.svg", "chart.html"])
def test_the_chart_is_drawn(data: Path, tmp_path: Path, name: str) -> None:
    """Well-formed, with a line per figure and a bar per attribute and figure."""
    figures = evaluate_extraction(
        data, EvaluationPlan((Setting(5, 0.0), Setting(5, 1.0)), stale=0.2), workers=1
    )
    write_chart(figures, tmp_path / name)
    drawn = (tmp_path / name).read_text()
    svg = ET.fromstring(drawn[drawn.index("<svg") :])
    kinds = [element.tag.rpartition("}")[2] for element in svg.iter()]
    assert kinds.count("polyline") >= 2
    assert kinds.count("rect") >= 10


def test_no_data_is_said(tmp_path: Path) -> None:
    """A folder without labelled shops is an error that says what is looked for."""
    with pytest.raises(FeedError, match="holds no labelled shop"):
        evaluate_extraction(tmp_path, EvaluationPlan((Setting(),)))


def labelled(**changes: object) -> str:
    """A line of `truth.jsonl`."""
    return json.dumps({"page": "1.html", "url": "/a", "attributes": {"title": "Lamp"}} | changes)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "line 2: not an object"),
        ('"abc"', "line 2: not an object"),
        ("{", "line 2: Expecting property name"),
        ("[" * 100_000, "line 2: "),
        (b"\xff", "line 2: "),
        (labelled(attributes=None), "line 2: attributes: "),
        (labelled(url=5), "line 2: url: "),
        (labelled(page="9.html"), "line 2: pages/9.html is not there"),
        (labelled(alternatives=[1]), "line 2: alternatives: "),
        (labelled(alternatives={"title": 5}), "line 2: alternatives.title: "),
        ("{}", "line 2: page: "),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str | bytes, said: str) -> None:
    """A line that labels no page is an error of one line, with the shop's folder and the line's number."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "1.html").write_text("<h1>Lamp</h1>")
    wrong = line if isinstance(line, bytes) else line.encode()
    (tmp_path / "truth.jsonl").write_bytes(labelled().encode() + b"\n" + wrong + b"\n")
    with pytest.raises(FeedError) as error:
        open_shop(tmp_path)
    assert f"{tmp_path}, truth.jsonl, {said}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def packed(data: Path) -> bytes:
    """The shop of that folder as an archive."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:xz") as archive:
        for file in sorted((data / "made.example").rglob("*.*")):
            archive.add(file, file.relative_to(data / "made.example").as_posix())
    return held.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:300] + bytes(200) + whole[500:],
        lambda whole: whole[:2000] + bytes(200) + whole[2200:],
        lambda whole: whole[:-300] + bytes(200) + whole[-100:],
        lambda whole: whole[:-40] + bytes(8) + whole[-32:],
        lambda _: b"nothing of the kind",
        lambda _: b"",
    ],
    ids=[
        "cut short",
        "its beginning",
        "its middle",
        "its end",
        "its check sum",
        "no archive",
        "empty",
    ],
)
def test_a_bad_archive_is_named(
    data: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """An archive that cannot be unpacked is an error of one line that names it."""
    path, whole = tmp_path / "made.example.tar.xz", packed(data)
    path.write_bytes(whole)
    assert len(open_shop(path).pages) == 30
    path.write_bytes(damage(whole))
    with pytest.raises(
        FeedError, match=r"made\.example\.tar\.xz cannot be read as a labelled shop"
    ) as error:
        open_shop(path)
    assert len(str(error.value).splitlines()) == 1


def test_pages_made_to_be_slow_are_named_and_stop_nothing(data: Path, tmp_path: Path) -> None:
    """One to learn from and one to test on: the others are evaluated, these named and counted as not read."""
    shutil.copytree(data, tmp_path / "data")
    pages = tmp_path / "data" / "made.example" / "pages"
    (pages / "2.html").write_text(
        "<div " + " ".join(f"a{number}=1" for number in range(200_000)) + ">"
    )
    (pages / "20.html").write_text("<div>" * 100_000)
    (pages / "21.html").write_text(
        f"<script>x = {'[' * 100_000}</script>" + (pages / "21.html").read_text()
    )
    figures = evaluate_extraction(tmp_path / "data", EvaluationPlan((Setting(10, 0.5),)), workers=1)
    assert [row["page"] for row in figures["unread"]] == ["2.html", "20.html"]
    assert figures["unread"][1]["reason"] == "tags nested deeper than 2000"
    title = figures["settings"][0]["attributes"]["title"]
    assert (title["truth"], title["found"], title["right"]) == (15, 14, 14)
