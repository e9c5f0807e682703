"""An identifier is found by the label around it, wherever the label stands, even from one example."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from rules_generator.induction.inducer import induce
from tests.pages import Product, products
from tests.rules_generator.conftest import make_example

*EXAMPLES, LAST = products(11)
# A row that some pages have before the identifiers, so that these change places.
FURTHER_ROW = (
    "<h5>Colour <span>#red</span></h5><dl><dt>Size</dt><dd>L</dd></dl><p>Note <b>new</b></p>"
    "<table><tr><th>Depth</th><td><span>3</span></td></tr></table><ul><li><b>Weight</b> 3 kg</li></ul>"
)
LAYOUTS = [
    ("a label with a sign, and a number behind another", "<h5>UPC #<span>#{0}</span></h5>"),
    ("a list of definitions", "<dl><dt>SKU</dt><dd>{1}</dd><dt>EAN</dt><dd>{0}</dd></dl>"),
    ("a table", "<table><tr><th>GTIN</th><td>{0}</td></tr></table>"),
    ("within a cell", "<table><tr><th><b>GTIN</b></th><td><span>{0}</span></td></tr></table>"),
    ("two rows that fill their parents", "<div><span>UPC</span></div><div><span>{0}</span></div>"),
    ("a bold label", "<ul><li><b>SKU</b> {1}</li><li><b>EAN</b> {0}</li></ul>"),
    ("a bold number", "<ul><li>SKU <b>{1}</b></li><li>EAN <b>{0}</b></li></ul>"),
    ("a sign without a gap", "<ul><li>Item #{1}</li><li>UPC#{0}</li></ul>"),
    ("no sign", "<p>SKU {1}</p><p>Barcode {0}</p>"),
    ("a heading above", "<div><h6>SKU</h6><p>{1}</p></div><div><h6>UPC</h6><p>{0}</p></div>"),
    ("in a text", "<p>A good thing. SKU {1}. UPC: {0}. Made here.</p>"),
    ("lines", "<div>SKU: {1}<br>UPC: {0}<br>Weight: 3 kg</div>"),
    ("lines with bold labels", "<p><strong>SKU:</strong> {1}<br><strong>UPC:</strong> {0}</p>"),
    ("a data attribute", "<i data-variant-sku='{1}' data-variant-upc='{0}'></i>"),
]


def page_of(product: Product, layout: str) -> str:
    """A page with the identifiers behind a row that every other page has."""
    further = FURTHER_ROW if product.number % 2 else ""
    return f"<h1>{product.title}</h1>{further}<section>{layout.format(product.ean, product.sku)}</section>"


@pytest.mark.parametrize("known_count", [1, 10])
@pytest.mark.parametrize(("name", "layout"), LAYOUTS, ids=[case[0] for case in LAYOUTS])
def test_identifiers_behind_labels(name: str, layout: str, known_count: int) -> None:
    """One example suffices: the label names what stands behind it."""
    examples = []
    for product in EXAMPLES:
        if product.number < known_count:
            examples.append(make_example(product, page_of(product, layout)))
        else:
            page = page_of(product, "<i>-</i>")
            examples.append(make_example(product, page, ean=None, sku=None))
    rules, _ = induce(examples)
    found = set()
    for template in rules.templates:
        page = Document(page_of(LAST, layout), "https://shop.example/p/last")
        reading = read_attributes(page, template).get(Attribute.EAN)
        found.add(reading and reading.value)
    assert LAST.ean in found
    assert found <= {LAST.ean, None}


OFFERS = (
    '<script type="application/ld+json">'
    '{{"@type": "Product", "name": "{title}", "offers": {before}{{"gtin{size}": "{ean}"}}{behind}}}</script>'
)
LISTS = [
    ("one offer", "", ""),
    ("a list of offers", "[", ', {"gtin13": "4006381333931"}]'),
    ("an aggregate of offers", '{"@type": "AggregateOffer", "offers": [', "]}"),
]


@pytest.mark.parametrize("known_count", [0, 1, 10])
@pytest.mark.parametrize(("name", "before", "behind"), LISTS, ids=[case[0] for case in LISTS])
def test_gtins_of_all_lengths(name: str, before: str, behind: str, known_count: int) -> None:
    """Offers of schema.org's product name a GTIN by its length: each of them is read, known or not."""
    examples = []
    for product in EXAMPLES:
        is_known = product.number < known_count
        ean = product.ean if is_known else ""
        page = OFFERS.format(
            title=product.title,
            before=before,
            behind=behind if is_known else behind.replace("4006381333931", ""),
            size=13,
            ean=ean,
        )
        examples.append(make_example(product, f"<h1>{product.title}</h1>{page}", ean=ean or None))
    rules, _ = induce(examples)
    page = OFFERS.format(
        title=LAST.title, before=before, behind=behind, size=12, ean="036000291452"
    )
    document = Document(f"<h1>{LAST.title}</h1>{page}", "https://shop.example/p/last")
    reading = read_attributes(document, rules.templates[0])[Attribute.EAN]
    assert reading.value == "036000291452"


def test_gtins_of_all_lengths_in_microdata() -> None:
    """An element's property names a GTIN by its length as well."""
    page = "<h1>{0}</h1><div><meta itemprop='gtin{1}' content='{2}'></div>"
    examples = [make_example(each, page.format(each.title, 13, each.ean)) for each in EXAMPLES]
    rules, _ = induce(examples)
    document = Document(page.format("Lamp", 12, "036000291452"), "https://shop.example/p/last")
    assert read_attributes(document, rules.templates[0])[Attribute.EAN].value == "036000291452"
