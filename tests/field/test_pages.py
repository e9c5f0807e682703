"""Pages as shops send them: encodings, broken markup, structured data, prices among others."""

import pytest

import catalog.errors
from catalog.models import Attribute
from crawler.pages.page_digest import PageDigester
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document
from parser.rules.selector import TextAt
from tests.field.field_cases import FieldCase, each_case, limited_time

PAGE = "https://shop.example/p/1"


@each_case("documents")
def test_document(case: FieldCase) -> None:
    """A page is decoded as browsers do, its links are found, and a hostile one is refused."""
    expected, content_type = case.expected, case.expected["content_type"]
    with limited_time():
        digest = PageDigester(Site(PAGE)).digest(case.content, content_type, PAGE)
        if "error" in expected:
            assert digest.is_hostile
            with pytest.raises(getattr(catalog.errors, expected["error"])):
                Document(case.content, PAGE, content_type)
            return
        title = Document(case.content, PAGE, content_type).find(TextAt(css="h1"))
    if "title" in expected:
        accepted = expected["title"]
        assert title in (accepted if isinstance(accepted, list) else [accepted])
    if "links" in expected:
        pages = {CrawlUrl.parse(link).page_key for link in digest.links}
        assert pages == {CrawlUrl.parse(link).page_key for link in expected["links"]}


@each_case("json_ld")
def test_json_ld(case: FieldCase) -> None:
    """The values of faulty JSON-LD are read, although they stand nowhere else."""
    check_offer(case)


@each_case("offers")
def test_offer(case: FieldCase) -> None:
    """The values that a visitor sees are read without rules, and no others."""
    check_offer(case)


def check_offer(case: FieldCase) -> None:
    """Compare the values read by heuristics with the expected ones; null is none."""
    with limited_time():
        values = read_by_heuristics(Document(case.content, PAGE))
    wrong = {}
    for name, expected in case.expected["offer"].items():
        found = values.get(Attribute(name))
        value = None if found is None else found.value
        if value not in (expected if isinstance(expected, list) else [expected]):
            wrong[name] = (value, expected)
    assert wrong == {}
