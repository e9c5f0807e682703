"""`scout rules`: show, test, set, compare and restore the rules of a shop's pages."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import (
    MAX_ROWS,
    JsonOption,
    ShopArgument,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_table, shorten

if TYPE_CHECKING:
    from catalog.models import Shop, StoredRules
    from parser.rules.model import Rule, VariantLayout
    from scout.inspect.rule_forms import WrittenForm
    from scout.inspect.rule_trial import RuleTrial, TriedPage

rule_commands = command_group(
    "rules", "Rules: show, test, set, lock, compare, restore, export, import."
)
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

CssOption = Annotated[
    str, typer.Option(metavar="CSS", help="A CSS selector; its first element counts.")
]
AttrOption = Annotated[
    str | None,
    typer.Option(
        "--attr", metavar="NAME", help="Take this attribute of the element, not its text."
    ),
]
BlockOption = Annotated[
    str | None,
    typer.Option(metavar="BLOCK", help="Take a block of data, named by the text that precedes it."),
]
PathOption = Annotated[
    str | None,
    typer.Option(metavar="JSONPATH", help="The path within that block, such as $.price."),
]
JoinOption = Annotated[
    bool, typer.Option("--all", help="Join all matches as the steps of a path: breadcrumbs.")
]
BehindOption = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="Take the text behind that label, a regular expression, such as EAN|UPC.",
    ),
]
LeftOption = Annotated[str, typer.Option(metavar="TEXT", help="Text to remove from the left end.")]
RightOption = Annotated[
    str, typer.Option(metavar="TEXT", help="Text to remove from the right end.")
]
FormOption = Annotated[
    Literal["plain", "comma", "point", "minor"],
    typer.Option(help="The notation of a price's digits."),
]
TemplateOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only for this template of the shop's pages.")
]
VersionArgument = Annotated[
    int, typer.Argument(min=1, metavar="N", help="A version of 'scout rules history'.")
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
DIFF_COLUMNS = ("change", "template", "attribute", "score", "origin", "locked", "selector", "trim")
HISTORY_COLUMNS = ("version", "at", "run", "rules", "by", "drift")

CELL_LENGTH = 80
"""Characters of a selector or value in the tables."""
TRIAL_CELL_LENGTH = 40
"""Characters of a value in the table of a trial."""


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
    """Keep rules unchanged when the shop's rules are learnt again."""
    from scout.inspect.review_decisions import parse_attribute
    from scout.inspect.rule_admin import change_rules, load_rules, save_rules

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    selected = parse_attribute(attribute)
    rules = change_rules(load_rules(store, stored_shop), selected, _lock, number)
    version = save_rules(store, stored_shop, rules, f"{attribute} locked", based_on=rules.version)
    _print_next_step(stored_shop, version)


@rule_commands.command("unlock")
def unlock_rules(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    number: NumberOption = None,
) -> None:
    """Let learning replace rules again.

    A rule set by hand goes, and the rules that it replaced come back.
    """
    from scout.inspect import rule_admin
    from scout.inspect.review_decisions import parse_attribute

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    rules = rule_admin.unlock_rules(store, stored_shop, parse_attribute(attribute), number)
    version = rule_admin.save_rules(
        store, stored_shop, rules, f"{attribute} unlocked", based_on=rules.version
    )
    _print_next_step(stored_shop, version)


@rule_commands.command("set")
def set_rule(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    css: CssOption,
    name: AttrOption = None,
    block: BlockOption = None,
    path: PathOption = None,
    join: JoinOption = False,
    behind: BehindOption = None,
    left: LeftOption = "",
    right: RightOption = "",
    form: FormOption = "plain",
    template: TemplateOption = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Store the rule even if it reads none of the known values."),
    ] = False,
) -> None:
    """Set a rule by hand, in place of the learnt ones; it is kept when rules are learnt again.

    It is tested first, on the pages of known offers and on some others.
    """
    from scout.inspect.rule_admin import load_rules, save_rules, set_manual_rule
    from scout.inspect.rule_trial import measured_rule, try_manual_rule

    invocation = get_invocation(context)
    settings, store, stored_shop = invocation.settings, invocation.store, invocation.shop(shop)
    rule = _written_rule(
        attribute, css, name, block, path, join, behind, left=left, right=right, form=form
    )
    with invocation.limited(), invocation.progress() as progress:
        trial = try_manual_rule(settings, store, stored_shop, rule, template, progress=progress)
    if not force:
        trial.check()
    stored = load_rules(store, stored_shop)
    rules = set_manual_rule(stored, measured_rule(rule, trial), template)
    _print_trial_counts(trial)
    version = save_rules(
        store, stored_shop, rules, f"{attribute} set by hand", based_on=rules.version
    )
    _print_next_step(stored_shop, version)


