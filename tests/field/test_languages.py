"""Pages of one offer in several languages and markets, and different offers that look alike."""

import json
from typing import Any

from matcher import PageVersions, match_offers
from tests.field.field_cases import FieldCase, each_case, limited_time

LANGUAGE_FIELDS = ("language", "alternates", "canonical")


def language_of(page: dict[str, Any]) -> PageVersions:
    """Return the language and the versions that a page names."""
    return PageVersions(**{name: page[name] for name in LANGUAGE_FIELDS})


@each_case("languages")
def test_languages(case: FieldCase) -> None:
    """Pages of one offer are one result, listed where the catalog lists any of them."""
    data = json.loads(case.content)
    pages = data["pages"]
    with limited_time():
        results = match_offers(
            pages, data["catalog"], page_languages=[language_of(page) for page in pages]
        )
    offers = sorted({tuple(sorted(result.pages)) for result in results})
    listed = {tuple(sorted(result.pages)) for result in results if result.verdict == "listed"}
    if case.expected["offers"] is not None:
        assert offers == [tuple(pages) for pages in case.expected["offers"]]
    assert listed == {tuple(pages) for pages in case.expected["listed"]}
