"""Rule sets that earlier versions stored."""

from typing import Any

from parser.rules.model import RuleSet
from parser.rules.selector import JsonAt, TextAt
from parser.rules.trim import Trim

HEADING: dict[str, Any] = {"kind": "text", "css": "h1", "named_in": ""}


def stored_rule(**changes: Any) -> dict[str, Any]:
    """A rule as an earlier version stored it, with empty retired fields."""
    stored = {
        "attribute": "title",
        "selector": HEADING,
        "trim": {"left": 0, "right": 0, "words": [], "means": []},
        "form": "plain",
        "signs": [],
        "agreed": 0.5,
        "never": ["Shop"],
    }
    return {**stored, **changes}


def load(*rules: dict[str, Any]) -> RuleSet:
    """The rule set of one template with these stored rules."""
    template = {
        "name": "1",
        "signature": {"marks": {".a": 1.0}, "least": 0.25},
        "bare_titles": True,
        "own_categories": False,
        "rules": list(rules),
    }
    return RuleSet.from_json({"version": 3, "templates": [template], "variants": []})


def test_retired_fields_are_dropped() -> None:
    """A rule whose retired fields changed only the spelling reads the same value as before."""
    retired = [stored_rule(form="typed", signs=["quotes"]), stored_rule(form="path")]
    plain, *upgraded = load(stored_rule(), *retired).templates[0].rules
    assert upgraded == [plain, plain]
    assert (plain.selector, plain.trim, plain.form) == (TextAt(css="h1"), Trim(), "plain")


def test_renamed_fields_keep_their_stored_names() -> None:
    """The JSON form has the first names of renamed fields, at every level, and both names are loaded."""
    rules = load(stored_rule())
    (template,) = rules.templates
    (rule,) = template.rules
    assert (rule.precision, rule.blocklist, template.signature.threshold) == (0.5, ("Shop",), 0.25)
    stored = rules.to_json()["templates"][0]
    assert stored["signature"] == {"marks": {".a": 1.0}, "least": 0.25}
    assert (stored["rules"][0]["agreed"], stored["rules"][0]["never"]) == (0.5, ["Shop"])
    assert RuleSet.from_json(rules.to_json()) == rules
    assert RuleSet.model_validate_json(rules.model_dump_json()) == rules
    by_new_names = {
        "attribute": "title",
        "selector": HEADING,
        "precision": 0.5,
        "blocklist": ["Shop"],
    }
    assert load(by_new_names).templates[0].rules == (rule,)


def test_rules_that_need_a_retired_mechanism_are_left_out() -> None:
    """Without its mechanism such a rule would read another value: the next run learns it again."""
    menu_entry = stored_rule(selector={"kind": "text", "css": "li a", "named_in": "h1"})
    mapping = stored_rule(trim={"left": 0, "right": 0, "means": [["lamps", "Lighting"]]})
    spare = stored_rule(origin="spare")
    data = stored_rule(
        selector={"kind": "json", "block": "meta =", "path": "$.name", "join": False}
    )
    (remaining,) = load(menu_entry, mapping, spare, data).templates[0].rules
    assert remaining.selector == JsonAt(block="meta =", path="$.name")


def test_variants_keep_their_selectors() -> None:
    """Retired fields are dropped from the selectors and rules of variants as well."""
    variants = {
        "items": HEADING,
        "rules": [stored_rule()],
        "options": [HEADING],
        "query": [["variant", HEADING]],
    }
    (layout,) = RuleSet.from_json({"variants": [variants]}).variants
    assert (layout.items, layout.options) == (TextAt(css="h1"), (TextAt(css="h1"),))
    assert layout.query == (("variant", TextAt(css="h1")),)
    assert len(layout.rules) == 1


def test_a_variants_link_by_one_parameter_is_a_query() -> None:
    """When a URL had at most one parameter, its value was stored as the link."""
    link = {"kind": "json", "block": "item", "path": "$.id"}
    variants = {"items": HEADING, "link": link, "parameter": "variant"}
    (layout,) = RuleSet.from_json({"variants": [variants]}).variants
    assert layout.link is None
    assert layout.query == (("variant", JsonAt(block="item", path="$.id")),)
