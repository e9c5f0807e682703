"""Prices: an amount with two decimals and an ISO currency, out of what shops write.

price-parser knows the currencies' codes, and those are taken from it. It does not suffice for amounts: any number is a
price to it ('iPhone 12'), it runs numbers together ('Pack of 2 12.99 €' is 212.99 to it, '2 x 12,99 €' is 2), stops at
a typographic apostrophe ('1’299.–' is 1) and takes '0.299' for 299. So here a number counts where a currency stands
beside it, or where nothing but price words stands around it; `1.299` is a thousand unless a hint or a currency of
three decimals says otherwise.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from price_parser.parser import CURRENCY_CODES  # type: ignore[attr-defined]

from catalog.values import text

LONGEST_RAW = 1000
LONGEST = 200
MOST_DIGITS = 10
_CODES = frozenset(CURRENCY_CODES) - {"ALL", "TOP", "CUP", "MOP"}
_CODES_IN_ANY_CASE = frozenset(
    ("eur", "usd", "gbp", "chf", "cad", "aud", "sek", "nok", "dkk", "pln", "czk", "inr")
)
_SIGNS: dict[str, str | None] = {
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
_WORDS_ALONE: dict[str, str | None] = {
    "r": "ZAR", "q": "GTQ", "l": "HNL", "p": "BWP", "tk": "BDT", "qr": "QAR", "kd": "KWD", "bd": "BHD", "jd": "JOD",
    "sr": "SAR", "le": "EGP", "dt": "TND", "dh": None, "bs": None, "gs": "PYG", "br": None, "kn": "HRK", "kz": "AOA",
}  # fmt: skip
_MEANT = _SIGNS | _WORDS_ALONE
_DOLLARS = "USD AUD CAD NZD HKD SGD TWD MXN CLP COP ARS"
_SHARED = {
    "$": _DOLLARS, "¥": "JPY CNY", "rs": "INR PKR LKR NPR", "kr": "SEK NOK DKK ISK", "£": "GBP EGP",
    "dh": "AED MAD", "dhs": "AED MAD", "bs": "BOB VES", "br": "BYN ETB", "cfa": "XOF XAF", "fcfa": "XOF XAF",
    "p": "BWP PHP",
}  # fmt: skip
_IN_THOUSANDTHS = {"KWD": ".", "BHD": ".", "OMR": ".", "JOD": ".", "TND": ".,", "LYD": ".,"}
_PRICE_WORDS = """
price preis prix precio prezzo prijs pris cena from ab von dès a partir de desde da vanaf to bis à al tot hasta
only nur now jetzt was statt war sale our your unser ihr incl inkl including tax taxes mwst ust vat tva iva btw
ttc ht hors excl exkl excluding zzgl versand plus shipping uvp rrp msrp regular special normal unit each stück
fra från kun nu nå normalpris tilbud endast ordinarie alkaen hinta od do tylko brutto netto dph preço por ahora ora
solo seulement total gesamt angebot aktionspreis einzelpreis verkaufspreis sonderpreis original current list
"""
_WORDS = frozenset(_PRICE_WORDS.split())
_NUMBER = (
    r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)*|(?<![\w.,])[.,]\d{1,2}(?!\d)"
)
_MARK = rf"{text.any_of(_SIGNS)}|[a-z]{{3}}\$?"
_PRICE = re.compile(
    rf"(?<![^\W\d_])(?:(?P<left>{_MARK})[ :]{{0,2}}|(?<!\d)(?<!\d[.,]))(?P<number>{_NUMBER})(?P<percent> ?%)?"
    rf"(?:(?:[.,][-–—]{{1,2}})? ?(?P<right>{_MARK})(?![^\W_]))?",
    re.IGNORECASE,
)
_ALONE = text.any_of(_WORDS_ALONE)
_WITH_WORD = re.compile(
    rf"(?:from )?(?P<left>{_ALONE})\.? ?(?P<number>{_NUMBER})|(?P<amount>{_NUMBER}) ?(?P<right>{_ALONE})\.?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:[-–—]|to|bis|à|al?|tot|hasta|until)\s*", re.IGNORECASE)
_GROUPED = r"(?:\d{1,3}(?:[ .'’]\d{3})+|\d+)"
_EURO_INSIDE = re.compile(rf"(?<![\d.,])({_GROUPED})€(\d\d)(?![\d.,])")
_CENTS_APART = re.compile(rf"(?<![\d.,])({_GROUPED}) [.,] ?(\d\d)(?![\d.,])")
_SIGN = rf"(?:{text.any_of(_SIGNS)})"
_SET_APART = re.compile(
    rf"^(?=\D|.*\D$)({_SIGN}? ?{_GROUPED})[.,]? (\d\d)(?= ?{_SIGN}?$)", re.IGNORECASE
)
_GLUED = re.compile(
    rf"(?<![^\W_])({text.any_of(_WORDS)})(?={_GROUPED}(?:[.,]\d\d)? ?{_SIGN})", re.IGNORECASE
)
_LETTER_BEFORE_DIGIT = re.compile(r"[^\W\d_]\d")
_ARABIC = str.maketrans("٬٫", ",.")
_ADDRESS = ("http", "//", "/")
_CENT = Decimal("0.01")
_TO_THE_CENT = r"\d{1,3}(?:,\d{3})+\.\d\d|\d{1,3}(?:\.\d{3})+,\d\d|\d{1,6}[.,]\d\d"
_AS_IN_TEXT = re.compile(rf"([$€£₹])\s?({_TO_THE_CENT})|({_TO_THE_CENT})\s?([$€£₹])", re.ASCII)
_AS_IN_DATA = re.compile(r"([1-9][0-9]{0,6}|0(?=\.))(\.[0-9]{1,2})?")


def normalise(raw: str, decimal: str | None = None) -> str | None:
    """The amount of the first price in the text; `decimal`, one separator or several, says how to read `1.299`.

    >>> [normalise(raw) for raw in ("1.299,00 €", "1'299.-", "₹ 1,29,900", "from 12 to 15", "iPhone 12", "1.250 KD")]
    ['1299.00', '1299.00', '129900.00', '12.00', None, '1.25']
    >>> normalise("1.299", decimal=".")
    '1.30'
    """
    if plain := _AS_IN_DATA.fullmatch(raw):
        return f"{plain[1]}{plain[2] or '.':0<3}"
    return _normalise(raw, decimal) if len(raw) <= LONGEST_RAW else None


@lru_cache(maxsize=16_384)
def _normalise(raw: str, decimal: str | None) -> str | None:
    found = _find(raw)
    if found is None:
        return None
    number, mark = found
    amount = _amount(number, decimal or decimal_in(_iso(mark.casefold()) if mark else None))
    return None if amount is None else canonical(amount)


def decimal_of(raws: Iterable[str]) -> str | None:
    """The decimal separator that most of the prices use; None where none shows it.

    >>> decimal_of(["12,50 €", "1.299 €", "9,99"])
    ','
    """
    found = [
        number[-3]
        for raw in raws
        if (found := _find(raw)) and len(number := found[0]) > 3 and number[-3] in ".,"
    ]
    return max(".,", key=found.count) if found else None


def decimal_in(currency: str | None) -> str | None:
    """The separators behind which a currency of three decimals has them; None for all others."""
    return _IN_THOUSANDTHS.get(currency or "")


def currency_of(raw: str) -> str | None:
    """The ISO code of the currency that a price text, a sign or a code names.

    >>> [currency_of(raw) for raw in ("1.299,00 €", "US$ 12", "chf", "12.50 kr", "12")]
    ['EUR', 'USD', 'CHF', None, None]
    """
    return currency((raw,), None)


def currency(raws: Iterable[str], hint: str | None) -> str | None:
    """The first currency named, where a sign that several share is read as the hinted one; else the hint."""
    for raw in raws:
        if not (mark := _mark(raw)):
            continue
        if hint and hint in _SHARED.get(mark.rstrip("."), ""):
            return hint
        if code := _iso(mark):
            return code
    return hint


def canonical(amount: Decimal) -> str:
    """The amount as text with two decimals."""
    return str(amount.quantize(_CENT, ROUND_HALF_UP))


def key(value: str) -> str:
    """The amount: canonical texts are equal where the amounts are."""
    return value


def _find(raw: str) -> tuple[str, str | None] | None:
    """The number of the first price in the text as written, and its currency's mark."""
    if not raw or len(raw) > LONGEST_RAW or not _has_digit(raw) or raw.startswith(_ADDRESS):
        return None
    plain = _AS_IN_TEXT.fullmatch(raw)
    return (plain[2] or plain[3], plain[1] or plain[4]) if plain else _search(raw)


