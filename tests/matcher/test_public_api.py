"""The package as a library: lazy public names, and offers as plain mappings."""

import ast
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pydantic
import pytest

import matcher
from catalog.models import OfferFields, Verdict
from matcher import MatcherConfig, match_offers

SHOP = [
    {"title": "Lumo Desk Lamp A12, black", "price": "49.90", "shelf": 7},
    {"title": "Tea pot, 1.5 l", "price": "12.00"},
]
CATALOG = [{"title": "Desk lamp A12 black", "brand": "Lumo", "price": "49.90"}]


def test_type_checkers_see_the_lazy_names() -> None:
    """The names under TYPE_CHECKING are the names that are loaded lazily."""
    tree = ast.parse(Path(matcher.__file__).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    imported = set()
    for node in branch.body:
        assert isinstance(node, ast.ImportFrom)
        imported.update(alias.asname for alias in node.names)
    assert imported == set(matcher.__all__)


@pytest.mark.parametrize("name", matcher.__all__)
def test_public_names_are_documented(name: str) -> None:
    """Each public name can be imported from the package and has a docstring."""
    assert getattr(matcher, name).__doc__


def test_importing_the_package_is_cheap() -> None:
    """Importing the package loads none of the numeric libraries."""
    code = "import sys, matcher; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_mappings_match_like_offer_fields() -> None:
    """Mappings with the keys of OfferFields, and others to ignore, give the same results."""
    results = match_offers(SHOP, CATALOG)
    assert [result.verdict for result in results] == [Verdict.LISTED, Verdict.MISSING]
    assert [result.offer for result in results] == [0, 1]
    assert [result.nearest for result in results] == [0, None]
    assert results[0].score > 0.9
    assert "same price" in results[0].reasons
    shop = [OfferFields(title=offer["title"], price=Decimal(offer["price"])) for offer in SHOP]
    catalog = [OfferFields(**CATALOG[0] | {"price": Decimal("49.90")})]
    assert match_offers(shop, catalog) == results


def test_a_value_of_the_wrong_type_is_rejected() -> None:
    """A mapping whose price is no number raises a validation error."""
    with pytest.raises(pydantic.ValidationError, match="price"):
        match_offers([{"title": "Lamp", "price": "cheap"}], CATALOG)


def test_sequences_of_another_length_are_rejected() -> None:
    """Further data has to be given for every offer or for none."""
    with pytest.raises(ValueError, match="alternate_urls has 1 entries for 2 offers"):
        match_offers(SHOP, CATALOG, alternate_urls=[[]])


def test_every_threshold_can_be_varied() -> None:
    """A config value changes the decision that it names: a pair below `listed_from` is unsure."""
    strict = MatcherConfig(listed_from=1.0)
    assert match_offers(SHOP, CATALOG, config=strict)[0].verdict is Verdict.UNSURE
