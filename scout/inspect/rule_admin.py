"""Administration of a shop's rules: every change is stored as a new version."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlmodel import Session, col, select

from catalog.errors import RuleError, RulesChanged, UsageError
from catalog.models import MAX_INTEGER, Attribute, Shop, StoredRules
from catalog.storage.store import Store, lock_shop
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


def list_versions(store: Store, shop: Shop, limit: int | None = None) -> list[StoredRules]:
    """List the versions of the rules, newest first; at most `limit`, None for all."""
    query = (
        select(StoredRules)
        .where(StoredRules.shop_id == shop.id)
        .order_by(col(StoredRules.version).desc())
        .limit(limit)
    )
    with store.read() as session:
        return list(session.exec(query))


def save_rules(
    store: Store, shop: Shop, rules: RuleSet, origin: str, *, based_on: int | None = None
) -> int:
    """Store rules as the newest version and return its number.

    `based_on` is the version that the change was made from, None where it replaces any version.
    The measurements of the previous version are kept.

    Raises RuleError if a selector cannot be used, RulesChanged if a version newer than `based_on`
    is stored.
    """
    assert shop.id is not None
    inner_selectors = [selector for selector in rules.item_selectors() if selector.css]
    check_selectors([*rules.selectors(), *inner_selectors])
    story: dict[str, Any] = {"by": origin}
    version = 1
    with store.write() as session:
        lock_shop(session, shop.id)
        previous = _stored_rules(session, shop, None)
        if previous is not None:
            if based_on is not None and based_on != previous.version:
                raise RulesChanged(
                    f"the rules of shop {shop.name!r} are of version {previous.version} by now: "
                    f"this change was made from version {based_on}, and is not saved"
                )
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
        is_same_place = rule.selector == manual.selector
        is_replaced = rule.attribute == manual.attribute and (is_same_place or not rule.is_pinned)
        if not is_replaced:
            remaining.append(rule)
    return template.model_copy(update={"rules": (manual, *remaining)})


def restore_rules(store: Store, shop: Shop, version: int, *, based_on: int | None = None) -> int:
    """Store the rules of an earlier version as the newest and return its number.

    `based_on` is as in `save_rules`. Raises UsageError (no such version), RuleError, RulesChanged.
    """
    rules = load_rules(store, shop, version)
    return save_rules(store, shop, rules, f"restored from {version}", based_on=based_on)


def unlock_rules(
    store: Store, shop: Shop, attribute: Attribute, number: int | None = None
) -> RuleSet:
    """Return the newest rules with rules of an attribute unlocked.

    A rule set by hand goes, and the learnt rules that it replaced come back; where no version has
    any, it stays and counts as learnt. Raises UsageError, RuleError.
    """
    rules = load_rules(store, shop)
    replaced = _replaced_rules(store, shop, attribute)
    templates_of_manual: set[str] = set()
    for template, rule in _numbered(rules, attribute, number):
        if rule.origin == "manual":
            templates_of_manual.add(template.name)
    unlocked = change_rules(rules, attribute, _unlock, number)
    templates = list(unlocked.templates)
    for index, template in enumerate(unlocked.templates):
        restored = replaced.get(template.name, ())
        if template.name in templates_of_manual and restored:
            pinned = tuple(rule for rule in template.rules_for(attribute) if rule.is_pinned)
            remaining = tuple(rule for rule in template.rules if rule.attribute != attribute)
            all_rules = (*pinned, *restored, *remaining)
            templates[index] = template.model_copy(update={"rules": all_rules})
    return unlocked.model_copy(update={"templates": tuple(templates)})


def _unlock(rule: Rule) -> Rule:
    # A manual rule is never replaced by learning: unlocking has to make it a learnt one.
    origin = "learnt" if rule.origin == "manual" else rule.origin
    return rule.model_copy(update={"locked": False, "origin": origin})


def _numbered(
    rules: RuleSet, attribute: Attribute, number: int | None
) -> Iterator[tuple[Template, Rule]]:
    """Yield an attribute's rules with their templates; only the numbered one, if any."""
    counter = 0
    for template in rules.templates:
        for rule in template.rules_for(attribute):
            counter += 1
            if number in (None, counter):
                yield template, rule


def _replaced_rules(store: Store, shop: Shop, attribute: Attribute) -> dict[str, tuple[Rule, ...]]:
    """Return an attribute's learnt rules per template, from the newest version with any."""
    replaced: dict[str, tuple[Rule, ...]] = {}
    for stored in list_versions(store, shop):
        for template in RuleSet.from_json(stored.rules).templates:
            rules = template.rules_for(attribute)
            has_manual = any(rule.origin == "manual" for rule in rules)
            learnt = tuple(rule for rule in rules if not rule.is_pinned)
            if learnt and not has_manual:
                replaced.setdefault(template.name, learnt)
    return replaced


def diff_rules(before: RuleSet, after: RuleSet) -> list[dict[str, Any]]:
    """List the rules that two versions do not share, as rows with `change`: added, removed,
    changed.

    Rules are the same where template, attribute, selector, trim and form are.
    """
    old, new = _rules_by_identity(before), _rules_by_identity(after)
    rows: list[dict[str, Any]] = []
    for identity, row in old.items():
        if identity not in new:
            rows.append({"change": "removed", **row})
        elif new[identity] != row:
            changes = {
                name: [row[name], value]
                for name, value in new[identity].items()
                if row[name] != value
            }
            rows.append({"change": "changed", **new[identity], "changes": changes})
    for identity, row in new.items():
        if identity not in old:
            rows.append({"change": "added", **row})
    return sorted(rows, key=lambda row: (row["template"], row["attribute"]))


def _rules_by_identity(rules: RuleSet) -> dict[tuple[str, ...], dict[str, Any]]:
    by_identity = {}
    for row in list_rules(rules):
        # A rule's number moves when others come and go.
        del row["number"]
        identity = tuple(
            row[name] for name in ("template", "attribute", "selector", "trim", "form")
        )
        by_identity[identity] = row
    return by_identity


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
    if abs(version) > MAX_INTEGER:
        return None
    return session.exec(
        select(StoredRules).where(StoredRules.shop_id == shop.id, StoredRules.version == version)
    ).first()
