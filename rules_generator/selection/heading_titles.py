"""Titles read from a text that holds more than the title, where no rule reads the title alone.

Some shops write further properties into their headings: `Lamp, 40 cm, black`. Of a title that is
read on few examples, or not on all, the shortest text that holds it on every example is a better
source than none, or than a text that is right by chance on a few.
"""

from collections.abc import Sequence

from catalog.models import Attribute
from parser.rules.model import Rule
from rules_generator.candidates.candidate import UNTRAINED_SCORE
from rules_generator.candidates.naming import is_main_heading
from rules_generator.scoring.ranking import ScoredTally
from rules_generator.scoring.tally import Tally
from rules_generator.training.examples import Example

# Examples on which the text has to hold the title.
MIN_EXAMPLES = 3
# Length of the text relative to the title's, and further characters that are allowed.
MAX_LENGTH_FACTOR = 3
MAX_FURTHER_CHARS = 60
# Least precision of the rule: its value begins with the title or names it, even where it is not
# equal.
MIN_PRECISION = 0.5


def with_heading(
    ranked: Sequence[ScoredTally], tallies: Sequence[Tally], examples: Sequence[Example]
) -> tuple[list[ScoredTally], list[Rule]]:
    """Return the ranked tallies of titles, and a rule for the shortest text that holds the title on
    all examples.

    There is none if the best tally finds a title on all examples. Tallies that are right on less
    than half of the examples give way to it.
    """
    usual = [pair for pair in ranked if not _is_minority(pair[1])]
    if usual and not usual[0][1].abstained:
        return list(ranked), []
    holding = [tally for tally in tallies if _holds_titles(tally, examples)]
    if not holding:
        return list(ranked), []
    shortest = min(holding, key=_length)
    rule = Rule(
        attribute=Attribute.TITLE,
        selector=shortest.candidate.selector,
        score=UNTRAINED_SCORE,
        support=shortest.correct,
        precision=max(round(shortest.share, 4), MIN_PRECISION),
        origin="general" if usual else "learnt",
    )
    return usual, [rule]


def _length(tally: Tally) -> tuple[int, bool]:
    """Return the characters of all values; main headings win among equal lengths."""
    return sum(len(value or "") for value in tally.values), not is_main_heading(tally.candidate)


def _is_minority(tally: Tally) -> bool:
    return 2 * tally.correct < tally.correct + tally.wrong + tally.abstained


def _holds_titles(tally: Tally, examples: Sequence[Example]) -> bool:
    """Return True if an untrimmed text holds the title of every example."""
    if tally.candidate.is_guess or tally.candidate.is_positional:
        return False
    count = 0
    for value, example in zip(tally.values, examples, strict=True):
        titles = example.known.get(Attribute.TITLE)
        if not titles:
            continue
        if value is None or not any(_holds(value, title) for title in titles):
            return False
        count += 1
    return count >= MIN_EXAMPLES


def _holds(text: str, title: str) -> bool:
    max_chars = MAX_LENGTH_FACTOR * len(title) + MAX_FURTHER_CHARS
    return len(text) <= max_chars and title.casefold() in text.casefold()
