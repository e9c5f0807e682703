"""The fuzz targets hold on the corpus and on some mutations of it; `make fuzz` tries many more."""

from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from catalog.runtime.limits.processor_time import ProcessorTimeLimit
from tests.fuzz.mutations import MAX_SIZE, draw_edit, mutate
from tests.fuzz.shrinking import shrink
from tests.fuzz.targets import Target, make_targets

# Inputs of each target; one of the learner takes a fifth of a second.
EXAMPLES = {"learner": 3, "pages": 20, "taught": 10}
DEFAULT_EXAMPLES = 60
# Seconds of processor time of one input.
MAX_SECONDS = 10
DOCUMENTS = [
    "<item><title>Mug</title></item>",
    '{"a": [1, 2]}',
    "",
    "https://shop.example/?a=1&b=2",
]


@pytest.mark.parametrize("target", list(make_targets()), ids=lambda target: target.name)
def test_target(target: Target) -> None:
    """No input raises a foreign exception, or takes longer than ten seconds."""

    @hypothesis.settings(
        max_examples=EXAMPLES.get(target.name, DEFAULT_EXAMPLES),
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs)
    def check(data: object) -> None:
        with ProcessorTimeLimit(MAX_SECONDS):
            target.run(data)

    check()


@given(st.sampled_from(DOCUMENTS), st.randoms(use_true_random=False))
def test_mutations_are_bounded(document: str, random: Random) -> None:
    """Edits never fail, whatever the document, and never make it larger than the limit."""
    edits = [draw_edit(random) for _ in range(4)]
    tokens = ["<", "&amp;", "]]>"]
    assert len(mutate(document, edits, DOCUMENTS, tokens)) <= MAX_SIZE
    encoded = [text.encode() for text in DOCUMENTS]
    changed = mutate(document.encode(), edits, encoded, [token.encode() for token in tokens])
    assert len(changed) <= MAX_SIZE


@given(st.sampled_from(DOCUMENTS))
def test_no_edits_change_nothing(document: str) -> None:
    """A document without edits stays as it is."""
    assert mutate(document, [], DOCUMENTS, ["<"]) == document


def test_inputs_are_made_smaller() -> None:
    """A failing input is reduced to the parts that make it fail."""
    data = ("some text with a { brace", [b"bytes", b"more bytes"], 7)

    def fails(candidate: object) -> bool:
        text, parts, _ = candidate  # type: ignore[misc]
        return "{" in text and len(parts) == 2

    assert shrink(data, fails, 5.0) == ("{", [b"", b""], 7)
