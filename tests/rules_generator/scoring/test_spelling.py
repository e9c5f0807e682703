"""Values are spelled as the catalog spells them, whatever the shop's pages make of quotes and dashes."""

from catalog.models import Attribute
from parser.page.document import Document
from parser.page_reader import read_attributes
from rules_generator.induction.inducer import induce
from tests.pages import products
from tests.rules_generator.conftest import make_example

*ALL, OTHER = products(11)


def test_a_title_is_read_where_it_is_spelled_as_the_catalog_spells_it() -> None:
    """Shops' pages set quotes of their own, which their data do not have."""
    page = "<h1>{0}’s {1} 24″ Lamp</h1><p class='x'>{2}</p>"
    titles = [f"{product.brand}'s {product.number} 24\" Lamp" for product in (*ALL, OTHER)]
    pages = [
        page.format(product.brand, product.number, title)
        for product, title in zip((*ALL, OTHER), titles, strict=True)
    ]
    members = [
        make_example(product, text, title=title)
        for product, text, title in zip(ALL, pages, titles, strict=False)
    ]
    rules, _ = induce(members)
    read = read_attributes(Document(pages[-1], "https://shop.example/p"), rules.templates[0])
    assert read[Attribute.TITLE].value == titles[-1]
