"""Examples are picked for what they show, and what is missing is told."""

from catalog.models import Attribute
from rules_generator.training.sampling import examples_needed, needed_by_attribute, sample_examples
from tests.pages import data_page, products, text_page
from tests.rules_generator.conftest import make_example

ALL = products(30)


def test_rare_attributes_and_categories_are_covered() -> None:
    """Of thirty, eight: among them the only ones that know an EAN or another category."""
    members = [
        make_example(
            product,
            text_page(product),
            ean=product.ean if number in (17, 29) else None,
            category="A" if number < 25 else "B",
        )
        for number, product in enumerate(ALL)
    ]
    picked = [example.known for example in sample_examples(members, 8)]
    assert sum(Attribute.EAN in known for known in picked) == 2
    assert {known[Attribute.CATEGORY][0] for known in picked} == {"A", "B"}


def test_each_template_has_its_own() -> None:
    """So many of each, however rare one of them is."""
    members = [
        make_example(product, data_page(product) if product.number % 6 == 0 else text_page(product))
        for product in ALL
    ]
    picked = sample_examples(members, 4)
    assert len(picked) == 8
    assert sum(example.page.page_id % 6 == 0 for example in picked) == 4


def test_a_template_wants_examples_of_its_own() -> None:
    """Twenty pages of one template do not make up for the two that the other lacks, or for the EANs it never shows."""
    members = [make_example(product, text_page(product)) for product in ALL[:20]]
    members += [
        make_example(product, data_page(product), ean=product.ean if product.number % 2 else None)
        for product in ALL[20:27]
    ]
    assert examples_needed(members)["title"] == 2
    assert examples_needed(members)["ean"] == 6
    assert examples_needed(members[:20]) == {}


def test_nothing_is_wanted_where_enough_is_known() -> None:
    """Nine examples of an attribute are enough, and one that none knows is not asked for."""
    assert needed_by_attribute([make_example(product, "").known for product in ALL[:9]]) == {}
