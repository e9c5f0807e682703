"""Text: titles, brands and descriptions as readers see them, whatever their encoding went through.

The thesis counts half of its mismatches as differences of encoding and separators only (Hübscher 2018): NFKC, character
references, white space and invisible characters are settled here once, for every kind of value.
"""

import hashlib
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Literal

from catalog.errors import HostilePage
from catalog.html import open_html

SAME_DESCRIPTION = 0.8
LONGEST_TITLE = 500
LONGEST_BRAND = 120
LONGEST_DESCRIPTION = 20_000
LONGEST_HTML = 200_000
_SAYS_NOTHING = """
- -- --- — – . .. ... ? n/a n.a. na n/d n.d. n/b n.b. n.v. k.a. н/д none null nil no undefined unknown unspecified
unbekannt keine keine-angabe ninguno ninguna desconocido aucun aucune inconnu nessuno nessuna sconosciuto geen onbekend
brak yok غير-محدد not-applicable not-specified not-available does-not-apply nan false
"""
_NOTHING = frozenset(_SAYS_NOTHING.split())
_PICTURE = "[©®‼⁉™ℹ←-⇿⌚-⏿Ⓜ▪-◾☀-➿⤴⤵⬀-⯿〰〽㊗㊙\U0001f000-\U0001faff]"
_JOINTS = "\u200d\ufe0f"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\uffff"
    f"\ud800-\udfff](?:(?<![{_JOINTS}])|(?<!{_PICTURE}[{_JOINTS}])(?<!{_PICTURE}\ufe0f[{_JOINTS}])(?!\u20e3))"
)
_NO_JOINTS = dict.fromkeys(map(ord, _JOINTS))
_NEAR_THE_END = b"\xef"
_BUT_RAISED = re.compile("[^ª²³¹º¼½¾⁰-₟″‴⅐-⅟↉℠™]+")
_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,2000}|!--[^<>]{0,2000}--)>")
_ESCAPED_TAG = re.compile(r"&(?:amp;|#)*(?:lt|\d|x)", re.IGNORECASE)
_BLOCK = re.compile(
    r"<(?=/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol"
    r"|option|p|pre|section|table|tbody|td|th|thead|tr|ul)\b)",
    re.IGNORECASE,
)
_NOT_TEXT = ["script", "style", "template", "noscript", "iframe", "object", "svg"]
_HAS_NOT_TEXT = re.compile(rf"<(?:{'|'.join(_NOT_TEXT)})", re.IGNORECASE)
_SAID = r"""(?:\s+[a-z][\w:-]*(?:=(?:"[^"<>]*"|'[^'<>]*'|[\w#%.:;/-]+))?)*\s*/?"""
_PLAIN_TAG = re.compile(rf"</?([a-z][a-z1-6]*){_SAID}>", re.IGNORECASE | re.ASCII)
_BREAKS = """
article aside blockquote br dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p section table
tbody td th thead tr ul
"""
_APART = frozenset(_BREAKS.split())
_WITHIN = frozenset("a b em font i img meta small span strong sub sup u".split())
_TAGS = re.compile(r"(<[^<>]*>)")
_LONGEST_TAG = 500
_WORD = re.compile(r"\w+")
SEPARATOR = " > "
SHORTEST_GTIN = 8
Sign = Literal["quotes", "dashes", "times"]
SIGNS: dict[Sign, dict[str, str]] = {
    "quotes": dict.fromkeys("‘’‚′", "'") | dict.fromkeys("“”„″", '"'),
    "dashes": dict.fromkeys("‐‑‒–—−", "-"),
    "times": {"×": "x"},
}


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first, so that none hides one that it begins.

    >>> any_of(["kr", "kr."])
    'kr\\\\.|kr'
    """
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def plain(raw: str) -> str:
    """References resolved, NFKC, invisible characters gone, white space collapsed.

    Fractions and raised signs stay as they are: their letters would be read with what stands before them, `31⁄2′′`.

    >>> plain(" Caf\\u0065\\u0301&amp;nbsp;\\u200bCr&egrave;me\\n"), plain("Scissors™ 3½″ ﬁne")
    ('Café Crème', 'Scissors™ 3½″ fine')
    """
    for _ in range(4):
        if "&" not in raw or (resolved := html.unescape(raw)) == raw:
            break
        raw = resolved
    return tidy(raw)


def tidy(raw: str) -> str:
    """NFKC, invisible characters gone, white space collapsed."""
    line = " ".join(raw.split())
    printable = line.isprintable()
    if printable and line.isascii():
        return line
    if not printable or _NEAR_THE_END in line.encode("utf-8", "replace"):
        line = " ".join(_INVISIBLE.sub("", line).split())
    if unicodedata.is_normalized("NFKC", line):
        return line
    return " ".join(_BUT_RAISED.sub(_folded, line).split())


def _folded(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def untagged(raw: str) -> str:
    """The plain text without its tags."""
    found = plain(raw)
    return plain(_TAG.sub(" ", found)) if "<" in found and ">" in found else found


def title(raw: str) -> str | None:
    """A title, or any other line; tags in it are dropped.

    >>> title("Mixer&nbsp;<b>500&amp;nbsp;W</b>")
    'Mixer 500 W'
    """
    return _line(raw, LONGEST_TITLE)


def brand(raw: str) -> str | None:
    """A brand; None for the ways to say that there is none, for trade numbers and for paths.

    >>> brand("n/a") is None, brand(" Bosch "), brand("4006381333931"), brand("Bikes > Tyres")
    (True, 'Bosch', None, None)
    """
    found = _line(raw, LONGEST_BRAND)
    if found is None or is_nothing(found) or SEPARATOR in found:
        return None
    return None if found.isdigit() and len(found) >= SHORTEST_GTIN else found


def is_nothing(value: str) -> bool:
    """Whether the text only says that there is no value."""
    return len(value) < 20 and value.casefold().replace(" ", "-") in _NOTHING


def description(raw: str) -> str | None:
    """A description without its markup, at most 20,000 characters of it; None for the ways to say that there is none.

    >>> description("<p>Light.</p><p>Fo<b>ld</b>able</p><style>p {}</style>"), description("null")
    ('Light. Foldable', None)
    """
    if len(raw) > LONGEST_HTML or not raw or raw.isspace():
        return None
    found = (
        plain(_without_markup(raw)) if "<" in raw and not _ESCAPED_TAG.search(raw) else plain(raw)
    )
    for _ in range(3):
        if "<" not in found or not _TAG.search(found):
            break
        found = plain(_without_markup(found))
    return None if is_nothing(found) else found[:LONGEST_DESCRIPTION].rstrip() or None


def key(value: str) -> str:
    """Equal for texts that differ in case, in kinds of quotes, dashes or signs for times only.

    >>> key("Men’s T–Shirt") == key("MEN'S T-SHIRT"), key(plain("24″ Screen")) == key('24" Screen')
    (True, True)
    >>> key("5 m²") == key("5 m2")
    True
    """
    if value.isascii():
        return typed(value.casefold())
    bare = value.translate(_NO_JOINTS) if any(map(value.__contains__, _JOINTS)) else value
    return typed(unicodedata.normalize("NFKC", bare).casefold())


def typed(value: str, kinds: tuple[Sign, ...] = tuple(SIGNS)) -> str:
    """With the signs of a keyboard for those that a typesetter, or a shop's software, has put in their place.

    >>> typed("24″ – “Lamp”"), typed(plain("24″")), typed("24″ – “Lamp”", ("quotes",))
    ('24" - "Lamp"', '24"', '24" – "Lamp"')
    """
    found = value if value.isascii() else value.translate(_keyboard(kinds))
    return found.replace("''", '"') if "quotes" in kinds else found


@lru_cache(maxsize=16)
def _keyboard(kinds: tuple[Sign, ...]) -> dict[int, str]:
    return str.maketrans({sign: key for kind in kinds for sign, key in SIGNS[kind].items()})


def start_key(value: str) -> str:
    """A description's key: a hash of its first dozen words."""
    start = " ".join(islice((word[0] for word in _WORD.finditer(value, 0, 400)), 12)).casefold()
    return hashlib.blake2b((start or value).encode(), digest_size=8).hexdigest()


