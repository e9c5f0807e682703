"""Selectors: frozen values that locate a value on a page (Hübscher 2018, section 2.8).

`TextAt` is the text of the first element that matches a CSS selector, `AttributeAt` one of its
attributes, `JsonAt` a value inside a data block: in a script, or in an attribute that holds JSON.
The thesis numbers the blocks of a script; here a block is named by the code before it (`var meta =
`), which survives blocks that a shop adds elsewhere.

The content of a `<template>` is not part of a page's tree. `template[id="row"] ::content b` matches
a `b` inside it.
"""

from typing import Annotated, Literal, TypeGuard

from pydantic import Field, TypeAdapter, ValidationError

from catalog.errors import RuleError
from parser.rules.trim import Expression, FrozenValue

# Block name of an item: one of several offers of a page.
ITEM = "item"
# Separates the CSS of a `<template>` from the CSS that is matched inside its content.
CONTENT = " ::content "
# Prefix of the block name of JSON in an attribute.
IN_ATTRIBUTE = "@"
# Block name of JSON that is the whole text of an element.
IN_TEXT = "text"


class TextAt(FrozenValue):
    """The text of an element; with `own`, without the text of its descendants.

    `join` concatenates the texts of all matched elements as the steps of a path, for breadcrumbs.
    `behind` is a regular expression for a label: the text after the first matched label
    (`parser.page.labels`).
    """

    kind: Literal["text"] = "text"
    css: str
    own: bool = False
    join: bool = False
    behind: Expression = ""

    @property
    def reads_many(self) -> bool:
        """Whether it uses all matched elements, not only the first."""
        return self.join or bool(self.behind)

    def __str__(self) -> str:
        if self.behind:
            return f"{self.css} ::behind {self.behind}"
        if self.own:
            return f"{self.css} ::text"
        return f"{self.css} ::all" if self.join else self.css


class AttributeAt(FrozenValue):
    """An attribute of an element."""

    kind: Literal["attribute"] = "attribute"
    css: str
    name: str

    def __str__(self) -> str:
        return f"{self.css} ::attr({self.name})"


class JsonAt(FrozenValue):
    """A value in a data block.

    `css` matches the elements that hold blocks, `block` names one, `path` is a JSONPath. A block
    name is one of:

    - the code before the block, digits folded to 0: `var meta =`
    - `ld+json Product`: a schema.org thing by its type
    - `@data-product`: the JSON in that attribute; `text`: the JSON that is an element's text
    - `pairs`: the `"key": value` pairs of a script that does not parse
    - `item`: one of a page's several offers

    A path continues into JSON inside a string. `join` concatenates all matched values as the steps
    of a path.
    """

    kind: Literal["json"] = "json"
    css: str = "script"
    block: str
    path: str
    join: bool = False

    @property
    def is_in_place(self) -> bool:
        """Whether `css` alone finds the block: in an attribute or a text."""
        return self.block == IN_TEXT or self.block.startswith(IN_ATTRIBUTE)

    def __str__(self) -> str:
        return f"{self.css} {{{self.block}}} {self.path}{' ::all' if self.join else ''}"


AnySelector = TextAt | AttributeAt | JsonAt
Selector = Annotated[AnySelector, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[AnySelector] = TypeAdapter(Selector)


def reads_one_element(selector: AnySelector) -> TypeGuard[TextAt | AttributeAt]:
    """Return True if the selector reads a single element: no data, no joined texts."""
    if isinstance(selector, JsonAt):
        return False
    return not (isinstance(selector, TextAt) and selector.reads_many)


def selector_from(stored: object) -> AnySelector:
    """Load a selector from its JSON form. Raises RuleError.

    >>> selector_from({"kind": "attribute", "css": "meta[itemprop=gtin13]", "name": "content"}).name
    'content'
    """
    try:
        return _ADAPTER.validate_python(stored)
    except ValidationError as error:
        raise RuleError(f"not a selector: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """Return the first fault of a stored value, with the name of its field."""
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
