"""Amounts whose parts stand apart: cents behind the sign (`12 €50`), raised (`12⁵⁰ €`) or in an
element of their own (`12 ,99 €`), and price words without a space (`ab493,95 €`).
"""

import re

from catalog.values import text
from catalog.values.prices import currency_marks, price_choice

# Words that may stand around a number that is a price without a currency.
_PRICE_WORD_LIST = """
price preis prix precio prezzo prijs pris cena from ab von dès a partir de desde da vanaf to bis à al tot hasta
only nur now jetzt was statt war sale our your unser ihr incl inkl including tax taxes mwst ust vat tva iva btw
ttc ht hors excl exkl excluding zzgl versand plus shipping uvp rrp msrp regular special normal unit each stück
fra från kun nu nå normalpris tilbud endast ordinarie alkaen hinta od do tylko brutto netto dph preço por ahora ora
solo seulement total gesamt angebot aktionspreis einzelpreis verkaufspreis sonderpreis original current list
"""
PRICE_WORDS = frozenset(_PRICE_WORD_LIST.split())
_GROUPED = r"(?:\d{1,3}(?:[ .'’]\d{3})+|\d+)"
_SIGN = currency_marks.SIGN_PATTERN
# `1 299€95`: the euro sign stands at the decimal point.
_EURO_AS_POINT = re.compile(rf"(?<![\d.,])({_GROUPED})€(\d\d)(?![\d.,])")
# Signs that stand behind the amount, or between it and its cents.
_SIGNS_BEHIND = """
€ eur euro euros zł pln kč czk kr kr. sek nok dkk lei ron лв лв. bgn руб руб. ₽ rub грн грн. uah ₴ ft fr fr. chf sfr.
дин дин. din din. tl ₺ ₪
"""
_SIGN_BEHIND = text.alternation(_SIGNS_BEHIND.split())
# Names of the hundredth part, with which cents are surely cents.
_CENT_NAMES = """
c ct cts cent cents centime centimes centesimi céntimos cêntimos gr groszy коп коп. копеек копійок bani haléřů hal öre øre
ст ст. стотинки rp rp. rappen lipa kuruş krş
"""
_CENT_NAME = text.alternation(_CENT_NAMES.split())
# `12 €50`, `12 € 50`, `12 € et 50 centimes`: the cents stand behind the sign.
_NUMBER_BEHIND_LETTER_OR_SIGN = re.compile(r"\d ?[^\s\d,()/%:+-][^\d]{0,12}\d\d(?!\d)")
_CENTS_BEHIND_SIGN = re.compile(
    rf"(?<![\w.,])(?P<whole>{_GROUPED}) ?(?P<sign>{_SIGN_BEHIND})"
    rf"(?:[ .,]{{0,2}}(?:et |und |and |e |y |en |i |и |și |a )?)(?P<cents>\d\d)"
    rf"(?:(?P<cent_name> ?(?:{_CENT_NAME}))(?![^\W_])|(?!\w|[.,]\d| ?%| ?{_SIGN}(?![^\W_])))",
    re.IGNORECASE,
)
# `12$50`, `12 £ 50`: a whole text, since these signs stand before a number. `8 $54` is a size with
# a price.
_CENTS_BEHIND_DOLLAR = re.compile(rf"^({_GROUPED})(?:(?P<glued>[$£]) ?| (?P<apart>[$£]) )(\d\d)$")
_WORDS_BEHIND_CENTS = frozenset(
    """
    incl inkl including tax taxes mwst ust vat tva iva btw ttc ht hors excl exkl excluding zzgl statt was dph le la l je
    pro per par brutto netto au
    """.split()
)
_WORD_BEFORE = re.compile(r"(?<!\w)(\w+)[\s:.(*]*$")
_WORD_BEHIND = re.compile(r"[\s)*,]*(\w+)")
# Cents as small raised digits: `12⁵⁰ €`, `12 €⁵⁰`.
_RAISED = "[⁰¹²³⁴-⁹]"
_RAISED_CENTS = re.compile(
    rf"(?<![\d.,])(\d{{1,3}}(?:,\d{{3}})+|{_GROUPED}) ?({_SIGN}?)[ .,]?({_RAISED}{{2}})",
    re.IGNORECASE,
)
# A raised digit anywhere else is the number of a footnote, or the power of a unit.
_FOOTNOTE = re.compile(rf"(?<![m.,])(?<!{_RAISED}){_RAISED}+")
# `12,50* €`: a mark of a footnote between the amount and its sign.
_FOOTNOTE_MARK = re.compile(rf"(?<=\d)[*†‡]{{1,3}}(?= ?{_SIGN})", re.IGNORECASE)
_HAS_RAISED = re.compile(_RAISED)
_POWER = re.compile("(?<=m)[²³]")
# `12'50 €`: an apostrophe as the decimal sign.
_APOSTROPHE_AS_POINT = re.compile(rf"(?<![\w.,'’])(\d+)['’](\d\d)(?= ?{_SIGN})", re.IGNORECASE)
# `12 ,99`: cents in an element of their own.
_SPACED_CENTS = re.compile(rf"(?<![\d.,])({_GROUPED}) [.,] ?(\d\d)(?![\d.,])")
# `$12 99`: a whole text that is one price, its point left out.
_PRICE_IN_TWO_PARTS = re.compile(
    rf"^(?=\D|.*\D$)({_SIGN}? ?{_GROUPED})[.,]? (\d\d)(?= ?{_SIGN}?$)", re.IGNORECASE
)
# `ab493,95 €`: a price word without a space.
_GLUED_WORD = re.compile(
    rf"(?<![^\W_])([^\W\d_]+)(?={_GROUPED}(?:[.,]\d\d)? ?{_SIGN})", re.IGNORECASE
)
_LETTER_BEFORE_DIGIT = re.compile(r"[^\W\d_]\d")


