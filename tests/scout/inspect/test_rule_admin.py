"""Administration of rules: shown, exported, imported, locked and set by hand."""

import json
from pathlib import Path

import pytest

from catalog.errors import RulesChanged
from catalog.models import Attribute, Shop, StoredRules
from catalog.storage.store import Store
from parser.rules.model import Rule, RuleSet, Template
from parser.rules.selector import TextAt
from scout.inspect import rule_admin
from tests.scout.conftest import Scout


@pytest.fixture
def learnt(store: Store, shop: Shop) -> Shop:
    """Store rules of two templates for a shop."""
    price = Rule(attribute=Attribute.PRICE, selector=TextAt(css=".price"), score=0.9, support=8)
    title = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
    templates = (Template(name="a", rules=(title, price)), Template(name="b", rules=(price,)))
    rule_admin.save_rules(
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
    """Rules are shown with template and number, and can be limited to one attribute."""
    assert [(row["template"], row["attribute"], row["number"]) for row in _rows(scout)] == [
        ("a", "title", 1),
        ("a", "price", 1),
        ("b", "price", 2),
    ]
    assert len(_rows(scout, "--attribute", "price")) == 2
    assert "version 1: 3 rules" in scout("rules", "show", "demo").out


def test_the_newest_versions(store: Store, learnt: Shop) -> None:
    """A list of versions can be limited: a page reads no more than it shows."""
    rules = rule_admin.load_rules(store, learnt)
    for _ in range(3):
        rule_admin.save_rules(store, learnt, rules, "again")
    newest = rule_admin.list_versions(store, learnt, 2)
    assert [stored.version for stored in newest] == [4, 3]
    assert len(rule_admin.list_versions(store, learnt)) == 4


def test_a_change_of_an_earlier_version_is_refused(store: Store, learnt: Shop) -> None:
    """Of two changes that were made from one version the later is refused, and nothing is lost."""
    rules = rule_admin.load_rules(store, learnt)
    assert rule_admin.save_rules(store, learnt, rules, "first", based_on=1) == 2
    with pytest.raises(RulesChanged, match="by now: this change was made from version 1"):
        rule_admin.save_rules(store, learnt, rules, "second", based_on=1)
    assert [stored.version for stored in rule_admin.list_versions(store, learnt)] == [2, 1]
    # An import replaces whatever is stored.
    assert rule_admin.save_rules(store, learnt, rules, "imported") == 3


@pytest.mark.parametrize("key", ["summary", "said"])
def test_the_history_names_the_drift_of_the_former_rules(
    scout: Scout, store: Store, learnt: Shop, key: str
) -> None:
    """The drift is shown with the version that was learnt after it; Scout 0.1 stored it as said."""
    with store.write() as session:
        story = {"drift": {key: "the rules hold", "kind": "holds"}}
        rules = rule_admin.load_rules(store, learnt).to_json()
        session.add(StoredRules(shop_id=learnt.id or 0, version=2, rules=rules, story=story))
    newest, first = scout("rules", "history", "demo", "--json").out.splitlines()
    assert json.loads(newest)["drift"] == "the rules hold"
    assert json.loads(first)["drift"] == ""


def test_lock(scout: Scout, learnt: Shop) -> None:
    """All rules of an attribute are locked, or one by its number; each change is a new version."""
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


def test_an_empty_selector_is_refused(scout: Scout, learnt: Shop) -> None:
    """An empty CSS selector (an unset variable of a script) is refused, and the stored rules stay."""
    result = scout("rules", "set", "demo", "price", "--css", "")
    assert result.code == 1
    assert "not a CSS selector" in result.err
    assert [row["origin"] for row in _rows(scout, "--attribute", "price")] == ["learnt", "learnt"]


def test_set(scout: Scout, learnt: Shop) -> None:
    """A manual rule replaces the learnt rules of its attribute, in one template or in all; other attributes stay."""
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
    command = (
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
    assert scout(*command).code == 0
    assert [row["template"] for row in _rows(scout, "--attribute", "ean")] == ["b"]
    assert scout("rules", "unlock", "demo", "price").code == 0
    assert [row["origin"] for row in _rows(scout, "--attribute", "price")] == ["learnt"] * 2


def test_set_a_rule_that_joins_all_matches(scout: Scout, learnt: Shop) -> None:
    """`--all` joins all matches of a selector, in texts and in data, and is shown as `::all`."""
    assert scout("rules", "set", "demo", "category", "--css", "nav a", "--all").code == 0
    data = ("--css", "script", "--block", "path =", "--path", "$.steps[1:].name", "--all")
    assert scout("rules", "set", "demo", "category", *data).code == 0
    assert [row["selector"] for row in _rows(scout, "--attribute", "category")][:2] == [
        "script {path =} $.steps[1:].name ::all",
        "nav a ::all",
    ]


def test_set_a_rule_behind_a_label(scout: Scout, learnt: Shop) -> None:
    """`--behind` takes the text that follows a label, in any of the elements."""
    assert scout("rules", "set", "demo", "ean", "--css", "td, dt", "--behind", "EAN|UPC").code == 0
    assert _rows(scout, "--attribute", "ean")[0]["selector"] == "td, dt ::behind EAN|UPC"


def test_export_and_import(scout: Scout, learnt: Shop, tmp_path: Path) -> None:
    """Exported rules can be imported and stay the same, but for the version."""
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
def test_invalid_changes(scout: Scout, learnt: Shop, words: tuple[str, ...], line: str) -> None:
    """An invalid change fails with one clear line, and nothing is stored."""
    result = scout("rules", *words)
    assert (result.code != 0, line in result.error) == (True, True)
    assert len(scout("rules", "history", "demo", "--json").out.splitlines()) == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"templates": 3}', "[" * 100_000])
def test_hostile_import(scout: Scout, learnt: Shop, tmp_path: Path, content: str) -> None:
    """A file without rules is refused with one line."""
    (tmp_path / "rules.json").write_text(content, encoding="utf-8")
    result = scout("rules", "import", "demo", str(tmp_path / "rules.json"))
    assert (result.code, result.error != "") == (1, True)


def test_no_rules_yet(scout: Scout, shop: Shop) -> None:
    """For a shop without rules the error says how to learn some."""
    assert "has no rules yet: 'scout run demo' learns them" in scout("rules", "show", "demo").error
