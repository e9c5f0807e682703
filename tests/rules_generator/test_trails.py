"""Categories whose steps stand in elements of their own are put together."""

import pytest

from parser.document import Document
from rules_generator.lookup import Lookup
from rules_generator.trails import trails

KNOWN = (("Garden > Saws", "Fox 1"), ("Garden > Spades", "Fox Spade"), ("House > Garden Saws", "Fox 3"))
MENU = "<ul class='menu'>" + "".join(f"<li><a>{name}</a></li>" for name in ("Garden", "Saws", "Spades", "Rakes"))
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
        "the same trail twice",
        "<div class='way wide'><a>{first}</a><a>{last}</a></div><div class='way'><a>{first}</a><a>{last}</a></div>",
        "div.way.wide a ::all",
    ),
    ("one text for all", "<p class='way'>Home / {first} / {last}</p>", None),
]


def page(layout: str, path: str, title: str) -> Lookup:
    """A page with a menu and a trail."""
    first, last = path.split(" > ")
    trail = layout.format(first=first, last=last, title=title)
    return Lookup(Document(f"<body>{MENU}</ul>{trail}<h1>{title}</h1></body>", "https://shop.example/"))


@pytest.mark.parametrize(("name", "layout", "css"), LAYOUTS, ids=[case[0] for case in LAYOUTS])
def test_the_elements_that_make_up_the_path(name: str, layout: str, css: str | None) -> None:
    """Without the shop's name at the front and the offer's title at the end."""
    pages = [page(layout, path, title) for path, title in KNOWN]
    found = trails([[path] for path, _ in KNOWN], pages)
    assert css is None or css in map(str, found)
    assert all(one.find(selector) for selector in found for one in pages)
    assert (css is None) == (found == [])


def test_a_category_of_one_step_is_no_trail() -> None:
    """Other candidates read it."""
    assert trails([["Saws"]] * 3, [page(LAYOUTS[0][1], path, title) for path, title in KNOWN]) == []
