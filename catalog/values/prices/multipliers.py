"""Multipliers behind a number, written out: `₹1.5 lakh` is read as `₹150000`.

A multiplier counts only beside a currency mark. Where it is ambiguous, there is no amount: `mil` is
a thousand in Spanish and a million in Czech; `1.250 million` may have a point or a comma of
thousands.
"""

import re
from decimal import Decimal
from functools import cache, lru_cache

from catalog.values.prices import currency_marks
from catalog.values.prices.price_words import MULTIPLIERS, MULTIPLIERS_OF_CURRENCY, words_pattern

# Factors of letters that stand directly at the number or at the sign: `1.2k`, `3 M€`, `5 TEUR`.
_FACTOR_OF_LETTER = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000, "t": 1_000}
# In Indonesian `M` is a thousand million.
_CURRENCIES_OF_ANOTHER_M = frozenset(("IDR",))
# Words that are multipliers in any language, but not the same one.
_AMBIGUOUS_WORDS = frozenset(("mil",))
_ALL_WORDS = {*MULTIPLIERS, *_FACTOR_OF_LETTER}.union(*MULTIPLIERS_OF_CURRENCY.values())

# Powers of ten that East Asian numbers are written with.
_FACTOR_OF_CHARACTER = {
    "百": 100, "백": 100, "千": 1_000, "천": 1_000, "万": 10_000, "萬": 10_000, "만": 10_000,
    "億": 100_000_000, "亿": 100_000_000, "억": 100_000_000,
}  # fmt: skip
_CHARACTERS = "".join(_FACTOR_OF_CHARACTER)
_NUMBER = r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,3})?(?!\d)|\d+(?:[.,]\d+)*"
_MARK = currency_marks.MARK_PATTERN
_WORD = words_pattern(_ALL_WORDS)
# Cheap tests first: most texts have no multiplier.
_LETTER_BEHIND_DIGIT = re.compile(r"\d ?[^\W\d_]")
_MAY_HAVE_MULTIPLIER = re.compile(
    rf"\d ?(?:[{_CHARACTERS}]|(?:{_WORD})(?![^\W_])|[kmbte](?:{_MARK})(?![^\W_]))"
)
_MULTIPLIED = re.compile(
    rf"(?<![^\W_])(?<![\d][.,])(?:(?P<left>{_MARK})(?P<left_gap>[ :]{{0,2}}))?"
    rf"(?:(?P<low>{_NUMBER})(?P<dash> ?(?:[-–—]|to|bis|à|a|al|до) ?))?"
    rf"(?P<number>{_NUMBER})(?P<gap> ?)(?P<word>{_WORD})(?P<dot>\.?)"
    rf"(?P<right_gap> ?)(?:(?:de |d'|di )?(?P<right>{_MARK})(?![^\W_])(?! ?\d)|(?![^\W_]))",
    re.IGNORECASE,
)
_EAST_ASIAN_NUMBER = re.compile(
    rf"(?<![\d.,])\d[\d.,]*[{_CHARACTERS}]+(?: ?\d[\d.,]*[{_CHARACTERS}]*)*"
)
_EAST_ASIAN_PART = re.compile(rf"(?P<number>\d[\d.,]*)(?P<characters>[{_CHARACTERS}]*)")
_EAST_ASIAN_MARK = re.compile(r"\s?(?:[円元원¥₩€$]|[A-Z]{3}|日元|人民币|ウォン|ドル)")
_EAST_ASIAN_MARK_BEFORE = re.compile(r"(?:[¥₩$€£]|[A-Z]{3})\s?$")
_THREE_DIGITS_BEHIND_SEPARATOR = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_GROUPS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})+")
_SPACES = re.compile(r"[ '’]")


class AmbiguousAmount(ValueError):
    """An amount with a multiplier that can be read in two ways."""


def write_out(line: str) -> str:
    """Replace each number with a multiplier by its amount. Raises AmbiguousAmount.

    >>> [write_out(line) for line in ("₹1.5 lakh", "Rp12,5jt", "1,5 Mio. €", "$1.2k", "3억 5천만원", "2 kg")]
    ['₹150000', 'Rp12500000', '1500000 €', '$1200', '350000000원', '2 kg']
    >>> write_out("$5 mil")
    Traceback (most recent call last):
    ...
    catalog.values.prices.multipliers.AmbiguousAmount: $5 mil
    """
    if not _LETTER_BEHIND_DIGIT.search(line) or not _MAY_HAVE_MULTIPLIER.search(line.lower()):
        return line
    if any(map(line.__contains__, _CHARACTERS)):
        line = _EAST_ASIAN_NUMBER.sub(_write_out_east_asian, line)
    return _MULTIPLIED.sub(_write_out, line)


def _write_out(match: re.Match[str]) -> str:
    mark = _mark(match)
    if mark is None:
        return match[0]
    before, behind = match.string[: match.start()], match.string[match.end() :]
    code = currency_marks.code_beside(mark, before, behind)
    factor = _factor(match, code or currency_marks.currency_of_mark(mark))
    if factor is None:
        return match[0]
    amount = _multiply(match, match["number"], factor)
    low = ""
    if match["low"]:
        # `1.5 - 2 lakh`: the multiplier belongs to both ends, unless the lower one has its own.
        lower = _multiply(match, match["low"], factor)
        low = f"{_text(lower) if lower < amount else match['low']}{match['dash']}"
    left = f"{match['left'] or ''}{match['left_gap'] or ''}"
    # Behind the number stands the mark, or the text that followed the multiplier.
    right = f" {match['right']}" if match["right"] and match["right_gap"] else match["right"] or ""
    return f"{left}{low}{_text(amount)}{right or match['right_gap']}"


