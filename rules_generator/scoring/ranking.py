"""Rank candidates by one additive score; its terms are listed in
`rules_generator.config.RANKING_TERMS`.

The agreement is relative to the best candidate's: known offers may be stale, and if a third of the
prices is wrong even the perfect selector agrees on two thirds only.
"""

import re
from collections.abc import Mapping, Sequence
from math import log2

from catalog.models import Attribute
from parser.rules.selector import JsonAt, TextAt
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import (
    has_attribute_word,
    has_misleading_word,
    is_main_heading,
)
from rules_generator.candidates.trimming import NO_TRIM
from rules_generator.config import DEFAULT_CONFIG, RANKING_TERMS, LearnerConfig
from rules_generator.scoring.tally import Tally

# Longer selectors count as this long (characters), more matches as this many doublings.
MAX_SELECTOR_CHARS = 300
MAX_DOUBLINGS = 4
PRODUCT_DATA = re.compile(r"ld\+json Product|itemprop|property=|product", re.IGNORECASE)

# Agreement relative to the best tally's, by which rules vote, and the tally.
ScoredTally = tuple[float, Tally]


def rank_tallies(tallies: Sequence[Tally]) -> list[ScoredTally]:
    """Return (relative agreement, tally) pairs, the best score first."""
    best = max((tally.bound for tally in tallies), default=0.0)
    scored = [(tally.bound / best if best else 0.0, tally) for tally in tallies]

    def score(pair: ScoredTally) -> float:
        agreement, tally = pair
        features = selector_features(tally.candidate) | {
            "unexpected": tally.unexpected / max(1, tally.correct + tally.unexpected),
            "matches": _matches(tally),
            "spelling": tally.spelling_distance,
        }
        return agreement + weighted_sum(features, tally.config)

    return sorted(scored, key=score, reverse=True)


def weighted_sum(features: Mapping[str, float], config: LearnerConfig = DEFAULT_CONFIG) -> float:
    """Return the sum of weight times feature over the ranking terms that are on."""
    return sum(
        RANKING_TERMS[name].weight * value for name, value in features.items() if config.uses(name)
    )


def selector_features(candidate: Candidate) -> dict[str, float]:
    """Return the features that do not depend on the examples, each between 0 and 1."""
    selector = str(candidate.selector)
    is_text = isinstance(candidate.selector, TextAt)
    return {
        "named": has_attribute_word(candidate.attribute, selector),
        "misleading": has_misleading_word(selector),
        "product_data": not is_text and PRODUCT_DATA.search(selector) is not None,
        "data": isinstance(candidate.selector, JsonAt),
        "trimmed": candidate.trim != NO_TRIM,
        "length": min(len(selector) / MAX_SELECTOR_CHARS, 1.0),
    }


def _matches(tally: Tally) -> float:
    """Return the doublings of the matches, relative to four; 0 if only the first counts."""
    candidate = tally.candidate
    is_heading = candidate.attribute is Attribute.TITLE and is_main_heading(candidate)
    if is_heading or candidate.attribute is Attribute.IMAGE:
        return 0.0
    return min(log2(max(tally.match_count, 1.0)) / MAX_DOUBLINGS, 1.0)
