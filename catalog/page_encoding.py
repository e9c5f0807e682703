"""The encoding of an HTML page, chosen as a browser does.

The order is that of the HTML Standard ("determining the character encoding"): a byte order mark,
the header, a `<meta>` tag, an XML declaration, windows-1252. Labels are those of the Encoding
Standard, whose table the library webencodings holds; w3lib's own resolver takes every codec of
Python for an encoding, `hex` and `idna` among them.

Scout is more lenient than a browser in four places, none of which changes a page that a browser
shows well. A page without a label that is UTF-8, or mostly so, is read as UTF-8. A `<meta>` tag far
into the page counts where the page is not UTF-8. A header that says UTF-16 of a page without zeros
is ignored. A label that only Python knows (`latin-1`,
`win-1251`) is accepted if it names an encoding of text that contains ASCII.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import webencodings  # type: ignore[import-untyped]
from w3lib.encoding import read_bom, resolve_encoding

UTF8 = "utf-8"
# The encoding of pages that name none and are not UTF-8 (HTML Standard, step 9).
LAST_RESORT = "cp1252"
# Bytes at the start of a page in which a `<meta>` tag always counts. Browsers read 1,024 bytes, or
# the whole head.
PROLOGUE_SIZE = 4_096
# Bytes behind the prologue in which a tag that begins there may end.
MAX_META_LENGTH = 1_024
# Characters of a label. Longer ones are unknown.
MAX_LABEL_LENGTH = 40
# Characters of a header. Longer ones are not read.
MAX_HEADER_LENGTH = 1_000

# Codecs of Python for encodings that it names otherwise, or of which it knows only a part. GBK is
# decoded as GB18030 by the Encoding Standard.
_PYTHON_NAMES = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    # The Encoding Standard decodes it to private characters, the HTML Standard as windows-1252.
    "x-user-defined": LAST_RESORT,
}
_UTF16 = frozenset(("utf-16-le", "utf-16-be"))
# Codecs of Python that decode text, but are no encodings of pages.
_NO_PAGE_ENCODINGS = frozenset(
    (
        "idna",
        "punycode",
        "undefined",
        "unicode_escape",
        "raw_unicode_escape",
        "utf-7",
        "mbcs",
        "oem",
    )
)
_PRINTABLE_ASCII = bytes(range(0x20, 0x7F))
_XML_IN_UTF16 = {b"<\x00?\x00x\x00": "utf-16-le", b"\x00<\x00?\x00x": "utf-16-be"}

# Parameters of a header; one in quotes may hold anything (Fetch Standard).
_HEADER_PARAMETER = re.compile(
    r"""(?:^|;)[ \t]*(?P<name>[^\s;="]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<token>[^\s;,]*))"""
)
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
_RAW_TEXT_TAGS = (b"script", b"style", b"title", b"textarea")
_RAW_TEXT = b"|".join(rb"<%b\b(?:[^<]++|<(?!/%b))*+" % (tag, tag) for tag in _RAW_TEXT_TAGS)
# Comments, scripts, titles and quoted attributes are consumed as a whole: tags in them are text.
_MARKUP = re.compile(
    rb"""<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+)|%b|<meta(?=[\s/])(?P<meta>(?:%b)*+)"""
    rb"""|</?[a-z][^\s/>]*+(?:%b)*+""" % (_RAW_TEXT, _ATTRIBUTE, _ATTRIBUTE),
    re.IGNORECASE,
)
_TAG_END = re.compile(rb"[\s/]*+>")
_ATTRIBUTE_PARTS = re.compile(
    rb"""[\s/]*+(?P<name>[^\s/>][^\s/>=]*+)"""
    rb"""(?:\s*+=\s*+(?:"(?P<double>[^"]*+)"?|'(?P<single>[^']*+)'?|(?P<bare>[^\s>]*+)))?+"""
)
_CHARSET_IN_CONTENT = re.compile(rb"""charset\s*=\s*["']?\s*([^\s;,"']+)""", re.IGNORECASE)
_LABEL = re.compile(rb"""\s*["']?([^\s;,"']+)""")
# The attribute and its value, however they are spelt.
_PRAGMA_NAMES = frozenset((b"http-equiv", b"http_equiv", b"httpequiv"))
_PRAGMA = re.compile(rb"content[-_ ]?type", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']\s*([^\s"'>]+)""")
_NON_ASCII = re.compile("[^\x00-\x7f\ufffd]")
# Begins the escape sequences of ISO-2022-JP, whose bytes are all ASCII.
_ESCAPE = b"\x1b"


class PageEncoding(NamedTuple):
    """Python's name of the encoding of a page, and the bytes of its byte order mark."""

    name: str
    bom_length: int


def detect_encoding(body: bytes, content_type: str | None = None) -> PageEncoding:
    """Detect the encoding of a page by its byte order mark, its header, or its own markup.

    >>> [detect_encoding(body).name for body in (b"<p>abc", b"<p>caf\\xe9", b'<meta charset="utf-16">')]
    ['utf-8', 'cp1252', 'utf-8']
    >>> detect_encoding(b"\\xef\\xbb\\xbfabc", "text/html; charset=latin1")
    PageEncoding(name='utf-8', bom_length=3)
    """
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        return PageEncoding(bom_encoding, len(bom))
    encoding = _encoding_in_header(content_type) if content_type else None
    # Markup in UTF-16 has a zero in each of its signs.
    if encoding in _UTF16 and b"\x00" not in body[:PROLOGUE_SIZE]:
        encoding = None
    if encoding is None:
        encoding = _encoding_in_prologue(body) or _encoding_of_unlabelled(body)
    return PageEncoding(encoding, 0)


