"""Extraction rules of a shop: frozen values that are stored as JSON.

A shop may build its pages from several templates. Each template has its own rules and a signature,
by which a page is recognised as one of its offer pages. A field that was renamed keeps its first
name in the JSON form.
"""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import AliasChoices, AwareDatetime, Field, ValidationError, model_validator

from catalog.errors import RuleError
from catalog.models import Attribute
from parser.rules.selector import AnySelector, Selector, first_fault
from parser.rules.stored_versions import upgrade
from parser.rules.trim import FrozenValue, Trim

Origin = Literal["learnt", "manual", "general"]
Form = Literal["plain", "comma", "point", "minor", "slug", "dash"]


class Rule(FrozenValue):
    """One rule for one attribute: where its value stands and how the text becomes the value.

    `score` in [0, 1] is the rule's agreement with known offers, relative to the best rule of the
    attribute. `support` is the number of known offers it was right on, `precision` their share of
    those on which it found a value.

    `form` tells how the text is normalised:

    - `comma`, `point`: the decimal separator of a price; `minor`: a price in cents
    - `slug`: a name as URLs and class names spell it
    - `dash`: a lone dash is an article number

    Values in `blocklist` mean "none", such as the shop's logo as a picture. A rule that is
    `locked`, or set by hand (origin `manual`), survives relearning. Rules of origin `general` were
    learnt without a known offer: `support` and `precision` then count agreement with the
    heuristics.
    """

    attribute: Attribute
    selector: Selector
    trim: Trim = Trim()
    form: Form = "plain"
    score: float = Field(default=1.0, ge=0, le=1)
    support: int = Field(default=0, ge=0)
    precision: float = Field(
        default=1.0,
        ge=0,
        le=1,
        validation_alias=AliasChoices("precision", "agreed"),
        serialization_alias="agreed",
    )
    blocklist: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("blocklist", "never"), serialization_alias="never"
    )
    origin: Origin = "learnt"
    locked: bool = False

    @property
    def is_learnt(self) -> bool:
        """Whether it comes from a known offer or was set by hand, not from the heuristics."""
        return self.origin != "general"

    @property
    def is_fallback(self) -> bool:
        """Whether it runs only where the attribute's other rules abstain."""
        return self.origin == "general"

    @property
    def is_pinned(self) -> bool:
        """Whether relearning must keep this rule unchanged."""
        return self.locked or self.origin == "manual"


class Signature(FrozenValue):
    """Recognises a template's offer pages by weighted features and a minimum share of weight.

    `marks` maps each feature of a page's fingerprint (`parser.templates.template_match`) to its
    weight.
    """

    marks: dict[str, float] = Field(default_factory=dict)
    threshold: float = Field(
        default=0.0,
        validation_alias=AliasChoices("threshold", "least"),
        serialization_alias="least",
    )


class Template(FrozenValue):
    """One kind of offer page of a shop."""

    name: str
    signature: Signature = Signature()
    rules: tuple[Rule, ...] = ()

    def rules_for(self, attribute: Attribute) -> tuple[Rule, ...]:
        """Return the rules of an attribute, best first."""
        return tuple(rule for rule in self.rules if rule.attribute == attribute)


class VariantLayout(FrozenValue):
    """Where pages list the variants of one product as separate offers, and how to read one of them.

    `items` locates each variant: an object in a data block, or an element. The selectors of
    `rules`, `options` (the words that distinguish a variant), `link` and `query` look inside an
    item (`parser.variants`). `link` is a variant's URL; `query` holds the values of the query
    parameters that turn the page's URL into the variant's.
    """

    items: Selector
    rules: tuple[Rule, ...] = ()
    options: tuple[Selector, ...] = ()
    link: Selector | None = None
    query: tuple[tuple[str, Selector], ...] = ()
    support: int = Field(default=0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _upgrade_parameter(cls, stored: Any) -> Any:
        """Convert rules from when a URL had at most one parameter, whose value was the link."""
        if not isinstance(stored, dict) or "parameter" not in stored:
            return stored
        upgraded = {name: value for name, value in stored.items() if name != "parameter"}
        if stored["parameter"] and stored.get("link"):
            upgraded |= {"link": None, "query": [(stored["parameter"], stored["link"])]}
        return upgraded

    def selectors(self) -> Iterator[AnySelector]:
        """Yield the selectors that look inside an item."""
        yield from (rule.selector for rule in self.rules)
        yield from self.options
        yield from (selector for _, selector in self.query)
        if self.link is not None:
            yield self.link


class RuleSet(FrozenValue):
    """All rules of one shop.

    `learnt_from` are the URLs of the pages it was learnt from, `currency` is assumed where a price
    names none. `variants` are tried in order; the first layout that finds variants on a page
    counts.
    """

    version: int = 0
    learnt_at: AwareDatetime | None = None
    learnt_from: tuple[str, ...] = ()
    currency: str | None = None
    templates: tuple[Template, ...] = ()
    variants: tuple[VariantLayout, ...] = ()

    @classmethod
    def from_json(cls, stored: Any) -> "RuleSet":
        """Load a rule set from its JSON form. Raises RuleError that names the faulty field."""
        try:
            return cls.model_validate(upgrade(stored))
        except ValidationError as error:
            raise RuleError(f"not a rule set: {first_fault(error)}") from error

    def selectors(self) -> Iterator[AnySelector]:
        """Yield every selector that looks at a page as a whole."""
        for template in self.templates:
            yield from (rule.selector for rule in template.rules)
        yield from (layout.items for layout in self.variants)

    def item_selectors(self) -> Iterator[AnySelector]:
        """Yield every selector that looks inside a variant; one without CSS means the variant."""
        for layout in self.variants:
            yield from layout.selectors()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, which `from_json` loads."""
        return self.model_dump(mode="json")
