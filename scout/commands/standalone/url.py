"""`scout url`: links without redirects and tracking, and the tracking parameters that are a shop's own."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scout.commands.context import Json, ShopName, call, group
from scout.terminal.output import cell, say, say_json, table

if TYPE_CHECKING:
    from catalog.links.shop_links import Clean

urls = group("url", "Links: clean them of redirects and tracking.")


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(urls)


@urls.command("clean")
def clean(
    context: typer.Context,
    links: Annotated[
        list[str],
        typer.Argument(metavar="URL", help="Links to clean; - reads them from standard input."),
    ],
    home: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The shop's root: what stands before it in a link is taken off."
        ),
    ] = None,
    shop: Annotated[
        str | None,
        typer.Option(metavar="SHOP", help="A shop: its root, and the tracking keys learnt of it."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Ask where opaque links lead: one request each, a click that may cost."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Clean links, without opening any unless --follow is given.

    With --json, one object a line, in order. The exit code is 1 when one of them is no URL.
    """
    cleaner = _cleaner(context, home, shop, follow)
    failed = False
    for link in _links(links):
        said = _cleaned(link, cleaner)
        failed = failed or "error" in said
        if as_json:
            say_json(said)
        else:
            _tell(said)
    if failed:
        raise typer.Exit(1)


@urls.command("learn")
def learn(context: typer.Context, shop: ShopName, as_json: Json = False) -> None:
    """Learn which parameters of a shop track and which it needs.

    The pages that were crawled tell: where a page is the same without a parameter, that one tracks. The next
    crawl drops it from the links that it finds.
    """
    from catalog.links.tracking_params import own_keys
    from url_cleaner.knowledge.shop_params import Evidence

    here = call(context)
    found = own_keys(here.store, here.shop(shop).id or 0)
    if as_json:
        evidence = {key: asdict(one) for key, one in found.evidence.items()}
        say_json({"tracking": found.tracking, "needed": found.needed, "evidence": evidence})
        return
    said = {**dict.fromkeys(found.evidence, "unclear"), **dict.fromkeys(found.needed, "needed")}
    said |= dict.fromkeys(found.tracking, "tracks")
    seen = {key: found.evidence.get(key, Evidence()) for key in said}
    table(
        ("key", "it", "pages the same", "changed"),
        [(key, said[key], one.same, one.changed) for key, one in seen.items()],
    )


def _links(given: Sequence[str]) -> Iterator[str]:
    for link in given:
        if link == "-":
            yield from (stripped for line in sys.stdin if (stripped := line.strip()))
        else:
            yield link


def _cleaner(context: typer.Context, home: str | None, shop: str | None, follow: bool) -> "Clean":
    """How links are cleaned; the store is opened only where a shop is named."""
    from catalog.links.shop_links import cleaner, lists_of
    from url_cleaner.clean import clean as clean_link

    here = call(context)
    if shop is not None:
        if home is not None:
            raise typer.BadParameter("--shop knows its root: give --home or --shop")
        return cleaner(here.settings, here.store, here.shop(shop), follow)
    if follow:
        from url_cleaner.follow import resolved

        return partial(resolved, home=home, lists=lists_of(here.settings))
    return partial(clean_link, home=home, lists=lists_of(here.settings))


def _cleaned(link: str, cleaner: "Clean") -> dict[str, Any]:
    from url_cleaner.errors import BadUrl

    try:
        return asdict(cleaner(link))
    except BadUrl as error:
        return {"input": link, "url": None, "error": str(error)}


def _tell(said: dict[str, Any]) -> None:
    if "error" in said:
        say(f"no URL: {cell(said['input'])}: {cell(said['error'])}")
    else:
        say(f"opaque: {cell(said['input'])}" if said["opaque"] else cell(said["url"]))
