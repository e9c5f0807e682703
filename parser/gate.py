"""Is this an offer page, and of which template? Told by marks of the markup, learnt from pages of known offers.

Marks are what a template leaves on each of its pages: tags with their classes, ids, schema.org names, the names of data
blocks, the folder of the URL; digits are folded. Category, search and article pages share the shop's header and footer
with its offers, so `rules_generator.templates` weighs each mark by how much rarer it is on other pages.
"""

import re
from urllib.parse import urlsplit

from parser.document import Document
from parser.rules import RuleSet, Signature, Template

MOST_NODES = 20_000
NAMED = ("itemprop", "property", "itemtype", "typeof", "name")
DIGITS = re.compile(r"\d+")
FRONT_DOOR = re.compile(r"/?|/(?:index|home|default)(?:\.\w{2,5})?/?", re.IGNORECASE)


def marks_of(document: Document) -> frozenset[str]:
    """The marks of a page."""
    marks: set[str] = set(_folders(document.url))
    for count, node in enumerate(document.tree.css("[class], [id], [itemprop], [property], [itemtype], meta[name]")):
        if count >= MOST_NODES:
            break
        tag, attributes = node.tag or "", node.attributes
        marks.update(f"{tag}.{name}" for name in (attributes.get("class") or "").split()[:12])
        if attributes.get("id"):
            marks.add(f"#{attributes['id']}")
        marks.update(f"{tag}[{name}={attributes[name]}]" for name in NAMED if attributes.get(name))
        if attributes.get("property") == "og:type":
            marks.add(f"og:type={attributes.get('content')}")
    marks.update(f"{block.css}{{{block.name}}}" for block in document.blocks)
    return frozenset(DIGITS.sub("0", mark)[:120] for mark in marks)


def likeness(marks: frozenset[str], signature: Signature) -> float:
    """The weighted share of a signature's marks that a page shows, in [0, 1]; 1 where the signature has none."""
    whole = sum(signature.marks.values())
    return sum(weight for mark, weight in signature.marks.items() if mark in marks) / whole if whole else 1.0


def template_of(document: Document, rules: RuleSet) -> tuple[Template | None, float]:
    """The template that a page is built from, and its likeness; None where it is like none of them."""
    if is_front_door(document.url):
        return None, 0.0
    if all(not template.signature.marks for template in rules.templates):
        return (rules.templates[0], 1.0) if rules.templates else (None, 0.0)
    marks = marks_of(document)
    likest, template = max(
        ((likeness(marks, template.signature), template) for template in rules.templates), key=lambda pair: pair[0]
    )
    return (template, likest) if likest >= template.signature.least else (None, likest)


def is_front_door(url: str) -> bool:
    """Whether a URL is the shop's start page, which may show a whole product but is never that product's page.

    >>> is_front_door("https://shop.example/index.html"), is_front_door("https://shop.example/?p=12")
    (True, False)
    """
    parts = urlsplit(url)
    return not parts.query and FRONT_DOOR.fullmatch(parts.path) is not None


def _folders(url: str) -> list[str]:
    folders = [part for part in urlsplit(url).path.split("/") if part][:-1]
    return [f"url:/{'/'.join(folders[:depth])}/" for depth in range(1, len(folders) + 1)][:3]
