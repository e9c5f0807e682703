"""Sitemaps as shops send them: every address is found, and entries that cannot be read counted."""

from crawler.discovery.sitemaps import parse_sitemap_file
from tests.field.field_cases import FieldCase, each_case, limited_time

ADDRESS = "https://shop.example/maps/1.xml"


@each_case("sitemaps")
def test_sitemap(case: FieldCase) -> None:
    """Pages and further sitemaps are found; the rest has a reason."""
    expected = case.expected
    with limited_time():
        sitemap = parse_sitemap_file(case.content, ADDRESS)
    if expected["pages"] is not None:
        assert list(sitemap.pages) == expected["pages"]
    assert list(sitemap.sitemaps) == expected["sitemaps"]
    assert sitemap.problem == expected["problem"]
    if expected.get("any_skipped"):
        assert sitemap.skipped
    else:
        assert dict(sitemap.skipped) == expected["skipped"]
