"""The examples of one template with their pages, and what selectors found on them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from catalog.models import Attribute
from catalog.values import key
from parser.page.document import Document
from parser.rules.selector import AnySelector
from rules_generator.training.examples import Example, in_short
from rules_generator.training.page_cache import Lookup

OF_WORDPRESS = 'link[href*="/wp-content/"]'


@dataclass
class Opened:
    """The examples of one template with their pages open."""

    examples: Sequence[Example]
    documents: Sequence[Document]
    raws: dict[AnySelector, dict[int, str | None]] = field(default_factory=dict)
    unseen: Mapping[Attribute, Collection[int]] = field(default_factory=dict)
    _counts: dict[Attribute, Counter[str]] = field(default_factory=dict)

    @cached_property
    def pages(self) -> list[Lookup]:
        """The pages, ready for many selectors."""
        return [Lookup(document) for document in self.documents]

    @cached_property
    def is_typeset(self) -> bool:
        """Whether WordPress has made the pages, which sets quotes and dashes as a typesetter would."""
        return any(document.first(OF_WORDPRESS) is not None for document in self.documents)

    @cached_property
    def short_brands(self) -> Mapping[int, str]:
        """What makes the shorter spelling of a brand equal, at examples for which the catalog has the longer one."""
        known = (one.known.get(Attribute.BRAND) for one in self.examples)
        names = [key(Attribute.BRAND, brands[0]) if brands else "" for brands in known]
        pairs = enumerate(zip(names, in_short(names), strict=True))
        return {place: short for place, (name, short) in pairs if short != name}

    def agrees(self, attribute: Attribute, place: int, value: str | None) -> bool | None:
        """Whether a value is what is known of an example; None where nothing is, or for a brand's shorter spelling."""
        short = self.short_brands.get(place) if attribute is Attribute.BRAND else None
        if short and value and key(attribute, value) == short:
            return None
        return self.examples[place].agrees(attribute, value)

    def only_at(self, attribute: Attribute, place: int) -> str | None:
        """The known value of an example that no other example has."""
        if attribute not in self._counts:
            self._counts[attribute] = Counter(
                one.known[attribute][0] for one in self.examples if attribute in one.known
            )
        known = self.examples[place].known.get(attribute)
        return known[0] if known and self._counts[attribute][known[0]] == 1 else None

    def raw(self, selector: AnySelector, places: Iterable[int] | None = None) -> list[str | None]:
        """What a selector finds on each page (or on those at these places), looked up once."""
        found = self.raws.setdefault(selector, {})
        wanted = range(len(self.documents)) if places is None else places
        for place in wanted:
            if place not in found:
                found[place] = self.pages[place].find(selector)
        return [found[place] for place in wanted]
