"""Sample the examples to learn from, and count how many more would help.

Of more known offers than are needed, the first sixty may all be of one category, or all lack an EAN. So examples are
sampled greedily, each for the attributes, categories and brands that few of the examples before it show. Where an
attribute is known for few examples, its rules have little support; the number that would suffice is reported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from catalog.models import Attribute
from catalog.values import value_key
from parser.templates.template_match import page_fingerprint
from rules_generator.training.examples import Example
from rules_generator.training.page_clusters import cluster_pages
from rules_generator.training.training_example import TrainingExample

# Share of right values that as many examples without an error would show (rule of succession).
TARGET_SHARE = 0.9
# Attributes whose values make examples different from each other.
DIVERSE_ATTRIBUTES = (Attribute.CATEGORY, Attribute.BRAND, Attribute.AVAILABILITY)


def sample_examples(examples: Sequence[TrainingExample], limit: int) -> list[TrainingExample]:
    """Sample at most `limit` examples per template, as diverse as possible."""
    sampled = []
    for group in cluster_pages([page_fingerprint(example.document) for example in examples]):
        sampled += _most_diverse([examples[index] for index in group.members], limit)
    return sampled


def _most_diverse(members: Sequence[TrainingExample], limit: int) -> list[TrainingExample]:
    remaining = {index: tuple(_features(member.example)) for index, member in enumerate(members)}
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
    for group in cluster_pages([page_fingerprint(example.document) for example in examples]):
        values = [examples[index].example.known for index in group.members]
        for name, count in needed_by_attribute(values).items():
            lacking[name] = max(count, lacking.get(name, 0))
    ordered = [attribute.value for attribute in Attribute if attribute.value in lacking]
    return {name: lacking[name] for name in ordered}


def needed_by_attribute(examples: Iterable[Mapping[Attribute, Sequence[str]]]) -> dict[str, int]:
    """Return {attribute: examples lacking} until nine right of ten could be shown.

    >>> lamps = [{Attribute.TITLE: ["A"], Attribute.EAN: ["4006381333931"]}] * 4
    >>> needed_by_attribute(lamps + [{Attribute.TITLE: ["B"]}] * 6)
    {'ean': 5}
    """
    counts = Counter(attribute for values in examples for attribute in values)
    enough = ceil(round(TARGET_SHARE / (1 - TARGET_SHARE), 6))
    return {
        attribute.value: enough - counts[attribute]
        for attribute in Attribute
        if 0 < counts[attribute] < enough
    }
