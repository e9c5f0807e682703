"""What people fixed stays when rules are learnt anew: where it was, and said only once."""

import pytest

from catalog.models import Attribute
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import TextAt
from rules_generator.induction.pinned_rules import carry_over_pinned


def rule(css: str, attribute: Attribute = Attribute.BRAND, **more: object) -> Rule:
    """A rule on text."""
    return Rule.model_validate({"attribute": attribute, "selector": TextAt(css=css), **more})


def template(name: str, mark: str, *rules: Rule) -> Template:
    """A template that is told by two marks, one of them its own."""
    return Template(
        name=name, signature=Signature(marks={".shop": 1.0, mark: 3.0}, threshold=1.0), rules=rules
    )


def learnt(*templates: Template) -> RuleSet:
    """The rules of a shop."""
    return RuleSet(templates=templates)


BY_HAND = rule(".mine", origin="manual")
LOCKED = rule(".brand", locked=True, score=0.9)
FOUND = rule(".brand", score=0.8)
OTHER = rule(".maker")
TITLE = rule("h1", Attribute.TITLE)
NEW = learnt(template("1", ".a", FOUND, OTHER, TITLE), template("2", ".b", FOUND, TITLE))
STAYS = [
    ("set by hand, in place of what is learnt", [(".a", BY_HAND), (".b", BY_HAND)],
     [[BY_HAND, TITLE], [BY_HAND, TITLE]]),
    ("set by hand on one template", [(".a", FOUND), (".b", BY_HAND)], [[FOUND, OTHER, TITLE], [BY_HAND, TITLE]]),
    ("locked, and learnt again", [(".a", LOCKED), (".b", FOUND)], [[LOCKED, OTHER, TITLE], [FOUND, TITLE]]),
    ("after a redesign", [(".x", BY_HAND), (".y", LOCKED)], [[BY_HAND, LOCKED, TITLE], [BY_HAND, LOCKED, TITLE]]),
    ("nothing is kept", [(".a", OTHER)], [[FOUND, OTHER, TITLE], [FOUND, TITLE]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "expected"), STAYS, ids=[case[0] for case in STAYS])
def test_what_stays(name: str, old: list[tuple[str, Rule]], expected: list[list[Rule]]) -> None:
    """A rule stays with the template that is likest its own, or with all where it stood in all or none is like it."""
    before = learnt(
        *(template(str(number), mark, rules) for number, (mark, rules) in enumerate(old))
    )
    assert [
        list(template.rules) for template in carry_over_pinned(NEW, before).templates
    ] == expected
