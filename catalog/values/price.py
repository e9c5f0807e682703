"""Prices: an amount with two decimals and an ISO currency, parsed from shops' texts.

price-parser knows the codes of currencies, which are taken from it. For amounts it does not
suffice: any number is a price to it ('iPhone 12'), it joins numbers ('Pack of 2 12.99 €' becomes
212.99, '2 x 12,99 €' becomes 2), stops at a typographic apostrophe ('1’299.–' becomes 1) and reads
'0.299' as 299. So here a number is a price where a currency stands beside it, or where nothing but
price words stands around it; `1.299` is a thousand unless a hint or a currency of three decimals
decides otherwise.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from price_parser.parser import CURRENCY_CODES  # type: ignore[attr-defined]

from catalog.values import text

# Characters of a raw text and of a normalised one. Longer ones are no prices.
MAX_RAW_LENGTH = 1_000
MAX_LENGTH = 200
# Whole digits of an amount.
MAX_DIGITS = 10
# Decimals that are read before rounding. Bound against hostile input.
MAX_DECIMALS = 12
# Characters of a sign or code that stands alone.
MAX_MARK_LENGTH = 6

# Codes that are also words of shops.
_CODES = frozenset(CURRENCY_CODES) - {"ALL", "TOP", "CUP", "MOP"}
# Codes that are no words of any language in lower case.
_CODES_IN_ANY_CASE = frozenset(
    ("eur", "usd", "gbp", "chf", "cad", "aud", "sek", "nok", "dkk", "pln", "czk", "inr")
)
# None: the sign does not decide between several currencies.
_CURRENCY_OF_SIGN: dict[str, str | None] = {
    "us$": "USD", "ca$": "CAD", "c$": "CAD", "cdn$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD",
    "nt$": "TWD", "s$": "SGD", "r$": "BRL", "mx$": "MXN", "$": "USD", "€": "EUR", "euros": "EUR", "euro": "EUR",
    "£": "GBP", "cn¥": "CNY", "¥": "JPY", "元": "CNY", "円": "JPY", "₹": "INR", "rs.": "INR", "rs": "INR", "₽": "RUB",
    "руб.": "RUB", "руб": "RUB", "₺": "TRY", "tl": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "฿": "THB", "₴": "UAH",
    "zł": "PLN", "kč": "CZK", "ft": "HUF", "lei": "RON", "лв.": "BGN", "лв": "BGN", "sfr.": "CHF", "sfr": "CHF",
    "fr.": "CHF", "₱": "PHP", "₦": "NGN", "rm": "MYR", "rp": "IDR", "kr.": None, "kr": None, "dhs.": "AED",
    "dhs": "AED", "د.إ": "AED", "ر.س": "SAR", "ج.م": "EGP", "د.ك": "KWD", "ر.ق": "QAR", "nis": "ILS", "৳": "BDT",
    "د.ب": "BHD", "ر.ع.": "OMR", "ر.ع": "OMR", "د.ت": "TND", "د.ا": "JOD",
    "₡": "CRC", "₲": "PYG", "₭": "LAK", "₮": "MNT", "₸": "KZT", "тг": "KZT", "₾": "GEL", "֏": "AMD", "₼": "AZN",
    "₵": "GHS", "gh₵": "GHS", "៛": "KHR", "؋": "AFN", "грн.": "UAH", "грн": "UAH", "дин.": "RSD", "дин": "RSD",
    "ksh.": "KES", "ksh": "KES", "tsh": "TZS", "ush": "UGX", "fcfa": "XOF", "cfa": "XOF", "rmb": "CNY", "php": "PHP",
    "s/.": "PEN", "s/": "PEN", "rd$": "DOP", "j$": "JMD", "tt$": "TTD", "n$": "NAD", "bz$": "BZD", "fj$": "FJD",
}  # fmt: skip
# Names of one or two letters, which are currencies only where nothing else stands beside the
# number.
_CURRENCY_OF_SHORT_NAME: dict[str, str | None] = {
    "r": "ZAR", "q": "GTQ", "l": "HNL", "p": "BWP", "tk": "BDT", "qr": "QAR", "kd": "KWD", "bd": "BHD", "jd": "JOD",
    "sr": "SAR", "le": "EGP", "dt": "TND", "dh": None, "bs": None, "gs": "PYG", "br": None, "kn": "HRK", "kz": "AOA",
}  # fmt: skip
_CURRENCY_OF_MARK = _CURRENCY_OF_SIGN | _CURRENCY_OF_SHORT_NAME
# Currencies that share a mark: the shop's own decides.
_DOLLARS = "USD AUD CAD NZD HKD SGD TWD MXN CLP COP ARS"
_CURRENCIES_SHARING = {
    "$": _DOLLARS, "¥": "JPY CNY", "rs": "INR PKR LKR NPR", "kr": "SEK NOK DKK ISK", "£": "GBP EGP",
    "dh": "AED MAD", "dhs": "AED MAD", "bs": "BOB VES", "br": "BYN ETB", "cfa": "XOF XAF", "fcfa": "XOF XAF",
    "p": "BWP PHP",
}  # fmt: skip
# Currencies of a thousand parts, and the separators behind which they write three decimals.
_THREE_DECIMAL_CURRENCIES = {
    "KWD": ".",
    "BHD": ".",
    "OMR": ".",
    "JOD": ".",
    "TND": ".,",
    "LYD": ".,",
}
# Words that may stand around a number that is a price without a currency.
_PRICE_WORD_LIST = """
price preis prix precio prezzo prijs pris cena from ab von dès a partir de desde da vanaf to bis à al tot hasta
only nur now jetzt was statt war sale our your unser ihr incl inkl including tax taxes mwst ust vat tva iva btw
ttc ht hors excl exkl excluding zzgl versand plus shipping uvp rrp msrp regular special normal unit each stück
fra från kun nu nå normalpris tilbud endast ordinarie alkaen hinta od do tylko brutto netto dph preço por ahora ora
solo seulement total gesamt angebot aktionspreis einzelpreis verkaufspreis sonderpreis original current list
"""
_PRICE_WORDS = frozenset(_PRICE_WORD_LIST.split())
_NUMBER = (
    r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)*|(?<![\w.,])[.,]\d{1,2}(?!\d)"
)
_CURRENCY_MARK = rf"{text.alternation(_CURRENCY_OF_SIGN)}|[a-z]{{3}}\$?"
# A number with the currency mark before or after it.
_PRICE = re.compile(
    rf"(?<![^\W\d_])(?:(?P<left>{_CURRENCY_MARK})[ :]{{0,2}}"
    rf"|(?<!\d)(?<!\d[.,]))(?P<number>{_NUMBER})(?P<percent> ?%)?"
    rf"(?:(?:[.,][-–—]{{1,2}})? ?(?P<right>{_CURRENCY_MARK})(?![^\W_]))?",
    re.IGNORECASE,
)
_SHORT_NAME = text.alternation(_CURRENCY_OF_SHORT_NAME)
_WITH_SHORT_NAME = re.compile(
    rf"(?:from )?(?P<left>{_SHORT_NAME})\.? ?(?P<number>{_NUMBER})"
    rf"|(?P<amount>{_NUMBER}) ?(?P<right>{_SHORT_NAME})\.?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:[-–—]|to|bis|à|al?|tot|hasta|until)\s*", re.IGNORECASE)
_GROUPED = r"(?:\d{1,3}(?:[ .'’]\d{3})+|\d+)"
# `1 299€95`: the euro sign stands at the decimal point.
_EURO_AS_POINT = re.compile(rf"(?<![\d.,])({_GROUPED})€(\d\d)(?![\d.,])")
# `12 ,99`: cents in an element of their own.
_SPACED_CENTS = re.compile(rf"(?<![\d.,])({_GROUPED}) [.,] ?(\d\d)(?![\d.,])")
_SIGN = rf"(?:{text.alternation(_CURRENCY_OF_SIGN)})"
# `$12 99`: a whole text that is one price, its point left out.
_PRICE_IN_TWO_PARTS = re.compile(
    rf"^(?=\D|.*\D$)({_SIGN}? ?{_GROUPED})[.,]? (\d\d)(?= ?{_SIGN}?$)", re.IGNORECASE
)
# `ab493,95 €`: a price word without a space.
_GLUED_WORD = re.compile(
    rf"(?<![^\W_])({text.alternation(_PRICE_WORDS)})(?={_GROUPED}(?:[.,]\d\d)? ?{_SIGN})",
    re.IGNORECASE,
)
_LETTER_BEFORE_DIGIT = re.compile(r"[^\W\d_]\d")
_ARABIC_SEPARATORS = str.maketrans("٬٫", ",.")
_URL_START = ("http", "//", "/")
_CENT = Decimal("0.01")
_GROUP_SPACES = re.compile(r"[ '’]")
_DIGIT = re.compile(r"\d")
_POINT_OR_COMMA = re.compile(r"[.,]")
_AMOUNT_WITH_CENTS = r"\d{1,3}(?:,\d{3})+\.\d\d|\d{1,3}(?:\.\d{3})+,\d\d|\d{1,6}[.,]\d\d"
# The commonest forms in texts and in data, read without the full search.
_PLAIN_PRICE_IN_TEXT = re.compile(
    rf"([$€£₹])\s?({_AMOUNT_WITH_CENTS})|({_AMOUNT_WITH_CENTS})\s?([$€£₹])", re.ASCII
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
    currency = _iso_code(price.mark.casefold()) if price.mark else None
    amount = _parse_amount(price.number, decimal or decimal_separators(currency))
    return None if amount is None else price_text(amount)


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
        if hint and hint in _CURRENCIES_SHARING.get(mark.rstrip("."), ""):
            return hint
        if code := _iso_code(mark):
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
    line = unicodedata.normalize("NFKC", text.plain(raw))
    if len(line) > MAX_LENGTH:
        return None
    line = _join_amounts(line.translate(_ARABIC_SEPARATORS))
    matches = [
        match
        for match in _PRICE.finditer(line)
        if not match["percent"] and not _is_negative(line, match)
    ]
    for index, match in enumerate(matches):
        mark = _mark_of(match)
        if not mark:
            continue
        # Of a range such as `12 - 15 €` the lower end is the price.
        is_range_end = index > 0 and _is_range_end(line, matches[index - 1], match)
        first = matches[index - 1] if is_range_end else match
        return _PriceMatch(first["number"], mark)
    if matches and _has_only_price_words(line, matches):
        return _PriceMatch(matches[0]["number"], None)
    return _find_with_short_name(line)


def _join_amounts(line: str) -> str:
    """Join the parts of each amount, and set it apart from words: cents are often elements of their
    own.

    >>> [_join_amounts(line) for line in ("1 299€95", "12 ,99 €", "$12 99", "ab493,95 €", "2 for 99 €")]
    ['€ 1 299.95', '12.99 €', '$12.99', 'ab 493,95 €', '2 for 99 €']
    """
    line = _EURO_AS_POINT.sub(r"€ \1.\2", line)
    line = _SPACED_CENTS.sub(r"\1.\2", line)
    line = _PRICE_IN_TWO_PARTS.sub(r"\1.\2", line)
    if not _LETTER_BEFORE_DIGIT.search(line):
        return line
    return _GLUED_WORD.sub(r"\1 ", line)


def _find_with_short_name(line: str) -> _PriceMatch | None:
    """Find a number with a currency's short name, where the text holds nothing else but a `from`.

    A name of one letter counts only beside a number with a separator: `R 129` may be a model.

    >>> _find_with_short_name("R 129.00").number, _find_with_short_name("KD 12").number
    ('129.00', '12')
    >>> _find_with_short_name("R 129"), _find_with_short_name("BD 12 drill")
    (None, None)
    """
    match = _WITH_SHORT_NAME.fullmatch(line)
    if match is None:
        return None
    name = match["left"] or match["right"]
    number = match["number"] or match["amount"]
    if len(name) == 1 and number.isdigit():
        return None
    return _PriceMatch(number, name)


def _has_digit(raw: str) -> bool:
    # Digits of other scripts are looked for later, once the text is normalised.
    return any(map(raw.__contains__, "0123456789")) or not raw.isascii()


def _mark_of(match: re.Match[str]) -> str | None:
    for mark in (match["left"], match["right"]):
        if mark and _is_mark(mark):
            return mark
    return None


def _is_mark(mark: str) -> bool:
    folded, code = mark.casefold(), mark.removesuffix("$")
    return folded in _CURRENCY_OF_SIGN or code in _CODES or code.casefold() in _CODES_IN_ANY_CASE


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
    words = line
    # From the end, so that the positions of the matches before stay valid.
    for match in reversed(list(_PRICE.finditer(line))):
        end = max(match.end("number"), match.end("percent"))
        words = f"{words[: match.start('number')]} {words[end:]}"
    for word in words.casefold().split():
        bare = word.strip(".,:;*()-–—~+")
        if bare and bare not in _PRICE_WORDS:
            return False
    return True


def _mark_in(raw: str) -> str | None:
    """Return the currency mark of a text, in lower case: the text itself, or the mark of its first
    price.
    """
    bare = raw.strip()
    if bare and len(bare) <= MAX_MARK_LENGTH and _is_mark(bare):
        return bare.casefold()
    price = _find(raw)
    if price is None or not price.mark:
        return None
    return price.mark.casefold()


def _iso_code(mark: str) -> str | None:
    if mark in _CURRENCY_OF_MARK:
        return _CURRENCY_OF_MARK[mark]
    return mark[:3].upper()


def _parse_amount(number: str, decimal: str | None) -> Decimal | None:
    digits = _split(_GROUP_SPACES.sub("", number), decimal)
    if digits is None or len(digits[0]) > MAX_DIGITS:
        return None
    whole, fraction = digits
    return Decimal(f"{whole or '0'}.{fraction[:MAX_DECIMALS] or '0'}")


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
    first, *others = groups
    if not 0 < len(first) <= 3 or first[0] == "0":
        return False
    return all(len(group) in (2, 3) for group in others)
