"""Breadcrumbs: the category path of a page, in JSON-LD, in microdata, or visible only.

The first steps may be the home page, the shop's name or the whole assortment, and the last one the
page itself: these are no categories.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from catalog.digits import is_ascii_number
from catalog.models import Attribute
from catalog.values.category import SEPARATOR, is_home
from catalog.values.shop_words import word_key
from parser.heuristics.claims import BREADCRUMB, BREADCRUMB_DATA, Claim
from parser.heuristics.structured_data import things_of
from parser.heuristics.titles import NO_SITE_TEXTS, ShopName, SiteTexts, name_overlap
from parser.page.document import Document, scalar_text
from parser.page.texts import element_text

BREADCRUMB_LIST = "BreadcrumbList"
# Breadcrumbs by the names of common shop systems and themes, in document order.
BREADCRUMB_CSS = (
    '[itemtype*="BreadcrumbList" i], [typeof~="BreadcrumbList" i], [class*="breadcrumb" i], '
    '[id*="breadcrumb" i], [aria-label*="breadcrumb" i], [class*="bread-crumb" i], '
    '[class*="bread_crumb" i], [class~="crumbs" i], [id~="crumbs" i], [class~="pathway" i], '
    '[class~="navigation_page" i], [class~="brotkrumen" i], [class~="fil-ariane" i], '
    '[class*="ariadne" i], [class*="hlebnie" i], [class~="path" i]'
)
MAX_BREADCRUMBS = 12
# Links of a breadcrumb, and characters of a step.
MAX_LINKS = 12
MAX_STEP_CHARS = 120
# Share of a title that a step has at least to be a spelling of it.
MIN_TITLE_SHARE = 0.6
# Data is searched to this depth: a bound against hostile input.
MAX_LEVELS = 5
MAX_ITEMS = 60
# Digits of a step's position.
MAX_POSITION_DIGITS = 9


def breadcrumb_claims(
    document: Document, title: str | None, site: SiteTexts = NO_SITE_TEXTS
) -> Iterator[Claim]:
    """Yield the category path of the page's breadcrumb."""
    if not title:
        return
    shop_name = ShopName(document, site)
    for thing in things_of(document):
        for names in _breadcrumbs_in(thing, MAX_LEVELS):
            path = _category_path(names, title, shop_name)
            if path:
                yield Claim(Attribute.CATEGORY, path, BREADCRUMB_DATA)
                return
    for node in document.all(BREADCRUMB_CSS)[:MAX_BREADCRUMBS]:
        # The page itself is mostly no link.
        texts = (element_text(link, MAX_STEP_CHARS) for link in node.css("a")[:MAX_LINKS])
        steps = [text.strip(" >»›/|·-→") for text in texts if text]
        path = _category_path(steps, title, shop_name)
        if path:
            yield Claim(Attribute.CATEGORY, path, BREADCRUMB)
            return


def _breadcrumbs_in(data: Any, levels: int) -> Iterator[list[str]]:
    """Yield the names of each breadcrumb in JSON-LD, in the order of their positions."""
    if isinstance(data, list):
        for item in data[:MAX_ITEMS] if levels else ():
            yield from _breadcrumbs_in(item, levels - 1)
    elif isinstance(data, dict):
        items = data.get("itemListElement")
        if data.get("@type") == BREADCRUMB_LIST and isinstance(items, list):
            yield _step_names(items)
            return
        if levels:
            for name in ("@graph", "breadcrumb", "mainEntity"):
                yield from _breadcrumbs_in(data.get(name), levels - 1)


def _step_names(items: Sequence[Any]) -> list[str]:
    steps: list[tuple[int, str]] = []
    for index, item in enumerate(items[:MAX_ITEMS]):
        if not isinstance(item, dict):
            continue
        target = item.get("item")
        name = item.get("name") or (target.get("name") if isinstance(target, dict) else None)
        text = scalar_text(name)
        if text:
            position = scalar_text(item.get("position")) or ""
            has_number = is_ascii_number(position, MAX_POSITION_DIGITS)
            steps.append((int(position) if has_number else index, text))
    return [name for _, name in sorted(steps, key=lambda step: step[0])]


def _category_path(names: Sequence[str], title: str, shop_name: ShopName) -> str | None:
    """Return the steps between the home page and the page itself; None where there are none."""
    steps = [name for name in names if 0 < len(name) <= MAX_STEP_CHARS]
    while steps and (is_home(steps[0]) or shop_name.is_name(steps[0])):
        steps.pop(0)
    # The last step may be a shorter or longer spelling of the title.
    if steps and name_overlap(word_key(steps[-1]), word_key(title)) >= MIN_TITLE_SHARE:
        steps.pop()
    return SEPARATOR.join(steps) or None
