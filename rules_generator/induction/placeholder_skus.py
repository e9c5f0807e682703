"""Article numbers of which the catalog says only a dash, as some shops write one for offers that have none.

No rule is learnt from a dash. But where the rules that other offers teach find it on the pages of these, or what stands
for none (`wc` of `wc_post_17`), and the catalog lists a dash, they read one on further pages, too: what is found then
compares with what is known. Of a shop whose catalog leaves such numbers out, none is read.
"""

from collections.abc import Iterable, Sequence

from catalog.models import Attribute
from catalog.values import is_dash
from parser.page.document import Document
from parser.rules.model import Rule
from parser.voting.votes import vote
from rules_generator.training.examples import Example

Shown = Sequence[tuple[Example, Document]]


def keeping_dashes(rules: Iterable[Rule], shown: Shown) -> tuple[Rule, ...]:
    """The rules, in that form where most dashes that they then read on the examples' pages are known."""
    if not any(example.dashed for example, _ in shown):
        return tuple(rules)
    return tuple(_keeping(rule, shown) for rule in rules)


def _keeping(rule: Rule, shown: Shown) -> Rule:
    if rule.attribute is not Attribute.SKU or rule.form != "plain":
        return rule
    keeping = rule.model_copy(update={"form": "dash"})
    listed = [
        example.dashed for example, document in shown if is_dash(vote(document, keeping).value)
    ]
    return keeping if 2 * sum(listed) > len(listed) else rule