def encoding_of_label(label: str) -> str | None:
    """Return Python's name of the encoding that a label means; None for an unknown label.

    >>> [encoding_of_label(label) for label in ("Latin1", "gb2312", "utf8", "hex", "utf-7")]
    ['cp1252', 'gb18030', 'utf-8', None, None]
    """
    if not label.isascii() or len(label) > MAX_LABEL_LENGTH:
        return None
    return _resolve(label.strip().lower())


@lru_cache(maxsize=256)
def _resolve(label: str) -> str | None:
    encoding = webencodings.lookup(label)
    if encoding is None:
        return _resolve_by_python(label)
    # Encodings that a browser refuses to decode: the page may still say better.
    if encoding.name == "replacement":
        return None
    name = _PYTHON_NAMES.get(encoding.name, encoding.name)
    return codecs.lookup(name).name


def _resolve_by_python(label: str) -> str | None:
    try:
        name = resolve_encoding(label)
        if (
            name is None
            or name.replace("-", "_") in _NO_PAGE_ENCODINGS
            or name in _NO_PAGE_ENCODINGS
        ):
            return None
        # Raises LookupError for a codec that is not of text.
        is_ascii_superset = _PRINTABLE_ASCII.decode(name) == _PRINTABLE_ASCII.decode("ascii")
    except (LookupError, UnicodeError, ValueError):
        return None
    return name if is_ascii_superset else None


@lru_cache(maxsize=256)
def _encoding_in_header(content_type: str) -> str | None:
    if len(content_type) > MAX_HEADER_LENGTH:
        return None
    for parameter in _HEADER_PARAMETER.finditer(content_type):
        if parameter["name"].lower() != "charset":
            continue
        label = parameter["quoted"] or parameter["token"] or ""
        if encoding := encoding_of_label(label.strip("'\"")):
            return encoding
    return None


def _encoding_in_prologue(body: bytes) -> str | None:
    """Return the encoding that a `<meta>` tag or an XML declaration names."""
    if encoding := _XML_IN_UTF16.get(body[:6]):
        return encoding
    prologue = body[: PROLOGUE_SIZE + MAX_META_LENGTH]
    if b"charset" in prologue or b"charset" in prologue.lower():
        for position, encoding in _encodings_in_meta(prologue):
            if position < PROLOGUE_SIZE:
                return encoding
            break
    xml = _XML_ENCODING.match(prologue)
    return _encoding_in_markup(xml[1]) if xml else None


def _encoding_of_unlabelled(body: bytes) -> str:
    """Return UTF-8 if the page is UTF-8 or mostly so, else the encoding of a late `<meta>` tag,
    else windows-1252.
    """
    if body.isascii():
        if _ESCAPE not in body:
            return UTF8
        return _encoding_in_late_meta(body) or UTF8
    try:
        body.decode(UTF8)
        return UTF8
    except UnicodeDecodeError:
        if encoding := _encoding_in_late_meta(body):
            return encoding
    text = body.decode(UTF8, "replace")
    invalid = text.count("\ufffd")
    # A page that is cut inside a character, or quotes another page, is still UTF-8.
    valid = sum(1 for _ in _NON_ASCII.finditer(text))
    return UTF8 if valid > invalid else LAST_RESORT


def _encoding_in_late_meta(body: bytes) -> str | None:
    for _, encoding in _encodings_in_meta(body):
        return encoding
    return None


def _encodings_in_meta(markup: bytes) -> Iterator[tuple[int, str]]:
    """Yield the position of each `<meta>` tag that names a known encoding, and this encoding."""
    for match in _MARKUP.finditer(markup):
        attributes = match["meta"]
        # A tag that is not closed is cut off.
        if not attributes or not _TAG_END.match(markup, match.end()):
            continue
        label = _label_in_meta(attributes)
        encoding = _encoding_in_markup(label) if label else None
        if encoding:
            yield match.start(), encoding


def _label_in_meta(attributes: bytes) -> bytes | None:
    """Return the label that a `<meta>` tag names: in `charset`, or in the `content` of a pragma."""
    if b"charset" not in attributes.lower():
        return None
    is_pragma = False
    label_in_content: bytes | None = None
    for match in _ATTRIBUTE_PARTS.finditer(attributes):
        name = match["name"].lower()
        value = match["double"] or match["single"] or match["bare"] or b""
        if name == b"charset" and (label := _LABEL.match(value)):
            return label[1]
        if name == b"content" and label_in_content is None:
            charset = _CHARSET_IN_CONTENT.search(value)
            label_in_content = charset[1] if charset else None
        if name in _PRAGMA_NAMES and _PRAGMA.search(value):
            is_pragma = True
    return label_in_content if is_pragma else None


def _encoding_in_markup(label: bytes) -> str | None:
    """Return the encoding of a page's label; not UTF-16, as the label was read as ASCII."""
    encoding = encoding_of_label(label.decode("latin-1"))
    return UTF8 if encoding in _UTF16 else encoding
