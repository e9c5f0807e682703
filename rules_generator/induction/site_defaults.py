"""Site defaults: the picture and slogan in the head of a shop's home page, which stand for the
shop, not an offer.

Many shops repeat them in the head of offers that have no picture or description of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from catalog.models import Attribute
from catalog.values import Hint, normalise, value_key
from parser.page.document import Document
from parser.rules.model import Rule
from parser.voting.vote_weights import is_in_meta
from rules_generator.training.examples import Example

META_SELECTORS = {
    Attribute.IMAGE: 'meta[property^="og:image"], meta[name="twitter:image"]',
    Attribute.DESCRIPTION: 'meta[name$="description"], meta[property="og:description"]',
}
# Cap: elements looked at on a home page.
MAX_ELEMENTS = 5

SiteDefaults = Mapping[Attribute, Sequence[str]]


def find_site_defaults(home_pages: Sequence[Document], examples: Sequence[Example]) -> SiteDefaults:
    """Return the values in the head of the home pages, but for values of known offers."""
    defaults: dict[Attribute, list[str]] = {}
    for attribute in META_SELECTORS:
        known_keys = set[str]()
        for example in examples:
            for text in example.known.get(attribute, ()):
                known_keys.add(value_key(attribute, text))
        defaults[attribute] = []
        for value in dict.fromkeys(_meta_values(home_pages, attribute)):
            if value_key(attribute, value) not in known_keys:
                defaults[attribute].append(value)
    return defaults


def block_site_defaults(rule: Rule, defaults: SiteDefaults) -> Rule:
    """Return the rule with the site defaults on its blocklist if it reads meta elements."""
    values = defaults.get(rule.attribute, ())
    if not values or not is_in_meta(rule):
        return rule
    return rule.model_copy(update={"blocklist": tuple(dict.fromkeys((*rule.blocklist, *values)))})


def _meta_values(home_pages: Iterable[Document], attribute: Attribute) -> Iterator[str]:
    for page in home_pages:
        for node in page.all(META_SELECTORS[attribute])[:MAX_ELEMENTS]:
            content = node.attrs.get("content") or ""
            value = normalise(attribute, content, Hint(base_url=page.base))
            if value:
                yield value
