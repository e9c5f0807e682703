"""The rules in a person's hands: shown, carried elsewhere, locked and set."""

import json
from pathlib import Path

import pytest

from catalog.models import Attribute, Shop
from catalog.storage.store import Store
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import TextAt
from scout.inspect import rule_admin
from tests.scout.conftest import Scout


@pytest.fixture
def learnt(store: Store, shop: Shop) -> Shop:
    """A shop whose pages have two templates."""
    price = Rule(attribute=Attribute.PRICE, selector=TextAt(css=".price"), score=0.9, support=8)
    title = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
    templates = (Template(name="a", rules=(title, price)), Template(name="b", rules=(price,)))
    rule_admin.save(
        store,
        shop,
        RuleSet(templates=templates, learnt_from=("http://127.0.0.1:8000/p/1",)),
        "learnt",
    )
    return shop


def _rows(scout: Scout, *words: str) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for line in scout("rules", "show", "demo", "--json", *words).out.splitlines()
    ]


def test_show(scout: Scout, learnt: Shop) -> None:
    """Rules are shown with template, number, score and selector, one attribute's alone where asked."""
    assert [(row["template"], row["attribute"], row["number"]) for row in _rows(scout)] == [
        ("a", "title", 1),
        ("a", "price", 1),
        ("b", "price", 2),
    ]
    assert len(_rows(scout, "--attribute", "price")) == 2
    assert "version 1: 3 rules" in scout("rules", "show", "demo").out


def test_lock(scout: Scout, learnt: Shop) -> None:
    """Rules are locked all together or one by its number, each change a new version."""
    assert scout("rules", "lock", "demo", "price", "--number", "2").code == 0
    assert [row["locked"] for row in _rows(scout, "--attribute", "price")] == [False, True]
    assert scout("rules", "lock", "demo", "price").code == 0
    assert scout("rules", "unlock", "demo", "price", "--number", "1").code == 0
    assert [row["locked"] for row in _rows(scout, "--attribute", "price")] == [False, True]
    assert [row["locked"] for row in _rows(scout, "--version", "1")] == [False] * 3
    versions = [
        json.loads(line)["version"]
        for line in scout("rules", "history", "demo", "--json").out.splitlines()
    ]
    assert versions == [4, 3, 2, 1]


def test_no_css_is_no_rule(scout: Scout, learnt: Shop) -> None:
    """As a script has it whose variable is not set: it is refused, and what is stored stays."""
    said = scout("rules", "set", "demo", "price", "--css", "")
    assert said.code == 1
    assert "not a CSS selector" in said.err
    assert [row["origin"] for row in _rows(scout, "--attribute", "price")] == ["learnt", "learnt"]


def test_set(scout: Scout, learnt: Shop) -> None:
    """A rule set by hand takes the place of what was learnt, in one template or in all, and keeps the others."""
    assert (
        scout(
            "rules", "set", "demo", "price", "--css", ".now", "--left", "only ", "--form", "comma"
        ).code
        == 0
    )
    rows = _rows(scout, "--attribute", "price")
    assert [(row["selector"], row["origin"], row["form"]) for row in rows] == [
        (".now", "manual", "comma")
    ] * 2
    assert len(_rows(scout, "--attribute", "title")) == 1
    one = (
        "rules",
        "set",
        "demo",
        "ean",
        "--css",
        "script",
        "--block",
        "var p = ",
        "--path",
        "$.ean",
        "--template",
        "b",
    )
    assert scout(*one).code == 0
    assert [row["template"] for row in _rows(scout, "--attribute", "ean")] == ["b"]
    assert scout("rules", "unlock", "demo", "price").code == 0
    assert [row["origin"] for row in _rows(scout, "--attribute", "price")] == ["learnt"] * 2


def test_set_what_is_joined(scout: Scout, learnt: Shop) -> None:
    """All that a selector finds can be meant, in texts as in data; it is shown as it is when it was learnt."""
    assert scout("rules", "set", "demo", "category", "--css", "nav a", "--all").code == 0
    data = ("--css", "script", "--block", "way =", "--path", "$.steps[1:].name", "--all")
    assert scout("rules", "set", "demo", "category", *data).code == 0
    assert [row["selector"] for row in _rows(scout, "--attribute", "category")][:2] == [
        "script {way =} $.steps[1:].name ::all",
        "nav a ::all",
    ]


def test_set_what_stands_behind_a_label(scout: Scout, learnt: Shop) -> None:
    """In whatever element: the label is what is looked for."""
    assert scout("rules", "set", "demo", "ean", "--css", "td, dt", "--behind", "EAN|UPC").code == 0
    assert _rows(scout, "--attribute", "ean")[0]["selector"] == "td, dt ::behind EAN|UPC"


def test_carry(scout: Scout, learnt: Shop, tmp_path: Path) -> None:
    """What is exported can be imported, and is the same."""
    first = scout("rules", "export", "demo").out
    (tmp_path / "rules.json").write_text(first, encoding="utf-8")
    assert scout("rules", "import", "demo", str(tmp_path / "rules.json")).code == 0
    second = json.loads(scout("rules", "export", "demo").out)
    assert second == json.loads(first) | {"version": 2}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("show", "demo", "--version", "9"), "no rules of version 9"),
        (("lock", "demo", "brand"), "there is no rule of 'brand'"),
        (("lock", "demo", "price", "--number", "9"), "there is no rule 9 of 'price'"),
        (("set", "demo", "price", "--css", "b", "--template", "z"), "there is no template 'z'"),
        (
            ("set", "demo", "price", "--css", "b", "--path", "$.a"),
            "--block and --path belong together",
        ),
        (
            ("set", "demo", "price", "--css", "b", "--attr", "a", "--all"),
            "take either --attr or --all",
        ),
        (
            ("set", "demo", "price", "--css", "b", "--behind", "a", "--all"),
            "take either --all or --behind",
        ),
        (("set", "demo", "price", "--css", "b", "--behind", "a("), "not a regular expression"),
        (("set", "demo", "price", "--css", "b["), "not a CSS selector: 'b['"),
        (
            ("set", "demo", "price", "--css", "script", "--block", "var p =", "--path", "$.a["),
            "not a JSONPath: '$.a['",
        ),
        (("import", "demo", "nowhere.json"), "nowhere.json cannot be read"),
    ],
)
def test_what_does_not_fit(scout: Scout, learnt: Shop, words: tuple[str, ...], line: str) -> None:
    """What does not fit the rules is said in one line, and nothing is stored."""
    said = scout("rules", *words)
    assert (said.code != 0, line in said.error) == (True, True)
    assert len(scout("rules", "history", "demo", "--json").out.splitlines()) == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"templates": 3}', "[" * 100_000])
def test_hostile_import(scout: Scout, learnt: Shop, tmp_path: Path, content: str) -> None:
    """A file that holds no rules is refused with a line."""
    (tmp_path / "rules.json").write_text(content, encoding="utf-8")
    said = scout("rules", "import", "demo", str(tmp_path / "rules.json"))
    assert (said.code, said.error != "") == (1, True)


def test_none_yet(scout: Scout, shop: Shop) -> None:
    """A shop without rules says how to get some."""
    assert "has no rules yet: 'scout run demo' learns them" in scout("rules", "show", "demo").error