def _mark(match: re.Match[str]) -> str | None:
    """Return the currency mark beside a number; a code before a sign that several share."""
    left, right = (
        mark if mark and currency_marks.is_mark(mark) else None
        for mark in (match["left"], match["right"])
    )
    if left and right and currency_marks.can_mean(left, right.upper()):
        return right
    return left or right


def _factor(match: re.Match[str], currency: str | None) -> int | None:
    """Return the factor of a word behind a number; None if it is no multiplier there."""
    word = match["word"].casefold()
    # `500 LKR` is no lakh of crowns.
    if match["right"] and currency_marks.is_mark(f"{match['word']}{match['right']}"):
        return None
    of_currency = MULTIPLIERS_OF_CURRENCY.get(currency or "", {})
    # A single letter apart from number and sign is a unit or a size: `₹500 L`, `$20 M`.
    if word in of_currency:
        is_apart = len(word) == 1 and match["gap"] and not match["right"]
        return None if is_apart else of_currency[word]
    if word in _AMBIGUOUS_WORDS:
        return _factor_of_ambiguous(match, currency)
    if word in _FACTOR_OF_LETTER:
        return _factor_of_letter(match, currency)
    return _factor_of_word(word)


@lru_cache(maxsize=1024)
def _factor_of_word(word: str) -> int | None:
    for pattern, factor in _patterns():
        if pattern.fullmatch(word):
            return factor
    return None


@cache
def _patterns() -> list[tuple[re.Pattern[str], int]]:
    """Return a pattern for each multiplier, with its factor: few texts have one."""
    return [(re.compile(words_pattern([word])), factor) for word, factor in MULTIPLIERS.items()]


def _factor_of_ambiguous(match: re.Match[str], currency: str | None) -> int:
    """Return a thousand for `5 mil €`, as in Spanish and Portuguese."""
    if currency == "EUR" and match["right"] and not match["dot"]:
        return 1_000
    raise AmbiguousAmount(match[0])


def _factor_of_letter(match: re.Match[str], currency: str | None) -> int | None:
    letter = match["word"]
    is_at_sign = bool(match["right"]) and not match["right_gap"] and not match["dot"]
    is_at_number = not match["gap"]
    if letter in "mM" and currency in _CURRENCIES_OF_ANOTHER_M:
        raise AmbiguousAmount(match[0])
    if is_at_sign:
        # A small m at a sign is a metre, except in `mkr` and `mFt`.
        return (
            _FACTOR_OF_LETTER[letter.casefold()]
            if letter != "m" or match["right"].isalpha()
            else None
        )
    if letter in "tT":
        return None
    if letter in "kK":
        return _FACTOR_OF_LETTER["k"]
    has_cents = match["number"][-3:-2] in (".", ",")
    if is_at_number and not (has_cents and letter.islower()):
        return _FACTOR_OF_LETTER[letter.casefold()]
    if letter == "M" and match["right"] and not has_cents:
        return _FACTOR_OF_LETTER["m"]
    # `$3 M` may be three millions, or a price with a size.
    if letter == "M" and not has_cents:
        raise AmbiguousAmount(match[0])
    return None


def _multiply(match: re.Match[str], number: str, factor: int) -> Decimal:
    number = _SPACES.sub("", number)
    if _THREE_DIGITS_BEHIND_SEPARATOR.fullmatch(number):
        raise AmbiguousAmount(match[0])
    return _decimal(number, match[0]) * factor


def _decimal(number: str, context: str) -> Decimal:
    if _GROUPS.fullmatch(number):
        return Decimal(number.replace(".", "").replace(",", ""))
    separators = [character for character in number if character in ".,"]
    if len(separators) > 1:
        # The last of two kinds is the decimal one.
        if separators.count(separators[-1]) > 1:
            raise AmbiguousAmount(context)
        number = number.replace(separators[0], "")
    return Decimal(number.replace(",", "."))


def _text(amount: Decimal) -> str:
    """Write an amount as digits; with two decimals where it is not whole."""
    if amount == amount.to_integral_value():
        return str(int(amount))
    return f"{amount:.2f}"


def _write_out_east_asian(match: re.Match[str]) -> str:
    """Write out a number such as `1억 2천만` or `1万5千`, if a currency stands beside it."""
    line = match.string
    has_mark = _EAST_ASIAN_MARK.match(line, match.end()) or _EAST_ASIAN_MARK_BEFORE.search(
        line[: match.start()]
    )
    if not has_mark:
        return match[0]
    total = Decimal(0)
    previous: int | None = None
    for part in _EAST_ASIAN_PART.finditer(match[0]):
        factor = 1
        for character in part["characters"]:
            factor *= _FACTOR_OF_CHARACTER[character]
        # Parts stand in falling order; any other number is ambiguous: `3천5백만`.
        if previous is not None and factor >= previous:
            raise AmbiguousAmount(match[0])
        number = part["number"].rstrip(".,")
        if _THREE_DIGITS_BEHIND_SEPARATOR.fullmatch(number):
            # Points are decimal in East Asia.
            number = number.replace(",", "")
        total += _decimal(number, match[0]) * factor
        previous = factor
    return _text(total)
