"""References and attributes of XML, read leniently; sitemaps use them as well as feeds."""

import html
import re
from functools import partial
from html.entities import html5

from catalog.feeds.rows import RepairNotice, Texts, no_notice

_ATTRIBUTE_PARTS = re.compile(
    r"""(?<![^\s=<>"'/])([^\s=<>"'/]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))"""
)
_REFERENCE = re.compile(r"&(#\d{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{0,31});")
_BARE_AMPERSAND = re.compile(r"&(?!#?[0-9a-zA-Z]{1,32};)")
_OTHER_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
_XML_REFERENCES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}


def resolve_references(text: str, notice: RepairNotice = no_notice) -> str:
    """Resolve the references of XML and HTML that end with a semicolon; all others are text.

    >>> resolve_references("Salt&nbsp;&amp; &#8364; &copy=1 &foo; &")
    'Salt\\xa0& € &copy=1 &foo; &'
    """
    if "&" not in text:
        return text
    if not _OTHER_AMPERSAND.search(text):
        # In this order, a reference that was escaped twice is resolved once.
        for name, character in _XML_REFERENCES.items():
            text = text.replace(f"&{name};", character)
        return text
    if _BARE_AMPERSAND.search(text):
        notice("XML repaired: a bare &")
    return _REFERENCE.sub(partial(_resolve, notice), text)


def _resolve(notice: RepairNotice, match: re.Match[str]) -> str:
    name = match[1]
    if name in _XML_REFERENCES:
        return _XML_REFERENCES[name]
    if not name.startswith("#"):
        if f"{name};" not in html5:
            notice("XML repaired: a reference to an unknown entity")
            return match[0]
        notice(f"XML repaired: the reference &{name}; is not of XML")
    return html.unescape(match[0])


def read_attributes(attributes: str, notice: RepairNotice = no_notice) -> Texts:
    """Read the attributes of a start tag by their local names; declarations of prefixes are left
    out.

    >>> read_attributes('xml:base="/a/" xmlns:g="x"')
    {'base': ['/a/']}
    """
    texts: Texts = {}
    if "=" not in attributes:
        return texts
    for name, double, single, bare in _ATTRIBUTE_PARTS.findall(attributes):
        if not name.startswith("xmlns"):
            texts[local_name(name)] = [resolve_references(double or single or bare, notice)]
    return texts


def local_name(name: str) -> str:
    """Return a name without its prefix."""
    return name.rpartition(":")[2]
