"""Currency marks: the signs, names and codes that stand beside an amount, and their currencies.

A sign that several currencies share (`$`, `kr`, `¥`) means the currency whose code stands beside
it (`$19.99 CAD`), else the shop's currency, else the commonest one, or none if there is no
commonest.
"""

import re
from functools import lru_cache

from price_parser.parser import CURRENCY_CODES  # type: ignore[attr-defined]

from catalog.values import text

# Characters of a sign or code that stands alone.
MAX_MARK_LENGTH = 6

# Codes that are also words of shops are left out; those that are newer than price-parser's list
# are added (ISO 4217, 2018 to 2024).
_CODES = (frozenset(CURRENCY_CODES) - {"ALL", "TOP", "CUP", "MOP"}) | {"VES", "MRU", "STN", "SLE"}
# Codes that are no words of any language in lower case.
_CODES_IN_ANY_CASE = frozenset(
    ("eur", "usd", "gbp", "chf", "cad", "aud", "sek", "nok", "dkk", "pln", "czk", "inr")
)
# None: the sign does not decide between several currencies.
_CURRENCY_OF_SIGN: dict[str, str | None] = {
    "us$": "USD", "u$s": "USD", "$us": "USD", "ca$": "CAD", "c$": "CAD", "cdn$": "CAD", "can$": "CAD", "$ca": "CAD",
    "au$": "AUD", "a$": "AUD", "$au": "AUD", "nz$": "NZD", "$nz": "NZD", "hk$": "HKD", "$hk": "HKD",
    "nt$": "TWD", "ntd": "TWD", "s$": "SGD", "r$": "BRL", "mx$": "MXN", "$mx": "MXN", "cl$": "CLP", "clp$": "CLP",
    "col$": "COP", "ar$": "ARS", "$u": "UYU", "ec$": "XCD", "bds$": "BBD", "b$": "BND", "g$": "GYD", "l$": "LRD",
    "$": "USD", "€": "EUR", "euros": "EUR", "euro": "EUR",
    "£": "GBP", "e£": "EGP", "£e": "EGP", "cn¥": "CNY", "jp¥": "JPY", "¥": "JPY", "yen": "JPY", "元": "CNY", "円": "JPY",
    "yuan": "CNY", "₹": "INR", "rs.": "INR", "rs": "INR", "₽": "RUB",
    "руб.": "RUB", "руб": "RUB", "₺": "TRY", "tl": "TRY", "₩": "KRW", "원": "KRW", "₪": "ILS", "₫": "VND", "đ": "VND",
    "vnđ": "VND", "฿": "THB", "₴": "UAH",
    "zł": "PLN", "kč": "CZK", "ft": "HUF", "lei": "RON", "лв.": "BGN", "лв": "BGN", "sfr.": "CHF", "sfr": "CHF",
    "fr.": "CHF", "₱": "PHP", "₦": "NGN", "rm": "MYR", "rp": "IDR", "kr.": None, "kr": None, "dhs.": "AED",
    "dhs": "AED", "د.إ": "AED", "ر.س": "SAR", "ج.م": "EGP", "د.ك": "KWD", "ر.ق": "QAR", "nis": "ILS", "৳": "BDT",
    "د.ب": "BHD", "ر.ع.": "OMR", "ر.ع": "OMR", "د.ت": "TND", "د.ا": "JOD",
    "₡": "CRC", "₲": "PYG", "₭": "LAK", "₮": "MNT", "₸": "KZT", "тг": "KZT", "₾": "GEL", "֏": "AMD", "₼": "AZN",
    "₵": "GHS", "gh₵": "GHS", "៛": "KHR", "؋": "AFN", "грн.": "UAH", "грн": "UAH", "дин.": "RSD", "дин": "RSD",
    "din.": "RSD", "रू": "NPR", "रु": "INR", "сом": "KGS", "сум": "UZS", "so'm": "UZS",
    "ש\"ח": "ILS", "ש״ח": "ILS", "บาท": "THB", "b/.": "PAB",
    "ksh.": "KES", "ksh": "KES", "tsh": "TZS", "ush": "UGX", "fcfa": "XOF", "cfa": "XOF", "rmb": "CNY", "php": "PHP",
    "s/.": "PEN", "s/": "PEN", "rd$": "DOP", "j$": "JMD", "tt$": "TTD", "n$": "NAD", "bz$": "BZD", "fj$": "FJD",
}  # fmt: skip
# Names of one or two letters, which are currencies only where nothing else stands beside the
# number.
_CURRENCY_OF_SHORT_NAME: dict[str, str | None] = {
    "r": "ZAR", "q": "GTQ", "l": "HNL", "p": "BWP", "tk": "BDT", "qr": "QAR", "kd": "KWD", "bd": "BHD", "jd": "JOD",
    "sr": "SAR", "le": "EGP", "dt": "TND", "dh": None, "bs": None, "gs": "PYG", "br": None, "kn": "HRK", "kz": "AOA",
    "fr": "CHF", "ден": "MKD", "din": "RSD", "km": "BAM",
}  # fmt: skip
_CURRENCY_OF_MARK = _CURRENCY_OF_SIGN | _CURRENCY_OF_SHORT_NAME
_DOLLARS = """
USD AUD CAD NZD HKD SGD TWD MXN CLP COP ARS UYU BRL DOP NIO BBD BMD BND BSD BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD
ZWL CVE
"""
_FRANCS = "CHF XOF XAF XPF RWF BIF GNF DJF KMF CDF FRF BEF LUF"
# Currencies that share a mark.
_CODES_SHARING = {
    "$": _DOLLARS, "¥": "JPY CNY", "元": "CNY TWD HKD", "rs": "INR PKR LKR NPR MUR SCR", "kr": "SEK NOK DKK ISK EEK",
    "£": "GBP EGP GIP FKP SHP SYP LBP SDG SSP GGP JEP IMP", "₩": "KRW KPW", "₱": "PHP", "r": "ZAR BRL", "c$": "CAD NIO",
    "b$": "BND BSD", "dh": "AED MAD", "dhs": "AED MAD", "bs": "BOB VES", "br": "BYN ETB", "cfa": "XOF XAF",
    "fcfa": "XOF XAF", "p": "BWP PHP", "fr": _FRANCS, "lei": "RON MDL", "руб": "RUB BYN", "лв": "BGN", "ден": "MKD",
    "дин": "RSD", "din": "RSD DZD IQD JOD KWD LYD TND MKD", "le": "EGP", "रू": "NPR INR", "रु": "INR NPR", "l": "HNL MDL", "s/": "PEN",
}  # fmt: skip
_SHARED = {mark: frozenset(codes.split()) for mark, codes in _CODES_SHARING.items()}
_SIGNS_BESIDE_CODES = "$£¥₩"

