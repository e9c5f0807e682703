"""Unit normalisation: text that only looks like a quantity."""

import pytest

from matcher.records.units import normalise_quantities


@pytest.mark.parametrize("text", ["5 in 1 tool", "a12s", "wh-1000xm4", "v60", "no 5"])
def test_text_without_a_quantity_stays(text: str) -> None:
    """Text that only looks like a quantity is left as it is."""
    assert normalise_quantities(text) == text
