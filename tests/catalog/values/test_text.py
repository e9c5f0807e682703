"""Text: titles, brands and descriptions, whatever their encoding went through."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from catalog.values import is_same_value, normalise, text, value_key


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (" a \n\t b ", "a b"),
        ("Caf\u0065\u0301", "Café"),
        ("ﬁt １２", "fit 12"),
        ("a\u00a0b\u202fc", "a b c"),
        ("so\u00adft \u200bhy\ufeffphen", "soft hyphen"),
        ("&amp;amp;lt;", "<"),
        ("R&D AT&T", "R&D AT&T"),
        ("a\x00b\x07c", "abc"),
        ("half \ud800 pair", "half pair"),
        ("M&ouml;bel &#8364; &#x41;", "Möbel € A"),
        (
            "Polar Bear \U0001f43b\u200d❄\ufe0f 1\ufe0f\u20e3",
            "Polar Bear \U0001f43b\u200d❄\ufe0f 1\ufe0f\u20e3",
        ),
        ("so\u200d a\ufe0f\u200db", "so ab"),
        ("NVMe&trade; 3½″ ﬁt, 4 mm²", "NVMe™ 3½″ fit, 4 mm²"),
    ],
)
def test_plain(raw: str, plain: str) -> None:
    """References, forms of characters, white space and invisible signs are settled."""
    assert text.plain(raw) == plain


def test_raised_signs_are_equal_to_what_they_stand_for() -> None:
    """They are kept as the shop has them, and compared as letters and digits."""
    for raised, flat in (
        ("NVMe™ 4 mm²", "NVMeTM 4 mm2"),
        ('3½" Pipe', '31⁄2" Pipe'),
        ("Nº 21", "No 21"),
    ):
        assert is_same_value(Attribute.TITLE, raised, flat)


def test_pictures_are_equal_with_and_without_their_joints() -> None:
    """Characters that join or colour emoji are kept; feeds have often lost them."""
    assert is_same_value(Attribute.TITLE, "Bear \U0001f43b\u200d❄\ufe0f", "Bear \U0001f43b❄")


def test_titles() -> None:
    """A title is one line of at most 500 characters, without tags."""
    assert text.normalise_title("Lamp<br/>red &lt;b&gt;new&lt;/b&gt;") == "Lamp red new"
    assert text.normalise_title("3 < 5 > 2") == "3 < 5 > 2"
    assert text.normalise_title("x" * 500) == "x" * 500
    assert [text.normalise_title(raw) for raw in ("x" * 501, "x" * 100_000, "", " \u200b ")] == [
        None
    ] * 4


@pytest.mark.parametrize("raw", ["n/a", "None", "-", "unknown", "does not apply", "", "x" * 121])
def test_no_brands(raw: str) -> None:
    """The ways to say that there is no brand are none."""
    assert text.normalise_brand(raw) is None


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("<p>One.</p><p>Two <b>bo</b>ld.</p>", "One. Two bold."),
        ("&lt;ul&gt;&lt;li&gt;a&lt;/li&gt;&lt;li&gt;b&lt;/li&gt;&lt;/ul&gt;", "a b"),
        ("a<br>b<script>alert(1)</script><style>p{}</style>", "a b"),
        ("plain, 3 < 5", "plain, 3 < 5"),
        ("<p></p>", None),
        ("<img src=x>", None),
        ("  ", None),
        ("<p>null</p>", None),
        ("N/A", None),
        ("None of our lamps flicker.", "None of our lamps flicker."),
    ],
)
def test_descriptions(raw: str, plain: str | None) -> None:
    """A description loses its markup and keeps a space between blocks."""
    assert text.normalise_description(raw) == plain


def test_hostile_descriptions() -> None:
    """Deep nesting, endless tags and absurd sizes are cut short in moderate time."""
    start = time.monotonic()
    for raw in (
        "<div>" * 100_000 + "x",
        "<" * 300_000,
        "<a " + "b=c " * 100_000 + ">x",
        "&amp;" * 100_000,
        "<!--" * 100_000,
    ):
        result = text.normalise_description(raw)
        assert result is None or len(result) <= text.MAX_DESCRIPTION_LENGTH
    assert text.normalise_description("x" * 2_000_000) is None
    assert time.monotonic() - start < 10


def test_descriptions_are_the_same_by_their_words() -> None:
    """Two descriptions are the same where four fifths of their words are, in whatever order of
    markup.
    """
    long = " ".join(f"word{n}" for n in range(100))
    assert is_same_value(
        Attribute.DESCRIPTION, long, long + " and ten more words that the shop alone has added"
    )
    assert not is_same_value(Attribute.DESCRIPTION, long, " ".join(f"word{n}" for n in range(60)))
    assert not is_same_value(Attribute.DESCRIPTION, "?", "!")
    assert value_key(Attribute.DESCRIPTION, long) == value_key(
        Attribute.DESCRIPTION, long.upper() + " more"
    )


def test_keys_fold_case_quotes_and_dashes() -> None:
    """Texts that differ in case, quotes or dashes only have one key."""
    assert value_key(Attribute.TITLE, "Men’s “Blue” T–Shirt") == value_key(
        Attribute.TITLE, 'MEN\'S "BLUE" T-SHIRT'
    )
    assert value_key(Attribute.TITLE, "A12") != value_key(Attribute.TITLE, "A12s")


@given(st.text(max_size=300))
def test_any_text_settles(raw: str) -> None:
    """A normalised text of every kind stays unchanged."""
    for attribute in (
        Attribute.TITLE,
        Attribute.BRAND,
        Attribute.CATEGORY,
        Attribute.HAN,
        Attribute.AVAILABILITY,
    ):
        result = normalise(attribute, raw)
        assert result is None or normalise(attribute, result) == result
        assert result is None or "\x00" not in result


@given(st.text(alphabet=st.sampled_from(list("ab <>/&;lgtamp!-=p\"'\n")), max_size=60))
def test_any_markup_settles(raw: str) -> None:
    """A description without markup has none to lose, however its tags were escaped."""
    result = normalise(Attribute.DESCRIPTION, raw)
    assert result is None or normalise(Attribute.DESCRIPTION, result) == result


TAGS = [
    "<p>",
    "</p>",
    "<br/>",
    "<LI>",
    "</ul>",
    "<a href=\"/a?b=c\" title='d'>",
    "</a>",
    "<b>",
    "</b>",
    "<h2 class=x>",
]
TEXTS = [
    "lamp ",
    " red",
    "5 > 3",
    "<",
    '"',
    "'",
    "&amp;",
    "&",
    '<p title="a>b">',
    "<p title='",
    "<table>",
    "<td>",
    "\n",
]
PIECES = st.sampled_from([*TAGS, *TEXTS])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_plain_tags_are_taken_off_as_a_browser_would(markup: str) -> None:
    """Without a tree where it is not needed; an unknown tag needs one, and says nothing itself."""
    assert text.normalise_description(f"{markup} <p>end") == text.normalise_description(
        f"{markup} <p>end<x-unknown></x-unknown>"
    )
