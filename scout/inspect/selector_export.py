"""A selector as it can be pasted elsewhere: as CSS into a browser's console, as XPath into a scraper.

Scout's own selectors also know labels (`:lexbor-contains`) and blocks of data, which CSS has no word for. XPath has one
for labels; of a block, the element that holds it is given.
"""

import re
from dataclasses import dataclass

from cssselect import HTMLTranslator, SelectorError

from parser.rules.selector import UNSTRUCK, AnySelector, AttributeAt, JsonAt, TextAt

NOT_STRUCK = "[not(ancestor-or-self::del or ancestor-or-self::s or ancestor-or-self::strike)]"
LABELLED = re.compile(r":lexbor-contains\((\"(?:[^\"\\]|\\.)*\")(?: i)?\)")


@dataclass(frozen=True)
class Copies:
    """The same place in other words; None where a language has none."""

    css: str | None
    xpath: str | None


def copies(selector: AnySelector) -> Copies:
    """A selector as CSS and as XPath.

    >>> copies(AttributeAt(css="a.big", name="href")).xpath[-6:]
    '/@href'
    >>> copies(TextAt(css='dt:lexbor-contains("EAN" i) + dd')).css is None
    True
    >>> copies(TextAt(css="td, li", behind="EAN|UPC"))
    Copies(css=None, xpath=None)
    >>> copies(TextAt(css=f"b{UNSTRUCK}")).xpath.partition("[")[0]
    '//b'
    """
    if isinstance(selector, TextAt) and selector.behind:
        return Copies(None, None)
    plain = LABELLED.search(selector.css) is None
    return Copies(selector.css if plain else None, _xpath(selector))


def _xpath(selector: AnySelector) -> str | None:
    whole = selector.css.removesuffix(UNSTRUCK)
    try:
        found = HTMLTranslator().css_to_xpath(LABELLED.sub(r":contains(\1)", whole), prefix="//")
    except SelectorError:
        return None
    if whole != selector.css:
        found += NOT_STRUCK
    if isinstance(selector, AttributeAt):
        return f"{found}/@{selector.name}"
    if isinstance(selector, JsonAt) and selector.block.startswith("@"):
        return f"{found}/@{selector.block[1:]}"
    return f"{found}/text()" if isinstance(selector, TextAt) and selector.own else found
