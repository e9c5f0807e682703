"""Prices: an amount with two decimals and an ISO currency, parsed from shops' texts.

price-parser does not suffice for amounts: any number is a price to it ('iPhone 12'), it joins
numbers ('Pack of 2 12.99 €' becomes 212.99, '2 x 12,99 €' becomes 2), stops at a typographic
apostrophe ('1’299.–' becomes 1) and reads '0.299' as 299. So here a number is a price where a
currency stands beside it, or where nothing but price words stands around it; `1.299` is a thousand
unless a hint or a currency of three decimals decides otherwise. Of several amounts in a text,
`price_choice` tells the price from prices per unit and old prices.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from catalog.values import text
from catalog.values.prices import currency_marks, multipliers, price_choice, split_amounts
from catalog.values.prices.price_choice import Role, Span

# Characters of a raw text and of a normalised one. Longer ones are no prices.
MAX_RAW_LENGTH = 1_000
MAX_LENGTH = 200
# Whole digits of an amount.
MAX_DIGITS = 10
# Decimals that are read before rounding. Bound against hostile input.
MAX_DECIMALS = 12

# Currencies of a thousand parts, and the separators behind which they write three decimals.
_THREE_DECIMAL_CURRENCIES = {
    "KWD": ".",
    "BHD": ".",
    "OMR": ".",
    "JOD": ".",
    "TND": ".,",
    "LYD": ".,",
}
_NUMBER = (
    r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)*|(?<![\w.,])[.,]\d{1,2}(?!\d)"
)
_CURRENCY_MARK = currency_marks.MARK_PATTERN
# A number with the currency mark before or after it.
_PRICE = re.compile(
    # No mark begins so: a cheap test before the long alternation.
    rf"(?<![^\W\d_])(?:(?![\d\s.,:;()/+%-])(?P<left>{_CURRENCY_MARK})[ :]{{0,2}}"
    rf"|(?<!\d)(?<!\d[.,]))(?P<number>{_NUMBER})(?P<percent> ?%)?"
    rf"(?:(?:[.,]?[-–—]{{1,2}})? ?(?P<right>{_CURRENCY_MARK})(?![^\W_]))?",
    re.IGNORECASE,
)
_SHORT_NAME = currency_marks.SHORT_NAME_PATTERN
_WITH_SHORT_NAME = re.compile(
    rf"(?:from )?(?:(?P<code_before>[a-z]{{3}})[ :]{{0,2}})?(?:(?P<left>{_SHORT_NAME})\.? ?)?"
    rf"(?P<number>{_NUMBER})(?: ?(?P<right>{_SHORT_NAME})\.?)?(?: ?\(?(?P<code_behind>[a-z]{{3}})\)?)?",
    re.IGNORECASE,
)
# Short names that are also words or units beside whole numbers: 20 denier.
_DOUBTFUL_NAMES = frozenset(("ден", "fr", "din"))
# Short names that are units in small letters: 5.5 km.
_CAPITAL_NAMES = frozenset(("km",))
_RANGE = re.compile(r"\s*(?:[-–—]|to|bis|à|al?|tot|hasta|until)\s*", re.IGNORECASE)
_WORD_BEHIND_NUMBER = re.compile(r"[\s)*,]*\w")
_URL_START = ("http", "//", "/")
_CENT = Decimal("0.01")
# Cents in an element of raised text, as feeds hold them: `€12<sup>50</sup>`.
_SUP_CENTS = re.compile(r"<sup[^<>]{0,100}>\s{0,9}[.,]?(\d\d)\s{0,9}</sup>", re.IGNORECASE)
_RAISED_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# `129:-`, as Swedish shops write whole amounts.
_COLON_AND_DASH = re.compile(r"(?<=\d):[-–—]")
_GROUP_SPACES = re.compile(r"[ '’]")
_DIGIT = re.compile(r"\d")
_POINT_OR_COMMA = re.compile(r"[.,]")
_PLAIN_AMOUNT = r"\d{1,3}(?:,\d{3})+\.\d\d|\d{1,3}(?:\.\d{3})+,\d\d|\d{1,6}(?:[.,]\d\d)?"
# The commonest forms in texts and in data, read without the full search.
_PLAIN_PRICE_IN_TEXT = re.compile(
    rf"([$€£₹])\s?({_PLAIN_AMOUNT})|({_PLAIN_AMOUNT})\s?([$€£₹])", re.ASCII
)
_PLAIN_NUMBER = re.compile(r"([1-9][0-9]{0,6}|0(?=\.))(\.[0-9]{1,2})?")


class _PriceMatch(NamedTuple):
    """A price in a text: its number as written, and its currency mark if it has one."""

    number: str
    mark: str | None


def normalise_price(raw: str, decimal: str | None = None) -> str | None:
    """Return the amount of the first price in the text, with two decimals; None where there is
    none.

    `decimal` holds the decimal separators, one or several, that decide how `1.299` is read.

    >>> [normalise_price(raw) for raw in ("1.299,00 €", "1'299.-", "₹ 1,29,900", "from 12 to 15", "iPhone 12", "1.250 KD")]
    ['1299.00', '1299.00', '129900.00', '12.00', None, '1.25']
    >>> normalise_price("1.299", decimal=".")
    '1.30'
    """
    # Most prices in data are plain numbers already.
    if plain := _PLAIN_NUMBER.fullmatch(raw):
        return f"{plain[1]}{plain[2] or '.':0<3}"
    if len(raw) > MAX_RAW_LENGTH:
        return None
    return _normalise(raw, decimal)


@lru_cache(maxsize=16_384)
def _normalise(raw: str, decimal: str | None) -> str | None:
    price = _find(raw)
    if price is None:
        return None
    currency = currency_marks.currency_of_mark(price.mark) if price.mark else None
    amount = _parse_amount(price.number, decimal or decimal_separators(currency))
    return None if amount is None else price_text(amount)


def old_amounts(raw: str) -> list[str]:
    """Return the normalised amounts of a text that its words call old prices.

    >>> old_amounts("statt 129,00 € nur 99,00 €"), old_amounts("99,00 €")
    (['129.00'], [])
    """
    if not raw or len(raw) > MAX_RAW_LENGTH or not _has_digit(raw):
        return []
    line = _plain_line(raw)
    if line is None:
        return []
    marked = [match for match in _matches_in(line) if _mark_of(match)]
    roles = price_choice.roles_of(line, [_span(match) for match in marked]) if marked else []
    amounts: list[str] = []
    for match, role in zip(marked, roles, strict=True):
        amount = _parse_amount(match["number"], None) if role is Role.OLD_PRICE else None
        if amount is not None:
            amounts.append(price_text(amount))
    return amounts


def find_decimal_separator(raws: Iterable[str]) -> str | None:
    """Return the decimal separator that most of the prices use; None where none shows it.

    >>> find_decimal_separator(["12,50 €", "1.299 €", "9,99"])
    ','
    """
    separators: list[str] = []
    for raw in raws:
        price = _find(raw)
        if price is None or len(price.number) <= 3:
            continue
        # Only a separator before two last digits is surely one of decimals.
        separator = price.number[-3]
        if separator in ".,":
            separators.append(separator)
    if not separators:
        return None
    return max(".,", key=separators.count)


def decimal_separators(currency: str | None) -> str | None:
    """Return the separators behind which a currency of three decimals writes them; None for all
    others.
    """
    return _THREE_DECIMAL_CURRENCIES.get(currency or "")


def find_currency(raw: str) -> str | None:
    """Return the ISO code of the currency that a price text, a sign or a code names.

    >>> [find_currency(raw) for raw in ("1.299,00 €", "US$ 12", "chf", "12.50 kr", "12")]
    ['EUR', 'USD', 'CHF', None, None]
    """
    return first_currency((raw,), None)


def first_currency(raws: Iterable[str], hint: str | None) -> str | None:
    """Return the first currency that the texts name, else the hint.

    A sign that several currencies share is read as the hinted one.
    """
    for raw in raws:
        mark = _mark_in(raw)
        if not mark:
            continue
        if hint and currency_marks.can_mean(mark, hint):
            return hint
        if code := currency_marks.currency_of_mark(mark):
            return code
    return hint


def price_text(amount: Decimal) -> str:
    """Write an amount with two decimals."""
    return str(amount.quantize(_CENT, ROUND_HALF_UP))


def price_key(value: str) -> str:
    """Comparison key: normalised prices are equal where the amounts are."""
    return value


def _find(raw: str) -> _PriceMatch | None:
    """Find the first price in the text."""
    if not raw or len(raw) > MAX_RAW_LENGTH or not _has_digit(raw) or raw.startswith(_URL_START):
        return None
    plain = _PLAIN_PRICE_IN_TEXT.fullmatch(raw)
    if plain:
        return _PriceMatch(plain[2] or plain[3], plain[1] or plain[4])
    return _search(raw)


@lru_cache(maxsize=16_384)
def _search(raw: str) -> _PriceMatch | None:
    line = _plain_line(raw)
    if line is None:
        return None
    matches = _matches_in(line)
    marked = [index for index, match in enumerate(matches) if _mark_of(match)]
    if marked:
        return _choose(line, matches, marked)
    if matches and _has_only_price_words(line, matches):
        return _PriceMatch(matches[0]["number"], None)
    return _find_with_short_name(line)


def _plain_line(raw: str) -> str | None:
    """Return the text with its amounts in plain digits; None where it is no price for sure."""
    line = text.plain(_SUP_CENTS.sub(_raise_digits, raw) if "</" in raw else raw)
    line = _COLON_AND_DASH.sub(",-", line)
    if not line.isascii():
        line = unicodedata.normalize("NFKC", split_amounts.lower_raised_digits(line))
        line = line.replace("٬", ",").replace("٫", ".")
    if len(line) > MAX_LENGTH:
        return None
    try:
        return multipliers.write_out(split_amounts.join_amounts(line))
    except multipliers.AmbiguousAmount:
        return None


def _raise_digits(match: re.Match[str]) -> str:
    return match[1].translate(_RAISED_DIGITS)


def _matches_in(line: str) -> list[re.Match[str]]:
    return [
        match
        for match in _PRICE.finditer(line)
        if not match["percent"] and not _is_negative(line, match)
    ]


def _choose(line: str, matches: list[re.Match[str]], marked: list[int]) -> _PriceMatch:
    """Choose the price among a text's numbers, of which `marked` have a currency mark."""
    index = marked[0]
    if len(marked) > 1 or sum(_has_cents(match["number"]) for match in matches) > 1:
        spans = [_span(matches[position]) for position in marked]
        choice, role = price_choice.choose(line, spans)
        index = marked[choice]
        if role is Role.UNIT_PRICE and (bare := _find_bare_price(line, matches)):
            return _PriceMatch(bare, _decide_mark(line, matches, index))
    match = matches[index]
    mark = _decide_mark(line, matches, index)
    # Of a range such as `12 - 15 €` the lower end is the price.
    if index > 0 and _is_range_end(line, matches[index - 1], match):
        return _PriceMatch(matches[index - 1]["number"], mark)
    return _PriceMatch(match["number"], mark)


