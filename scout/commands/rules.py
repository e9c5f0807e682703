"""`scout rules`: show, export, import, lock and set the rules of a shop's pages."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import (
    Invocation,
    JsonOption,
    ShopArgument,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from catalog.models import Shop, StoredRules
    from parser.rules.model import Rule, RuleSet, VariantLayout
    from parser.rules.selector import AttributeAt, JsonAt, TextAt

rule_commands = command_group("rules", "Rules: show, export, import, lock, set.")
AttributeArgument = Annotated[
    str,
    typer.Argument(metavar="ATTRIBUTE", help="The attribute: title, price, brand, image, ean, ..."),
]
NumberOption = Annotated[
    int | None,
    typer.Option(
        "--number", min=1, metavar="N", help="Only the rule of that number in 'scout rules show'."
    ),
]

RULE_COLUMNS = (
    "template",
    "attribute",
    "number",
    "score",
    "support",
    "origin",
    "locked",
    "selector",
    "trim",
    "form",
)
VARIANT_RULE_COLUMNS = ("attribute", "score", "support", "origin", "selector", "trim", "form")
HISTORY_COLUMNS = ("version", "at", "run", "rules", "by", "drift")

CELL_LENGTH = 80
"""Characters of a selector or value in the tables."""


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(rule_commands)


@rule_commands.command("show")
def show_rules(
    context: typer.Context,
    shop: ShopArgument,
    attribute: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="Only the rules of this attribute.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="An earlier version.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the rules. With --json, one object a line."""
    from scout.inspect.review_decisions import parse_attribute
    from scout.inspect.rule_admin import list_rules, load_rules

    invocation = get_invocation(context)
    rules = load_rules(invocation.store, invocation.shop(shop), version)
    rows = list_rules(rules, parse_attribute(attribute) if attribute else None)
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(RULE_COLUMNS, [[_shorten_text(row[name]) for name in RULE_COLUMNS] for row in rows])
    if attribute is None:
        for variants in rules.variants:
            _print_variants(variants)
    print_lines(
        f"version {rules.version}: {len(rows)} rules, learnt from {len(rules.learnt_from)} pages"
    )


def _print_variants(variants: "VariantLayout") -> None:
    print_lines("", f"Several offers a page: each {format_cell(str(variants.items))}")
    rows = []
    for rule in variants.rules:
        rows.append(
            (
                _shorten_text(rule.attribute),
                rule.score,
                rule.support,
                _shorten_text(rule.origin),
                shorten(str(rule.selector), CELL_LENGTH),
                str(rule.trim),
                rule.form,
            )
        )
    print_table(VARIANT_RULE_COLUMNS, rows)
    for selector in variants.options:
        print_lines(f"variant name: {format_cell(str(selector))}")
    for name, selector in variants.query:
        print_lines(f"URL: {format_cell(str(selector))} as ?{format_cell(name)}=")
    if variants.link is not None:
        print_lines(f"URL: {format_cell(str(variants.link))}")


@rule_commands.command("export")
def export_rules(
    context: typer.Context,
    shop: ShopArgument,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="An earlier version.")
    ] = None,
) -> None:
    """Print the rules as JSON, for 'scout rules import'."""
    from scout.inspect.rule_admin import load_rules

    invocation = get_invocation(context)
    rules = load_rules(invocation.store, invocation.shop(shop), version)
    print_lines(json.dumps(rules.to_json(), ensure_ascii=False, indent=1))


@rule_commands.command("import")
def import_rules(
    context: typer.Context,
    shop: ShopArgument,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file made by 'scout rules export'; - for standard input."
        ),
    ],
) -> None:
    """Store the rules of a file as the newest version."""
    from parser.rules.model import RuleSet
    from scout.inspect.rule_admin import save_rules

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    rules = RuleSet.from_json(_read_json(source))
    version = save_rules(invocation.store, stored_shop, rules, f"imported from {source}")
    _print_next_step(stored_shop, version)


@rule_commands.command("lock")
def lock_rules(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    number: NumberOption = None,
) -> None:
    """Keep rules unchanged when the shop's rules are learnt anew."""
    _set_locked(get_invocation(context), shop, attribute, number, True)


@rule_commands.command("unlock")
def unlock_rules(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    number: NumberOption = None,
) -> None:
    """Let learning replace rules again; a rule set by hand counts as learnt from then on."""
    _set_locked(get_invocation(context), shop, attribute, number, False)


