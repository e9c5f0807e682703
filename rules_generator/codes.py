"""Trade numbers as shops of all kinds name them, for pages on which the shop's learnt rules find none.

Ten known offers show one or two of the ways in which a shop says them: here `EAN`, there `UPC/EAN`, in one layout in a
table and in the next in a list. Unlike other numbers these are told from all else by their check digit, so a label that
is known everywhere is enough. It is asked only in shops whose known offers have such numbers, not all of which the
learnt rules find, and only where it contradicts none of them: the catalog may have its reasons not to list what stands
there.
"""

from collections.abc import Iterator, Sequence, Set

from catalog.models import Attribute
from parser.document import Document
from parser.general import LABELS
from parser.read import vote
from parser.rules import Rule
from parser.selector import AnySelector, AttributeAt, TextAt
from rules_generator.candidate import UNEARNED
from rules_generator.examples import Example

EAN = Attribute.EAN
SAID = ", ".join(f':lexbor-contains("{part}")' for part in ("EAN", "GTIN", "UPC", "ISBN", "arcode", "arres"))
LEAVES = ":is(td, th, dt, li, p, div, span, b, strong, em, label, h4, h5, h6):not(:has(*))"
USUAL: tuple[AnySelector, ...] = (
    AttributeAt(css='meta[itemprop^="gtin"]', name="content"),
    TextAt(css=f"{LEAVES}:is({SAID})", behind=LABELS[EAN]),
)


def usual_codes(
    examples: Sequence[Example], documents: Sequence[Document], elsewhere: Sequence[Example], read: Set[int]
) -> list[Rule]:
    """General rules for trade numbers that agree with all examples; none where no example of the shop has any.

    `read` are the places of those on which a learnt rule finds the number: where it is found on all, none is needed.
    """
    known = {place for place, one in enumerate(examples) if EAN in one.known}
    if known <= read and (known or not any(EAN in one.known for one in elsewhere)):
        return []
    rules = (Rule(attribute=EAN, selector=one, score=UNEARNED, origin="general") for one in USUAL)
    told = ((rule, list(_agreements(rule, examples, documents))) for rule in rules)
    return [rule.model_copy(update={"support": len(agreed)}) for rule, agreed in told if all(agreed)]


def _agreements(rule: Rule, examples: Sequence[Example], documents: Sequence[Document]) -> Iterator[bool]:
    """For each example on which it says something whether that is what the catalog knows."""
    told = ((example, vote(document, rule).value) for example, document in zip(examples, documents, strict=True))
    yield from (example.agrees(EAN, said) is True for example, said in told if said is not None)
