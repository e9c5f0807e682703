"""A candidate rule: a selector with a trim and a form, not scored yet."""

from dataclasses import dataclass

from catalog.models import Attribute
from parser.rules.model import Form, Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt
from parser.rules.trim import Trim
from rules_generator.candidates.trimming import NO_TRIM
from rules_generator.locate.value_matcher import NAME_ATTRIBUTES, SLUG_ATTRIBUTES

WORD_SEPARATORS = frozenset(" -_+")
# Child steps from which on a selector depends on the layout around its element.
MIN_POSITIONAL_STEPS = 3
# Score of general rules, which no example has trained.
UNTRAINED_SCORE = 0.5


@dataclass(frozen=True)
class Candidate:
    """A selector with a trim, a form, and values that stand for none (`blocklist`)."""

    attribute: Attribute
    selector: AnySelector
    trim: Trim = NO_TRIM
    form: Form = "plain"
    blocklist: tuple[str, ...] = ()

    @property
    def is_guess(self) -> bool:
        """Whether it takes part of a text by its look: a name, a word, a shape."""
        trim = self.trim
        if trim.last or trim.shape or trim.words or self.form == "slug":
            return True
        return self._takes_word or self._takes_name

    @property
    def _takes_word(self) -> bool:
        """Whether it takes the first or last word of a text."""
        trim = self.trim
        if not trim.inside:
            return False
        is_bare = not f"{trim.left or ''}{trim.right or ''}".strip()
        return is_bare or (self.attribute in SLUG_ATTRIBUTES and str(trim.right) in WORD_SEPARATORS)

    @property
    def _takes_name(self) -> bool:
        """Whether it takes a name out of a class, an id or an address."""
        selector = self.selector
        if self.attribute not in SLUG_ATTRIBUTES or not isinstance(selector, AttributeAt):
            return False
        return selector.name in NAME_ATTRIBUTES

    @property
    def is_positional(self) -> bool:
        """Whether it counts positions down the page, so that another banner misleads it."""
        selector = self.selector
        if isinstance(selector, JsonAt):
            return False
        return selector.css.count(" > ") >= MIN_POSITIONAL_STEPS

    def rule(self, score: float = 1.0, support: int = 0, agreed: float = 1.0) -> Rule:
        """Return the candidate as a learnt rule."""
        return Rule(
            attribute=self.attribute,
            selector=self.selector,
            trim=self.trim,
            form=self.form,
            blocklist=self.blocklist,
            score=score,
            support=support,
            precision=agreed,
        )
