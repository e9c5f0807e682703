"""Administration of a shop's rules: every change is stored as a new version."""

from collections.abc import Callable
from typing import Any

from sqlmodel import Session, col, select

from catalog.errors import RuleError, UsageError
from catalog.models import MAX_ROW_ID, Attribute, Shop, StoredRules
from catalog.storage.store import Store
from parser.page.document import check_selectors
from parser.parse_job import newest_rules_row
from parser.rules.model import Rule, RuleSet, Template

# Measurements of the learner that stay with rules which are edited by hand.
_KEPT_MEASUREMENTS = ("agreement", "coverage")

RuleChange = Callable[[Rule], Rule]


def load_rules(store: Store, shop: Shop, version: int | None = None) -> RuleSet:
    """Load the rules of a version, None for the newest. Raises UsageError if there are none."""
    with store.read() as session:
        stored = _stored_rules(session, shop, version)
        if stored is not None:
            return RuleSet.from_json({**stored.rules, "version": stored.version})
    if version is not None:
        raise UsageError(
            f"shop {shop.name!r} has no rules of version {version}: see 'scout rules history'"
        )
    raise UsageError(f"shop {shop.name!r} has no rules yet: 'scout run {shop.name}' learns them")


def list_versions(store: Store, shop: Shop) -> list[StoredRules]:
    """List all versions of the rules, newest first."""
    query = (
        select(StoredRules)
        .where(StoredRules.shop_id == shop.id)
        .order_by(col(StoredRules.version).desc())
    )
    with store.read() as session:
        return list(session.exec(query))


def save_rules(store: Store, shop: Shop, rules: RuleSet, origin: str) -> int:
    """Store rules as the newest version and return its number.

    The measurements of the previous version are kept.

    Raises RuleError if a selector cannot be used.
    """
    assert shop.id is not None
    inner_selectors = [selector for selector in rules.item_selectors() if selector.css]
    check_selectors([*rules.selectors(), *inner_selectors])
    story: dict[str, Any] = {"by": origin}
    version = 1
    with store.write() as session:
        previous = _stored_rules(session, shop, None)
        if previous is not None:
            version = previous.version + 1
            for name in _KEPT_MEASUREMENTS:
                if name in previous.story:
                    story[name] = previous.story[name]
        stored = rules.model_copy(update={"version": version}).to_json()
        session.add(StoredRules(shop_id=shop.id, version=version, rules=stored, story=story))
    return version


def change_rules(
    rules: RuleSet, attribute: Attribute, change: RuleChange, number: int | None = None
) -> RuleSet:
    """Apply `change` to all rules of an attribute, or to the one with that number (from 1).

    Raises RuleError if there is no such rule.
    """
    counter, is_changed = 0, False
    templates = []
    for template in rules.templates:
        changed = list(template.rules)
        for index, rule in enumerate(template.rules):
            if rule.attribute != attribute:
                continue
            counter += 1
            if number in (None, counter):
                changed[index] = change(rule)
                is_changed = True
        templates.append(template.model_copy(update={"rules": tuple(changed)}))
    if not is_changed:
        which = f"rule {number} of" if number else "rule of"
        raise RuleError(f"there is no {which} {attribute.value!r}: 'scout rules show' lists all")
    return rules.model_copy(update={"templates": tuple(templates)})


def set_manual_rule(rules: RuleSet, manual: Rule, template_name: str | None) -> RuleSet:
    """Replace the learnt rules of an attribute by a manual one, in one template or (None) in all.

    Raises RuleError if no template has that name.
    """
    names = [template.name for template in rules.templates]
    if template_name is not None and template_name not in names:
        raise RuleError(
            f"there is no template {template_name!r}: the shop has {', '.join(names) or 'none'}"
        )
    templates = list(rules.templates)
    for index, template in enumerate(rules.templates):
        if template_name in (None, template.name):
            templates[index] = _with_manual_rule(template, manual)
    return rules.model_copy(update={"templates": tuple(templates)})


def _with_manual_rule(template: Template, manual: Rule) -> Template:
    remaining = []
    for rule in template.rules:
        # Locked and other manual rules of the attribute stay.
        is_replaced = rule.attribute == manual.attribute and not rule.is_pinned
        if not is_replaced and rule.selector != manual.selector:
            remaining.append(rule)
    return template.model_copy(update={"rules": (manual, *remaining)})


def list_rules(rules: RuleSet, attribute: Attribute | None = None) -> list[dict[str, Any]]:
    """List every rule as a row.

    `number` counts the rules of an attribute through all templates, from 1.
    """
    rows: list[dict[str, Any]] = []
    numbers: dict[Attribute, int] = {}
    for template in rules.templates:
        for rule in template.rules:
            numbers[rule.attribute] = numbers.get(rule.attribute, 0) + 1
            if attribute in (None, rule.attribute):
                rows.append(_rule_row(template, rule, numbers[rule.attribute]))
    return rows


def _rule_row(template: Template, rule: Rule, number: int) -> dict[str, Any]:
    return {
        "template": template.name,
        "attribute": rule.attribute.value,
        "number": number,
        "score": rule.score,
        "support": rule.support,
        "origin": rule.origin,
        "locked": rule.locked,
        "selector": str(rule.selector),
        "trim": str(rule.trim),
        "form": rule.form,
    }


def _stored_rules(session: Session, shop: Shop, version: int | None) -> StoredRules | None:
    if version is None:
        return newest_rules_row(session, shop)
    # A larger number would overflow the database's integer.
    if abs(version) > MAX_ROW_ID:
        return None
    return session.exec(
        select(StoredRules).where(StoredRules.shop_id == shop.id, StoredRules.version == version)
    ).first()
