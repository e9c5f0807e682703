"""Rules: what is known of how a shop's pages are to be read, as frozen values that are stored as JSON.

A shop may build its pages from several templates; each has its own rules and its own signature, by which a page is
recognised as one of its offer pages.
"""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from catalog.errors import RuleError
from catalog.models import Attribute
from catalog.values.text import Sign
from parser.rules.selector import AnySelector, Selector
from parser.rules.trim import Trim

Origin = Literal["learnt", "manual", "spare", "general"]
Form = Literal["plain", "comma", "point", "minor", "slug", "typed", "path", "dash"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rule(_Frozen):
    """One way to read one attribute.

    `score` in [0, 1] is how well it agrees with known offers, relative to the best rule of the attribute; `support` is
    the number of known offers it was right on, `agreed` their share in those on which it found a value. `form` says how
    a price's digits are meant: `comma` or `point` names the decimal separator, `minor` counts in cents; `slug` is a
    name as addresses and classes spell it; `typed` undoes a typesetter's signs, of all kinds or of those that `signs`
    names, `path` takes every bar and slash of a category for what stands between its steps, and `dash` keeps a lone
    dash for an article number, and what else stands for none is one. `never` are values that stand for none: the shop's
    logo for a picture. A `locked` rule, or one set by hand, survives relearning. The `origin` of a rule is `general`
    where no known offer has taught it: then `support` and `agreed` count what general rules say of pages. It is `spare`
    where other rules say the same: then it is asked only where all of those find nothing, as on pages of a layout that
    no known offer has.
    """

    attribute: Attribute
    selector: Selector
    trim: Trim = Trim()
    form: Form = "plain"
    signs: tuple[Sign, ...] = ()
    score: float = Field(default=1.0, ge=0, le=1)
    support: int = Field(default=0, ge=0)
    agreed: float = Field(default=1.0, ge=0, le=1)
    never: tuple[str, ...] = ()
    origin: Origin = "learnt"
    locked: bool = False

    @property
    def taught(self) -> bool:
        """Whether a known offer has taught it, or a person."""
        return self.origin != "general"

    @property
    def stands_in(self) -> bool:
        """Whether it is asked only where the attribute's other rules find nothing."""
        return self.origin in ("spare", "general")

    @property
    def kept(self) -> bool:
        """Whether relearning must leave this rule as it is."""
        return self.locked or self.origin == "manual"


class Signature(_Frozen):
    """How a template's offer pages are recognised: weighted marks of their markup, and the share a page must show."""

    marks: dict[str, float] = Field(default_factory=dict)
    least: float = 0.0


class Template(_Frozen):
    """One kind of offer page of a shop.

    `bare_titles` tells that no known title begins with its brand, `own_categories` that no known category is the brand.
    """

    name: str
    signature: Signature = Signature()
    rules: tuple[Rule, ...] = ()
    bare_titles: bool = False
    own_categories: bool = False

    def of(self, attribute: Attribute) -> tuple[Rule, ...]:
        """The rules of an attribute, best first."""
        return tuple(rule for rule in self.rules if rule.attribute == attribute)


class Variants(_Frozen):
    """Where pages keep the variants of one product as offers of their own, and how one of them is read.

    `items` leads to each variant: an object in a block of data, or an element. The selectors of `rules`, `options`
    (what tells a variant in words), `link` and `query` look inside an item (`parser.variants`); `link` is a variant's
    address, `query` the values of the parameters that make one of the page's.
    """

    items: Selector
    rules: tuple[Rule, ...] = ()
    options: tuple[Selector, ...] = ()
    link: Selector | None = None
    query: tuple[tuple[str, Selector], ...] = ()
    support: int = Field(default=0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _of_one_parameter(cls, stored: Any) -> Any:
        """Rules stored when an address had one parameter at most, whose value was the link."""
        if not isinstance(stored, dict) or "parameter" not in stored:
            return stored
        rest = {name: value for name, value in stored.items() if name != "parameter"}
        named = stored["parameter"] and stored.get("link")
        return (
            rest | {"link": None, "query": [(stored["parameter"], stored["link"])]}
            if named
            else rest
        )


class RuleSet(_Frozen):
    """The rules of one shop: `learnt_from` are the URLs of the pages, `currency` is what a bare price is taken for.

    `variants` are the ways in which its pages keep several offers; the first that finds some on a page counts.
    """

    version: int = 0
    learnt_at: AwareDatetime | None = None
    learnt_from: tuple[str, ...] = ()
    currency: str | None = None
    templates: tuple[Template, ...] = ()
    variants: tuple[Variants, ...] = ()

    @classmethod
    def from_json(cls, stored: Any) -> "RuleSet":
        """A rule set from its JSON form. Raises RuleError that names the place."""
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            first = error.errors()[0]
            raise RuleError(
                f"not a rule set: {'.'.join(map(str, first['loc']))}: {first['msg']}"
            ) from error

    def selectors(self) -> Iterator[AnySelector]:
        """Where on a page its rules look."""
        yield from (rule.selector for template in self.templates for rule in template.rules)
        yield from (one.items for one in self.variants)

    def selectors_inside(self) -> Iterator[AnySelector]:
        """Where they look inside a variant; without CSS that means the variant itself."""
        for one in self.variants:
            yield from (
                *(rule.selector for rule in one.rules),
                *one.options,
                *(at for _, at in one.query),
            )
            yield from () if one.link is None else (one.link,)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, which `from_json` reads."""
        return self.model_dump(mode="json")
