"""Trims: they cut off the text around a value, or yield nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.rules.trim import Trim

SEEN = [
    (Trim(), "  value ", "value"),
    (Trim(left="EAN: "), "EAN: 4006381333931", "4006381333931"),
    (Trim(left=5), "EAN: 4006381333931", "4006381333931"),
    (Trim(right=" | Shop"), "Lamp 12 | Shop", "Lamp 12"),
    (Trim(left="(", right=")", inside=True), "Lamp (SK-1) new", "SK-1"),
    (Trim(left="Nr. ", inside=True), "Art. Nr. SK-1", "SK-1"),
    (Trim(left="cat-", right=" ", inside=True), "product cat-lamps", "lamps"),
    (Trim(left="/", right="/", last=True), "/shop/lamps/desk/", "desk"),
    (Trim(left=" - ", last=True), "Lamp - red - Ardwen", "Ardwen"),
    (Trim(right=" - ", last=True), "Lamp - red - Ardwen", "Lamp - red"),
    (Trim(left="No ", shape="[A-Z]-[0-9]{2}"), "No A-12, from B-3", "A-12"),
    (Trim(words=("Lamps", "Desk Lamps", "Rugs")), "/c/desk-lamps/rugs", "Desk Lamps"),
    (Trim(words=("Lamp",)), "back to LAMPS", "Lamp"),
    (Trim(words=("Lamp", "Rug")), "Lamp on a rug, and further lamps", "Lamp"),
    (Trim(left="Back to ", words=("Rug",)), "Back to Lamps and rugs", "Rug"),
]
NOTHING = [
    (Trim(left="EAN: "), "GTIN 4006381333931"),
    (Trim(left=5), "EAN"),
    (Trim(left=2, right=2), "abcd"),
    (Trim(left="a", right="a"), "a"),
    (Trim(left="(", right=")", inside=True), "Lamp (SK-1"),
    (Trim(left="/", right="/", last=True), "lamps/"),
    (Trim(shape="[0-9]{4}"), "1234 or 5678"),
    (Trim(shape="[0-9]{4}"), "12345"),
    (Trim(words=("Lamp",)), "Lampshade"),
]


@pytest.mark.parametrize(("trim", "text", "value"), SEEN)
def test_a_trim_that_fits_leaves_the_value(trim: Trim, text: str, value: str) -> None:
    """Affixes, delimiters, counts, shapes and words leave the value."""
    assert trim.apply(text) == value


@pytest.mark.parametrize(("trim", "text"), NOTHING)
def test_a_trim_that_does_not_fit_yields_nothing(trim: Trim, text: str) -> None:
    """No value rather than a wrong one."""
    assert trim.apply(text) is None


@given(
    left=st.text(max_size=10), value=st.text(min_size=1, max_size=30), right=st.text(max_size=10)
)
def test_literal_affixes_are_removed(left: str, value: str, right: str) -> None:
    """Whatever affixes a value has, their trim gives the value back."""
    expected = value.strip() or None
    assert Trim(left=left or 0, right=right or 0).apply(left + value + right) == expected


@given(
    left=st.one_of(st.integers(0, 5), st.text(max_size=3)),
    right=st.one_of(st.integers(0, 5), st.text(max_size=3)),
    inside=st.booleans(),
    last=st.booleans(),
    shape=st.sampled_from(["", "[a-z]+", r"\d{1,3}"]),
    text=st.text(max_size=40),
)
def test_a_trimmed_text_is_part_of_the_text(
    left: str | int, right: str | int, inside: bool, last: bool, shape: str, text: str
) -> None:
    """A trimmed text is never empty."""
    value = Trim(left=left, right=right, inside=inside, last=last, shape=shape).apply(text)
    assert value is None or (value and value in text)


def test_a_trim_is_shown_in_words() -> None:
    """A trim that cuts nothing shows nothing."""
    assert str(Trim()) == ""
    assert str(Trim(left="EAN: ")) == "cut 'EAN: ' and 0"
    assert (
        str(Trim(left="/", last=True, words=("A", "B")))
        == "between last '/' and 0, then one of A, B"
    )


@pytest.mark.parametrize("shape", ["[0-9", "(?i)[a-z]", "a)(b", "(?P<value>a)"])
def test_an_invalid_shape_is_refused(shape: str) -> None:
    """It must be valid by itself, and as part of a larger expression."""
    with pytest.raises(ValueError, match="regular expression"):
        Trim(shape=shape)
