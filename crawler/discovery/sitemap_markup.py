"""Entries of a sitemap or feed in XML, read tag by tag: broken markup costs no more than its entry.

An XML parser stops at the first slip, and a recovering one drops an unknown amount behind it: the
rest of the file, or every later reference. Here only the tags of entries, addresses and dates are
looked for, with any prefix and namespace. Nothing is resolved but the references of XML and HTML,
and the time is linear in the length of the text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from catalog.feeds.formats.xml.references import read_attributes, resolve_references

# Tags of one file that are looked at. Bound against hostile input: as many entries as are allowed,
# with 30 tags each.
MAX_TAGS = 1_500_000
# Tags of one entry that are read. Bound against hostile input: 1000 images, as Google allows, with
# four tags each, and as many languages.
MAX_ENTRY_TAGS = 5_000

# Reasons under which entries are counted that cannot be read.
NO_ADDRESS = "entry without an address"
CUT_OFF = "cut off"
TOO_MANY_TAGS = "too many tags"
TOO_LONG_ENTRY = f"entry cut after {MAX_ENTRY_TAGS} tags"
UNCLOSED = "comment or CDATA section not closed"

_ENTRIES_OF_ROOT = {
    "urlset": frozenset({"url", "sitemap"}),
    "sitemapindex": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "rdf": frozenset({"item"}),
    "feed": frozenset({"entry"}),
}
HTML_ROOT = "html"
_ROOTS = (*_ENTRIES_OF_ROOT, HTML_ROOT)
_ENTRIES = frozenset({"url", "sitemap", "item", "entry"})
FEED_ENTRIES = frozenset({"item", "entry"})
_DATES = frozenset({"lastmod", "updated", "modified"})
_FIELDS = ("loc", "link", "guid", "id", *_DATES)
# Elements whose inner addresses and dates are not those of the page (`image:loc`, a feed's image,
# `atom:source`, text in XHTML).
_INNER = ("image", "video", "news", "source", "content")
_NAMES = "|".join((*_ROOTS, *sorted(_ENTRIES), *_FIELDS, *_INNER))
_TAG = re.compile(
    r"<(?:(?P<section>!--|!\[CDATA\[)"
    rf"|(?P<close>/)?(?:(?P<prefix>[A-Za-z_][\w.-]{{0,40}}):)?(?P<name>{_NAMES})(?=[\s/<>])"
    r"""(?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>?)""",
    re.IGNORECASE,
)
# The end of an entry, or whatever shows that it has ended.
_ENTRY_END = re.compile(
    rf"</?+(?:[A-Za-z_][\w.-]{{0,40}}+:)?+(?:{'|'.join((*_ROOTS, *sorted(_ENTRIES)))})(?=[\s/<>])",
    re.IGNORECASE,
)
_TERMINATORS = {"!--": "-->", "![CDATA[": "]]>"}
# Text up to the next tag. A CDATA section that is not closed ends there too, as no address holds
# a `<`.
_VALUE = re.compile(
    r"(?:[^<]++|<!\[CDATA\[(?:[^\]<]++|\](?!\]>))*+(?:\]\]>)?+"
    r"|<!--[^<>]{0,200}-->|<(?![/!?A-Za-z_]))*+",
    re.IGNORECASE,
)
_VALUE_PART = re.compile(
    r"<!\[CDATA\[(?P<cdata>(?:[^\]<]++|\](?!\]>))*+)(?:\]\]>)?+|<!--[^<>]{0,200}-->|(?P<text>[^<]++|<)",
    re.IGNORECASE,
)
# A CDATA section that was escaped once more.
_ESCAPED_CDATA = re.compile(r"\s*<!\[CDATA\[(?P<text>[^<]*?)\]\]>\s*", re.IGNORECASE)
# A text that is an address for certain.
_ADDRESS = re.compile(r"(?:https?:)?/\S+", re.IGNORECASE)
# Characters around an address that str.strip() keeps: zero-width spaces and byte order marks.
BLANKS = " \t\r\n\f\v\u00a0\u200b\u200c\u200d\u2060\ufeff"


@dataclass
class Entry:
    """An entry's addresses, those of the same page in other languages, and its last change.

    `alternates` are pairs of a language as `hreflang` writes it, "" where none is given, and an
    address. `bases` are the values of `xml:base` that its addresses are relative to, outermost
    first.
    """

    name: str
    addresses: list[str] = field(default_factory=list)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    changed: str = ""
    bases: tuple[str, ...] = ()
    # Permanent addresses that feeds write elsewhere; they count where no link is given.
    substitutes: list[str] = field(default_factory=list)


class MarkupReader:
    """Reader of the entries of one text.

    `root` is the local name of its root element, "" where it has no known one. After the entries,
    `skipped` maps reasons to the numbers of entries that could not be read.
    """

    def __init__(self, text: str) -> None:
        self.root = ""
        self.skipped: Counter[str] = Counter()
        self._text = text
        self._entry: Entry | None = None
        self._entry_tags = 0
        self._inner = ""
        self._bases: tuple[str, ...] = ()
        self._is_closed = False
        self._is_cut_off = False
        # Position of the next end of a section, by its mark; -1 where there is none.
        self._section_ends: dict[str, int] = {}

    def __iter__(self) -> Iterator[Entry]:
        position = 0
        for _ in range(MAX_TAGS):
            tag = _TAG.search(self._text, position)
            if tag is None:
                break
            position = tag.end()
            if tag["section"]:
                position = self._skip_section(tag)
                continue
            name = tag["name"].lower()
            if name in _ROOTS:
                self._visit_root(tag, name)
                if self.root == HTML_ROOT:
                    return
            elif self._is_entry(name):
                yield from self._take_entry()
                if not tag["close"]:
                    position = self._open_entry(tag, name)
            else:
                position = self._visit_part(tag, name)
        else:
            self.skipped[TOO_MANY_TAGS] += 1
        is_cut_off = self._is_cut_off or bool(self.root and not self._is_closed)
        if is_cut_off:
            self.skipped[CUT_OFF] += 1
        # A part of an entry is no entry without an address.
        if self._entry is not None and (self._entry.addresses or not is_cut_off):
            yield from self._take_entry()

    def _skip_section(self, tag: re.Match[str]) -> int:
        """Return the end of a comment or CDATA section; of its start only, if it is not closed."""
        mark = tag["section"].upper()
        terminator = _TERMINATORS[mark]
        end = self._section_ends.get(mark, 0)
        if 0 <= end < tag.end():
            end = self._section_ends[mark] = self._text.find(terminator, tag.end())
        # One that begins before the end of another one shows that the other is not closed.
        if end < 0 or self._text.find(f"<{mark}", tag.end(), end) >= 0:
            self.skipped[UNCLOSED] += 1
            return tag.end()
        return end + len(terminator)

    def _visit_root(self, tag: re.Match[str], name: str) -> None:
        if tag["close"]:
            self._is_closed = self._is_closed or name == self.root
        elif not self.root:
            self.root = name
            self._is_closed = tag["attributes"].endswith("/")
            self._bases = tuple(read_attributes(tag["attributes"]).get("base", ()))

    def _is_entry(self, name: str) -> bool:
        return name in _ENTRIES_OF_ROOT.get(self.root, _ENTRIES)

    def _take_entry(self) -> Iterator[Entry]:
        """Yield the entry that ends here, if it can be read."""
        entry, self._entry = self._entry, None
        self._entry_tags, self._inner = 0, ""
        if entry is None:
            return
        if not entry.addresses:
            entry.addresses = entry.substitutes[:1]
        if entry.addresses:
            yield entry
        else:
            self.skipped[NO_ADDRESS] += 1

    def _open_entry(self, tag: re.Match[str], name: str) -> int:
        attributes = read_attributes(tag["attributes"])
        bases = (*self._bases, *attributes.get("base", ()))
        self._entry = Entry(name, bases=bases, substitutes=attributes.get("about", []))
        if name in FEED_ENTRIES:
            return tag.end()
        # Some sitemaps hold the address without an element of its own.
        text, end = self._read_value(tag.end())
        if text and _ADDRESS.fullmatch(text):
            self._entry.addresses.append(text)
        return end

    def _visit_part(self, tag: re.Match[str], name: str) -> int:
        """Read a tag within an entry; returns the position to go on at.

        That is the end of the entry where it has more tags than are read.
        """
        if self._entry is not None:
            self._entry_tags += 1
        if self._entry_tags > MAX_ENTRY_TAGS:
            self.skipped[TOO_LONG_ENTRY] += 1
            end = _ENTRY_END.search(self._text, tag.end())
            return end.start() if end else len(self._text)
        if name in _INNER:
            self._visit_inner(tag, name)
        elif not tag["close"]:
            return self._read_field(tag, name)
        return tag.end()

    def _visit_inner(self, tag: re.Match[str], name: str) -> None:
        if tag["close"]:
            self._inner = "" if name == self._inner else self._inner
        elif not self._inner and not tag["attributes"].endswith("/"):
            self._inner = name

    def _read_field(self, tag: re.Match[str], name: str) -> int:
        """Read a field of the current entry; returns the position behind its value."""
        entry = self._entry
        if self._inner or (tag["prefix"] or "").lower() in _INNER:
            return tag.end()
        if entry is None:
            if name != "loc":
                return tag.end()
            # An address outside an entry: the tags of its entry are broken.
            entry = self._entry = Entry("url", bases=self._bases)
        is_broken = not tag[0].endswith(">")
        if is_broken or (name == "link" and self._read_link(entry, tag)):
            return tag.end()
        value, end = self._read_value(tag.end())
        if name in _DATES:
            entry.changed = value
        elif not value:
            return end
        elif entry.name not in FEED_ENTRIES:
            if name == "loc":
                entry.addresses.append(value)
        elif name == "link" and not entry.addresses:
            entry.addresses.append(value)
        elif name in ("guid", "id") and _is_permanent_link(tag, value):
            entry.substitutes.append(value)
        return end

    def _read_link(self, entry: Entry, tag: re.Match[str]) -> bool:
        """Read the address in a link's attributes; returns False if it has none there."""
        attributes = read_attributes(tag["attributes"])
        address = attributes.get("href", [""])[0].strip(BLANKS)
        if not address:
            return False
        relations = attributes.get("rel", ["alternate"])[0].lower().split()
        if "alternate" not in relations:
            return True
        if entry.name not in FEED_ENTRIES or entry.addresses:
            language = attributes.get("hreflang", [""])[0].strip()
            entry.alternates.append((language, address))
        else:
            entry.addresses.append(address)
        return True

    def _read_value(self, position: int) -> tuple[str, int]:
        """Return the text from a position up to the next tag, and the position of that tag.

        The text is "" where no tag follows: it may be a part of the value only.
        """
        match = _VALUE.match(self._text, position)
        end = match.end() if match else position
        if end >= len(self._text):
            self._is_cut_off = True
            return "", end
        value = _clean_value(self._text[position:end])
        # A reference to an entity of the document's own is not resolved.
        return "" if value.startswith("&") else value, end


def _clean_value(text: str) -> str:
    """Resolve the CDATA sections, comments and references of a text.

    >>> _clean_value(" <![CDATA[https://a.de/x?a=1&b=2]]> "), _clean_value("/x?a=1&amp;b=2&copy=3")
    ('https://a.de/x?a=1&b=2', '/x?a=1&b=2&copy=3')
    """
    if "<" not in text:
        text = resolve_references(text)
        if escaped := _ESCAPED_CDATA.fullmatch(text):
            text = escaped["text"]
        return text.strip(BLANKS)
    pieces: list[str] = []
    for part in _VALUE_PART.finditer(text):
        if part["cdata"] is not None:
            pieces.append(part["cdata"])
        elif part["text"]:
            pieces.append(resolve_references(part["text"]))
    return "".join(pieces).strip(BLANKS)


def _is_permanent_link(tag: re.Match[str], value: str) -> bool:
    """Return True if an identifier of an entry is its address as well."""
    is_link = read_attributes(tag["attributes"]).get("isPermaLink", ["true"])[0].lower() != "false"
    return is_link and value.lower().startswith(("http://", "https://"))
