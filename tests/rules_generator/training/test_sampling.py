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
            one,
            text_page(one),
            ean=one.ean if number in (17, 29) else None,
            category="A" if number < 25 else "B",
        )
        for number, one in enumerate(ALL)
    ]
    picked = [one.known for one in sample_examples(members, 8)]
    assert sum(Attribute.EAN in known for known in picked) == 2
    assert {known[Attribute.CATEGORY][0] for known in picked} == {"A", "B"}


def test_each_template_has_its_own() -> None:
    """So many of each, however rare one of them is."""
    members = [
        make_example(one, data_page(one) if one.number % 6 == 0 else text_page(one)) for one in ALL
    ]
    picked = sample_examples(members, 4)
    assert len(picked) == 8
    assert sum(one.page.page_id % 6 == 0 for one in picked) == 4


def test_a_template_wants_examples_of_its_own() -> None:
    """Twenty pages of one template do not make up for the two that the other lacks, or for the EANs it never shows."""
    members = [make_example(one, text_page(one)) for one in ALL[:20]]
    members += [
        make_example(one, data_page(one), ean=one.ean if one.number % 2 else None)
        for one in ALL[20:27]
    ]
    assert examples_needed(members)["title"] == 2
    assert examples_needed(members)["ean"] == 6
    assert examples_needed(members[:20]) == {}


def test_nothing_is_wanted_where_enough_is_known() -> None:
    """Nine examples of an attribute are enough, and one that none knows is not asked for."""
    assert needed_by_attribute([make_example(one, "").known for one in ALL[:9]]) == {}
