"""Export of selectors to other tools: CSS for a browser's console, XPath for a scraper.

Scout's own selectors also know labels (`:lexbor-contains`) and blocks of data, which CSS cannot
express. XPath can express labels; for a block, the element that holds it is exported.
"""

import re
from dataclasses import dataclass

from cssselect import HTMLTranslator, SelectorError

from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt

_LABEL = re.compile(r":lexbor-contains\((\"(?:[^\"\\]|\\.)*\")(?: i)?\)")


@dataclass(frozen=True)
class ExportedSelector:
    """Selector in two languages; None if a language cannot express it."""

    css: str | None
    xpath: str | None


def export_selector(selector: AnySelector) -> ExportedSelector:
    """Translate a selector into CSS and XPath.

    >>> export_selector(AttributeAt(css="a.big", name="href")).xpath[-6:]
    '/@href'
    >>> export_selector(TextAt(css='dt:lexbor-contains("EAN" i) + dd')).css is None
    True
    >>> export_selector(TextAt(css="td, li", behind="EAN|UPC"))
    ExportedSelector(css=None, xpath=None)
    """
    if isinstance(selector, TextAt) and selector.behind:
        return ExportedSelector(None, None)
    css = None
    if _LABEL.search(selector.css) is None:
        css = selector.css
    return ExportedSelector(css, _xpath(selector))


def _xpath(selector: AnySelector) -> str | None:
    css = _LABEL.sub(r":contains(\1)", selector.css)
    try:
        xpath = HTMLTranslator().css_to_xpath(css, prefix="//")
    except SelectorError:
        return None
    if isinstance(selector, AttributeAt):
        return f"{xpath}/@{selector.name}"
    if isinstance(selector, JsonAt) and selector.block.startswith("@"):
        return f"{xpath}/@{selector.block[1:]}"
    if isinstance(selector, TextAt) and selector.own:
        return f"{xpath}/text()"
    return xpath