# A sign or a word that may be a code.
MARK_PATTERN = (
    rf"{text.alternation(_CURRENCY_OF_SIGN)}"
    rf"|[{_SIGNS_BESIDE_CODES}]?[a-z]{{3}}[{_SIGNS_BESIDE_CODES}]?"
)
SIGN_PATTERN = rf"(?:{text.alternation(_CURRENCY_OF_SIGN)})"
SHORT_NAME_PATTERN = text.alternation(_CURRENCY_OF_SHORT_NAME)
# A code behind a price: `$12 CAD`, `$12 (CAD)`, `$12, CAD`, `$12 in CAD`. One that begins the next
# price (`$12 CAD 13`) is none.
_CODE_BEHIND = re.compile(
    r"[\s.,/:([–-]{0,4}(?:in )?([A-Za-z]{3})(?![^\W_])"
    r"(?!\s?:?\s?\d[\d.,]*(?:[.,]\d\d(?!\d)|\s*$))"
)
# A code before a price: `CAD $12`, `CAD: $12`, `(CAD) $12`.
_CODE_BEFORE = re.compile(r"(?<![^\W_])([A-Za-z]{3})[\s:)\]-]{0,3}$")
# Two letters of a country beside a dollar sign: `AU $12`, `12 $ CA`.
_COUNTRY_BEFORE = re.compile(r"(?<![^\W_])(US|CA|CDN|CAN|C|AU|NZ|HK|NT|MX)\s$")
_COUNTRY_BEHIND = re.compile(r"\s?(US|CA|CDN|CAN|AU|NZ|HK|MX)(?![^\W_])(?!\s?\d)")
# A currency field with sign and code: `CAD $`, `$ (CAD)`.
_SIGN_AND_CODE = re.compile(
    rf"(?P<sign>{SIGN_PATTERN})[ (-]{{0,2}}(?P<code>[a-z]{{3}})\)?"
    rf"|(?P<code_first>[a-z]{{3}})[ (-]{{0,2}}(?P<sign_last>{SIGN_PATTERN})\)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_mark(mark: str) -> bool:
    """Return True if a text is a currency's sign, name or code; codes that are words of a language
    only in capitals.

    >>> [is_mark(mark) for mark in ("CA$", "kr", "CAD", "cad", "gel", "GEL", "MXN$", "$MXN")]
    [True, True, True, True, False, True, True, True]
    """
    return mark.casefold() in _CURRENCY_OF_SIGN or is_code(mark.strip(_SIGNS_BESIDE_CODES))


def is_code(word: str) -> bool:
    """Return True if a word is a currency's ISO code."""
    return word in _CODES or word.casefold() in _CODES_IN_ANY_CASE


def currency_of_mark(mark: str) -> str | None:
    """Return the ISO code that a mark means; None where several share it.

    >>> currency_of_mark("$"), currency_of_mark("cad$"), currency_of_mark("kr")
    ('USD', 'CAD', None)
    """
    mark = mark.casefold()
    if mark in _CURRENCY_OF_MARK:
        return _CURRENCY_OF_MARK[mark]
    return mark.strip(_SIGNS_BESIDE_CODES).upper()


def can_mean(mark: str, code: str) -> bool:
    """Return True if a mark is shared by several currencies, and this code is one of them.

    >>> can_mean("Rs.", "PKR"), can_mean("$", "EUR")
    (True, False)
    """
    return code in _SHARED.get(mark.casefold().rstrip("."), ())


def is_shared(mark: str) -> bool:
    """Return True if several currencies have this mark."""
    return mark.casefold().rstrip(".") in _SHARED


def code_beside(mark: str, before: str, behind: str) -> str | None:
    """Return the code that decides a shared mark: the nearest text before or behind the price names
    it.

    >>> code_beside("$", "BRL ", ""), code_beside("kr", "", " SEK"), code_beside("$", "AU ", "")
    ('BRL', 'SEK', 'AUD')
    >>> code_beside("$", "", " EUR") is None, code_beside("$", "", " CAD 25.00") is None
    (True, True)
    """
    if not is_shared(mark):
        return None
    for match in (_CODE_BEFORE.search(before), _CODE_BEHIND.match(behind)):
        if match and is_code(match[1]):
            code = currency_of_mark(match[1])
            if code and can_mean(mark, code):
                return code
    if mark != "$":
        return None
    for match in (_COUNTRY_BEFORE.search(before), _COUNTRY_BEHIND.match(behind)):
        if match:
            return _CURRENCY_OF_SIGN[f"{match[1].casefold()}$"]
    return None


def mark_alone(raw: str) -> str | None:
    """Return the mark that is the whole of a text, such as a currency field; its code if it has
    one.

    >>> mark_alone("chf"), mark_alone("$ CAD"), mark_alone("NOK (kr)"), mark_alone("CADILL")
    ('chf', 'CAD', 'NOK', None)
    """
    if len(raw) <= MAX_MARK_LENGTH and is_mark(raw):
        return raw
    if len(raw) > 2 * MAX_MARK_LENGTH:
        return None
    match = _SIGN_AND_CODE.fullmatch(raw)
    if match is None:
        return None
    code = match["code"] or match["code_first"]
    return code.upper() if is_code(code) else None
