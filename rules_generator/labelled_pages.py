"""The library's entry point: learn rules from pages with known values, without a store."""

from collections.abc import Iterable, Mapping, Sequence

from catalog.errors import LearnError, UsageError
from catalog.models import Attribute
from catalog.values import normalise
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.rules.model import RuleSet
from rules_generator.config import DEFAULT_CONFIG, LearnerConfig
from rules_generator.induction.inducer import induce
from rules_generator.training.examples import TrainingExample

Html = str | bytes
KnownValues = Mapping[str, str | Sequence[str]]


def learn_rules(
    examples: Iterable[tuple[str, Html, KnownValues]],
    background: Iterable[tuple[str, Html]] = (),
    *,
    threshold: float | None = None,
    currency: str | None = None,
    config: LearnerConfig = DEFAULT_CONFIG,
) -> RuleSet:
    """Learn the rules of a shop from pages with known values.

    Each example is a URL, the page's HTML, and its values by attribute name (`title`, `price`,
    ...); an attribute may have several accepted values. `background` are further pages of the shop,
    by which offer pages are told from others. `threshold` is the least score of a rule (0 to 1),
    `currency` the one of prices that name none.

    Raises UsageError for an unknown attribute or a value that none can be, LearnError if the
    examples give no rule, and HostilePage for a page that is too large or too deep.
    """
    training_examples = []
    for url, html, known in examples:
        page = CrawledPage(page_id=0, url=url, canonical=None, body="")
        document = Document(html, url)
        example = TrainingExample(page, _canonical_values(url, known), document=document)
        training_examples.append(example)
    other_pages = [Document(html, url) for url, html in background]
    rules, _ = induce(
        training_examples, other_pages, threshold=threshold, currency=currency, config=config
    )
    if not any(template.rules for template in rules.templates):
        raise LearnError("the known values stand at no common place of the example pages")
    return rules


def _canonical_values(url: str, known: KnownValues) -> dict[Attribute, list[str]]:
    canonical: dict[Attribute, list[str]] = {}
    for name, given in known.items():
        if name not in list(Attribute):
            names = ", ".join(Attribute)
            raise UsageError(f"{url}: no attribute is called {name!r}; there are {names}")
        attribute = Attribute(name)
        for text in [given] if isinstance(given, str) else given:
            value = normalise(attribute, text)
            if value is None:
                raise UsageError(f"{url}: {text!r} is no {name}")
            canonical.setdefault(attribute, []).append(value)
    return canonical
