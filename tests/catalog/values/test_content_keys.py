"""Content keys change with the fields by which an offer is found, and with no other."""

import pytest

from catalog.models import KnownOffer
from catalog.values.content_keys import CONTENT_FIELDS, content_key

LAMP = KnownOffer(shop_id=1, ref="1", title="Lamp", images=["a", "b"]).model_dump()


@pytest.mark.parametrize("field", CONTENT_FIELDS)
def test_content_changes_the_key(field: str) -> None:
    """Each field counts on its own: a text that moves to another one changes the key."""
    assert content_key(LAMP | {field: "changed"}) != content_key(LAMP)
    moved = {content_key(LAMP | {name: "text"}) for name in CONTENT_FIELDS}
    assert len(moved) == len(CONTENT_FIELDS)


@pytest.mark.parametrize("images", [["a"], ["b", "a"], ["ab"], []])
def test_images_change_the_key(images: list[str]) -> None:
    """Number and order of images count."""
    assert content_key(LAMP | {"images": images}) != content_key(LAMP)


@pytest.mark.parametrize("field", ["price", "availability", "description", "category", "ref"])
def test_the_price_does_not(field: str) -> None:
    """What changes from day to day does not count."""
    assert content_key(LAMP | {field: "changed"}) == content_key(LAMP)
    assert -(2**63) <= content_key(LAMP) < 2**63


def test_a_description_may_stand_for_a_title() -> None:
    """Offers without a title are found by their descriptions."""
    untitled = LAMP | {"title": None}
    assert content_key(untitled | {"description": "Red"}) != content_key(untitled)