@lru_cache(maxsize=16_384)
def _search(raw: str) -> tuple[str, str | None] | None:
    line = unicodedata.normalize("NFKC", text.plain(raw))
    if len(line) > LONGEST:
        return None
    line = _joined(line.translate(_ARABIC))
    matches = [
        match
        for match in _PRICE.finditer(line)
        if not match["percent"] and not _is_negative(line, match)
    ]
    for position, match in enumerate(matches):
        if mark := _mark_of(match):
            first = (
                matches[position - 1]
                if position and _is_from_to(line, matches[position - 1], match)
                else match
            )
            return first["number"], mark
    if matches and _only_price_words(line, matches):
        return matches[0]["number"], None
    return _with_word(line)


def _joined(line: str) -> str:
    """The text with what belongs to one amount together, and apart from words: cents are often elements of their own.

    >>> [_joined(line) for line in ("1 299€95", "12 ,99 €", "$12 99", "ab493,95 €", "2 for 99 €")]
    ['€ 1 299.95', '12.99 €', '$12.99', 'ab 493,95 €', '2 for 99 €']
    """
    line = _SET_APART.sub(r"\1.\2", _CENTS_APART.sub(r"\1.\2", _EURO_INSIDE.sub(r"€ \1.\2", line)))
    return _GLUED.sub(r"\1 ", line) if _LETTER_BEFORE_DIGIT.search(line) else line


