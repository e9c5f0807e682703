"""Known values that a page does not show, each with what on the page comes nearest to it.

When a value cannot be learnt or read, the first question is whether the page shows it at all: perhaps in another
spelling, perhaps at another price. All short texts, attributes and values in data are looked through, as the learner
does it, up to a bound.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from rapidfuzz import fuzz, process, utils

from catalog.models import Attribute
from catalog.values import normalise
from parser.page.document import Document
from parser.rules.model import Form
from rules_generator.candidates.selectors import selectors_at
from rules_generator.locate.known_values import LONGEST_LINE, Wanted, places

MOST_TEXTS = 6_000
LEAST_LIKE = 50
UNCOMPARED = frozenset({Attribute.CURRENCY, Attribute.AVAILABILITY})


@dataclass(frozen=True)
class Missing:
    """A known value that is not on the page, the nearest text that is, the selector that leads there, the likeness."""

    attribute: str
    value: str
    nearest: str | None = None
    selector: str | None = None
    likeness: float = 0.0


@dataclass
class _All(Wanted):
    """Wants nothing and notes all texts it is asked about; or wants exactly one text."""

    only: str | None = None
    texts: dict[str, None] = field(default_factory=dict)

    def matches(self, raw: str) -> list[tuple[Attribute, Form, bool]]:
        if self.only is None:
            if len(raw) <= LONGEST_LINE and len(self.texts) < MOST_TEXTS:
                self.texts[raw] = None
            return []
        return [(Attribute.TITLE, "plain", True)] if raw == self.only else []


def lost(document: Document, known: Mapping[Attribute, Sequence[str]]) -> list[Attribute]:
    """The attributes of which the page shows no known value, not even within a longer text."""
    found = places(document, Wanted(known, document.base))
    return [attribute for attribute in known if not found[attribute]]


def missing(document: Document, known: Mapping[Attribute, Sequence[str]]) -> list[Missing]:
    """Those of the known values that the page does not show."""
    wanted = [(one, known[one][0]) for one in lost(document, known) if one not in UNCOMPARED]
    if not wanted:
        return []
    everything = _All({Attribute.TITLE: [""]}, document.base)
    places(document, everything)
    return [
        _nearest(document, attribute, value, list(everything.texts)) for attribute, value in wanted
    ]


def _nearest(document: Document, attribute: Attribute, value: str, texts: Sequence[str]) -> Missing:
    likest = max(
        _alike(attribute, value, texts), key=lambda pair: (pair[0], -len(pair[1])), default=None
    )
    if likest is None:
        return Missing(attribute.value, value)
    likeness, raw = likest
    at = places(document, _All({Attribute.TITLE: [""]}, document.base, only=raw))[Attribute.TITLE]
    selector = str(selectors_at(at[0])[0]) if at else None
    return Missing(attribute.value, value, raw, selector, round(likeness, 2))


def _alike(attribute: Attribute, value: str, texts: Sequence[str]) -> Iterator[tuple[float, str]]:
    """The texts most like a value, with their likeness in [0, 1]: prices by amount, all others by their letters."""
    if attribute is Attribute.PRICE:
        amount = float(Decimal(value))
        for raw in texts:
            read = normalise(attribute, raw)
            other = float(Decimal(read)) if read else 0.0
            if other > 0 and amount > 0:
                yield min(amount, other) / max(amount, other), raw
        return
    scorer = fuzz.token_sort_ratio if attribute is Attribute.TITLE else fuzz.ratio
    near = process.extract(
        value,
        texts,
        scorer=scorer,
        processor=utils.default_process,
        score_cutoff=LEAST_LIKE,
        limit=1,
    )
    yield from ((score / 100, raw) for raw, score, _ in near)
