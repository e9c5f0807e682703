"""Fixtures of the demo shop's tests: the shop and its site, made once."""

import pytest

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite


@pytest.fixture(scope="session")
def demo() -> DemoShop:
    """The demo shop that `scout demo` serves."""
    return DemoShop.make()


@pytest.fixture(scope="session")
def site(demo: DemoShop) -> DemoSite:
    """The shop's site, without a server."""
    return DemoSite(demo)
