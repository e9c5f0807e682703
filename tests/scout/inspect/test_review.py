"""Review decisions: by URL and by filter, who and when, undo in steps, export and import."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from catalog.models import ReviewDecision, Shop, utc_now
from catalog.storage.findings import read_counts
from catalog.storage.store import Store
from scout.inspect.review_decisions import Judgement, decide_urls, last_run_id
from scout.terminal.output import plural
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import Scout


@pytest.fixture
def fill(store: Store, shop: Shop) -> StoreBuilder:
    """Two finished runs of a shop: six missing offers of two brands, an unsure and a listed one."""
    fill = StoreBuilder(store, shop)
    before, run = fill.run(), fill.run()
    for number in range(2):
        fill.finding(before, f"a{number}", price=10, brand="Ada")
    for number in range(3):
        fill.finding(run, f"a{number}", price=10 + number, brand="Ada", category="Garden > Hoses")
        fill.finding(run, f"b{number}", price=20 + number, brand="Bea", category="Garden")
    fill.finding(run, "u", "unsure", price=3, brand="Ada")
    fill.listed(run, "l", price=4, brand="Ada")
    fill.save()
    return fill


def rows_of(scout: Scout, *arguments: str) -> list[dict[str, Any]]:
    """Return the objects that a command prints, one a line."""
    result = scout(*arguments, "--json")
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def reviewed(scout: Scout) -> dict[str, str]:
    """Return the present decisions by the last step of their URLs."""
    return {
        row["url"].rpartition("/")[2]: row["decision"]
        for row in rows_of(scout, "review", "demo", "list")
    }


def snapshot(scout: Scout) -> list[dict[str, Any]]:
    """Return all offers as they are printed, without the decisions on them."""
    return rows_of(scout, "offers", "demo", "--all")


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["--brand", "ada"], ["a0", "a1", "a2"]),
        (["--brand", "Ada", "--unsure", "--missing"], ["a0", "a1", "a2", "u"]),
        (["--category", "Garden"], ["a0", "a1", "a2", "b0", "b1", "b2"]),
        (["--category", "Garden > Hoses", "--price", "11-"], ["a1", "a2"]),
        (["--change", "still"], ["a0", "a1"]),
        (["--unsure"], ["u"]),
        (["--missing"], ["a0", "a1", "a2", "b0", "b1", "b2"]),
    ],
)
def test_filters(scout: Scout, fill: StoreBuilder, arguments: list[str], paths: list[str]) -> None:
    """A filter selects the offers that `scout offers` prints with it, and undo is one step."""
    before = snapshot(scout)
    printed = {row["url"] for row in rows_of(scout, "offers", "demo", *arguments)}
    result = scout("review", "demo", "ignore", *arguments, "--note", "sold out", "--by", "Eve")
    assert (result.code, f"ignore: {plural(len(paths), 'offer')} (" in result.out) == (0, True)
    assert printed == {fill.url(path) for path in paths}
    assert reviewed(scout) == dict.fromkeys(paths, "ignore")
    ignored = rows_of(scout, "offers", "demo", "--ignored")
    assert {row["url"] for row in ignored} == printed
    assert {(row["word"], row["note"], row["reviewer"]) for row in ignored} == {
        ("ignore", "sold out", "Eve")
    }
    undone = scout("review", "demo", "undo", "--by", "Eve")
    assert (undone.code, undone.out.startswith("undone: ignore of ")) == (0, True)
    assert reviewed(scout) == {}
    assert snapshot(scout) == before


@pytest.mark.parametrize("decision", ["confirm", "reject", "ignore"])
def test_undo_restores_the_findings(scout: Scout, fill: StoreBuilder, decision: str) -> None:
    """After undo, verdicts, causes, changes and counts are as before."""
    before, figures = snapshot(scout), scout("shop", "show", "demo", "--json").out
    scout("review", "demo", decision, "--all")
    assert scout("shop", "show", "demo", "--json").out != figures
    scout("review", "demo", "undo")
    assert snapshot(scout) == before
    assert scout("shop", "show", "demo", "--json").out == figures


def test_undo_steps(scout: Scout, fill: StoreBuilder) -> None:
    """Undo restores the former decision with its note and reviewer, step by step or several at once."""
    scout("review", "demo", "confirm", fill.url("a0"), "--note", "new", "--by", "Ann")
    (first,) = rows_of(scout, "review", "demo", "list")
    scout("review", "demo", "ignore", "--brand", "Ada", "--by", "Ben")
    scout("review", "demo", "reject", fill.url("b0"), fill.url("b1"), "--by", "Cem")
    assert reviewed(scout) == {
        "a0": "ignore",
        "a1": "ignore",
        "a2": "ignore",
        "b0": "reject",
        "b1": "reject",
    }
    steps = rows_of(scout, "review", "demo", "list", "--steps")
    assert [(step["action"], step["offers"], step["reviewer"]) for step in steps] == [
        ("reject", 2, "Cem"),
        ("ignore", 3, "Ben"),
        ("confirm", 1, "Ann"),
    ]
    assert steps[1]["selection"] == "missing, brand Ada"
    assert scout("review", "demo", "undo", "--last", "2").out.count("undone: ") == 2
    assert rows_of(scout, "review", "demo", "list") == [first]
    assert first["reviewer"] == "Ann"
    assert scout("review", "demo", "undo").code == 0
    result = scout("review", "demo", "undo")
    assert (result.code, result.error) == (2, "shop 'demo' has no review decision to undo")
    assert [step["undone"] for step in rows_of(scout, "review", "demo", "list", "--steps")] == [
        2,
        3,
        1,
    ]


def test_undo_by_url(scout: Scout, fill: StoreBuilder) -> None:
    """Undo of an offer concerns no other offer of the step, and undo of the step not that offer again."""
    scout("review", "demo", "confirm", fill.url("a0"))
    scout("review", "demo", "ignore", "--brand", "Ada")
    assert scout("review", "demo", "undo", f"{fill.url('a0')}?utm_source=x").code == 0
    assert reviewed(scout) == {"a0": "confirm", "a1": "ignore", "a2": "ignore"}
    result = scout("review", "demo", "undo", fill.url("a1"), fill.url("b0"))
    assert (result.code, fill.url("b0") in result.error) == (2, True)
    assert scout("review", "demo", "undo", fill.url("a0")).code == 0
    assert reviewed(scout) == {"a1": "ignore", "a2": "ignore"}
    scout("review", "demo", "undo")
    assert reviewed(scout) == {}
    assert scout("review", "demo", "undo").code == 2


def test_who_and_when(scout: Scout, fill: StoreBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reviewer is the user of the operating system by default; None if that has no name."""
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    scout("review", "demo", "confirm", fill.url("a0"))

    def nameless() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nameless)
    scout("decide", "demo", fill.url("a1"), "accept")
    rows = {row["url"]: row for row in rows_of(scout, "offers", "demo")}
    assert rows[fill.url("a0")]["reviewer"] == "ann"
    assert rows[fill.url("a1")]["reviewer"] is None
    assert rows[fill.url("a1")]["word"] == "accept"
    assert rows[fill.url("a0")]["reviewed_at"][:4] == str(utc_now().year)
    scout("report", "demo", "--format", "json")
    assert rows_of(scout, "offers", "demo")[0].keys() == rows[fill.url("a0")].keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["confirm"], "give URLs or a filter"),
        (["confirm", "http://127.0.0.1:8000/a0", "--brand", "Ada"], "not both"),
        (["confirm", "--brand", "nobody"], "no offer is selected: missing, brand nobody"),
        (["confirm", "--price", "9-1"], "is no range"),
        (["ignore", "--missing", "--note", "x" * 501], "at most 500"),
        (["ignore", "--missing", "--by", " "], "a reviewer's name"),
        (["undo", "http://127.0.0.1:8000/a0", "--last", "2"], "not both"),
        (["import", "/nowhere/at-all.jsonl"], "cannot be read"),
        (["export", "/nowhere/at-all.jsonl"], "cannot be written"),
    ],
)
def test_wrong_usage(scout: Scout, fill: StoreBuilder, arguments: list[str], message: str) -> None:
    """A command that cannot be carried out is refused with a reason, and records nothing."""
    result = scout("review", "demo", *arguments)
    assert (result.code, message in result.error) == (2, True), result.err
    assert reviewed(scout) == {}


