r"""What strings in code say, and those that say data: `JSON.parse("{\"sku\": 1}")`.

JavaScript has escapes that JSON lacks (`\x27`, `\u{41}`, `\-`), and those who write JavaScript by a template use them
for all that is no letter. JSON's own decoder refuses a text for one of them.
"""

import re
from functools import lru_cache
from urllib.parse import unquote

QUOTED = r"""(?:"(?<!\\")[^"\\]*+(?:\\.[^"\\]*+)*+"|'(?<!\\')[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')"""
WRITTEN = re.compile(rf"{QUOTED}|`[^`\\]*+(?:\\.[^`\\]*+)*+`")
ESCAPED = r"\\(?:u00|x)"
OPENED = rf"\s*+(?:(?:[{{\[]|{ESCAPED}[57][bB])(?:\s|\\[nrt])*+){{1,2}}+"
OF_JSON = rf""""(?={OPENED}(?:\\"|{ESCAPED}22))|['`](?={OPENED}(?:\\?"|{ESCAPED}22))|["'](?=%(?:5[bB]%)?7[bB]%22)"""
HEX = r"[\da-fA-F]"
ESCAPE = re.compile(
    rf"\\(?:x{HEX}{{2}}|u{HEX}{{4}}|u\{{(?:10|{HEX})?{HEX}{{1,4}}\}}|\r\n|.)", re.DOTALL
)
UNKNOWN_TO_JSON = re.compile(r"""\\(?:u\{|[^"'\\/bfnrtu])""")
KNOWN_TO_JSON = frozenset('"\\/bfnrt')
MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": "", "\r\n": ""}
HALF = re.compile("[\ud800-\udfff]")


def literal(value: str) -> str:
    r"""What a string or number that stands in code says.

    >>> literal(r"'it\'s'"), literal(r"'A7139\u002D71 \ud83d\ude00'"), literal(r'"Oak\x27s"'), literal("12.5")
    ("it's", 'A7139-71 😀', "Oak's", '12.5')
    """
    return _unescaped(value[1:-1]) if value[0] in "\"'`" else value


def json_in(string: str) -> str:
    r"""What a string says of which JSON is expected, as it is or as an address has it.

    >>> json_in(r"'{\u0022a\u0022: 1}'"), json_in("'%7B%22a%22:1%7D'")
    ('{"a": 1}', '{"a":1}')
    """
    said = literal(string)
    return unquote(said) if said.startswith("%") else said


def with_escapes_of_json(text: str) -> str:
    r"""The text of an object or list, with those escapes in its strings that JSON knows.

    >>> with_escapes_of_json(r"{a: 'Oak\x27s \\x27 \"\-\u00e9'}")
    '{a: \'Oak\\u0027s \\\\x27 \\"\\u002d\\u00e9\'}'
    """
    return ESCAPE.sub(lambda escape: _as_in_json(escape[0]), text)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    said = ESCAPE.sub(lambda escape: _meant(escape[0]), text)
    if said.isascii() or HALF.search(said) is None:
        return said
    return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=4096)
def _meant(escape: str) -> str:
    number = escape[2:].strip("{}")
    return (
        chr(int(number, 16)) if number and escape[1] in "xu" else MEANT.get(escape[1:], escape[1:])
    )


@lru_cache(maxsize=4096)
def _as_in_json(escape: str) -> str:
    if escape[1] in KNOWN_TO_JSON or (escape[1] == "u" and len(escape) == 6 and escape[2] != "{"):
        return escape
    units = _meant(escape).encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
