"""Pinned rules - locked, or set by hand - stay when rules are learnt anew: in their own template,
and only once.

A rule stays with the template most similar to the one it stood in. If it stood in all of them, or
no new template is similar to the old one, as after a redesign, it stays in all. A rule set by hand
replaces the learnt ones of its attribute; beside a locked rule, others vote as before.
"""

from collections.abc import Sequence

from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.templates.template_match import signature_similarity

# Least similarity of two signatures to be of one template.
MIN_SIMILARITY = 0.5


def carry_over_pinned(rules: RuleSet, old: RuleSet) -> RuleSet:
    """Return new rules with the pinned ones among the old; pinned rules come first."""
    pinned = []
    for layout in old.variants:
        if any(rule.is_pinned for rule in layout.rules):
            pinned.append(layout)
    variants = tuple(dict.fromkeys([*pinned, *rules.variants]))
    placements: list[tuple[Rule, set[str]]] = []
    for template in old.templates:
        placements += _placements(template, old.templates, rules.templates)
    templates = []
    for template in rules.templates:
        placed = [rule for rule, names in placements if template.name in names]
        templates.append(_with_pinned(template, list(dict.fromkeys(placed))))
    return rules.model_copy(update={"templates": tuple(templates), "variants": variants})


def _placements(
    old: Template, old_templates: Sequence[Template], new_templates: Sequence[Template]
) -> list[tuple[Rule, set[str]]]:
    """Return an old template's pinned rules, each with the new templates that it goes to."""
    pinned = [rule for rule in old.rules if rule.is_pinned]
    if not pinned or not new_templates:
        return []
    similarities = {}
    for new in new_templates:
        similarities[new.name] = _similarity(old.signature, new.signature)
    all_names = set(similarities)
    best = max(similarities, key=similarities.__getitem__)
    near = {best} if similarities[best] >= MIN_SIMILARITY else all_names
    placements = []
    for rule in pinned:
        stood_everywhere = all(rule in template.rules for template in old_templates)
        placements.append((rule, all_names if stood_everywhere else near))
    return placements


def _similarity(first: Signature, second: Signature) -> float:
    return min(signature_similarity(first.marks, second), signature_similarity(second.marks, first))


def _with_pinned(template: Template, pinned: Sequence[Rule]) -> Template:
    if not pinned:
        return template
    set_by_hand = {rule.attribute for rule in pinned if rule.origin == "manual"}
    pinned_ids = set(map(_identity, pinned))
    learnt = []
    for rule in template.rules:
        if rule.attribute not in set_by_hand and _identity(rule) not in pinned_ids:
            learnt.append(rule)
    return template.model_copy(update={"rules": (*pinned, *learnt)})


def _identity(rule: Rule) -> tuple[object, ...]:
    """Return all of a rule but its scores: two rules that differ only in these are one."""
    return rule.attribute, rule.selector, rule.trim, rule.form
