"""A browser for the tests of the HTML report."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture
def browser_page() -> Iterator[Any]:
    """Open an empty page in Chromium that cannot reach any network."""
    if CHROMIUM is None or find_spec("playwright") is None:
        pytest.skip("no Chromium or no playwright is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 390, "height": 800}, offline=True)
        yield context.new_page()
        browser.close()
