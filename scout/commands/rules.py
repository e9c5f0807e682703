"""`scout rules`: what Scout has learnt of a shop's pages, shown, carried elsewhere, and set right by hand."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scout.commands.context import Call, Json, ShopName, call, group
from scout.terminal.output import cell, say, say_json, short, table

if TYPE_CHECKING:
    from catalog.models import Shop
    from parser.rules.model import Rule, RuleSet, Variants
    from parser.rules.selector import AttributeAt, JsonAt, TextAt

rulebook = group("rules", "Rules: show, carry elsewhere, set right.")
AttributeName = Annotated[
    str,
    typer.Argument(
        metavar="ATTRIBUTE", help="What the rules read: title, price, brand, image, ean, ..."
    ),
]
Number = Annotated[
    int | None,
    typer.Option(
        "--number", min=1, metavar="N", help="Only the rule of that number in 'scout rules show'."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(rulebook)


@rulebook.command("show")
def show(
    context: typer.Context,
    shop: ShopName,
    attribute: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="Only the rules of this attribute.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="An earlier version.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the rules. With --json, one object a line."""
    from scout.inspect.review import attribute_named
    from scout.inspect.rule_admin import listed, load

    here = call(context)
    rules = load(here.store, here.shop(shop), version)
    rows = listed(rules, attribute_named(attribute) if attribute else None)
    if as_json:
        for row in rows:
            say_json(row)
        return
    columns = (
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
    table(columns, [[_shown(row[column]) for column in columns] for row in rows])
    for way in rules.variants if attribute is None else ():
        _show_variants(way)
    say(f"version {rules.version}: {len(rows)} rules, learnt from {len(rules.learnt_from)} pages")


def _show_variants(way: "Variants") -> None:
    say("", f"Several offers a page: each {cell(str(way.items))}")
    names = ("attribute", "score", "support", "origin", "selector", "trim", "form")
    rows = [[_shown(getattr(rule, name)) for name in names[:4]] for rule in way.rules]
    told = [[_shown(str(rule.selector)), str(rule.trim), rule.form] for rule in way.rules]
    table(names, [[*row, *more] for row, more in zip(rows, told, strict=True)])
    for selector in way.options:
        say(f"told by: {cell(str(selector))}")
    for name, selector in way.query:
        say(f"address: {cell(str(selector))} as ?{cell(name)}=")
    if way.link is not None:
        say(f"address: {cell(str(way.link))}")


@rulebook.command("export")
def export(
    context: typer.Context,
    shop: ShopName,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="An earlier version.")
    ] = None,
) -> None:
    """Print the rules as JSON, for 'scout rules import'."""
    from scout.inspect.rule_admin import load

    here = call(context)
    say(
        json.dumps(
            load(here.store, here.shop(shop), version).to_json(), ensure_ascii=False, indent=1
        )
    )


@rulebook.command("import")
def import_(
    context: typer.Context,
    shop: ShopName,
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="What 'scout rules export' printed; - for stdin.")
    ],
) -> None:
    """Take rules from a file as the newest version."""
    from parser.rules.model import RuleSet
    from scout.inspect.rule_admin import save

    here = call(context)
    found = here.shop(shop)
    version = save(here.store, found, RuleSet.from_json(_read(source)), f"imported from {source}")
    _say_next(found, version)


@rulebook.command("lock")
def lock(
    context: typer.Context, shop: ShopName, attribute: AttributeName, number: Number = None
) -> None:
    """Keep rules as they are when the shop's rules are learnt anew."""
    _set_locked(call(context), shop, attribute, number, True)


@rulebook.command("unlock")
def unlock(
    context: typer.Context, shop: ShopName, attribute: AttributeName, number: Number = None
) -> None:
    """Let learning replace rules again; one set by hand counts as learnt from then on."""
    _set_locked(call(context), shop, attribute, number, False)


