"""Unit normalisation: text that only looks like a quantity."""

import pytest

from matcher.records.text import tokenize
from matcher.records.units import extract_quantities, normalise_quantities


@pytest.mark.parametrize("text", ["5 in 1 tool", "a12s", "wh-1000xm4", "v60", "no 5"])
def test_text_without_a_quantity_stays(text: str) -> None:
    """Text that only looks like a quantity is left as it is."""
    assert normalise_quantities(text) == text


SAME = [
    ("rug 60 x 40 cm", "rug 60x40 cm"),
    ("rug 60cm x 40cm", "rug 60x40 cm"),
    ("rug 60 × 40 cm", "rug 60x40 cm"),
    ("box 60 x 80 x 40 cm", "box 60x80x40cm"),
    ("screw 3,5 x 40 mm", "screw 3.5x40 mm"),
    ("screen 1920 x 1080", "screen 1920x1080"),
    ("wine 6x0,75 l", "wine 6 x 0.75 l"),
    ("cable 2x5 m", "cable 2 x 5 m"),
    ("oil 0,750 l", "oil 750 ml"),
    ("oil 1,500 ml", "oil 1.5 l"),
    ("tablets 0.25 mg", "tablets 0,25mg"),
]


@pytest.mark.parametrize(("text", "other"), SAME)
def test_spaces_and_marks_of_amounts(text: str, other: str) -> None:
    """Dimensions, packs and decimals are the same however a shop sets spaces, commas and units."""
    assert normalise_quantities(text) == normalise_quantities(other)


AMBIGUOUS = ["flour 1.500 g", "flour 12.500kg", "tank 1.500 l", "beam 1.250 mm", "disk 1.024-gb"]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_a_point_before_three_digits_gives_no_amount(text: str) -> None:
    """Thousands or decimals: an amount that may be either is left unread rather than wrong."""
    assert normalise_quantities(text) == text
    assert extract_quantities(tokenize(text)) == {}


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("rug 60 x 40 cm", "rug 60x40 cm"),
        ("wine 6x0,75 l", "wine 6pcs 750ml"),
        ("cable 2x5 m", "cable 2pcs 5000mm"),
        ("4x4 car", "4x4 car"),
        ("2 x 100", "2pcs 100"),
        ("12 x tea", "12pcs tea"),
        ("60 mm x 40 cm", "60mm x 400mm"),
        ("tablets 0.25 mg", "tablets 0.00025g"),
        ("tablets 1.6 mg", "tablets 0.0016g"),
        ("flour 0.500 kg", "flour 500g"),
        ("flour 1.50 kg", "flour 1500g"),
        ("flour 1,500 g", "flour 1500g"),
        ("pipe 5.125 inch", "pipe 5.125inch"),
        ("flour 6 x 1.500 kg", "flour 6pcs 1.500 kg"),
    ],
)
def test_dimensions_are_no_packs(text: str, normalised: str) -> None:
    """`60 x 40 cm` are no sixty pieces, `6x0,75 l` are six; small doses keep their digits."""
    assert normalise_quantities(text) == normalised