def _span(match: re.Match[str]) -> Span:
    """Return the span of a number with its currency mark; a word beside it may be none."""
    left, right = match["left"], match["right"]
    has_left = left and currency_marks.is_mark(left)
    has_right = right and currency_marks.is_mark(right)
    start = match.start("left") if has_left else match.start("number")
    end = match.end("right") if has_right else match.end("number")
    return Span(start, end)


def _find_bare_price(line: str, matches: list[re.Match[str]]) -> str | None:
    """Return the number of a price without a mark, beside one per unit: `25,37 (101,48 €/kg)`."""
    for match in matches:
        is_bare = not _mark_of(match) and _has_cents(match["number"])
        if is_bare and not _WORD_BEHIND_NUMBER.match(line, match.end("number")):
            return match["number"]
    return None


def _decide_mark(line: str, matches: list[re.Match[str]], index: int) -> str:
    """Return the mark of a price, or the code beside it if several currencies share the mark."""
    match = matches[index]
    mark = _mark_of(match) or ""
    if not currency_marks.is_shared(mark):
        return mark
    mark_end = match.end("right") if mark == match["right"] else match.end("number")
    before, behind = line[: _span(match).start], line[mark_end:]
    if code := currency_marks.code_beside(mark, before, behind):
        return code
    # `$20 - $30 CAD`: the code stands behind the range.
    if index + 1 < len(matches) and _is_range(line, match, matches[index + 1]):
        behind = line[matches[index + 1].end("number") :]
        return currency_marks.code_beside(mark, before, behind) or mark
    return mark


