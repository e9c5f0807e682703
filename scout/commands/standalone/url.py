"""`scout url`: clean links of redirects and tracking, learn a shop's tracking parameters."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import (
    FollowOption,
    JsonOption,
    ShopArgument,
    command_group,
    get_invocation,
)
from scout.terminal.output import format_cell, print_json, print_lines, print_table

if TYPE_CHECKING:
    from catalog.links.shop_links import UrlCleaner
    from url_cleaner.knowledge.shop_keys import ShopKeys

url_commands = command_group("url", "Links: clean them of redirects and tracking.")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(url_commands)


@url_commands.command("clean")
def clean_links(
    context: typer.Context,
    links: Annotated[
        list[str],
        typer.Argument(metavar="URL", help="Links to clean; - reads them from standard input."),
    ],
    home: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The shop's root; anything before it in a link is taken off."
        ),
    ] = None,
    shop: Annotated[
        str | None,
        typer.Option(
            metavar="SHOP", help="A shop, for its root and its learnt tracking parameters."
        ),
    ] = None,
    follow: FollowOption = False,
    as_json: JsonOption = False,
) -> None:
    """Clean links, without requesting any unless --follow is given.

    With --json, one object a line, in order. The exit code is 1 when one of them is no URL.
    """
    make_cleaner = _make_cleaner(context, home, shop, follow)
    has_failed = False
    for link in _read_links(links):
        result = _clean(link, make_cleaner)
        has_failed = has_failed or "error" in result
        if as_json:
            print_json(result)
        else:
            _print_result(result)
    if has_failed:
        raise typer.Exit(1)


@url_commands.command("learn")
def learn_parameters(
    context: typer.Context, shop: ShopArgument, as_json: JsonOption = False
) -> None:
    """Learn which parameters of a shop track and which it needs.

    The crawled pages are compared: a parameter tracks if pages are the same without it. The next
    crawl drops it from the links that it finds.
    """
    from catalog.links.tracking_params import learn_shop_keys

    invocation = get_invocation(context)
    keys = learn_shop_keys(invocation.store, invocation.shop(shop).id or 0)
    if as_json:
        evidence = {key: asdict(counts) for key, counts in keys.evidence.items()}
        print_json({"tracking": keys.tracking, "needed": keys.needed, "evidence": evidence})
        return
    _print_parameters(keys)


def _print_parameters(keys: "ShopKeys") -> None:
    from url_cleaner.knowledge.shop_keys import Evidence

    verdicts = dict.fromkeys(keys.evidence, "unclear")
    verdicts |= dict.fromkeys(keys.needed, "needed")
    verdicts |= dict.fromkeys(keys.tracking, "tracks")
    rows = []
    for key, verdict in verdicts.items():
        counts = keys.evidence.get(key, Evidence())
        rows.append((key, verdict, counts.same, counts.changed))
    print_table(("key", "verdict", "pages the same", "changed"), rows)


def _read_links(arguments: Sequence[str]) -> Iterator[str]:
    for argument in arguments:
        if argument != "-":
            yield argument
            continue
        for line in sys.stdin:
            if stripped := line.strip():
                yield stripped


def _make_cleaner(
    context: typer.Context, home: str | None, shop: str | None, follow: bool
) -> "UrlCleaner":
    """Return the function that cleans a link; the store is opened only where a shop is named."""
    from catalog.links.shop_links import load_configured_lists, make_cleaner
    from url_cleaner.cleaner import clean_url

    invocation = get_invocation(context)
    if shop is not None:
        if home is not None:
            raise typer.BadParameter("--shop knows its root: give --home or --shop")
        return make_cleaner(invocation.settings, invocation.store, invocation.shop(shop), follow)
    lists = load_configured_lists(invocation.settings)
    if follow:
        from url_cleaner.resolver import resolve_url

        return partial(resolve_url, home=home, lists=lists)
    return partial(clean_url, home=home, lists=lists)


def _clean(link: str, cleaner: "UrlCleaner") -> dict[str, Any]:
    from url_cleaner.errors import BadUrl

    try:
        return asdict(cleaner(link))
    except BadUrl as error:
        return {"input": link, "url": None, "error": str(error)}


def _print_result(result: dict[str, Any]) -> None:
    if "error" in result:
        print_lines(f"no URL: {format_cell(result['input'])}: {format_cell(result['error'])}")
    elif result["opaque"]:
        print_lines(f"opaque: {format_cell(result['input'])}")
    else:
        print_lines(format_cell(result["url"]))
