"""The demo shop, made once for all of its tests."""

import pytest

from scout.demo.assortment.demo_shop import Demo
from scout.demo.site.demo_site import Site


@pytest.fixture(scope="session")
def demo() -> Demo:
    """The demo shop as `make demo` serves it."""
    return Demo.make()


@pytest.fixture(scope="session")
def site(demo: Demo) -> Site:
    """Its pages, without a server."""
    return Site(demo)
