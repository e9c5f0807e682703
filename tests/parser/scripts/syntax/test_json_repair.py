"""Repair of broken JSON-LD."""

import time

import pytest

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.syntax.json_repair import repair_leading

FAULTS = {
    "a quote in a string": (
        '{"name": "Lamp 24" wide", "sku": "A"}',
        {"name": 'Lamp 24" wide', "sku": "A"},
    ),
    "one at its beginning": (
        '{"name": ""Oak" Lamp", "sku": "A"}',
        {"name": '"Oak" Lamp', "sku": "A"},
    ),
    "one at its end": ('{"name": "Lamp "Oak"", "sku": "A"}', {"name": 'Lamp "Oak"', "sku": "A"}),
    "one before a comma": ('{"name": "24", oak", "sku": "A"}', {"name": '24", oak', "sku": "A"}),
    "markup": (
        '{"text": "<p class="a">b</p>", "sku": "A"}',
        {"text": '<p class="a">b</p>', "sku": "A"},
    ),
    "no comma": ('{"name": "Lamp"\n"sku": "A"}', {"name": "Lamp", "sku": "A"}),
    "no comma between objects": ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}),
    "commas too many": ('{, "a": 1,, "b": [1,, 2],}', {"a": 1, "b": [1, 2]}),
    "no value": ('{"price": , "sku": "A", "brand": }', {"price": None, "sku": "A", "brand": None}),
    "a value without quotes": (
        '{"price": 1.299,00 €, "a": true}',
        {"price": "1.299,00 €", "a": True},
    ),
    "a value that is none": ('{"price": undefined, "b": "a"c"}', {"price": None, "b": 'a"c'}),
    "an escape that JSON lacks": (r'{"name": "Men\'s 24" wide"}', {"name": "Men's 24\" wide"}),
    "a line break in a string": ('{"name": "24" wide\nlamp"}', {"name": '24" wide lamp'}),
    "one brace too many": ('{"name": "24" wide"}}', {"name": '24" wide'}),
    "one that is cut off": ('{"name": "Lamp", "sku": "A', None),
    "no JSON at all": ("see above", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("text", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_broken_json_is_repaired(text: str, said: object) -> None:
    """The nearest repair is made at each fault; an unknown fault yields None."""
    repaired = repair_leading(text)
    assert (repaired and repaired[0]) == said


def test_rules_for_intact_pages_read_broken_ones() -> None:
    """The thing keeps its name, and the values beside the fault are found."""
    script = '<!-- {"@type": "Product", "name": "Lamp 24" wide", "sku": "A-1"} -->'
    page = Document(
        f'<script type="application/ld+json">{script}</script>', "https://shop.example/"
    )
    assert [block.name for block in page.blocks] == ["ld+json Product"]
    at = JsonAt(css=page.blocks[0].css, block="ld+json Product", path="$.sku")
    assert page.find(at) == "A-1"


SLOW = {
    "quotes": '{"a": "' + 'x" y' * 40_000,
    "strings": "{" + '"a": "b" c",' * 15_000 + "}",
    "braces": '{"a":' * 30_000,
    "commas": "[" + "," * 190_000,
    "blanks": '{"a": "b"' + " " * 190_000 + "x",
    "colons": '{"a"' + ":" * 190_000,
    "long": '{"a": "x" y' + "z" * 3_000_000,
    "faults behind many brackets": '{"a": [' + "{}," * 60_000 + '{"b": [1, "c": 3},' * 101,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW.keys())
def test_hostile_json_is_given_up_soon(text: str) -> None:
    """The number of repairs is bounded."""
    begin = time.process_time()
    assert repair_leading(text) is None
    assert time.process_time() - begin < 3
