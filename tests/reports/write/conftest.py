"""A browser for the tests of the HTML report."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start Chromium, once for a module."""
    if CHROMIUM is None or find_spec("playwright") is None:
        pytest.skip("no Chromium or no playwright is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browser_page(chromium: Any) -> Iterator[Any]:
    """Open an empty page in a session of its own, which cannot reach any network."""
    context = chromium.new_context(viewport={"width": 390, "height": 800}, offline=True)
    yield context.new_page()
    context.close()
