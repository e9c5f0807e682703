"""Sample the examples to learn from, and count how many more would help.

Of more known offers than are needed, the first sixty may all be of one category, or all lack an
EAN. So examples are sampled greedily, each for the attributes, categories and brands that few of
the examples before it show. Where an attribute is known for few examples, its rules have little
support; the number that would suffice is reported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from catalog.models import Attribute
from catalog.values import value_key
from parser.templates.template_match import page_fingerprint
from rules_generator.training.examples import Example, TrainingExample
from rules_generator.training.page_clusters import cluster_pages

T = TypeVar("T")

# Examples of an attribute that suffice: nine right of nine show that nine of ten are (rule of
# succession).
ENOUGH_EXAMPLES = 9
# Attributes whose values make examples different from each other.
DIVERSE_ATTRIBUTES = (Attribute.CATEGORY, Attribute.BRAND, Attribute.AVAILABILITY)


def spread_evenly(items: Sequence[T], size: int) -> Sequence[T]:
    """Return at most `size` items, spread over all.

    >>> spread_evenly([0, 1, 2, 3, 4, 5], 3)
    [0, 2, 4]
    """
    return items[:: max(1, len(items) // size)][:size]


def sample_examples(examples: Sequence[TrainingExample], limit: int) -> list[TrainingExample]:
    """Sample at most `limit` examples per template, as diverse as possible."""
    sampled = []
    for members in _by_template(examples):
        sampled += _most_diverse(members, limit)
    return sampled


def _most_diverse(members: Sequence[TrainingExample], limit: int) -> list[TrainingExample]:
    remaining = {index: tuple(_features(member)) for index, member in enumerate(members)}
    seen: Counter[str] = Counter()

    def novelty(index: int) -> float:
        return sum(1 / (1 + seen[feature]) for feature in remaining[index])

    chosen: list[TrainingExample] = []
    while remaining and len(chosen) < limit:
        best = max(remaining, key=novelty)
        seen.update(remaining.pop(best))
        chosen.append(members[best])
    return chosen


def _features(example: Example) -> Iterator[str]:
    """Yield the attributes of an example, its category, brand and availability."""
    for attribute in example.known:
        yield attribute.value
    for attribute in DIVERSE_ATTRIBUTES:
        if example.known.get(attribute):
            yield f"{attribute.value}: {value_key(attribute, example.known[attribute][0])}"


def examples_needed(examples: Sequence[TrainingExample]) -> dict[str, int]:
    """Return {attribute: examples lacking} for the template that has fewest examples of it.

    A template needs examples of its own: sixty of another do not support its rules.
    """
    lacking: dict[str, int] = {}
    for members in _by_template(examples):
        for name, count in needed_by_attribute(member.known for member in members).items():
            lacking[name] = max(count, lacking.get(name, 0))
    order = list(Attribute)
    return dict(sorted(lacking.items(), key=lambda pair: order.index(Attribute(pair[0]))))


def _by_template(examples: Sequence[TrainingExample]) -> Iterator[list[TrainingExample]]:
    for cluster in cluster_pages([page_fingerprint(example.document) for example in examples]):
        yield [examples[index] for index in cluster.members]


def needed_by_attribute(examples: Iterable[Mapping[Attribute, Sequence[str]]]) -> dict[str, int]:
    """Return {attribute: examples lacking} until nine right of ten could be shown.

    >>> lamps = [{Attribute.TITLE: ["A"], Attribute.EAN: ["4006381333931"]}] * 4
    >>> needed_by_attribute(lamps + [{Attribute.TITLE: ["B"]}] * 6)
    {'ean': 5}
    """
    counts = Counter[Attribute]()
    for values in examples:
        counts.update(values.keys())
    lacking = {}
    for attribute in Attribute:
        if 0 < counts[attribute] < ENOUGH_EXAMPLES:
            lacking[attribute.value] = ENOUGH_EXAMPLES - counts[attribute]
    return lacking
