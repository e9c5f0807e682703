"""Pictures that are not the offer's own: where it has none, the shop's is found, or another offer's."""

import re
from collections.abc import Sequence

from catalog.values import is_stand_in
from parser.voting.vote_weights import is_in_head
from parser.voting.votes import Vote

SEVERAL = 4
COUNTED = ":nth"
OF_THE_SHOP = re.compile(r"(?:\b|_)(?:logo|shar(?:e|ing)|social)(?:\b|_)[^/]*$", re.IGNORECASE)


def is_no_offers(votes: Sequence[Vote], found: Sequence[Vote]) -> bool:
    """Whether a picture is the shop's own or another offer's, as places that have all known ones have none.

    What only the head names, for others to show, is the shop's own where the offer's own place holds a stand-in, where
    two such places are silent, or one and the file is named so. What one other place alone names is another offer's
    where the head is silent, or a place that does not count its way holds a stand-in.
    """
    if any(one.rule.kept for one in found):
        return False
    in_head = all(is_in_head(one.rule) for one in found)
    if in_head and any(one.cut is not None and one.value is None for one in votes):
        return True
    silent = _silent_with_all_known(votes) if len(found) == 1 else []
    if in_head:
        return len(silent) > 1 or (
            len(silent) == 1 and OF_THE_SHOP.search(found[0].value or "") is not None
        )
    return any(is_in_head(one.rule) or _holds_a_stand_in(one) for one in silent)


def _silent_with_all_known(votes: Sequence[Vote]) -> list[Vote]:
    """The votes for nothing of rules that were right wherever any was, on several known offers at least."""
    most = max(one.rule.support for one in votes)
    silent = [one for one in votes if one.value is None and not one.rule.stands_in]
    return [one for one in silent if one.rule.support >= max(most, SEVERAL)]


def _holds_a_stand_in(one: Vote) -> bool:
    return one.cut is not None and is_stand_in(one.cut) and COUNTED not in one.rule.selector.css
