"""Shops whose known offers teach rules: the values of a further page are read by them."""

import json
from decimal import Decimal

from catalog.models import Attribute
from catalog.values import offer_values
from parser.page.document import Document
from parser.page_reader import read_page
from rules_generator.labelled_pages import learn_rules
from tests.field.field_cases import FieldCase, each_case, limited_time


@each_case("learning")
def test_learning(case: FieldCase) -> None:
    """Every value of the page is read as it stands there."""
    data = json.loads(case.content)
    with limited_time():
        rules = learn_rules(
            [(page["url"], page["html"], page["known"]) for page in data["examples"]]
        )
        reading = read_page(Document(data["page"]["html"], data["page"]["url"]), rules)
    assert reading.offer is not None, reading.reason
    values = offer_values(reading.offer)
    found = {name: values.get(Attribute(name), [None])[0] for name in case.expected}
    expected = {
        name: str(Decimal(value).quantize(Decimal("0.01"))) if name == "price" else value
        for name, value in case.expected.items()
    }
    assert found == expected
