"""What the head of a shop's front page says for others to show is the shop's own: its picture, its slogan.

Many shops say the same on the pages of offers that have no picture or no description of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from catalog.models import Attribute
from catalog.values import Hint, key, normalise
from parser.page.document import Document
from parser.rules.model import Rule
from parser.voting.vote_weights import is_in_meta
from rules_generator.training.examples import Example

SAID = {
    Attribute.IMAGE: 'meta[property^="og:image"], meta[name="twitter:image"]',
    Attribute.DESCRIPTION: 'meta[name$="description"], meta[property="og:description"]',
}
MOST = 5

Own = Mapping[Attribute, Sequence[str]]


def own_of(fronts: Sequence[Document], examples: Sequence[Example]) -> Own:
    """What the heads of these pages say, but for what is known of some offer: a front page may show one."""
    return {
        attribute: _unknown(attribute, _said(fronts, attribute), examples) for attribute in SAID
    }


def without_own(rule: Rule, own: Own) -> Rule:
    """The rule, for which that stands for none where it reads what a page says for others."""
    said = own.get(rule.attribute, ())
    if not said or not is_in_meta(rule):
        return rule
    return rule.model_copy(update={"never": tuple(dict.fromkeys((*rule.never, *said)))})


def _said(fronts: Iterable[Document], attribute: Attribute) -> Iterator[str]:
    for page in fronts:
        for node in page.all(SAID[attribute])[:MOST]:
            value = normalise(attribute, node.attrs.get("content") or "", Hint(base_url=page.base))
            if value:
                yield value


def _unknown(
    attribute: Attribute, said: Iterable[str], examples: Sequence[Example]
) -> tuple[str, ...]:
    known = {key(attribute, text) for one in examples for text in one.known.get(attribute, ())}
    return tuple(value for value in dict.fromkeys(said) if key(attribute, value) not in known)
