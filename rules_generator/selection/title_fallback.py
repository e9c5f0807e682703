"""The page's heading, for pages on which the shop's learnt rules find no title.

Where headings say more than the title, a brand before it or a layout's words behind, what is learnt is what to cut off;
on pages whose heading is the title alone the cut finds nothing to cut, and yields nothing. An offer without a title is
of no use to anybody, and the heading is right there more often than not.
"""

from collections.abc import Sequence

from catalog.models import Attribute
from catalog.values import key
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import TextAt
from parser.voting.votes import vote
from rules_generator.candidates.candidate import UNEARNED
from rules_generator.training.examples import Example

TITLE = Attribute.TITLE
FEWEST = 3
MOST_WORDS_MORE = 6
HEADING = Rule(attribute=TITLE, selector=TextAt(css="h1"), score=UNEARNED, origin="general")


def usual_title(examples: Sequence[Example], documents: Sequence[Document]) -> list[Rule]:
    """The general rule for titles, where the headings of all examples that have one hold the known one."""
    told = [
        (one, said)
        for one, document in zip(examples, documents, strict=True)
        if TITLE in one.known and (said := vote(document, HEADING).value) is not None
    ]
    if len(told) < FEWEST or not all(
        any(_holds(said, title) for title in one.known[TITLE]) for one, said in told
    ):
        return []
    right = sum(one.agrees(TITLE, said) is True for one, said in told)
    return [
        HEADING.model_copy(update={"support": len(told), "agreed": (right + 1) / (len(told) + 1)})
    ]


def _holds(said: str, title: str) -> bool:
    """Whether a heading says a title, and little more.

    >>> _holds("Bosch Drill 500 W", "drill 500 W"), _holds("Welcome to our shop", "Drill 500 W")
    (True, False)
    """
    words = len(said.split()) - len(title.split())
    return words <= MOST_WORDS_MORE and key(TITLE, title) in key(TITLE, said)
