"""The inspector's views of a stored page: its votes, its marked markup, suggested selectors.

Each function returns plain values, so that another process can compute them
(`scout.inspect.page_process`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.models import Attribute, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.rules.selector import selector_from
from scout.inspect.page_inspection import Inspection, inspect_page
from scout.inspect.page_view import (
    DataBlock,
    Suggestion,
    list_data,
    open_stored_page,
    suggest_for_data,
    suggest_for_element,
    view_page,
)
from scout.inspect.rule_admin import load_rules


@dataclass(frozen=True)
class StoredPageView:
    """The inspection of a stored page, and its blocks of data."""

    inspection: Inspection
    blocks: Sequence[DataBlock]


@dataclass(frozen=True)
class PickedPlace:
    """A place on a page: the element with a number, or a value in a block of data."""

    node: int = 0
    css: str = ""
    block: str = ""
    path: str = ""


def view_stored_page(
    settings: Settings, store: Store, shop: Shop, page_id: int, url: str
) -> StoredPageView:
    """Inspect a stored page of a shop.

    Raises LearnError (no rules yet), UsageError (no such page), HostilePage, StoreError.
    """
    inspection = inspect_page(settings, store, shop, url)
    document = open_stored_page(settings, store, shop, page_id)
    return StoredPageView(inspection, list_data(document))


def mark_stored_page(settings: Settings, store: Store, shop: Shop, page_id: int) -> str:
    """Return the inert markup of a stored page, with marks on the elements that rules hit.

    Raises as `view_stored_page` does.
    """
    document = open_stored_page(settings, store, shop, page_id)
    inspection = inspect_page(settings, store, shop, document.url)
    rules = load_rules(store, shop)
    selectors = {str(selector): selector for selector in rules.selectors()}
    unhit = selector_from({"kind": "text", "css": "none"})
    return view_page(document, [selectors.get(vote.selector, unhit) for vote in inspection.lines])


def suggest_selectors(
    settings: Settings,
    store: Store,
    shop: Shop,
    page_id: int,
    attribute: Attribute,
    place: PickedPlace,
) -> tuple[list[str], list[Suggestion]]:
    """Return the known values of an attribute, and selectors that read it at a place.

    Raises RuleError, and as `view_stored_page` does.
    """
    document = open_stored_page(settings, store, shop, page_id)
    known = inspect_page(settings, store, shop, document.url).known.get(attribute, [])
    if place.block:
        return known, suggest_for_data(
            document, place.css, place.block, place.path, attribute, known
        )
    return known, suggest_for_element(document, place.node, attribute, known)