def test_no_url(scout: Scout, fill: StoreBuilder) -> None:
    """A text that is no URL is refused, and none of the other offers is decided on."""
    result = scout("review", "demo", "confirm", fill.url("a0"), "nonsense")
    assert (result.code, "nonsense" in result.error) == (1, True)
    assert reviewed(scout) == {}


def test_without_a_run(scout: Scout, shop: Shop) -> None:
    """Before the first run, a decision on a URL is kept, and one by a filter is refused."""
    result = scout("review", "demo", "ignore", f"{shop.url}p/1")
    assert (result.code, "not among the offers" in result.err) == (0, True)
    assert reviewed(scout) == {"1": "ignore"}
    assert scout("review", "demo", "ignore", "--brand", "Ada").code == 2
    assert scout("review", "demo", "undo").code == 0
    assert reviewed(scout) == {}


def test_export_and_import(scout: Scout, fill: StoreBuilder, tmp_path: Path) -> None:
    """An export, imported after undo, restores every decision with note, reviewer and time; again, it changes nothing."""
    scout("review", "demo", "ignore", "--brand", "Bea", "--note", "später\n", "--by", "Bé")
    scout("review", "demo", "confirm", fill.url("a0"), "http://127.0.0.1:8000/elsewhere")
    exported = tmp_path / "decisions.jsonl"
    assert "5 review decisions written" in scout("review", "demo", "export", str(exported)).out
    lines = [json.loads(line) for line in exported.read_text("utf-8").splitlines()]
    assert lines[1]["note"] == "später"
    assert {line["decision"] for line in lines} == {"confirm", "ignore"}
    before = rows_of(scout, "review", "demo", "list"), snapshot(scout)
    again = scout("review", "demo", "import", str(exported))
    assert (again.code, "0 review decisions imported; 5 already stored" in again.out) == (0, True)
    scout("review", "demo", "undo", "--last", "2")
    assert "5 review decisions imported" in scout("review", "demo", "import", str(exported)).out
    assert (rows_of(scout, "review", "demo", "list"), snapshot(scout)) == before
    assert scout("review", "demo", "export", "-").out == exported.read_text("utf-8")
    scout("review", "demo", "undo")
    assert reviewed(scout) == {}


