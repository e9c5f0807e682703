"""schema.org things in JSON-LD as shops send it."""

import json
import time
from html import escape
from typing import Any

import pytest

from parser.page.document import Document
from parser.rules.selector import JsonAt
from parser.scripts.schema_org import SCHEMA_ORG, schema_org_things, short_name, thing_name

PRODUCT = (
    '{"@type":"Product","name":"Lamp","sku":"A-1","offers":{"@type":"Offer","price":"19.90"},'
    '"gtin13":"4006381333931"}'
)
SHOP = '{"@type":"Organization","name":"Shop","address":{"city":"Bonn"}}'

SEVERAL_VALUES = {
    "side by side": SHOP + PRODUCT,
    "on lines": f"{SHOP}\n\n{PRODUCT}\n",
    "commas between": f"{SHOP},{PRODUCT}",
    "semicolons between": f"{SHOP};{PRODUCT};",
    "a comma behind": f"{SHOP}\n{PRODUCT},",
    "three": PRODUCT + SHOP + SHOP,
    "lists": f"[{SHOP}] [{PRODUCT}]",
    "a list in a list": f"[[{SHOP}, {PRODUCT}]]",
    "a list without its bracket": f"{SHOP},{PRODUCT}]",
    "the first with a fault": '{"@type": "Organization", "name": }' + PRODUCT,
    "the first with a quote in a string": SHOP.replace("Shop", 'Sh"op') + PRODUCT,
    "the first is code": '{"a": function() { return 1 }}' + PRODUCT,
}
MARKS = {
    "an HTML comment": f"<!--\n{PRODUCT}\n-->",
    "one that JavaScript skips": f"<!--\n{PRODUCT}\n//-->",
    "a CDATA section": f"<![CDATA[{PRODUCT}]]>",
    "one behind slashes": f"//<![CDATA[\n{PRODUCT}\n//]]>",
    "one in comments": f"/*<![CDATA[*/{PRODUCT}/*]]>*/",
    "one in comments with blanks": f"/* <![CDATA[ */\n{PRODUCT}\n/* ]]> */",
    "a comment before": f"/* product */ {PRODUCT}",
    "a line of comment before": f"// product\n{PRODUCT}",
    "a byte order mark": f"\ufeff{PRODUCT}",
}
ESCAPED = {
    "names": escape(PRODUCT),
    "escaped twice": escape(escape(PRODUCT)),
    "three times": escape(escape(escape(PRODUCT))),
    "decimal numbers": PRODUCT.replace('"', "&#34;"),
    "decimal numbers with a zero": PRODUCT.replace('"', "&#034;"),
    "hexadecimal numbers": PRODUCT.replace('"', "&#x22;"),
    "brackets as well": PRODUCT.replace('"', "&quot;").replace("{", "&#123;").replace("}", "&#125;"),
    "several values": escape(SHOP + PRODUCT),
    "encoded as JSON twice": json.dumps(PRODUCT),
    "tags of an editor": PRODUCT.replace(",", ",<br />\n").replace("{", "{<p>"),
    "quotes of an editor": PRODUCT.replace('"', "”"),
}  # fmt: skip
BRACKETS = {
    "the last one missing": PRODUCT[:-1],
    "the last one missing, blanks behind": PRODUCT[:-1] + " \n\t",
    "one too many": PRODUCT + "}",
    "two too many": PRODUCT + "}}",
    "one too many inside": PRODUCT.replace('"19.90"}', '"19.90"}}'),
    "a list not closed": f"[{SHOP},{PRODUCT}",
    "a list with an object not closed": f"[{SHOP[:-1]},{PRODUCT}]",
    "a list with an object closed twice": f"[{SHOP}}},{PRODUCT}]",
    "a graph not closed": f'{{"@graph":[{SHOP},{PRODUCT}]',
    "a graph and its list not closed": f'{{"@graph":[{SHOP},{PRODUCT}',
    "offers not closed": PRODUCT.replace('"offers":{', '"offers":[{'),
    "offers closed twice": PRODUCT.replace(':{"@type":"Offer"', ':[{"@type":"Offer"').replace(
        '0"}', '0"}}]'
    ),
    "the first of two not closed": SHOP[:-1] + "\n" + PRODUCT,
    "its inner object not closed": SHOP[:-2] + "\n" + PRODUCT,
}
SMALL_FAULTS = {
    "a trailing comma": PRODUCT[:-1] + ",}",
    "a trailing comma of a list": f"[{PRODUCT},]",
    "a raw line break in a string": PRODUCT.replace("Lamp", "La\nmp"),
    "a raw tab in a string": PRODUCT.replace("Lamp", "La\tmp"),
    "another control character": PRODUCT.replace("Lamp", "La\x0bmp"),
    "no number": PRODUCT.replace('"19.90"', "NaN"),
    "single quotes": PRODUCT.replace('"', "'"),
}
KEYS_WITH_URLS = PRODUCT.replace(',"', ',"https://schema.org/')
KEYS_WITH_PREFIX = PRODUCT.replace(',"', ',"schema:')
NAMES = {
    "the type's URL": PRODUCT.replace('"Product"', '"https://schema.org/Product"'),
    "the type's old URL": PRODUCT.replace('"Product"', '"http://www.schema.org/Product"'),
    "a prefix": PRODUCT.replace('"Product"', '"schema:Product"'),
    "keys with a prefix": KEYS_WITH_PREFIX,
    "keys with a prefix, encoded as JSON twice": json.dumps(KEYS_WITH_PREFIX),
    "keys with a prefix, single quotes": KEYS_WITH_PREFIX.replace('"', "'"),
    "keys with URLs": KEYS_WITH_URLS,
    "keys with URLs, slashes escaped": KEYS_WITH_URLS.replace("/", r"\/"),
    "keys with URLs, slashes as code points": KEYS_WITH_URLS.replace("/", r"\u002F"),
    "keys with URLs, escaped as HTML": escape(KEYS_WITH_URLS),
    "keys with URLs, escaped as HTML twice": escape(escape(KEYS_WITH_URLS)),
    "keys with URLs, quotes of an editor": KEYS_WITH_URLS.replace('"', "”"),
    "a graph that is one thing": f'{{"@graph": {PRODUCT}}}',
}
KINDS = (SEVERAL_VALUES, MARKS, ESCAPED, BRACKETS, SMALL_FAULTS, NAMES)
CASES = [(name, text) for kind in KINDS for name, text in kind.items()]