def overlap(a: str, b: str) -> float:
    """The share of words that two texts have in common (Dice's coefficient over their words, with repetition).

    >>> overlap("a light red lamp", "a light blue lamp")
    0.75
    """
    left, right = words(a), words(b)
    total = left.total() + right.total()
    if not total or 2 * min(left.total(), right.total()) < SAME_DESCRIPTION / 2 * total:
        return 0.0
    return 2 * (left & right).total() / total


def _line(raw: str, longest: int) -> str | None:
    if len(raw) > 3 * longest + 200:
        return None
    found = untagged(raw)
    return found if 0 < len(found) <= longest else None


def _without_markup(markup: str) -> str:
    """The text between the tags: without a tree where all tags are plain ones, or one would take minutes."""
    pieces = _TAGS.split(markup)
    said = {tag: _stands_for(tag) for tag in set(pieces[1::2])}
    bare = "".join([said.get(piece, piece) or "" for piece in pieces])
    if "<" not in bare and None not in said.values():
        return bare
    try:
        tree = open_html(_BLOCK.sub(" <", markup))
    except HostilePage:
        return _TAG.sub(" ", markup)
    if _HAS_NOT_TEXT.search(markup):
        tree.strip_tags(_NOT_TEXT)
    return tree.body.text(separator="") if tree.body else ""


def _stands_for(tag: str) -> str | None:
    """What a plain tag leaves in a text: a gap or nothing; None of all others."""
    return _gap_of(tag) if len(tag) <= _LONGEST_TAG else None


@lru_cache(maxsize=4096)
def _gap_of(tag: str) -> str | None:
    plain_tag = _PLAIN_TAG.fullmatch(tag)
    name = plain_tag[1].lower() if plain_tag else ""
    return " " if name in _APART else "" if name in _WITHIN else None


@lru_cache(maxsize=2048)
def words(value: str) -> Counter[str]:
    """The words of a text, in lower case, each with how often it stands there.

    >>> words("A lamp, a LAMP")
    Counter({'a': 2, 'lamp': 2})
    """
    return Counter(_WORD.findall(value[:LONGEST_DESCRIPTION].casefold()))
