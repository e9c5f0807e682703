"""What people locked or set by hand stays when rules are learnt anew: in its own template, and said only once.

A rule stays with the template that is likest the one it stood in. Where it stood in all of them, or no new template is
like the old one, as after a redesign, it is asked on all. One set by hand stands in place of what was learnt for its
attribute, so none of that joins it again; beside one that is locked, others vote as before.
"""

from collections.abc import Sequence

from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.templates.template_match import likeness

ALIKE = 0.5


def with_kept(rules: RuleSet, old: RuleSet) -> RuleSet:
    """New rules with those that were locked or set by hand among the old ones; they are asked first."""
    ways = tuple(way for way in old.variants if any(rule.kept for rule in way.rules))
    variants = (
        (*ways, *(way for way in rules.variants if way not in ways)) if ways else rules.variants
    )
    staying = [
        pair for one in old.templates for pair in _staying(one, old.templates, rules.templates)
    ]
    templates = tuple(
        _joined(one, list(dict.fromkeys(rule for rule, homes in staying if one.name in homes)))
        for one in rules.templates
    )
    return rules.model_copy(update={"templates": templates, "variants": variants})


def _staying(
    old: Template, others: Sequence[Template], new: Sequence[Template]
) -> list[tuple[Rule, set[str]]]:
    """The rules of an old template that stay, each with the names of the new templates that it is asked on."""
    kept = [rule for rule in old.rules if rule.kept]
    if not kept or not new:
        return []
    likest = max(new, key=lambda one: _likeness(old.signature, one.signature))
    everywhere = {one.name for one in new}
    near = {likest.name} if _likeness(old.signature, likest.signature) >= ALIKE else everywhere
    return [
        (rule, everywhere if all(rule in one.rules for one in others) else near) for rule in kept
    ]


def _likeness(one: Signature, other: Signature) -> float:
    return min(likeness(one.marks, other), likeness(other.marks, one))


def _joined(template: Template, kept: Sequence[Rule]) -> Template:
    if not kept:
        return template
    by_hand = {rule.attribute for rule in kept if rule.origin == "manual"}
    said = {_what_it_says(rule) for rule in kept}
    learnt = (
        one
        for one in template.rules
        if one.attribute not in by_hand and _what_it_says(one) not in said
    )
    return template.model_copy(update={"rules": (*kept, *learnt)})


def _what_it_says(rule: Rule) -> tuple[object, ...]:
    """What a rule reads and how: two that differ only in how well that went are one."""
    return rule.attribute, rule.selector, rule.trim, rule.form