@pytest.mark.parametrize(("name", "text"), CASES, ids=[case[0] for case in CASES])
def test_the_product_is_read_whole(name: str, text: str) -> None:
    """One product is found, with the values of an intact one."""
    products = [thing for kind, thing in schema_org_things(text) if kind == "ld+json Product"]
    assert [(thing["sku"], thing["gtin13"]) for thing in products] == [("A-1", "4006381333931")]
    offers = products[0]["offers"]
    assert isinstance(offers, dict | list)


@pytest.mark.parametrize("text", SEVERAL_VALUES.values(), ids=SEVERAL_VALUES.keys())
def test_learnt_rules_read_each_value_of_a_script(text: str) -> None:
    """A rule finds a thing by its type, at whichever place of the script it stands."""
    page = Document(f'<script type="application/ld+json">{text}</script>', "https://shop.example/")
    assert page.find(JsonAt(css=SCHEMA_ORG, block="ld+json Product", path="$.gtin13")) == (
        "4006381333931"
    )


def test_rules_that_name_a_type_by_its_url_stay_valid() -> None:
    """Rules stored before names were shortened find their blocks."""
    page = Document(f'<script type="application/ld+json">{PRODUCT}</script>', "https://a.example/")
    for kind in ("Product", "http://schema.org/Product", "https://schema.org/Product"):
        at = JsonAt(css=SCHEMA_ORG, block=f"ld+json {kind}", path="$.sku")
        assert page.find(at) == "A-1"


def test_entities_in_values_stay_for_the_values() -> None:
    """Only a script that is escaped as a whole is unescaped."""
    [(_, thing)] = schema_org_things('{"@type": "Product", "name": "24&quot; lamp"}')
    assert thing["name"] == "24&quot; lamp"
    [(_, thing)] = schema_org_things(escape('{"@type": "Product", "name": "24&quot; lamp"}'))
    assert thing["name"] == "24&quot; lamp"


@pytest.mark.parametrize(
    "text", ["", " ", "12", "null", '"text"', "see above", "{", "[[", "}{", "&quot;"]
)
def test_a_script_without_a_thing_yields_none(text: str) -> None:
    """Nothing is made up where there is no object with content."""
    assert [thing for _, thing in schema_org_things(text) if thing] == []


@pytest.mark.parametrize(("levels", "count"), [(1, 1), (4, 1), (5, 0), (1010, 0)])
def test_graphs_in_graphs_are_read_to_a_bounded_level(levels: int, count: int) -> None:
    """A graph that is one thing counts as a level, as a list does."""
    text = '{"@graph":' * levels + PRODUCT + "}" * levels
    assert len(list(schema_org_things(text))) == count


@pytest.mark.parametrize("graphs", range(6))
def test_lists_behind_the_deepest_graph_are_not_read(graphs: int) -> None:
    """The levels of graphs and lists are counted together."""
    text = '{"@graph":' * graphs + "[" * 900 + PRODUCT + "]" * 900 + "}" * graphs
    assert list(schema_org_things(text)) == []


def test_types_are_named_shortly() -> None:
    """The vocabulary's URL is no part of a name, nor is a text that only begins like it."""
    assert short_name("https://schema.org.example/Product") == "https://schema.org.example/Product"
    assert thing_name("https://schema.org/" + "x" * 100) == "ld+json " + "x" * 40


SLOW: dict[str, Any] = {
    "many values": "{}" * 100_000,
    "open braces": '{"a":' * 60_000,
    "closed lists": "[]" * 100_000 + "}" * 100_000,
    "escaped often": "{" + "&" + "amp;" * 60_000 + "quot;",
    "colons in lists": '["a":' * 40_000,
    "keys behind objects": '{"a":1}' + ',"b":1}' * 20_000,
    "values that cannot be repaired": '{"a": function(){}},{"@' * 10_000,
    "comment marks": "<!--" * 50_000 + "/*" * 50_000,
    "line comments": "//\n" * 70_000,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW.keys())
def test_hostile_scripts_are_read_in_bounded_time(text: str) -> None:
    """Values, repairs and levels are capped."""
    begin = time.process_time()
    list(schema_org_things(text))
    assert time.process_time() - begin < 5
