"""Where a value stands on a page: one of three kinds of selector (Hübscher 2018, 2.8), each a frozen value.

`TextAt` is the text of the first element that a CSS selector finds, `AttributeAt` one of its attributes, and `JsonAt` a
value inside a block of data: in a script, or in an attribute that holds JSON. The thesis names a block by its place in
the script; here a block is named by what stands before it (`var meta = `), which survives what a shop adds elsewhere.

`UNSTRUCK` behind a CSS selector leaves out what is struck through, as a price is that is asked no more, and what is so
within the element that is found.

The content of a `<template>` is no part of a page's tree; `template[id="row"] ::content b` finds a `b` in it.
"""

from typing import Annotated, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from catalog.errors import RuleError
from parser.rules.trim import Expression

ITEM = "item"
CONTENT = " ::content "
STRUCK = "del, s, strike"
UNSTRUCK = ":not(del, del *, s, s *, strike, strike *)"
IN_ATTRIBUTE = "@"
IN_TEXT = "text"
BY_BRACES = "->"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextAt(_Frozen):
    """The text of an element; with `own`, only what stands in the element itself, not in those within it.

    With `join`, the texts of all elements that `css` finds, as the steps of a path: breadcrumbs. With `named_in`, the
    text of the one that the element at that CSS names: of a menu of brands, the one that stands in the heading. With
    `behind`, a regular expression, the text behind the first of them that is such a label (`parser.page.labels`).
    """

    kind: Literal["text"] = "text"
    css: str
    own: bool = False
    join: bool = False
    named_in: str = ""
    behind: Expression = ""

    @property
    def of_many(self) -> bool:
        """Whether it looks at all elements that its CSS finds, not at the first only."""
        return self.join or bool(self.named_in) or bool(self.behind)

    def __str__(self) -> str:
        if self.named_in:
            return f"{self.css} ::named in {self.named_in}"
        if self.behind:
            return f"{self.css} ::behind {self.behind}"
        return f"{self.css} ::text" if self.own else f"{self.css} ::all" if self.join else self.css


class AttributeAt(_Frozen):
    """An attribute of an element."""

    kind: Literal["attribute"] = "attribute"
    css: str
    name: str

    def __str__(self) -> str:
        return f"{self.css} ::attr({self.name})"


class JsonAt(_Frozen):
    """A value in a block of data. `css` finds the blocks' elements, `block` names the block, `path` is a JSONPath.

    Blocks are named by what precedes them (digits folded to 0), as in `var meta = `; `ld+json Product` is a schema.org
    thing by its type; `@data-product` the JSON in that attribute, `text` that which is an element's text; `pairs` the
    `"key": value` pairs of a script that does not parse; `-> 1 -> 2` the thesis's path through the braces of a script;
    `item` one of a page's several offers. A path goes on into JSON that stands in a string. With `join`, the texts of
    all values that it leads to, as the steps of a path: breadcrumbs.
    """

    kind: Literal["json"] = "json"
    css: str = "script"
    block: str
    path: str
    join: bool = False

    @property
    def in_place(self) -> bool:
        """Whether `css` alone finds the block, in an attribute, an element's text or a script by its braces."""
        return self.block == IN_TEXT or self.block.startswith((IN_ATTRIBUTE, BY_BRACES))

    def __str__(self) -> str:
        return f"{self.css} {{{self.block}}} {self.path}{' ::all' if self.join else ''}"


AnySelector = TextAt | AttributeAt | JsonAt
Selector = Annotated[AnySelector, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[AnySelector] = TypeAdapter(Selector)


def is_of_one(selector: AnySelector) -> TypeGuard[TextAt | AttributeAt]:
    """Whether it reads one element: not data, and not the texts of several."""
    return not isinstance(selector, JsonAt) and not (
        isinstance(selector, TextAt) and selector.of_many
    )


def selector_from(stored: object) -> AnySelector:
    """A selector from its JSON form. Raises RuleError.

    >>> selector_from({"kind": "attribute", "css": "meta[itemprop=gtin13]", "name": "content"}).name
    'content'
    """
    try:
        return _ADAPTER.validate_python(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise RuleError(
            f"not a selector: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from error
