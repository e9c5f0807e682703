"""SKUs that the catalog lists as a dash, as some shops write for offers that have none.

Mechanism `placeholder_skus`. Nothing is learnt from a dash. But if the rules learnt from other
offers find a dash on the pages of these, and the catalog lists it, they read one on further pages
too, so that both sides compare equal. If the shop's catalog leaves such SKUs out, none is read.
"""

from collections.abc import Sequence

from catalog.models import Attribute
from catalog.values import is_dash
from parser.rules.model import Rule
from parser.voting.votes import run_rule
from rules_generator.training.examples import TrainingExample


def keep_dashes(rules: list[Rule], examples: Sequence[TrainingExample]) -> list[Rule]:
    """Return the rules in the form that keeps dashes, where the catalog lists most of them."""
    if not any(example.has_dash_sku for example in examples):
        return rules
    return [_keep_dashes(rule, examples) for rule in rules]


def _keep_dashes(rule: Rule, examples: Sequence[TrainingExample]) -> Rule:
    if rule.attribute is not Attribute.SKU or rule.form != "plain":
        return rule
    dash_rule = rule.model_copy(update={"form": "dash"})
    dashes, listed = 0, 0
    for example in examples:
        if is_dash(run_rule(example.document, dash_rule).value):
            dashes += 1
            listed += example.has_dash_sku
    return dash_rule if 2 * listed > dashes else rule
