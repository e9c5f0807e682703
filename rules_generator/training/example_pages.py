"""The examples of one template with their pages, and the texts that selectors found on them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from catalog.models import Attribute
from parser.page.cards import CARD_ATTRIBUTES
from parser.rules.selector import AnySelector, AttributeAt, TextAt, reads_one_element
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.training.examples import TrainingExample, first_known_values
from rules_generator.training.page_cache import PageCache


@dataclass
class ExamplePages:
    """The examples of one template with their pages open, and the learner's configuration.

    `not_shown` has, for each identifier, the indices of the examples whose page does not show the
    known value. `normalised` has the canonical values of texts, by a rule's normalisation
    (`parser.voting.votes.normalisation_key`) and by the example's index and the text.
    """

    examples: Sequence[TrainingExample]
    config: LearnerConfig = DEFAULT_CONFIG
    not_shown: Mapping[Attribute, Collection[int]] = field(default_factory=dict)
    normalised: dict[Hashable, dict[tuple[int, str], str | None]] = field(default_factory=dict)
    _agreements: dict[tuple[Attribute, int, str | None], bool | None] = field(default_factory=dict)
    _texts: dict[AnySelector, dict[int, str | None]] = field(default_factory=dict)
    _price_texts: dict[AnySelector, dict[int, str | None]] = field(default_factory=dict)
    _value_counts: dict[Attribute, Counter[str]] = field(default_factory=dict)

    @cached_property
    def pages(self) -> list[PageCache]:
        """The pages, ready for many selectors."""
        return [PageCache(example.document) for example in self.examples]

    def unique_value(self, attribute: Attribute, index: int) -> str | None:
        """Return the known value of an example if no other example has the same one."""
        if attribute not in self._value_counts:
            self._value_counts[attribute] = Counter(first_known_values(self.examples, attribute))
        values = self.examples[index].known.get(attribute)
        is_unique = values and self._value_counts[attribute][values[0]] == 1
        return values[0] if values and is_unique else None

    def agrees(self, attribute: Attribute, index: int, value: str | None) -> bool | None:
        """Return whether a canonical text equals a known value of an example, as it does."""
        place = attribute, index, value
        if place not in self._agreements:
            self._agreements[place] = self.examples[index].agrees(attribute, value)
        return self._agreements[place]

    def candidate_texts(
        self, attribute: Attribute, selector: AnySelector, indices: Iterable[int]
    ) -> list[str | None]:
        """Return the texts at a selector as a rule for the attribute reads them.

        There are none in cards, and no prices that are struck out.
        """
        selected = list(indices)
        if attribute not in CARD_ATTRIBUTES or not reads_one_element(selector):
            return self.texts(selector, selected)
        if attribute is Attribute.PRICE:
            texts = [self._price_text(selector, index) for index in selected]
        else:
            texts = self.texts(selector, selected)
        for place, index in enumerate(selected):
            if texts[place] is not None and self._is_in_card(index, selector.css):
                texts[place] = None
        return texts

    def _price_text(self, selector: TextAt | AttributeAt, index: int) -> str | None:
        by_index = self._price_texts.setdefault(selector, {})
        if index not in by_index:
            node = self.pages[index].first(selector.css)
            by_index[index] = self.examples[index].document.price_at(node, selector)
        return by_index[index]

    def _is_in_card(self, index: int, css: str) -> bool:
        node = self.pages[index].first(css)
        return node is not None and self.examples[index].document.cards.contains(node)

    def texts(
        self, selector: AnySelector, indices: Iterable[int] | None = None
    ) -> list[str | None]:
        """Return the text a selector finds on each page (or those at `indices`), cached."""
        by_index = self._texts.setdefault(selector, {})
        selected = range(len(self.examples)) if indices is None else list(indices)
        for index in selected:
            if index not in by_index:
                by_index[index] = self.pages[index].find(selector)
        return [by_index[index] for index in selected]
