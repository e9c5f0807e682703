"""Categories whose steps stand in elements of their own, or in a list of data, are put together."""

import json

import pytest

from parser.page.document import Document
from rules_generator.candidates.breadcrumbs import breadcrumb_selectors
from rules_generator.training.page_cache import PageCache

KNOWN = (
    ("Garden > Saws", "Fox 1"),
    ("Garden > Spades", "Fox Spade"),
    ("House > Garden Saws", "Fox 3"),
)
MENU = "<ul class='menu'>" + "".join(
    f"<li><a>{name}</a></li>" for name in ("Garden", "Saws", "Spades", "Rakes")
)
LAYOUTS = [
    (
        "links, the title a bare text",
        "<nav class='crumbs'><a>Home</a> / <a>{first}</a> / <a>{last}</a> / {title}</nav>",
        "nav.crumbs a ::all",
    ),
    (
        "a list that ends with the title",
        "<ol class='way'><li>Home</li><li><a>{first}</a></li><li><a>{last}</a></li><li>{title}</li></ol>",
        "ol.way li:not(:last-child) ::all",
    ),
    (
        "a list that begins with the shop's name",
        "<p class='way'><b>Foxes &amp; Co</b><i>/</i><b>{first}</b><i>/</i><b>{last}</b></p>",
        "p.way b:not(:first-child) ::all",
    ),
    (
        "a list that begins with two steps of the shop",
        "<ol class='way'><li>Overview</li><li>Catalogue</li><li>{first}</li><li>{last}</li></ol>",
        "ol.way li:nth-of-type(n+3) ::all",
    ),
    (
        "two steps of the shop, and the title",
        "<ul class='way'><li>Overview</li><li>Catalogue</li><li>{first}</li><li>{last}</li><li>{title}</li></ul>",
        "ul.way li:nth-of-type(n+3):not(:last-child) ::all",
    ),
    (
        "the same trail twice",
        "<div class='way wide'><a>{first}</a><a>{last}</a></div><div class='way'><a>{first}</a><a>{last}</a></div>",
        "div.way.wide a ::all",
    ),
    ("one text for all", "<p class='way'>Home / {first} / {last}</p>", None),
]


def page(layout: str, path: str, title: str) -> PageCache:
    """A page with a menu and a trail."""
    first, last = path.split(" > ")
    trail = layout.format(first=first, last=last, title=title)
    return PageCache(
        Document(f"<body>{MENU}</ul>{trail}<h1>{title}</h1></body>", "https://shop.example/")
    )


@pytest.mark.parametrize(("name", "layout", "css"), LAYOUTS, ids=[case[0] for case in LAYOUTS])
def test_the_elements_that_make_up_the_path(name: str, layout: str, css: str | None) -> None:
    """Without the shop's name at the front and the offer's title at the end."""
    pages = [page(layout, path, title) for path, title in KNOWN]
    found = breadcrumb_selectors([[path] for path, _ in KNOWN], pages)
    assert css is None or css in map(str, found)
    assert all(page.find(selector) for selector in found for page in pages)
    assert (css is None) == (found == [])


BREADCRUMBS = '<script type="application/ld+json">{{"@type": "BreadcrumbList", "itemListElement": {0}}}</script>'
GRAPH = '<script type="application/ld+json">{{"@graph": [{{"@type": "BreadcrumbList", "itemListElement": {0}}}]}}</script>'
STATE = "<script>window.state = {{'page': {{'trail': {0}}}}};</script>"
KEYED = "<script>window.state = {{'product-59481': {{\"the shop's\": {{'trail': {0}}}}}}};</script>"
LISTS = [
    (
        "schema.org's",
        BREADCRUMBS,
        "item.name",
        ["Home", "{first}", "{last}"],
        "$.itemListElement[*].item.name ::all",
    ),
    (
        "in a graph",
        GRAPH,
        "name",
        ["{first}", "{last}", "{title}"],
        "$.itemListElement[:-1].name ::all",
    ),
    (
        "the shop's own",
        STATE,
        "",
        ["Foxes", "{first}", "{last}", "{title}"],
        "$.page.trail[1:-1] ::all",
    ),
    ("nothing besides", STATE, "a.b", ["{first}", "{last}"], "$.page.trail[*].a.b ::all"),
    ("under keys that no path can name", KEYED, "", ["{first}", "{last}"], "$.*.*.trail[*] ::all"),
    ("out of order", STATE, "", ["{last}", "{first}"], None),
    ("too long", STATE, "", [*"abcdefghijklm", "{first}", "{last}"], None),
]


def listed(markup: str, field: str, steps: list[str], path: str, title: str) -> PageCache:
    """A page with a list of data, each step at some field of an object."""
    first, last = path.split(" > ")
    said: list[object] = [step.format(first=first, last=last, title=title) for step in steps]
    for name in reversed(field.split(".") if field else ()):
        said = [{name: entry} for entry in said]
    return PageCache(
        Document(
            f"<body>{markup.format(json.dumps(said))}<h1>{title}</h1></body>",
            "https://shop.example/",
        )
    )


@pytest.mark.parametrize(
    ("name", "markup", "field", "steps", "way"), LISTS, ids=[case[0] for case in LISTS]
)
def test_the_values_that_make_up_the_path(
    name: str, markup: str, field: str, steps: list[str], way: str | None
) -> None:
    """Of a list whose first and last may be none of the path."""
    pages = [listed(markup, field, steps, path, title) for path, title in KNOWN]
    found = [
        str(selector).partition("} ")[2]
        for selector in breadcrumb_selectors([[path] for path, _ in KNOWN], pages)
    ]
    assert found[:1] == ([way] if way else [])


def test_one_step_is_told_from_a_lists_end() -> None:
    """However many stand before it."""
    steps = (["Home", "{last}", "{title}"], ["Home", "{first}", "{last}", "{title}"])
    pages = [
        listed(BREADCRUMBS, "name", steps[len(title) % 2], path, title) for path, title in KNOWN
    ]
    found = breadcrumb_selectors([[path.split(" > ")[1]] for path, _ in KNOWN], pages)
    assert [str(selector).partition("} ")[2] for selector in found] == [
        "$.itemListElement[-2].name"
    ]


def test_a_category_of_one_step_is_no_trail_of_elements() -> None:
    """Other candidates read it."""
    assert (
        breadcrumb_selectors(
            [["Saws"]] * 3, [page(LAYOUTS[0][1], path, title) for path, title in KNOWN]
        )
        == []
    )
