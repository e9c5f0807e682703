"""Normalisation of text: titles, brands and descriptions as readers see them, in any encoding.

Half of the mismatches in the thesis are differences of encoding and separators only (Hübscher
2018). So NFKC, character references, white space and invisible characters are normalised here once,
for every kind of value.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Literal

from catalog.errors import HostilePage
from catalog.html import open_html
from catalog.html_references import unescape_references
from catalog.values import shop_words

# Word overlap (Dice) from which two descriptions are the same.
SAME_DESCRIPTION = 0.8
# Characters, normalised. Longer texts are no titles or brands; longer descriptions are cut.
MAX_TITLE_LENGTH = 500
MAX_BRAND_LENGTH = 120
MAX_DESCRIPTION_LENGTH = 20_000
# Characters of raw markup. Bound against hostile input.
MAX_MARKUP_LENGTH = 200_000
# Characters of one tag that is read without a parser.
MAX_TAG_LENGTH = 500
# Rounds in which references are resolved: feeds escape texts several times.
MAX_UNESCAPE_ROUNDS = 4
# Rounds in which markup is removed: descriptions are escaped, tags stand in tags.
MAX_MARKUP_ROUNDS = 3
# Characters of the longest text that only says that there is no value.
MAX_NO_VALUE_LENGTH = 20
# Words and characters at the start of a description that make its key.
KEY_WORDS = 12
KEY_LENGTH = 400
# Bytes of the hash in a description's key.
KEY_HASH_SIZE = 8
# Digits from which a number is a trade number rather than a brand.
MIN_GTIN_LENGTH = 8
# Stands between the steps of a category path.
SEPARATOR = " > "
# Part of an expression: any white space before a mark. It begins at the start of a run only, since
# `\\s*` would be tried at each place of a long run.
GAP = r"(?:(?<!\s)\s++)?"

_NO_VALUE_WORDS = """
- -- --- — – . .. ... ? n/a n.a. na n/d n.d. n/b n.b. n.v. k.a. н/д none null nil no undefined unknown unspecified
unbekannt keine keine-angabe ninguno ninguna desconocido aucun aucune inconnu nessuno nessuna sconosciuto geen onbekend
brak yok غير-محدد not-applicable not-specified not-available does-not-apply nan false
"""
_NO_VALUE = frozenset(_NO_VALUE_WORDS.split())
_EMOJI = "[©®‼⁉™ℹ←-⇿⌚-⏿Ⓜ▪-◾☀-➿⤴⤵⬀-⯿〰〽㊗㊙\U0001f000-\U0001faff]"
# Zero-width joiner and variation selector: invisible, but parts of an emoji.
_JOINERS = "\u200d\ufe0f"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\uffff"
    f"\ud800-\udfff](?:(?<![{_JOINERS}])|(?<!{_EMOJI}[{_JOINERS}])(?<!{_EMOJI}\ufe0f[{_JOINERS}])(?!\u20e3))"
)
_WITHOUT_JOINERS = dict.fromkeys(map(ord, _JOINERS))
# First byte in UTF-8 of U+F000 to U+FFFF, where some invisible characters count as printable.
_END_OF_PLANE = b"\xef"
# NFKC would turn these into plain letters and digits, which read with the text before them:
# `31⁄2′′`.
_NOT_RAISED = re.compile("[^ª²³¹º¼½¾⁰-₟″‴⅐-⅟↉℠™]+")
_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,2000}|!--[^<>]{0,2000}--)>")
_ESCAPED_TAG = re.compile(r"&(?:amp;|#)*(?:lt|\d|x)", re.IGNORECASE)
_ESCAPED_AMPERSANDS = re.compile("&(?:amp;)+")
_REFERENCE_START = re.compile(r"&(?=[#\w])")
# A `<` that begins a tag, a comment or an instruction.
_MARKUP_START = re.compile("<(?=[a-zA-Z/!?])")
_BLOCK = re.compile(
    r"<(?=/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr"
    r"|li|main|nav|ol"
    r"|option|p|pre|section|table|tbody|td|th|thead|tr|ul)\b)",
    re.IGNORECASE,
)
_NON_TEXT_TAGS = ["script", "style", "template", "noscript", "iframe", "object", "svg"]
_HAS_NON_TEXT = re.compile(rf"<(?:{'|'.join(_NON_TEXT_TAGS)})", re.IGNORECASE)
_PLAIN_ATTRIBUTES = r"""(?:\s+[a-z][\w:-]*(?:=(?:"[^"<>]*"|'[^'<>]*'|[\w#%.:;/-]+))?)*\s*/?"""
_PLAIN_TAG = re.compile(rf"</?([a-z][a-z1-6]*){_PLAIN_ATTRIBUTES}>", re.IGNORECASE | re.ASCII)
_BLOCK_TAG_NAMES = """
article aside blockquote br dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p section table
tbody td th thead tr ul
"""
# Tags that set words apart, and tags that do not.
_BLOCK_TAGS = frozenset(_BLOCK_TAG_NAMES.split())
_INLINE_TAGS = frozenset("a b em font i img meta small span strong sub sup u".split())
_TAGS = re.compile(r"(<[^<>]*>)")
_WORD = re.compile(r"\w+")

# Kinds of typographic signs, and the keyboard's sign for each.
SignKind = Literal["quotes", "dashes", "times"]
KEYBOARD_SIGNS: dict[SignKind, dict[str, str]] = {
    "quotes": dict.fromkeys("‘’‚′", "'") | dict.fromkeys("“”„″", '"'),
    "dashes": dict.fromkeys("‐‑‒–—−", "-"),
    "times": {"×": "x"},
}


def alternation(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words; longer words first, so that none hides one
    that it begins.

    >>> alternation(["kr", "kr."])
    'kr\\\\.|kr'
    """
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def plain(raw: str) -> str:
    """Resolve character references and tidy the text (see `tidy`).

    Fractions and raised signs stay: as plain letters they would read with the text before them,
    `31⁄2′′`.

    >>> plain(" Caf\\u0065\\u0301&amp;nbsp;\\u200bCr&egrave;me\\n"), plain("Scissors™ 3½″ ﬁne")
    ('Café Crème', 'Scissors™ 3½″ fine')
    """
    line = tidy(_resolve_references(raw))
    # NFKC makes a reference of `＆amp;`.
    for _ in range(MAX_UNESCAPE_ROUNDS):
        if "&" not in line or unescape_references(line) == line:
            return line
        line = tidy(_resolve_references(line))
    return tidy(_REFERENCE_START.sub("& ", line))


def _resolve_references(raw: str) -> str:
    """Resolve character references, however often they are escaped; references that remain after
    some rounds are taken apart.

    >>> _resolve_references("&amp;lt;"), _resolve_references("&amp;amp;amp;amp;amp;amp;amp;lt;")
    ('<', '<')
    """
    if "&" not in raw:
        return raw
    for _ in range(MAX_UNESCAPE_ROUNDS):
        resolved = unescape_references(_ESCAPED_AMPERSANDS.sub("&", raw))
        if resolved == raw:
            return raw
        raw = resolved
    if unescape_references(raw) == raw:
        return raw
    return _REFERENCE_START.sub("& ", raw)


def tidy(raw: str) -> str:
    """Apply NFKC, remove invisible characters, collapse white space."""
    line = " ".join(raw.split())
    # Most texts are printable ASCII and need nothing more.
    is_printable = line.isprintable()
    if is_printable and line.isascii():
        return line
    if not is_printable or _END_OF_PLANE in line.encode("utf-8", "replace"):
        line = " ".join(_INVISIBLE.sub("", line).split())
    if unicodedata.is_normalized("NFKC", line):
        return line
    line = " ".join(_NOT_RAISED.sub(_to_nfkc, line).split())
    # NFKC makes plain letters of some emoji, behind which no joiner stays.
    if any(map(line.__contains__, _JOINERS)) and (visible := _INVISIBLE.sub("", line)) != line:
        return tidy(visible)
    return line


def _to_nfkc(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def without_tags(raw: str) -> str:
    """Return the plain text without its tags."""
    text = plain(raw)
    # Tags in tags become tags when the inner ones are gone.
    for _ in range(MAX_MARKUP_ROUNDS):
        if "<" not in text or ">" not in text:
            return text
        remaining = _TAG.sub(" ", text)
        if remaining == text:
            return text
        text = plain(remaining)
    return plain(_MARKUP_START.sub("< ", text))


def normalise_title(raw: str) -> str | None:
    """Normalise a title or any other line, without tags; None where it is empty or too long.

    >>> normalise_title("Mixer&nbsp;<b>500&amp;nbsp;W</b>")
    'Mixer 500 W'
    """
    return _line(raw, MAX_TITLE_LENGTH)


def normalise_brand(raw: str) -> str | None:
    """Normalise a brand; None for texts that say there is none, trade numbers and paths.

    >>> normalise_brand("n/a") is None, normalise_brand(" Bosch "), normalise_brand("4006381333931"), normalise_brand("Bikes > Tyres")
    (True, 'Bosch', None, None)
    """
    brand = _line(raw, MAX_BRAND_LENGTH)
    if brand is None or is_no_value(brand) or SEPARATOR in brand:
        return None
    if shop_words.names("uncategorized", brand):
        return None
    if brand.isdigit() and len(brand) >= MIN_GTIN_LENGTH:
        return None
    return brand


def is_no_value(value: str) -> bool:
    """Return True if the text only says that there is no value."""
    if len(value) >= MAX_NO_VALUE_LENGTH:
        return False
    return value.casefold().replace(" ", "-") in _NO_VALUE


def normalise_description(raw: str) -> str | None:
    """Normalise a description to at most 20,000 characters without markup; None where it says there
    is none.

    >>> normalise_description("<p>Light.</p><p>Fo<b>ld</b>able</p><style>p {}</style>"), normalise_description("null")
    ('Light. Foldable', None)
    """
    if len(raw) > MAX_MARKUP_LENGTH or not raw or raw.isspace():
        return None
    # Markup is removed before references are resolved, unless it is escaped itself: a `&lt;` may be
    # text.
    is_markup = "<" in raw and not _ESCAPED_TAG.search(raw)
    description = plain(_without_markup(raw)) if is_markup else plain(raw)
    for _ in range(MAX_MARKUP_ROUNDS):
        if "<" not in description or not _TAG.search(description):
            break
        description = plain(_without_markup(description))
    # A `<` that is left is no markup: set apart, so that it stays when the text is read again.
    if "<" in description:
        description = _MARKUP_START.sub("< ", description)
    if is_no_value(description):
        return None
    return description[:MAX_DESCRIPTION_LENGTH].rstrip() or None


def text_key(value: str) -> str:
    """Comparison key: equal for texts that differ in case and kinds of quotes, dashes or times
    signs only.

    >>> text_key("Men’s T–Shirt") == text_key("MEN'S T-SHIRT"), text_key(plain("24″ Screen")) == text_key('24" Screen')
    (True, True)
    >>> text_key("5 m²") == text_key("5 m2")
    True
    """
    if value.isascii():
        return to_keyboard_signs(value.casefold())
    if any(map(value.__contains__, _JOINERS)):
        value = value.translate(_WITHOUT_JOINERS)
    return to_keyboard_signs(unicodedata.normalize("NFKC", value).casefold())


def to_keyboard_signs(value: str, kinds: tuple[SignKind, ...] = tuple(KEYBOARD_SIGNS)) -> str:
    """Replace typographic signs by those of a keyboard.

    >>> to_keyboard_signs("24″ – “Lamp”"), to_keyboard_signs(plain("24″")), to_keyboard_signs("24″ – “Lamp”", ("quotes",))
    ('24" - "Lamp"', '24"', '24" – "Lamp"')
    """
    if not value.isascii():
        value = value.translate(_keyboard_table(kinds))
    # Two primes stand for inches.
    return value.replace("''", '"') if "quotes" in kinds else value


@lru_cache(maxsize=16)
def _keyboard_table(kinds: tuple[SignKind, ...]) -> dict[int, str]:
    table: dict[str, str] = {}
    for kind in kinds:
        table |= KEYBOARD_SIGNS[kind]
    return str.maketrans(table)


def start_key(value: str) -> str:
    """Comparison key of a description: a hash of its first dozen words."""
    first_words = islice((word[0] for word in _WORD.finditer(value, 0, KEY_LENGTH)), KEY_WORDS)
    start = " ".join(first_words).casefold()
    return hashlib.blake2b((start or value).encode(), digest_size=KEY_HASH_SIZE).hexdigest()


def word_overlap(a: str, b: str) -> float:
    """Similarity of two texts, 0 to 1: Dice's coefficient over their words, with repetition.

    Returns 0 without counting where the lengths alone rule out `SAME_DESCRIPTION`.

    >>> word_overlap("a light red lamp", "a light blue lamp")
    0.75
    """
    counts_a, counts_b = word_counts(a), word_counts(b)
    total = counts_a.total() + counts_b.total()
    if not total or 2 * min(counts_a.total(), counts_b.total()) < SAME_DESCRIPTION / 2 * total:
        return 0.0
    return 2 * (counts_a & counts_b).total() / total


@lru_cache(maxsize=2048)
def word_counts(value: str) -> Counter[str]:
    """Count the words of a text, in lower case.

    >>> word_counts("A lamp, a LAMP")
    Counter({'a': 2, 'lamp': 2})
    """
    return Counter(_WORD.findall(value[:MAX_DESCRIPTION_LENGTH].casefold()))


def _line(raw: str, max_length: int) -> str | None:
    # References and tags make a raw text longer; very long ones are refused before any work.
    if len(raw) > 3 * max_length + 200:
        return None
    line = without_tags(raw)
    if not 0 < len(line) <= max_length:
        return None
    return line


def _without_markup(markup: str) -> str:
    """Return the text between the tags."""
    # A parser is needed only where a tag is not plain.
    pieces = _TAGS.split(markup)
    replacement_of = {tag: _replacement(tag) for tag in set(pieces[1::2])}
    text = "".join([replacement_of.get(piece, piece) or "" for piece in pieces])
    if "<" not in text and None not in replacement_of.values():
        return text
    try:
        tree = open_html(_BLOCK.sub(" <", markup))
    except HostilePage:
        return _TAG.sub(" ", markup)
    if _HAS_NON_TEXT.search(markup):
        tree.strip_tags(_NON_TEXT_TAGS)
    return tree.body.text(separator="") if tree.body else ""


def _replacement(tag: str) -> str | None:
    """Return the replacement of a plain tag in a text, a space or nothing; None for all other
    tags.
    """
    if len(tag) > MAX_TAG_LENGTH:
        return None
    return _plain_replacement(tag)


@lru_cache(maxsize=4096)
def _plain_replacement(tag: str) -> str | None:
    match = _PLAIN_TAG.fullmatch(tag)
    name = match[1].lower() if match else ""
    if name in _BLOCK_TAGS:
        return " "
    if name in _INLINE_TAGS:
        return ""
    return None
