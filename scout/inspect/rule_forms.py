"""Rules as people write them: the parts of a selector, of a trim, and the notation of a price."""

from dataclasses import dataclass
from typing import Literal

from catalog.errors import RuleError
from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AttributeAt, JsonAt, TextAt, selector_from
from parser.rules.trim import Trim

WrittenForm = Literal["plain", "comma", "point", "minor"]
"""Notations of a price's digits that a person can choose."""


@dataclass(frozen=True)
class WrittenRule:
    """A rule as it is written: parts that are empty do not take part.

    `name` is an attribute of the element, `block` and `path` a place in its data, `join` takes all
    matched elements as the steps of a path, `behind` is a label, `left` and `right` are cut off.
    """

    attribute: Attribute
    css: str
    name: str = ""
    block: str = ""
    path: str = ""
    join: bool = False
    behind: str = ""
    left: str = ""
    right: str = ""
    form: WrittenForm = "plain"

    def selector(self) -> TextAt | AttributeAt | JsonAt:
        """Return the selector. Raises RuleError where its parts contradict each other."""
        if bool(self.block) != bool(self.path):
            raise RuleError("a place in data needs both a block and a path")
        given = [bool(self.name), bool(self.block), bool(self.behind)]
        if sum(given) > 1 or (self.join and (self.name or self.behind)):
            raise RuleError("take one: an attribute of the element, a place in data, or a label")
        if self.name:
            return selector_from({"kind": "attribute", "css": self.css, "name": self.name})
        if self.behind:
            return selector_from({"kind": "text", "css": self.css, "behind": self.behind})
        if not self.block:
            return selector_from({"kind": "text", "css": self.css, "join": self.join})
        return selector_from(
            {
                "kind": "json",
                "css": self.css,
                "block": self.block,
                "path": self.path,
                "join": self.join,
            }
        )

    def rule(self) -> Rule:
        """Return the rule, as one that was set by hand. Raises RuleError."""
        return Rule(
            attribute=self.attribute,
            selector=self.selector(),
            trim=Trim(left=self.left or 0, right=self.right or 0),
            form=self.form,
            origin="manual",
        )