@rule_commands.command("test")
def try_rule(
    context: typer.Context,
    shop: ShopArgument,
    attribute: AttributeArgument,
    css: CssOption,
    name: AttrOption = None,
    block: BlockOption = None,
    path: PathOption = None,
    join: JoinOption = False,
    behind: BehindOption = None,
    left: LeftOption = "",
    right: RightOption = "",
    form: FormOption = "plain",
    template: TemplateOption = None,
    pages: Annotated[
        int, typer.Option(min=0, max=MAX_ROWS, metavar="N", help="Other pages to read.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Read pages with a rule before it is saved: those of all known offers, and some others.

    Prints the value before and after, and the catalog's. With --json, one object a line.
    """
    from scout.inspect.rule_trial import try_manual_rule

    invocation = get_invocation(context)
    settings, store, stored_shop = invocation.settings, invocation.store, invocation.shop(shop)
    rule = _written_rule(
        attribute, css, name, block, path, join, behind, left=left, right=right, form=form
    )
    with invocation.limited(), invocation.progress() as progress:
        trial = try_manual_rule(
            settings, store, stored_shop, rule, template, sample_size=pages, progress=progress
        )
    if as_json:
        for page in trial.pages:
            print_json(asdict(page))
        return
    rows = []
    for page in trial.pages:
        values = [shorten(value or "", TRIAL_CELL_LENGTH) for value in (page.before, page.after)]
        catalog_values = shorten(", ".join(page.known), TRIAL_CELL_LENGTH)
        rows.append((*values, catalog_values, _describe_trial(page), page.url))
    print_table(("before", "after", "catalog", "result", "page"), rows)
    _print_trial_counts(trial)


def _describe_trial(page: "TriedPage") -> str:
    if page.is_right is None:
        return "" if page.before == page.after else "changed"
    if page.is_right:
        return "right" if page.was_right else "right now"
    return "wrong now" if page.was_right else "wrong"


def _print_trial_counts(trial: "RuleTrial") -> None:
    if not trial.pages:
        print_lines("no crawled page to test the rule on")
        return
    print_lines(
        f"{trial.found} of {len(trial.pages)} pages give a value; {trial.right_after} of "
        f"{trial.known} known values are read correctly ({trial.right_before} before)"
    )


@rule_commands.command("diff")
def diff_versions(
    context: typer.Context,
    shop: ShopArgument,
    old: Annotated[
        int | None,
        typer.Argument(min=1, metavar="OLD", help="A version; by default the one before NEW."),
    ] = None,
    new: Annotated[
        int | None, typer.Argument(min=1, metavar="NEW", help="A version; by default the newest.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the rules that two versions do not share. With --json, one object a line."""
    from scout.inspect.rule_admin import diff_rules, load_rules

    invocation = get_invocation(context)
    store, stored_shop = invocation.store, invocation.shop(shop)
    after = load_rules(store, stored_shop, new)
    before = load_rules(store, stored_shop, old if old is not None else after.version - 1)
    rows = diff_rules(before, after)
    if as_json:
        for row in rows:
            print_json(row)
        return
    print_table(DIFF_COLUMNS, [[_shorten_text(row[name]) for name in DIFF_COLUMNS] for row in rows])
    print_lines(f"version {before.version} to {after.version}: {len(rows)} rules differ")


@rule_commands.command("restore")
def restore_version(context: typer.Context, shop: ShopArgument, version: VersionArgument) -> None:
    """Store the rules of an earlier version as the newest version."""
    from scout.inspect.rule_admin import restore_rules

    invocation = get_invocation(context)
    stored_shop = invocation.shop(shop)
    _print_next_step(stored_shop, restore_rules(invocation.store, stored_shop, version))


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
    titles = (*HISTORY_COLUMNS[:-1], "drift of the former rules")
    print_table(titles, [[row[column] for column in HISTORY_COLUMNS] for row in rows])


def _version_row(stored: "StoredRules") -> dict[str, Any]:
    templates = stored.rules.get("templates", ())
    return {
        "version": stored.version,
        "at": stored.created_at,
        "run": stored.run_id,
        "rules": sum(len(template.get("rules", ())) for template in templates),
        "by": stored.story.get("by", "learnt"),
        "drift": stored.drift_summary,
        "story": stored.story,
    }


def _lock(rule: "Rule") -> "Rule":
    return rule.model_copy(update={"locked": True})


def _written_rule(
    attribute: str,
    css: str,
    name: str | None,
    block: str | None,
    path: str | None,
    join: bool,
    behind: str | None,
    *,
    left: str,
    right: str,
    form: "WrittenForm",
) -> "Rule":
    """Return the rule that the options describe. Raises BadParameter where these contradict."""
    from scout.inspect.review_decisions import parse_attribute
    from scout.inspect.rule_forms import WrittenRule

    _check_options(name, block, path, join, behind)
    written = WrittenRule(
        parse_attribute(attribute),
        css,
        name or "",
        block or "",
        path or "",
        join,
        behind or "",
        left,
        right,
        form,
    )
    return written.rule()


def _check_options(
    name: str | None, block: str | None, path: str | None, join: bool, behind: str | None
) -> None:
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
    print_lines(
        f"rules version {version} stored: 'scout parse {shop.name}' reads the pages with it"
    )
