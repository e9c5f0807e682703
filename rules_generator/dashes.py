"""Article numbers of which the catalog says only a dash, as some shops write one for offers that have none.

A dash stands at many places of a page and leads to none of them, so no rule is learnt from it. But where the rules that
other offers teach find it on the pages of these, or what stands for none (`wc` of `wc_post_17`), and the catalog lists
a dash, they read one on further pages, too: what is found then compares with what is known. Of a shop whose catalog
leaves such numbers out, none is read. No offer is told from others by a dash.
"""

from collections.abc import Iterable, Mapping, Sequence

from catalog.models import Attribute
from catalog.values import is_dash
from parser.document import Document
from parser.read import vote
from parser.rules import Rule
from rules_generator.examples import Example

SKU = Attribute.SKU
Known = Mapping[Attribute, Sequence[str]]


def without_dash(known: Known) -> Known:
    """What is known of an offer, without a number that is only a dash."""
    return {name: texts for name, texts in known.items() if name is not SKU} if _has_a_dash(known) else known


def keeping_dashes(rules: Iterable[Rule], shown: Sequence[tuple[Example, Document]]) -> tuple[Rule, ...]:
    """The rules, in that form where most dashes that they then read on the examples' pages are known."""
    if not any(_has_a_dash(example.known) for example, _ in shown):
        return tuple(rules)
    return tuple(_keeping(rule, shown) if rule.attribute is SKU and rule.form == "plain" else rule for rule in rules)


def _keeping(rule: Rule, shown: Sequence[tuple[Example, Document]]) -> Rule:
    keeping = rule.model_copy(update={"form": "dash"})
    known = [_has_a_dash(example.known) for example, document in shown if is_dash(vote(document, keeping).value)]
    return keeping if 2 * sum(known) > len(known) else rule


def _has_a_dash(known: Known) -> bool:
    return any(map(is_dash, known.get(SKU, ())))
