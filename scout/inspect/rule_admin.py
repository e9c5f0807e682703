"""A shop's rules in the store: every change is a new version, so that what once read a page can be looked up."""

from collections.abc import Callable
from typing import Any

from sqlmodel import Session, col, select

from catalog.errors import RuleError, UsageError
from catalog.models import LARGEST_KEY, Attribute, Shop, StoredRules
from catalog.storage.store import Store
from parser.page.document import refuse_unusable
from parser.parse_job import newest_in
from parser.rules.model import Rule, RuleSet, Template

NOTED = ("agreement", "coverage")

Change = Callable[[Rule], Rule]


def load(store: Store, shop: Shop, version: int | None = None) -> RuleSet:
    """The shop's newest rules, or those of a version. Raises UsageError where there are none."""
    with store.read() as session:
        found = _stored(session, shop, version)
        if found is None and version is not None:
            raise UsageError(
                f"shop {shop.name!r} has no rules of version {version}: see 'scout rules history'"
            )
        if found is None:
            raise UsageError(
                f"shop {shop.name!r} has no rules yet: 'scout run {shop.name}' learns them"
            )
        return RuleSet.from_json({**found.rules, "version": found.version})


def history(store: Store, shop: Shop) -> list[StoredRules]:
    """All versions, newest first."""
    with store.read() as session:
        versions = select(StoredRules).where(StoredRules.shop_id == shop.id)
        return list(session.exec(versions.order_by(col(StoredRules.version).desc())))


def save(store: Store, shop: Shop, rules: RuleSet, how: str) -> int:
    """Store rules as the newest version; gives its number. How well they once read the shop stays noted with them.

    Raises RuleError where a rule is none that a page can be read by.
    """
    assert shop.id is not None
    refuse_unusable([*rules.selectors(), *(one for one in rules.selectors_inside() if one.css)])
    with store.write() as session:
        before = _stored(session, shop, None)
        version = (before.version if before else 0) + 1
        known = (
            {name: before.story[name] for name in NOTED if name in before.story} if before else {}
        )
        kept = rules.model_copy(update={"version": version}).to_json()
        session.add(
            StoredRules(shop_id=shop.id, version=version, rules=kept, story={"by": how, **known})
        )
    return version


def changed(
    rules: RuleSet, attribute: Attribute, change: Change, number: int | None = None
) -> RuleSet:
    """The rules with `change` made to those of an attribute, or to the one that `number` names (from 1, as shown).

    Raises RuleError where there is no such rule.
    """
    place, touched = 0, False
    templates = []
    for template in rules.templates:
        made: list[Rule] = []
        for rule in template.rules:
            place += rule.attribute == attribute
            meant = rule.attribute == attribute and number in (None, place)
            touched = touched or meant
            made.append(change(rule) if meant else rule)
        templates.append(template.model_copy(update={"rules": tuple(made)}))
    if not touched:
        which = f"rule {number} of" if number else "rule of"
        raise RuleError(f"there is no {which} {attribute.value!r}: 'scout rules show' lists all")
    return rules.model_copy(update={"templates": tuple(templates)})


def with_manual(rules: RuleSet, made: Rule, template: str | None) -> RuleSet:
    """The rules with one set by hand in place of what was learnt for its attribute, in one template or in all.

    Raises RuleError where no template has that name.
    """
    names = [one.name for one in rules.templates]
    if template is not None and template not in names:
        raise RuleError(
            f"there is no template {template!r}: the shop has {', '.join(names) or 'none'}"
        )
    templates = (
        _with_manual(one, made) if template in (None, one.name) else one for one in rules.templates
    )
    return rules.model_copy(update={"templates": tuple(templates)})


def _with_manual(template: Template, made: Rule) -> Template:
    others = tuple(rule for rule in template.rules if rule.attribute != made.attribute or rule.kept)
    return template.model_copy(
        update={"rules": (made, *(rule for rule in others if rule.selector != made.selector))}
    )


def listed(rules: RuleSet, attribute: Attribute | None = None) -> list[dict[str, Any]]:
    """Every rule as a row; `number` counts the rules of an attribute through all templates, from 1."""
    rows: list[dict[str, Any]] = []
    counted: dict[Attribute, int] = {}
    for template in rules.templates:
        for rule in template.rules:
            counted[rule.attribute] = counted.get(rule.attribute, 0) + 1
            if attribute in (None, rule.attribute):
                rows.append(_row(template, rule, counted[rule.attribute]))
    return rows


def _row(template: Template, rule: Rule, number: int) -> dict[str, Any]:
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


def _stored(session: Session, shop: Shop, version: int | None) -> StoredRules | None:
    if version is None:
        return newest_in(session, shop)
    if abs(version) > LARGEST_KEY:
        return None
    return session.exec(
        select(StoredRules).where(StoredRules.shop_id == shop.id, StoredRules.version == version)
    ).first()