def lower_raised_digits(line: str) -> str:
    """Write raised cents as decimals, and drop the numbers of footnotes.

    >>> lower_raised_digits("12⁵⁰ €"), lower_raised_digits("12 €⁵⁰"), lower_raised_digits("12,99 €²")
    ('12.⁵⁰ €', '€ 12.⁵⁰', '12,99 €')
    """
    if not _HAS_RAISED.search(line):
        return line
    line = _RAISED_CENTS.sub(_join_raised, line)
    line = _POWER.sub(lambda match: f"{match[0]} ", line)
    return " ".join(_FOOTNOTE.sub(" ", line).split())


def _join_raised(match: re.Match[str]) -> str:
    integer_digits, sign, cents = match.groups()
    return f"{sign} {integer_digits}.{cents}" if sign else f"{integer_digits}.{cents}"


def join_amounts(line: str) -> str:
    """Join the parts of each amount, and set it apart from words: cents are often elements of their
    own.

    >>> [join_amounts(line) for line in ("1 299€95", "12 ,99 €", "$12 99", "ab493,95 €", "2 for 99 €", "12 € 50")]
    ['€ 1 299.95', '12.99 €', '$12.99', 'ab 493,95 €', '2 for 99 €', '€ 12.50 ']
    """
    if "€" in line:
        line = _EURO_AS_POINT.sub(r"€ \1.\2", line)
    line = _SPACED_CENTS.sub(r"\1.\2", line)
    line = _PRICE_IN_TWO_PARTS.sub(r"\1.\2", line)
    if _NUMBER_BEHIND_LETTER_OR_SIGN.search(line):
        line = _CENTS_BEHIND_SIGN.sub(_join_cents, line)
        line = _CENTS_BEHIND_DOLLAR.sub(_join_dollars, line)
    if "*" in line or "†" in line:
        line = _FOOTNOTE_MARK.sub("", line)
    if "'" in line or "’" in line:
        line = _APOSTROPHE_AS_POINT.sub(r"\1.\2", line)
    if not _LETTER_BEFORE_DIGIT.search(line):
        return line
    return _GLUED_WORD.sub(_separate_price_word, price_choice.separate_units(line))


def _separate_price_word(match: re.Match[str]) -> str:
    word = match[1]
    return f"{word} " if word.casefold() in PRICE_WORDS else word


def _join_dollars(match: re.Match[str]) -> str:
    integer_digits, glued, apart, cents = match.groups()
    return f"{glued or apart}{integer_digits}.{cents}"


def _join_cents(match: re.Match[str]) -> str:
    """Join an amount with the cents behind its sign, unless words beside it make them two numbers:
    `Size 38 €50`.
    """
    joined = f"{match['sign']} {match['whole']}.{match['cents']} "
    if match["cent_name"]:
        return joined
    before = _WORD_BEFORE.search(match.string[: match.start()])
    behind = _WORD_BEHIND.match(match.string, match.end())
    if before and before[1].casefold() not in PRICE_WORDS:
        return match[0]
    if behind and behind[1].casefold() not in _WORDS_BEHIND_CENTS:
        return match[0]
    return joined