def test_import_keeps_the_newer_decision(scout: Scout, fill: StoreBuilder, tmp_path: Path) -> None:
    """Of two decisions on an offer the newer one stays, whether they stand in the file or the store."""
    scout("review", "demo", "reject", fill.url("a0"))
    now = utc_now()
    lines = [
        {"url": fill.url("a0"), "decision": "ignore", "reviewed_at": "2020-01-01"},
        {"url": fill.url("a1"), "decision": "ignore", "reviewed_at": "2021-01-01T00:00:00Z"},
        {"url": fill.url("a1"), "decision": "accept", "reviewed_at": "2020-01-01T00:00:00Z"},
        {
            "url": f"{fill.url('a1')}?utm_source=mail",
            "decision": "confirm",
            "reviewed_at": (now - timedelta(hours=1)).isoformat(),
        },
        {"url": fill.url("b0"), "decision": "confirm"},
    ]
    file = tmp_path / "decisions.jsonl"
    file.write_text("\n\n".join(map(json.dumps, lines)), "utf-8-sig")
    assert scout("review", "demo", "import", str(file)).code == 0
    assert reviewed(scout) == {"a0": "reject", "a1": "confirm", "b0": "confirm"}


BAD_LINES = [
    b"no json",
    b"[1]",
    b"{}",
    b'{"url": "http://127.0.0.1:8000/a0"}',
    b'{"url": 7, "decision": "ignore"}',
    b'{"url": "nonsense", "decision": "ignore"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "maybe"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", "reviewed_at": "soon"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", "reviewed_at": "9999-12-31"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", '
    b'"reviewed_at": "0001-01-01T00:00:00+14:00"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", "note": "' + b"x" * 501 + b'"}',
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", "reviewer": ""}',
    b"[" * 60_000,
    b"9" * 5_000,
    b'{"url": "http://127.0.0.1:8000/a0", "decision": "ignore", "x": "' + b"x" * 200_000 + b'"}',
    b"\xff\xfe\x00",
]


def test_bad_lines(scout: Scout, fill: StoreBuilder, tmp_path: Path) -> None:
    """Lines that cannot be read are named by number, counted and left out; the others are imported."""
    good = json.dumps({"url": fill.url("b1"), "decision": "ignore"}).encode()
    file = tmp_path / "decisions.jsonl"
    file.write_bytes(b"\n".join([*BAD_LINES, good]))
    result = scout("review", "demo", "import", str(file))
    assert result.code == 1
    assert f"{len(BAD_LINES)} lines could not be read" in result.out
    for number in range(1, len(BAD_LINES) + 1):
        assert f"decisions.jsonl, line {number}: " in result.err
    assert reviewed(scout) == {"b1": "ignore"}


def test_thousands_of_offers(scout: Scout, store: Store, shop: Shop) -> None:
    """A decision on more offers than a query takes values is one step, and so is its undo."""
    fill = StoreBuilder(store, shop)
    run = fill.run()
    for number in range(2600):
        fill.finding(run, f"p/{number}", price=1 + number)
    fill.save()
    assert "2600 offers" in scout("review", "demo", "reject", "--missing").out
    assert json.loads(scout("shop", "show", "demo", "--json").out)["missing"] == 0
    assert "on 2600 offers" in scout("review", "demo", "undo").out
    assert json.loads(scout("shop", "show", "demo", "--json").out)["missing"] == 2600


@pytest.mark.both_databases
def test_reviewers_at_the_same_time(store: Store, shop: Shop, fill: StoreBuilder) -> None:
    """Reviewers who decide on offers of one shop at the same moment are all counted."""
    urls = [fill.url(f"{brand}{number}") for brand in "ab" for number in range(3)]

    def decide(url: str) -> None:
        decide_urls(store, shop, [url], Judgement(ReviewDecision.IGNORE, None, "Eve"))

    decide(urls[0])
    with ThreadPoolExecutor(len(urls)) as reviewers:
        list(reviewers.map(decide, urls))
    run_id = last_run_id(store, shop)
    assert run_id is not None
    with store.read() as session:
        counts = read_counts(session, run_id)
    assert counts is not None
    assert (counts.missing, counts.ignored, counts.decisions) == (0, 6, {"ignore": 6})