@rule_commands.command("set")
def set_rule(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    css: Annotated[
        str, typer.Option(metavar="CSS", help="A CSS selector; its first element counts.")
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--attr", metavar="NAME", help="Take this attribute of the element, not its text."
        ),
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(
            metavar="BLOCK", help="Take a block of data, named by the text that precedes it."
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(metavar="JSONPATH", help="The path within that block, such as $.price."),
    ] = None,
    join: Annotated[
        bool,
        typer.Option("--all", help="Join all matches as the steps of a path: breadcrumbs."),
    ] = False,
    behind: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Take the text behind that label, a regular expression, such as EAN|UPC.",
        ),
    ] = None,
    left: Annotated[str, typer.Option(metavar="TEXT", help="Text to take off the left end.")] = "",
    right: Annotated[
        str, typer.Option(metavar="TEXT", help="Text to take off the right end.")
    ] = "",
    form: Annotated[
        Literal["plain", "comma", "point", "minor"],
        typer.Option(help="The notation of a price's digits."),
    ] = "plain",
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only for this template of the shop's pages.")
    ] = None,
) -> None:
    """Set a rule by hand, in place of the learnt ones; it is kept when rules are learnt anew."""
    from parser.rules.model import Rule
    from parser.rules.trim import Trim
    from scout.inspect.review_decisions import parse_attribute
    from scout.inspect.rule_admin import load_rules, save_rules, set_manual_rule

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    rule = Rule(
        attribute=parse_attribute(attribute),
        selector=_make_selector(css, name, block, path, join, behind),
        trim=Trim(left=left or 0, right=right or 0),
        form=form,
        origin="manual",
    )
    rules = set_manual_rule(load_rules(store, stored_shop), rule, template)
    _print_next_step(stored_shop, save_rules(store, stored_shop, rules, f"{attribute} set by hand"))


@rule_commands.command("history")
def list_versions(context: typer.Context, shop: ShopArgument, as_json: JsonOption = False) -> None:
    """List the versions of the rules, newest first. With --json, one object a line."""
    from scout.inspect.rule_admin import list_versions

    invocation = get_invocation(context)
    rows = [
        _version_row(stored) for stored in list_versions(invocation.store, invocation.shop(shop))
    ]
    if as_json:
        for row in rows:
            print_json(row)
        return
    titles = (*HISTORY_COLUMNS[:-1], "drift of the rules before")
    print_table(titles, [[row[column] for column in HISTORY_COLUMNS] for row in rows])


def _version_row(stored: "StoredRules") -> dict[str, Any]:
    templates = stored.rules.get("templates", ())
    return {
        "version": stored.version,
        "at": stored.created_at,
        "run": stored.run_id,
        "rules": sum(len(template.get("rules", ())) for template in templates),
        "by": stored.story.get("by", "learnt"),
        "drift": (stored.story.get("drift") or {}).get("said", ""),
        "story": stored.story,
    }


def _set_locked(
    invocation: Invocation, name: str, attribute: str, number: int | None, locked: bool
) -> None:
    from scout.inspect.review_decisions import parse_attribute
    from scout.inspect.rule_admin import change_rules, load_rules, save_rules

    store, shop = invocation.store, invocation.shop(name)
    selected = parse_attribute(attribute)

    def change(rule: "Rule") -> "Rule":
        # A manual rule is never replaced by learning: unlocking has to make it a learnt one.
        origin = "learnt" if rule.origin == "manual" and not locked else rule.origin
        return rule.model_copy(update={"locked": locked, "origin": origin})

    rules: RuleSet = change_rules(load_rules(store, shop), selected, change, number)
    action = "locked" if locked else "unlocked"
    _print_next_step(shop, save_rules(store, shop, rules, f"{attribute} {action}"))


def _make_selector(
    css: str, name: str | None, block: str | None, path: str | None, join: bool, behind: str | None
) -> "TextAt | AttributeAt | JsonAt":
    from parser.rules.selector import selector_from

    if (block is None) != (path is None):
        raise typer.BadParameter("--block and --path belong together")
    options = {
        "--attr": name is not None,
        "--block with --path": block is not None,
        "--all": join,
        "--behind": behind is not None,
    }
    given = [option for option, is_given in options.items() if is_given]
    # Only a list in a block can be joined; all other pairs contradict each other.
    if len(given) > 1 and given != ["--block with --path", "--all"]:
        raise typer.BadParameter(f"take either {given[0]} or {given[1]}")
    if name is not None:
        return selector_from({"kind": "attribute", "css": css, "name": name})
    if behind is not None:
        return selector_from({"kind": "text", "css": css, "behind": behind})
    if block is None:
        return selector_from({"kind": "text", "css": css, "join": join})
    return selector_from({"kind": "json", "block": block, "path": path, "css": css, "join": join})


def _read_json(source: str) -> Any:
    from catalog.errors import RuleError

    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise RuleError(f"{source} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RuleError(f"{source} is not JSON: {error}") from error


def _shorten_text(value: object) -> object:
    return shorten(value, CELL_LENGTH) if isinstance(value, str) else value


def _print_next_step(shop: "Shop", version: int) -> None:
    print_lines(f"rules version {version} stored: 'scout parse {shop.name}' reads the pages by it")