def _find_with_short_name(line: str) -> _PriceMatch | None:
    """Find a number with a currency's short name, where the text holds nothing else but a `from`
    and the currency's code.

    A name of one letter counts only beside a number with a separator, or with the code: `R 129` may
    be a model.

    >>> _find_with_short_name("R 129.00").number, _find_with_short_name("KD 12").number
    ('129.00', '12')
    >>> _find_with_short_name("R 129"), _find_with_short_name("BD 12 drill")
    (None, None)
    """
    match = _WITH_SHORT_NAME.fullmatch(line)
    if match is None:
        return None
    name = match["left"] or match["right"]
    if name is None:
        return None
    number = match["number"]
    for code in (match["code_before"], match["code_behind"]):
        if code is not None:
            return _PriceMatch(number, code) if currency_marks.is_code(code) else None
    if name.casefold() in _CAPITAL_NAMES and not name.isupper():
        return None
    is_doubtful = len(name) == 1 or name.casefold() in _DOUBTFUL_NAMES
    if is_doubtful and number.isdigit():
        return None
    return _PriceMatch(number, name)


def _has_digit(raw: str) -> bool:
    # Digits of other scripts are looked for later, once the text is normalised.
    return any(map(raw.__contains__, "0123456789")) or not raw.isascii()


def _mark_of(match: re.Match[str]) -> str | None:
    for mark in (match["left"], match["right"]):
        if mark and currency_marks.is_mark(mark):
            return mark
    return None


