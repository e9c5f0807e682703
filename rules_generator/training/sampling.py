"""Which of many examples to learn from, and of which more would help.

Given more known offers than are needed, the first sixty may all be of one category, or all lack an EAN. So examples
are picked one by one, each for what it shows that few of those picked before it show: an attribute, a category, a
brand. Where an attribute is known of few examples, its rules rest on little; how many more would do is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from catalog.models import Attribute
from catalog.values import key
from parser.templates.template_match import marks_of
from rules_generator.training import page_clusters
from rules_generator.training.examples import Example
from rules_generator.training.training_example import Taught

SURE = 0.9
TELLING = (Attribute.CATEGORY, Attribute.BRAND, Attribute.AVAILABILITY)


def pick(taught: Sequence[Taught], most: int) -> list[Taught]:
    """At most so many examples per template, those that show most kinds of things."""
    groups = page_clusters.cluster([marks_of(one.document) for one in taught])
    return [
        one
        for group in groups
        for one in _various([taught[place] for place in group.members], most)
    ]


def _various(members: Sequence[Taught], most: int) -> list[Taught]:
    left = {place: tuple(_shows(one.example)) for place, one in enumerate(members)}
    seen: Counter[str] = Counter()
    chosen: list[Taught] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda place: sum(1 / (1 + seen[thing]) for thing in left[place]))
        seen.update(left.pop(best))
        chosen.append(members[best])
    return chosen


def _shows(example: Example) -> Iterator[str]:
    """What an example shows that others may not: its attributes, its category, its brand."""
    yield from (attribute.value for attribute in example.known)
    for attribute in TELLING:
        if example.known.get(attribute):
            yield f"{attribute.value}: {key(attribute, example.known[attribute][0])}"


def wanted_of(taught: Sequence[Taught]) -> dict[str, int]:
    """How many more examples would make sure of which attribute on the template that shows fewest of it.

    A template needs examples of its own: sixty of another say nothing of it.
    """
    groups = page_clusters.cluster([marks_of(one.document) for one in taught])
    most: dict[str, int] = {}
    for group in groups:
        for name, more in wanted(taught[place].example.known for place in group.members).items():
            most[name] = max(more, most.get(name, 0))
    return {name: most[name] for attribute in Attribute if (name := attribute.value) in most}


def wanted(examples: Iterable[Mapping[Attribute, Sequence[str]]]) -> dict[str, int]:
    """How many more examples would make sure of which attribute: so many that none wrong would mean nine in ten right.

    >>> wanted([{Attribute.TITLE: ["A"], Attribute.EAN: ["4006381333931"]}] * 4 + [{Attribute.TITLE: ["B"]}] * 6)
    {'ean': 5}
    """
    counts = Counter(attribute for known in examples for attribute in known)
    enough = ceil(round(SURE / (1 - SURE), 6))
    return {
        attribute.value: enough - counts[attribute]
        for attribute in Attribute
        if 0 < counts[attribute] < enough
    }
