"""Combining marks: diacritics and optional points go, marks that make another letter stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.records.marks import MAX_MARK_RUN, cap_marks
from matcher.records.text import fold

# Two spellings of one word, by the reason why they are one.
SAME = [
    ("Latin diacritic", "Thé glacé", "The glace"),
    ("Latin, several marks", "Bàn ghế gỗ", "Ban ghe go"),
    ("Latin, decomposed", "Kafe\u0301", "Kafé"),
    ("Latin, ring and caron", "Ångström Šňůra", "angstrom snura"),
    ("Turkish capital", "İZMİR", "izmir"),
    ("Greek accent and breathing", "Ἄρτος ψωμί", "αρτοσ ψωμι"),
    ("Greek final sigma", "ΛΑΜΠΕΣ", "λάμπες"),
    ("Russian yo", "Чёрный щётка", "черный щетка"),
    ("Cyrillic stress", "ко\u0301фе с молоко\u0301м", "кофе с молоком"),
    ("Cyrillic grave", "Ѝ ѐ", "и е"),
    ("Cyrillic, decomposed", "чаи\u0306", "чай"),
    ("half-width kana", "ﾃﾞｽｸ ﾗﾝﾌﾟ", "デスク ランプ"),
    ("kana and spacing voicing mark", "カ゛ラス ハ゜ン", "ガラス パン"),
    ("kana, decomposed", "か\u3099くせい", "がくせい"),
    ("Hebrew points", "סֵפֶר", "ספר"),
    ("Hebrew presentation form", "\ufb2aל", "של"),
    ("Arabic points", "كِتَابٌ", "كتاب"),
    ("Arabic doubling", "سُكَّر", "سكر"),
    ("Arabic hamza on alef", "أرز إبريق آلة", "ارز ابريق الة"),
    ("Arabic stretching", "قـــهوة", "قهوة"),
    ("Arabic presentation forms", "\ufee3\ufe8e\ufe80", "ماء"),
    ("Thai am, tone mark typed last", "ถ\u0e49\u0e33", "ถ\u0e4d\u0e49\u0e32"),
    ("Devanagari nukta, composed", "\u095bेवर", "ज\u093cेवर"),
    ("Korean, decomposed", "\u1100\u1161\u11ab", "간"),
    ("enclosing mark on a digit", "2\u20e3 Stück", "2 stuck"),
    ("variation selector", "♥\ufe0f rot", "♥ rot"),
    ("ideographic variation", "葛\U000e0100", "葛"),
    ("joiners", "می\u200cخواهم", "میخواهم"),
    ("direction marks", "\u2067abc\u2069", "abc"),
]
# Two words that differ by a mark only, by the script.
DIFFERENT = [
    ("Japanese voicing", "ハト", "バト"),
    ("Japanese half voicing", "バン", "パン"),
    ("Japanese hiragana", "かき", "かぎ"),
    ("Japanese half-width", "ﾊﾟﾝ", "ﾊﾝ"),
    ("Japanese vu", "ウ", "ヴ"),
    ("Russian short i", "герой", "герои"),
    ("Ukrainian yi", "її", "іі"),
    ("Belarusian short u", "ў", "у"),
    ("Macedonian", "ќе ѓон", "ке гон"),
    ("Tajik", "моҳӣ", "моҳи"),
    ("Chuvash", "ӑ ӗ", "а е"),
    ("Mongolian", "ай", "аи"),
    ("Thai tone", "ไม้", "ไม"),
    ("Thai vowel", "กิน", "กัน"),
    ("Thai am", "นำ", "นา"),
    ("Lao", "ມື້", "ມື"),
    ("Khmer", "កុំ", "កុ"),
    ("Burmese", "မှာ", "မာ"),
    ("Hindi vowel", "पीला", "पीली"),
    ("Hindi virama", "सत्य", "सतय"),
    ("Hindi nasal", "हंस", "हस"),
    ("Hindi nukta", "सड़क", "सडक"),
    ("Bengali", "বই", "বি"),
    ("Tamil", "பால்", "பால"),
    ("Telugu", "పాలు", "పాల"),
    ("Malayalam", "പാൽ", "പാലു"),
    ("Sinhala", "කිරි", "කර"),
    ("Gujarati", "દૂધ", "દધ"),
    ("Tibetan", "བོད", "བད"),
    ("Arabic hamza on waw", "مؤمن", "مومن"),
    ("Arabic hamza on ya", "مئة", "مية"),
    ("Korean vowel", "각", "걱"),
    ("Thaana", "ދިވެހި", "ދވހ"),
]


@pytest.mark.parametrize(("first", "second"), [c[1:] for c in SAME], ids=[c[0] for c in SAME])
def test_diacritics_and_optional_points_are_folded(first: str, second: str) -> None:
    """Two spellings of a word that differ by optional marks fold to one text."""
    assert fold(first) == fold(second)


@pytest.mark.parametrize(
    ("first", "second"), [c[1:] for c in DIFFERENT], ids=[c[0] for c in DIFFERENT]
)
def test_marks_that_make_another_letter_are_kept(first: str, second: str) -> None:
    """Two words that differ by a letter's mark fold to two texts."""
    assert fold(first) != fold(second)


@given(
    st.text(alphabet="aеиαかハกाאاـ \u0300\u0301\u0308\u0306\u3099\u0e4d\u0e49\u0e33\u064b\u0654")
)
def test_folding_is_idempotent(text: str) -> None:
    """A folded text of any letters and marks folds to itself."""
    assert fold(fold(text)) == fold(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    ["a\u0301\u0323", "ا\u064b\u0653", "ー\u0655\u0653", "\u0640\u0655\u0653", "\uff9e\u0323"],
)
def test_long_runs_of_marks_take_linear_time(text: str) -> None:
    """A hundred thousand marks on one letter are cut before they are put in canonical order."""
    assert len(fold(text[0] + text[1:] * 100_000, 1 << 30)) <= 100_000
    assert len(cap_marks("a" + "\u0301" * 1000)) == 1 + MAX_MARK_RUN