def _is_negative(line: str, match: re.Match[str]) -> bool:
    before = line[: match.start()]
    # A minus behind another text is a dash.
    return before.endswith(("-", "−")) and not before[:-1].rstrip()


def _is_range(line: str, low: re.Match[str], high: re.Match[str]) -> bool:
    return _RANGE.fullmatch(line[low.end() : high.start()]) is not None


def _is_range_end(line: str, low: re.Match[str], high: re.Match[str]) -> bool:
    """Return True if a price is the upper end of a range whose lower end has no currency.

    Sizes stand before prices as well (`8 - $54.00`), so the currency must follow, and both or none
    have cents.
    """
    if high["left"] or _has_cents(low["number"]) != _has_cents(high["number"]):
        return False
    return _is_range(line, low, high)


def _has_cents(number: str) -> bool:
    return number[-3:-2] in (".", ",")


def _has_only_price_words(line: str, matches: list[re.Match[str]]) -> bool:
    """Return True if nothing but price words stands around one number, or around the two of a
    range.
    """
    if len(matches) > 2 or (len(matches) == 2 and not _is_range(line, *matches)):
        return False
    text_around = line
    # From the end, so that the positions of the matches before stay valid.
    for match in reversed(list(_PRICE.finditer(line))):
        end = max(match.end("number"), match.end("percent"))
        text_around = f"{text_around[: match.start('number')]} {text_around[end:]}"
    for word in text_around.casefold().split():
        bare = word.strip(".,:;*()-–—~+")
        if bare and bare not in split_amounts.PRICE_WORDS:
            return False
    return True


def _mark_in(raw: str) -> str | None:
    """Return the currency mark of a text: the text itself, or the mark of its price."""
    if mark := currency_marks.mark_alone(raw.strip()):
        return mark
    price = _find(raw)
    return price.mark if price else None


def _parse_amount(number: str, decimal: str | None) -> Decimal | None:
    digits = _split(_GROUP_SPACES.sub("", number), decimal)
    if digits is None or len(digits[0]) > MAX_DIGITS:
        return None
    integer_digits, fraction = digits
    return Decimal(f"{integer_digits or '0'}.{fraction[:MAX_DECIMALS] or '0'}")


def _split(number: str, decimal: str | None) -> tuple[str, str] | None:
    """Split a number into whole and fractional digits; None where its groups make no sense
    (`1.2.3`).
    """
    *groups, last = _POINT_OR_COMMA.split(number)
    if not groups:
        return last, ""
    separators = _DIGIT.sub("", number)
    if len(groups) > 1 and not _are_thousands(groups):
        return None
    # A separator that repeats cannot be the decimal one, unless the last group is no thousand.
    is_repeated = separators.count(separators[-1]) > 1
    if is_repeated and (len(last) == 3 or len(set(separators)) > 1):
        return "".join([*groups, last]), ""
    is_thousand = (
        len(groups) == 1
        and separators not in (decimal or "")
        and len(last) == 3
        and _are_thousands([*groups, last])
    )
    if is_thousand:
        return groups[0] + last, ""
    return "".join(groups), last


def _are_thousands(groups: list[str]) -> bool:
    """Return True for groups of three digits, or of two as in India, behind a shorter or equal
    first group.
    """
    first, *inner_groups = groups
    if not 0 < len(first) <= 3 or first[0] == "0":
        return False
    return all(len(group) in (2, 3) for group in inner_groups)
