"""`scout url`: links without redirects and tracking, and the tracking parameters that are a shop's own."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from scout.commands.call import Json, ShopName, call, group
from scout.output import cell, say, say_json, table

urls = group("url", "Links: clean them of redirects and tracking.")


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.add_typer(urls)


@urls.command("clean")
def clean(
    links: Annotated[
        list[str], typer.Argument(metavar="URL", help="Links to clean; - reads them from standard input.")
    ],
    home: Annotated[
        str | None, typer.Option(metavar="URL", help="The shop's root: what stands before it in a link is taken off.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Clean links, without opening any.

    With --json, one object a line, in order. The exit code is 1 when one of them is no URL.
    """
    failed = False
    for link in _links(links):
        said = _cleaned(link, home)
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
    from crawler.own_keys import own_keys
    from url_cleaner.learn import Evidence

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


def _cleaned(link: str, home: str | None) -> dict[str, Any]:
    from url_cleaner.clean import clean as clean_link
    from url_cleaner.errors import BadUrl

    try:
        return asdict(clean_link(link, home=home))
    except BadUrl as error:
        return {"input": link, "url": None, "error": str(error)}


def _tell(said: dict[str, Any]) -> None:
    if "error" in said:
        say(f"no URL: {cell(said['input'])}: {cell(said['error'])}")
    else:
        say(f"opaque: {cell(said['input'])}" if said["opaque"] else cell(said["url"]))
