"""Known values that a page does not show, each with the nearest text on the page.

When a value cannot be learnt or read, the first question is whether the page shows it at all:
perhaps in another spelling, perhaps at another price. All short texts, attributes and values in
data are searched, as the learner does it, up to a cap.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from rapidfuzz import fuzz, process, utils

from catalog.models import Attribute
from catalog.values import normalise
from parser.page.document import Document
from parser.rules.model import Form
from rules_generator.candidates.selectors import selectors_for
from rules_generator.locate.occurrences import find_occurrences
from rules_generator.locate.value_matcher import MAX_LINE_CHARS, ValueMatcher

# Cap: texts compared.
MAX_TEXTS = 6_000
# Least similarity (0 to 100) of a text to be the nearest.
MIN_SIMILARITY = 50
# Attributes with few values, of which none is near another.
NOT_COMPARED = frozenset({Attribute.CURRENCY, Attribute.AVAILABILITY})


@dataclass(frozen=True)
class Missing:
    """A known value not on the page, the nearest text, its selector, and the similarity."""

    attribute: str
    value: str
    nearest: str | None = None
    selector: str | None = None
    likeness: float = 0.0


@dataclass
class _TextCollector(ValueMatcher):
    """A matcher that matches nothing and collects all texts; or that matches exactly one text."""

    only: str | None = None
    texts: dict[str, None] = field(default_factory=dict)

    def matches(self, raw: str) -> list[tuple[Attribute, Form, bool]]:
        if self.only is None:
            if len(raw) <= MAX_LINE_CHARS and len(self.texts) < MAX_TEXTS:
                self.texts[raw] = None
            return []
        return [(Attribute.TITLE, "plain", True)] if raw == self.only else []


def lost(document: Document, known: Mapping[Attribute, Sequence[str]]) -> list[Attribute]:
    """Return the attributes of which the page shows no known value, even in longer texts."""
    occurrences = find_occurrences(document, ValueMatcher(known, document.base))
    return [attribute for attribute in known if not occurrences[attribute]]


def missing(document: Document, known: Mapping[Attribute, Sequence[str]]) -> list[Missing]:
    """Return the known values that the page does not show."""
    attributes = [name for name in lost(document, known) if name not in NOT_COMPARED]
    if not attributes:
        return []
    collector = _collector(document)
    find_occurrences(document, collector)
    texts = list(collector.texts)
    return [_nearest(document, name, known[name][0], texts) for name in attributes]


def _collector(document: Document, only: str | None = None) -> _TextCollector:
    return _TextCollector({Attribute.TITLE: [""]}, document.base, only=only)


def _nearest(document: Document, attribute: Attribute, value: str, texts: Sequence[str]) -> Missing:
    best = max(
        _similar(attribute, value, texts), key=lambda pair: (pair[0], -len(pair[1])), default=None
    )
    if best is None:
        return Missing(attribute.value, value)
    similarity, raw = best
    occurrences = find_occurrences(document, _collector(document, raw))[Attribute.TITLE]
    selector = str(selectors_for(occurrences[0])[0]) if occurrences else None
    return Missing(attribute.value, value, raw, selector, round(similarity, 2))


def _similar(attribute: Attribute, value: str, texts: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Yield (similarity in [0, 1], text): prices by amount, all others by their letters."""
    if attribute is Attribute.PRICE:
        yield from _similar_amounts(float(Decimal(value)), texts)
        return
    # Words of a title may stand in another order.
    scorer = fuzz.token_sort_ratio if attribute is Attribute.TITLE else fuzz.ratio
    nearest = process.extract(
        value,
        texts,
        scorer=scorer,
        processor=utils.default_process,
        score_cutoff=MIN_SIMILARITY,
        limit=1,
    )
    for raw, score, _ in nearest:
        yield score / 100, raw


def _similar_amounts(amount: float, texts: Sequence[str]) -> Iterator[tuple[float, str]]:
    for raw in texts:
        price = normalise(Attribute.PRICE, raw)
        shown = float(Decimal(price)) if price else 0.0
        if shown > 0 and amount > 0:
            yield min(amount, shown) / max(amount, shown), raw
