"""Descriptions are read where all of their words stand, and no others: some places cut them off, or add to them."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.read import read_attributes
from rules_generator.induction.induce import induce
from tests.pages import products
from tests.rules_generator.conftest import taught

*ALL, OTHER = products(11)
SENTENCE = "{0} {1} is made by hand of beech and brass, and it is cared for with oil. "
LONGEST = 302
BOTH = "<meta name='description' content='{0}'><h1>{1}</h1><div class='text'>{2}</div>"
LAYOUTS = [
    ("both on all pages", [4, 5], [BOTH], True),
    ("the whole is missing on some pages", [4, 5], [BOTH, BOTH, BOTH.replace("{2}", "")], True),
    ("the head has all that is known", [3, 4], [BOTH], False),
]


def told(number: int, sentences: int) -> str:
    """A description of so many sentences."""
    return "".join(SENTENCE.format(number, place) for place in range(sentences)).strip()


@pytest.mark.parametrize(
    ("name", "sentences", "layouts", "ends"), LAYOUTS, ids=[case[0] for case in LAYOUTS]
)
def test_what_ends_at_a_length(
    name: str, sentences: list[int], layouts: list[str], ends: bool
) -> None:
    """Nearly all of the known words stand there, and on pages with longer texts they would not."""
    members = []
    for place, one in enumerate(ALL):
        text = told(one.number, sentences[place % len(sentences)])
        page = layouts[place % len(layouts)].format(text[:LONGEST], one.title, text)
        members.append(taught(one, page, description=text))
    template = induce(members)[0].templates[0]
    whole = told(OTHER.number, 9)
    page = Document(BOTH.format(whole[:LONGEST], OTHER.title, whole), "https://shop.example/p")
    found = read_attributes(page, template)
    assert found[Attribute.DESCRIPTION].value == whole
    rules = {
        str(rule.selector): rule.score
        for rule in template.rules
        if rule.attribute is Attribute.DESCRIPTION
    }
    assert ends == (rules.get('meta[name="description"] ::attr(content)', 0.0) < 0.9)


def test_what_the_catalog_alone_knows_is_not_cut_off() -> None:
    """The longest text goes on in the catalog, and nowhere on its page: no other place is better."""
    members = []
    for place, one in enumerate(ALL):
        text = told(one.number, 3 if place else 9)
        page = f"<h1>{one.title}</h1><div class='text'>{text}</div>"
        members.append(taught(one, page, description=text if place else f"{text} Made in Ardwen."))
    (best, *_) = induce(members)[0].templates[0].of(Attribute.DESCRIPTION)
    assert (str(best.selector), best.score) == ("div.text", 1.0)


ADDING = [
    (
        "the names of tabs",
        "<div class='description'><b>Description</b> <b>Reviews</b> <div class='x'>{0}</div></div>",
    ),
    ("nothing between lines", "<i data-description='{1}'></i><div class='x'>{0}</div>"),
]


@pytest.mark.parametrize(("name", "shown"), ADDING, ids=[case[0] for case in ADDING])
def test_words_that_the_catalog_does_not_have(name: str, shown: str) -> None:
    """Of places that have nearly all of the known words, the one that has all of them and no others is read."""

    def page(text: str) -> str:
        return f"<h1>x</h1>{shown.format(text, text.replace('. ', '.'))}"

    members = [
        taught(one, page(told(one.number, 4)), description=told(one.number, 4)) for one in ALL
    ]
    whole = told(OTHER.number, 4)
    found = read_attributes(
        Document(page(whole), "https://shop.example/p"), induce(members)[0].templates[0]
    )
    assert found[Attribute.DESCRIPTION].value == whole
