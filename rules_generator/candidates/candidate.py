"""A candidate: a selector with cuts and a form that may become a rule.

`UNEARNED` is the score of general rules, which no example has taught.
"""

from dataclasses import dataclass

from catalog.models import Attribute
from catalog.values.text import Sign
from parser.rules.model import Form, Origin, Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.rules.trim import Trim
from rules_generator.candidates.trimming import NO_CUT
from rules_generator.locate.known_values import NAME_ATTRIBUTES, SLUGGED

BETWEEN_WORDS = frozenset(" -_+")
FEWEST_STEPS = 3
UNEARNED = 0.5


@dataclass(frozen=True)
class Candidate:
    """A selector with cuts and a form: a rule that has not earned its score yet."""

    attribute: Attribute
    selector: AnySelector
    trim: Trim = NO_CUT
    form: Form = "plain"
    signs: tuple[Sign, ...] = ()
    never: tuple[str, ...] = ()

    @property
    def is_guess(self) -> bool:
        """Whether it takes a text for the value by its look: a name, a first or last part, a shape, a known word."""
        trim, selector = self.trim, self.selector
        a_word = trim.inside and not f"{trim.left or ''}{trim.right or ''}".strip()
        a_word = a_word or (
            self.attribute in SLUGGED and trim.inside and str(trim.right) in BETWEEN_WORDS
        )
        a_name = (
            isinstance(selector, AttributeAt)
            and selector.name in NAME_ATTRIBUTES
            and self.attribute in SLUGGED
        )
        by_look = trim.last or trim.shape or trim.words or trim.means
        return self.is_of_menu or a_word or a_name or self.form == "slug" or bool(by_look)

    @property
    def is_of_menu(self) -> bool:
        """Whether it takes the entry of a menu that another element names."""
        return isinstance(self.selector, TextAt) and bool(self.selector.named_in)

    @property
    def is_by_way(self) -> bool:
        """Whether it counts its way down the page, where another banner or row leads it elsewhere."""
        return (
            not isinstance(self.selector, JsonAt) and self.selector.css.count(" > ") >= FEWEST_STEPS
        )

    def rule(
        self, score: float = 1.0, support: int = 0, agreed: float = 1.0, origin: Origin = "learnt"
    ) -> Rule:
        """The candidate as a rule."""
        return Rule(
            attribute=self.attribute,
            selector=self.selector,
            trim=self.trim,
            form=self.form,
            signs=self.signs,
            never=self.never,
            score=score,
            support=support,
            agreed=agreed,
            origin=origin,
        )
