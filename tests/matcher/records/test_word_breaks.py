"""Words of any script: the Unicode word boundaries, and the tailorings of this project."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.records.text import fold, tokenize
from matcher.records.word_breaks import separate_words, split_words

CASES = [
    ("English", "Red_mug, A4-size", ["red_mug", "a4", "size"]),
    ("apostrophe", "men's", ["men", "s"]),
    ("German", "Größe 5", ["grösse", "5"]),
    ("superscript", "20m²", ["20m²"]),
    ("Russian", "Стол мой", ["стол", "мой"]),
    ("Cyrillic stress", "ко\u0301фе", ["ко\u0301фе"]),
    ("Hindi", "हिन्दी किताब", ["हिन्दी", "किताब"]),
    ("Bengali", "বাংলা বই", ["বাংলা", "বই"]),
    ("Tamil", "தமிழ் நூல்", ["தமிழ்", "நூல்"]),
    ("Telugu", "తెలుగు", ["తెలుగు"]),
    ("Kannada", "ಕನ್ನಡ", ["ಕನ್ನಡ"]),
    ("Malayalam", "മലയാളം", ["മലയാളം"]),
    ("Gujarati", "ગુજરાતી", ["ગુજરાતી"]),
    ("Punjabi", "ਪੰਜਾਬੀ", ["ਪੰਜਾਬੀ"]),
    ("Sinhala", "සිංහල", ["සිංහල"]),
    ("Hebrew points", "סֵפֶר טוב", ["סֵפֶר", "טוב"]),
    ("Arabic points", "كِتَاب جديد", ["كِتَاب", "جديد"]),
    ("Persian joiner", "می\u200cخواهم", ["میخواهم"]),
    ("Korean", "빨간 머그컵", ["빨간", "머그컵"]),
    ("Chinese", "红色杯子", ["红", "色", "杯", "子"]),
    ("Japanese", "赤いカップ", ["赤", "い", "カップ"]),
    ("Japanese long vowel", "タワーABC", ["タワー", "abc"]),
    ("Chinese and a number", "杯子500ml", ["杯", "子", "500ml"]),
    ("Thai", "เสื้อ สีขาว", ["เสื้อ", "สีขาว"]),
    ("Thai and a number", "น้ำ500ml", ["น้ำ", "500ml"]),
    ("Lao", "ເສື້ອ", ["ເສື້ອ"]),
    ("Khmer", "ខ្មែរ", ["ខ្មែរ"]),
    ("Burmese", "မြန်မာ", ["မြန်မာ"]),
    ("emoji", "❤\ufe0f mug", ["mug"]),
    ("soft hyphen", "Lam\u00adpe", ["lampe"]),
]


@pytest.mark.parametrize(("text", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_words(text: str, words: list[str]) -> None:
    """Words keep their vowel signs, and scripts without spaces are split by UAX 29."""
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("नीला मग 1,5 l", ("नीला", "मग", "1500ml")),
        ("杯1.5l", ("杯", "1500ml")),
        ("แก้วน้ำ 0.5 kg", ("แก้วน\u0e49\u0e4d\u0e32", "500g")),
        ("ガラスのコップ", ("ガラス", "の", "コップ")),
    ],
)
def test_tokens_of_titles(text: str, tokens: tuple[str, ...]) -> None:
    """Titles of any script are cut into words, with their quantities in one form."""
    assert tokenize(fold(text)) == tokens


@given(st.text(alphabet="aB1_ -.,'é"))
def test_scripts_with_spaces_are_split_as_by_python(text: str) -> None:
    """In Latin text words are those of Python's own pattern."""
    assert split_words(text) == re.findall(r"\w+", text.casefold())


@given(st.text())
def test_separating_words_only_adds_spaces(text: str) -> None:
    """Separated words are the same text but for spaces, and are not separated again."""
    separated = separate_words(text)
    assert separated.replace(" ", "") == text.replace(" ", "")
    assert separate_words(separated) == separated
