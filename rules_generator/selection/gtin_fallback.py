"""Trade numbers as shops of all kinds name them, for pages on which the shop's learnt rules find none.

Ten known offers show one or two of the ways in which a shop says them: here `EAN`, there `UPC/EAN`, in one layout in a
table and in the next in a list. Unlike other numbers these are told from all else by their check digit, so a label that
is known everywhere is enough. It is asked only in shops whose known offers have such numbers, not all of which the
learnt rules find, and only where it contradicts none of them: the catalog may have its reasons not to list what stands
there.

schema.org names a number by its length, and themes fill that in: `gtin13` on one page is `gtin12` on the next. So where
one of these names is learnt, the others are asked in its place.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice

from catalog.models import Attribute
from catalog.values.identifier import GTIN_NAMES
from parser.heuristics.visible_text import LABELS
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.block_lookup import PAIRS
from parser.scripts.syntax.jsonpath import AnyOf, child
from parser.voting.votes import vote
from rules_generator.candidates.candidate import UNEARNED
from rules_generator.training.examples import Example

EAN = Attribute.EAN
SAID = ", ".join(
    f':lexbor-contains("{part}")' for part in ("EAN", "GTIN", "UPC", "ISBN", "arcode", "arres")
)
LEAVES = ":is(td, th, dt, li, p, div, span, b, strong, em, label, h4, h5, h6):not(:has(*))"
USUAL: tuple[AnySelector, ...] = (
    AttributeAt(css='meta[itemprop^="gtin"]', name="content"),
    TextAt(css=f"{LEAVES}:is({SAID})", behind=LABELS[EAN]),
)
NAMED = re.compile(r"\.gtin(?:8|1[234])?$")
IN_MARKUP = re.compile(r'\[itemprop="gtin(?:8|1[234])?"\]')
OF_ANY_LENGTH = AnyOf(GTIN_NAMES)
MOST_PLACES = 2


def usual_codes(
    examples: Sequence[Example],
    documents: Sequence[Document],
    elsewhere: Sequence[Example],
    read: Set[int],
) -> list[Rule]:
    """General rules for trade numbers that agree with all examples; none where no example of the shop has any.

    `read` are the places of those on which a learnt rule finds the number: where it is found on all, none is needed.
    """
    known = {place for place, one in enumerate(examples) if EAN in one.known}
    if known <= read and (known or not any(EAN in one.known for one in elsewhere)):
        return []
    return _agreeing(USUAL, examples, documents)


def of_any_length(
    learnt: Iterable[AnySelector], examples: Sequence[Example], documents: Sequence[Document]
) -> list[Rule]:
    """General rules for the best places in which the number stands under such a name: it may be of any length."""
    found = dict.fromkeys(other for one in learnt if (other := _by_any_length(one)) != one)
    return _agreeing(islice(found, MOST_PLACES), examples, documents)


def _by_any_length(selector: AnySelector) -> AnySelector:
    if not isinstance(selector, JsonAt):
        return selector.model_copy(
            update={"css": IN_MARKUP.sub('[itemprop^="gtin"]', selector.css)}
        )
    around = NAMED.sub("", selector.path)
    if around == selector.path or selector.block == PAIRS:
        return selector
    return selector.model_copy(update={"path": child(around, OF_ANY_LENGTH)})


def _agreeing(
    selectors: Iterable[AnySelector], examples: Sequence[Example], documents: Sequence[Document]
) -> list[Rule]:
    rules = (
        Rule(attribute=EAN, selector=one, score=UNEARNED, origin="general") for one in selectors
    )
    told = ((rule, list(_agreements(rule, examples, documents))) for rule in rules)
    return [
        rule.model_copy(update={"support": len(agreed)}) for rule, agreed in told if all(agreed)
    ]


def _agreements(
    rule: Rule, examples: Sequence[Example], documents: Sequence[Document]
) -> Iterator[bool]:
    """For each example on which it says something whether that is what the catalog knows."""
    told = (
        (example, vote(document, rule).value)
        for example, document in zip(examples, documents, strict=True)
    )
    yield from (example.agrees(EAN, said) is True for example, said in told if said is not None)