def _with_word(line: str) -> tuple[str, str | None] | None:
    """A number with a currency's short name, where at most a `from` stands beside; one letter needs more than digits.

    >>> _with_word("R 129.00"), _with_word("KD 12"), _with_word("R 129"), _with_word("BD 12 drill")
    (('129.00', 'R'), ('12', 'KD'), None, None)
    """
    match = _WITH_WORD.fullmatch(line)
    if match is None:
        return None
    word, number = match["left"] or match["right"], match["number"] or match["amount"]
    return (number, word) if len(word) > 1 or not number.isdigit() else None


def _has_digit(raw: str) -> bool:
    return any(map(raw.__contains__, "0123456789")) or not raw.isascii()


def _mark_of(match: re.Match[str]) -> str | None:
    return next((mark for mark in (match["left"], match["right"]) if mark and _is_mark(mark)), None)


def _is_mark(mark: str) -> bool:
    folded, code = mark.casefold(), mark.removesuffix("$")
    return folded in _SIGNS or code in _CODES or code.casefold() in _CODES_IN_ANY_CASE


def _is_negative(line: str, match: re.Match[str]) -> bool:
    before = line[: match.start()]
    return before.endswith(("-", "−")) and not before[:-1].rstrip()


def _is_range(line: str, low: re.Match[str], high: re.Match[str]) -> bool:
    return _RANGE.fullmatch(line[low.end() : high.start()]) is not None


def _is_from_to(line: str, low: re.Match[str], high: re.Match[str]) -> bool:
    """Whether a number without a currency is a range's lower end: sizes stand before prices, too (`8 - $54.00`)."""
    to_the_cent = [number[-3:-2] in (".", ",") for number in (low["number"], high["number"])]
    return not high["left"] and len(set(to_the_cent)) == 1 and _is_range(line, low, high)


def _only_price_words(line: str, matches: list[re.Match[str]]) -> bool:
    if len(matches) > 2 or (len(matches) == 2 and not _is_range(line, *matches)):
        return False
    rest = line
    for match in reversed(list(_PRICE.finditer(line))):
        rest = (
            rest[: match.start("number")]
            + " "
            + rest[max(match.end("number"), match.end("percent")) :]
        )
    words = (word.strip(".,:;*()-–—~+") for word in rest.casefold().split())
    return all(word in _WORDS for word in words if word)


def _mark(raw: str) -> str | None:
    bare = raw.strip()
    if bare and len(bare) <= 6 and _is_mark(bare):
        return bare.casefold()
    found = _find(raw)
    return found[1].casefold() if found and found[1] else None


def _iso(mark: str) -> str | None:
    return _MEANT[mark] if mark in _MEANT else mark[:3].upper()


def _amount(number: str, decimal: str | None) -> Decimal | None:
    parts = _split(re.sub(r"[ '’]", "", number), decimal)
    if parts is None or len(parts[0]) > MOST_DIGITS:
        return None
    return Decimal(f"{parts[0] or '0'}.{parts[1][:12] or '0'}")


def _split(number: str, decimal: str | None) -> tuple[str, str] | None:
    """Whole and fractional digits of a number; None where its groups make no sense (`1.2.3`)."""
    *groups, last = re.split(r"[.,]", number)
    if not groups:
        return last, ""
    marks = re.sub(r"\d", "", number)
    if len(groups) > 1 and not _are_thousands(groups):
        return None
    repeated = marks.count(marks[-1]) > 1
    if repeated and (len(last) == 3 or len(set(marks)) > 1):
        return "".join([*groups, last]), ""
    if (
        len(groups) == 1
        and marks not in (decimal or "")
        and len(last) == 3
        and _are_thousands([*groups, last])
    ):
        return groups[0] + last, ""
    return "".join(groups), last


def _are_thousands(groups: list[str]) -> bool:
    """Groups of three digits, or of two as in India, behind a first one that is shorter or equal."""
    first, *others = groups
    return 0 < len(first) <= 3 and first[0] != "0" and all(len(group) in (2, 3) for group in others)
