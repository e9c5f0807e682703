"""Upgrade of rule sets that earlier versions of Scout stored.

Mechanisms that gained on too few shops were deleted (`benchmarks/RESULTS.md`). Their fields are
dropped here, and so are the rules that cannot run without them; the next run learns such a shop
again.
"""

from typing import Any

# Forms that changed only the spelling of a value; the value itself is read as before.
RETIRED_FORMS = frozenset({"typed", "path"})
# Fields without effect on the rules that are kept.
RETIRED_FIELDS = frozenset({"signs", "bare_titles", "own_categories"})


def upgrade(stored: Any) -> Any:
    """Return the JSON of a rule set without retired fields and rules that depend on them."""
    if isinstance(stored, list | tuple):
        return [upgrade(entry) for entry in stored if not _is_retired_rule(entry)]
    if not isinstance(stored, dict):
        return stored
    upgraded = {}
    for name, value in stored.items():
        if name not in RETIRED_FIELDS:
            upgraded[name] = upgrade(value)
    if upgraded.get("form") in RETIRED_FORMS:
        upgraded["form"] = "plain"
    # Empty in every rule that is kept: see `_is_retired_rule`.
    if upgraded.get("kind") == "text":
        upgraded.pop("named_in", None)
    if isinstance(upgraded.get("trim"), dict):
        upgraded["trim"].pop("means", None)
    return upgraded


def _is_retired_rule(stored: Any) -> bool:
    """Return True for a rule that needs a menu entry or a value mapping, or that was a spare."""
    if not isinstance(stored, dict) or "attribute" not in stored:
        return False
    selector, trim = stored.get("selector"), stored.get("trim")
    is_menu_entry = isinstance(selector, dict) and bool(selector.get("named_in"))
    is_mapping = isinstance(trim, dict) and bool(trim.get("means"))
    return is_menu_entry or is_mapping or stored.get("origin") == "spare"