@rulebook.command("set")
def set_(
    context: typer.Context,
    shop: ShopName,
    attribute: AttributeName,
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
        typer.Option(metavar="BLOCK", help="Take a block of data, named by what precedes it."),
    ] = None,
    path: Annotated[
        str | None, typer.Option(metavar="JSONPATH", help="Where in that block, such as $.price.")
    ] = None,
    join: Annotated[
        bool,
        typer.Option("--all", help="Take all that is found, as the steps of a path: breadcrumbs."),
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
        typer.Option(help="How a price's digits are meant."),
    ] = "plain",
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only for this template of the shop's pages.")
    ] = None,
) -> None:
    """Set a rule by hand, in place of what was learnt; it survives relearning."""
    from parser.rules.model import Rule
    from parser.rules.trim import Trim
    from scout.inspect.review import attribute_named
    from scout.inspect.rule_admin import load, save, with_manual

    here = call(context)
    found = here.shop(shop)
    made = Rule(
        attribute=attribute_named(attribute),
        selector=_selector(css, name, block, path, join, behind),
        trim=Trim(left=left or 0, right=right or 0),
        form=form,
        origin="manual",
    )
    rules = with_manual(load(here.store, found), made, template)
    _say_next(found, save(here.store, found, rules, f"{attribute} set by hand"))


@rulebook.command("history")
def history(context: typer.Context, shop: ShopName, as_json: Json = False) -> None:
    """List the versions of the rules, newest first. With --json, one object a line."""
    from scout.inspect.rule_admin import history as versions

    here = call(context)
    rows = [
        {
            "version": one.version,
            "at": one.created_at,
            "run": one.run_id,
            "rules": sum(
                len(template.get("rules", ())) for template in one.rules.get("templates", ())
            ),
            "by": one.story.get("by", "learnt"),
            "drift": (one.story.get("drift") or {}).get("said", ""),
            "story": one.story,
        }
        for one in versions(here.store, here.shop(shop))
    ]
    if as_json:
        for row in rows:
            say_json(row)
        return
    columns = ("version", "at", "run", "rules", "by", "drift")
    named = (*columns[:-1], "what had become of the rules before")
    table(named, [[row[column] for column in columns] for row in rows])


def _set_locked(here: Call, name: str, attribute: str, number: int | None, locked: bool) -> None:
    from scout.inspect.review import attribute_named
    from scout.inspect.rule_admin import changed, load, save

    found = here.shop(name)
    meant = attribute_named(attribute)

    def change(rule: "Rule") -> "Rule":
        origin = "learnt" if rule.origin == "manual" and not locked else rule.origin
        return rule.model_copy(update={"locked": locked, "origin": origin})

    rules: RuleSet = changed(load(here.store, found), meant, change, number)
    _say_next(
        found, save(here.store, found, rules, f"{attribute} {'locked' if locked else 'unlocked'}")
    )


def _selector(
    css: str, name: str | None, block: str | None, path: str | None, join: bool, behind: str | None
) -> "TextAt | AttributeAt | JsonAt":
    from parser.rules.selector import selector_from

    if (block is None) != (path is None):
        raise typer.BadParameter("--block and --path belong together")
    others = {
        "--block with --path": block is not None,
        "--all": join,
        "--behind": behind is not None,
    }
    given = [
        *(["--attr"] if name is not None else []),
        *(said for said, there in others.items() if there),
    ]
    if len(given) > 1 and given != ["--block with --path", "--all"]:
        raise typer.BadParameter(f"take either {given[0]} or {given[1]}")
    if name is not None:
        return selector_from({"kind": "attribute", "css": css, "name": name})
    if behind is not None:
        return selector_from({"kind": "text", "css": css, "behind": behind})
    place = {"kind": "text"} if block is None else {"kind": "json", "block": block, "path": path}
    return selector_from({**place, "css": css, "join": join})


def _read(source: str) -> Any:
    from catalog.errors import RuleError

    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise RuleError(f"{source} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RuleError(f"{source} is not JSON: {error}") from error


def _shown(value: object) -> object:
    return short(value, 80) if isinstance(value, str) else value


def _say_next(shop: "Shop", version: int) -> None:
    say(f"rules version {version} stored: 'scout parse {shop.name}' reads the pages by it")
