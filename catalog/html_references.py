"""Character references of HTML, resolved in any text."""

import html
import re

# References to numbers of so many digits are to no character, whatever they are.
_ENDLESS_NUMBER = re.compile(r"&#(?:[0-9]{20,}|[xX][0-9a-fA-F]{20,});?")
_REPLACEMENT_CHARACTER = "\ufffd"


def unescape_references(text: str) -> str:
    """Resolve all character references, as browsers do.

    The standard library refuses numbers of more than 4,300 digits.

    >>> unescape_references("Salt &amp; pepper &#8364;"), unescape_references(f"&#{'1' * 5000};")
    ('Salt & pepper €', '\ufffd')
    """
    try:
        return html.unescape(text)
    except ValueError:
        return html.unescape(_ENDLESS_NUMBER.sub(_REPLACEMENT_CHARACTER, text))
