r"""String literals of JavaScript: their text, and JSON inside them.

JavaScript has escapes that JSON lacks (`\x27`, `\u{41}`, `\-`), and templates that write JavaScript
use them for every character that is no letter. A JSON decoder refuses a text for one of them.
"""

import re
from functools import lru_cache
from urllib.parse import unquote

QUOTED = r"""(?:"(?<!\\")[^"\\]*+(?:\\.[^"\\]*+)*+"|'(?<!\\')[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')"""
STRING_LITERAL = re.compile(rf"{QUOTED}|`[^`\\]*+(?:\\.[^`\\]*+)*+`")
# The quote of a string that holds JSON: a bracket follows, then a quote or another bracket, each
# perhaps escaped or, behind `%`, percent-encoded.
_ESCAPE_START = r"\\(?:u00|x)"
_OPENING_BRACKETS = rf"\s*+(?:(?:[{{\[]|{_ESCAPE_START}[57][bB])(?:\s|\\[nrt])*+){{1,2}}+"
OPENS_JSON_STRING = (
    rf""""(?={_OPENING_BRACKETS}(?:\\"|{_ESCAPE_START}22))"""
    rf"""|['`](?={_OPENING_BRACKETS}(?:\\?"|{_ESCAPE_START}22))"""
    r"""|["'](?=%(?:5[bB]%)?7[bB]%22)"""
)
_HEX = r"[\da-fA-F]"
ESCAPE = re.compile(
    rf"\\(?:x{_HEX}{{2}}|u{_HEX}{{4}}|u\{{(?:10|{_HEX})?{_HEX}{{1,4}}\}}|\r\n|.)", re.DOTALL
)
UNKNOWN_TO_JSON = re.compile(r"""\\(?:u\{|[^"'\\/bfnrtu])""")
KNOWN_TO_JSON = frozenset('"\\/bfnrt')
# The single-character escapes of ECMAScript; an escaped line break continues the string.
ESCAPED_CHARS = dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True)) | {"\n": "", "\r\n": ""}
SURROGATE = re.compile("[\ud800-\udfff]")


def literal_text(literal: str) -> str:
    r"""Return the text of a string or number literal.

    >>> literal_text(r"'it\'s'"), literal_text(r"'A7139\u002D71 \ud83d\ude00'")
    ("it's", 'A7139-71 😀')
    >>> literal_text(r'"Oak\x27s"'), literal_text("12.5")
    ("Oak's", '12.5')
    """
    return _unescape(literal[1:-1]) if literal[0] in "\"'`" else literal


def json_text_in(literal: str) -> str:
    r"""Return the JSON text inside a string literal, plain or percent-encoded.

    >>> json_text_in(r"'{\u0022a\u0022: 1}'"), json_text_in("'%7B%22a%22:1%7D'")
    ('{"a": 1}', '{"a":1}')
    """
    text = literal_text(literal)
    return unquote(text) if text.startswith("%") else text


def to_json_escapes(text: str) -> str:
    r"""Replace the escapes in the strings of an object or list by escapes of JSON.

    >>> to_json_escapes(r"{a: 'Oak\x27s \\x27 \"\-\u00e9'}")
    '{a: \'Oak\\u0027s \\\\x27 \\"\\u002d\\u00e9\'}'
    """
    return ESCAPE.sub(lambda escape: _json_escape(escape[0]), text)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    unescaped = ESCAPE.sub(lambda escape: _escaped_char(escape[0]), text)
    if unescaped.isascii() or SURROGATE.search(unescaped) is None:
        return unescaped
    # Joins the two halves of a surrogate pair that were escaped one by one.
    return unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=4096)
def _escaped_char(escape: str) -> str:
    number = escape[2:].strip("{}")
    if number and escape[1] in "xu":
        return chr(int(number, 16))
    return ESCAPED_CHARS.get(escape[1:], escape[1:])


@lru_cache(maxsize=4096)
def _json_escape(escape: str) -> str:
    if escape[1] in KNOWN_TO_JSON or (escape[1] == "u" and len(escape) == 6 and escape[2] != "{"):
        return escape
    # JSON has escapes for UTF-16 code units only: four hexadecimal digits each.
    units = _escaped_char(escape).encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
