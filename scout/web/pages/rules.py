"""The rules of a shop: each with its score, pins, history with differences, drift over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Form, Query
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import MAX_INTEGER, StoredRules
from scout.inspect.review_decisions import parse_attribute
from scout.inspect.rule_admin import (
    change_rules,
    diff_rules,
    list_rules,
    list_versions,
    load_rules,
    restore_rules,
    save_rules,
    unlock_rules,
)
from scout.web.access.guard import Editor, Viewer, page_router
from scout.web.context import Message
from scout.web.plain_text import FormText
from scout.web.query_filters import parse_number
from scout.web.rendering import path_part

SHOWN_VERSIONS = 30
"""Versions of the history at most."""

BasedOn = Annotated[int | None, Form(ge=1, le=MAX_INTEGER)]
"""Field of a form: the version of the rules that its page shows; a script may leave it out."""

router = page_router()


@dataclass(frozen=True)
class VersionLine:
    """A version of the rules: the number of its rules, and who made it."""

    stored: StoredRules
    rules: int
    origin: str


@router.get("/shops/{name}/rules")
def show_rules(name: str, context: Viewer) -> Response:
    """Show the newest rules of a shop, their history, and the agreement of each version."""
    shop = context.shop(name)
    versions = list_versions(context.store, shop, SHOWN_VERSIONS)
    rows = list_rules(load_rules(context.store, shop)) if versions else []
    by_attribute: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_attribute.setdefault(row["attribute"], []).append(row)
    return context.render(
        "rules.html",
        shop=shop,
        by_attribute=by_attribute,
        versions=[_version_line(stored) for stored in versions],
        agreements=_agreements(versions),
        base=f"/shops/{path_part(shop.name)}",
    )


def _version_line(stored: StoredRules) -> VersionLine:
    templates = stored.rules.get("templates", ())
    rules = sum(len(template.get("rules", ())) for template in templates)
    return VersionLine(stored, rules, stored.story.get("by", "learnt"))


def _agreements(versions: Sequence[StoredRules]) -> dict[str, list[tuple[int, float | None]]]:
    """Return agreement with known offers by attribute, per version, the oldest first."""
    ordered = sorted(versions, key=lambda stored: stored.version)
    names = {name for stored in ordered for name in stored.story.get("agreement") or {}}
    agreements: dict[str, list[tuple[int, float | None]]] = {}
    for name in sorted(names):
        shares = []
        for stored in ordered:
            share = (stored.story.get("agreement") or {}).get(name)
            shares.append((stored.version, share))
        agreements[name] = shares
    return agreements


@router.get("/shops/{name}/rules/diff")
def show_difference(name: str, context: Viewer) -> Response:
    """Show the rules that two versions do not share: `old` and `new` of the query."""
    shop = context.shop(name)
    new = load_rules(context.store, shop, parse_number(context.request, "new", 0) or None)
    old_version = parse_number(context.request, "old", 0) or new.version - 1
    if old_version < 1:
        raise UsageError("version 1 is the first one: there is none to compare it with")
    old = load_rules(context.store, shop, old_version)
    return context.render("rules_diff.html", shop=shop, old=old, new=new, rows=diff_rules(old, new))


@router.post("/shops/{name}/rules/restore")
def restore(
    name: str,
    context: Editor,
    version: str,
    based_on: Annotated[int | None, Query(ge=1, le=MAX_INTEGER)] = None,
) -> Response:
    """Store the rules of an earlier version as the newest."""
    shop = context.shop(name)
    number = parse_number(context.request, "version", 0)
    stored = restore_rules(context.store, shop, number, based_on=based_on)
    context.audit("rules restored", shop.name, version=number)
    text = context.gettext("The rules of version {version} are back, as version {stored}.")
    message = Message(text.format(version=number, stored=stored))
    return context.redirect(_rules_path(shop.name), message)


@router.post("/shops/{name}/rules/pin")
def pin(name: str, context: Editor, attribute: FormText, based_on: BasedOn = None) -> Response:
    """Pin the rules of an attribute: learning leaves them as they are."""
    shop = context.shop(name)
    chosen = parse_attribute(attribute)
    rules = change_rules(
        load_rules(context.store, shop),
        chosen,
        lambda rule: rule.model_copy(update={"locked": True}),
    )
    save_rules(context.store, shop, rules, f"{chosen.value} locked", based_on=based_on)
    context.audit("rules pinned", shop.name, attribute=chosen.value)
    return context.redirect(_rules_path(shop.name))


@router.post("/shops/{name}/rules/unpin")
def unpin(name: str, context: Editor, attribute: FormText, based_on: BasedOn = None) -> Response:
    """Let learning replace the rules of an attribute again; a rule set by hand goes."""
    shop = context.shop(name)
    chosen = parse_attribute(attribute)
    rules = unlock_rules(context.store, shop, chosen)
    save_rules(context.store, shop, rules, f"{chosen.value} unlocked", based_on=based_on)
    context.audit("rules unpinned", shop.name, attribute=chosen.value)
    return context.redirect(_rules_path(shop.name))


def _rules_path(name: str) -> str:
    return f"/shops/{path_part(name)}/rules"
